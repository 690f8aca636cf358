// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings themselves.

use std::io;

use crate::entry::{Key, Place};

/// Reads and writes settings: the host, or a model of it in tests.
pub trait World {
    /// The value in force, byte for byte.
    ///
    /// # Errors
    /// It cannot be read here.
    fn read(&mut self, key: &Key) -> io::Result<String>;

    /// Writes a value. A driver may round it.
    ///
    /// # Errors
    /// It was refused.
    fn write(&mut self, key: &Key, value: &str) -> io::Result<()>;

    /// Runs a command of the user by `/bin/sh -c`, in `directory` if one is given.
    ///
    /// # Errors
    /// It could not be started, or failed.
    fn run(&mut self, line: &str, directory: Option<&str>) -> io::Result<()>;

    /// The key of what the kernel may change together with a setting; nothing where it changes alone.
    fn coupled(&mut self, _key: &Key) -> Option<Key> {
        None
    }

    /// Whether what is at this place is reached from here and is still the same.
    ///
    /// # Errors
    /// Why not: another namespace, another device.
    fn same(&mut self, place: &Place) -> Result<(), String>;
}
