// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that are no test yet: their cookie or their parameters are awaited. They are few;
//! one too many costs the oldest its place, because an honest client speaks at once.

use linerate_linux::tcp;
use std::collections::VecDeque;
use std::io;
use std::net::TcpStream;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The strangers, in the order of accepting.
#[derive(Debug, Default)]
pub(super) struct Strangers(Mutex<VecDeque<(u64, TcpStream)>>);

impl Strangers {
    /// Lets one in; where there are too many, the connection of the oldest is shut down.
    pub(super) fn enter(&self, serial: u64, stream: &TcpStream) -> io::Result<()> {
        let handle = stream.try_clone()?;
        let mut all = self.lock();
        if all.len() >= MOST_STRANGERS
            && let Some((_, oldest)) = all.pop_front()
        {
            tcp::shutdown(&oldest);
        }
        all.push_back((serial, handle));
        Ok(())
    }

    /// One is known now, or gone. False if it had lost its place.
    pub(super) fn leave(&self, serial: u64) -> bool {
        let mut all = self.lock();
        let place = all.iter().position(|(other, _)| *other == serial);
        place.and_then(|place| all.remove(place)).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(u64, TcpStream)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Each has a thread and two descriptors.
const MOST_STRANGERS: usize = 128;
