// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host whose settings can be changed and restored: this one, one of a lab, or one behind an agent.

use std::io;

use crate::apply::{Outcome, apply};
use crate::coupled::{self, SideEffect};
use crate::entry::{Change, Key, Phase};
use crate::host::Host;
use crate::journal::Trace;
use crate::restore::{End, restore_one};
use crate::world::World;

/// Changes settings, and restores them. Each change has a number, by which it is restored or kept.
pub trait Hand {
    /// The name of a setting: one of an interface, or one of the namespace or the machine.
    ///
    /// # Errors
    /// There is no such interface.
    fn key(&mut self, knob: &str, interface: Option<&str>) -> io::Result<Key>;

    /// The value in force.
    ///
    /// # Errors
    /// It cannot be read here.
    fn read(&mut self, key: &Key) -> io::Result<String>;

    /// The largest value that is worth trying, where the driver, the memory or the processors say one; of a feature that the
    /// driver does not let be switched, its value.
    ///
    /// # Errors
    /// It cannot be read here.
    fn most(&mut self, _key: &Key) -> io::Result<Option<String>> {
        Ok(None)
    }

    /// Makes a change; it is recorded before.
    ///
    /// # Errors
    /// It cannot be recorded, or the host is no longer reached.
    fn apply(&mut self, change: Change) -> io::Result<Outcome>;

    /// What the kernel changed together with an open change.
    ///
    /// # Errors
    /// The journal or the settings cannot be read, or the host is no longer reached.
    fn side_effects(&mut self, _change: u64) -> io::Result<Vec<SideEffect>> {
        Ok(Vec::new())
    }

    /// Restores the setting of one change, and what the kernel changed together with it.
    ///
    /// # Errors
    /// It cannot be recorded, or the host is no longer reached.
    fn undo(&mut self, change: u64) -> io::Result<End>;

    /// Leaves a change in force; nothing restores it by itself any more.
    ///
    /// # Errors
    /// It cannot be recorded, or the host is no longer reached.
    fn keep(&mut self, change: u64) -> io::Result<()>;

    /// Has these interfaces watched, too, while a change is open.
    ///
    /// # Errors
    /// The host is no longer reached.
    fn watch(&mut self, _interfaces: &[String]) -> io::Result<()> {
        Ok(())
    }

    /// Why what is open must be undone at once. Ask about once per second while a change is open. A far host has undone
    /// it already.
    ///
    /// # Errors
    /// The host is no longer reached.
    fn alarm(&mut self) -> io::Result<Option<String>> {
        Ok(None)
    }
}

/// What changes nothing goes to the field `hand` as it is.
macro_rules! reads_by_its_hand {
    () => {
        fn key(&mut self, knob: &str, interface: Option<&str>) -> std::io::Result<$crate::Key> {
            self.hand.key(knob, interface)
        }

        fn read(&mut self, key: &$crate::Key) -> std::io::Result<String> {
            self.hand.read(key)
        }

        fn most(&mut self, key: &$crate::Key) -> std::io::Result<Option<String>> {
            self.hand.most(key)
        }

        fn side_effects(&mut self, change: u64) -> std::io::Result<Vec<$crate::SideEffect>> {
            self.hand.side_effects(change)
        }
    };
}
pub(crate) use reads_by_its_hand;

/// The host of the calling thread's network namespace, and where its changes are recorded.
#[derive(Debug)]
pub struct Local<T> {
    trace: T,
    host: Host,
}

impl<T: Trace> Local<T> {
    /// The host as the calling thread sees it.
    ///
    /// # Errors
    /// `/proc` is not mounted.
    pub fn here(trace: T) -> io::Result<Self> {
        Ok(Self::of(trace, Host::here()?))
    }

    /// This host.
    #[must_use]
    pub const fn of(trace: T, host: Host) -> Self {
        Self { trace, host }
    }
}

impl<T: Trace> Hand for Local<T> {
    fn key(&mut self, knob: &str, interface: Option<&str>) -> io::Result<Key> {
        match interface {
            Some(name) => self.host.key_of(knob, name),
            None => Ok(self.host.key(knob)),
        }
    }

    fn read(&mut self, key: &Key) -> io::Result<String> {
        self.host.read(key)
    }

    fn most(&mut self, key: &Key) -> io::Result<Option<String>> {
        self.host.most(key)
    }

    fn apply(&mut self, change: Change) -> io::Result<Outcome> {
        apply(&mut self.trace, &mut self.host, change).map_err(io::Error::other)
    }

    fn side_effects(&mut self, change: u64) -> io::Result<Vec<SideEffect>> {
        let all = self.trace.open().map_err(io::Error::other)?;
        match coupled::of_change(&all, change) {
            Some(bundle) => coupled::side_effects(&mut self.host, bundle),
            None => Ok(Vec::new()),
        }
    }

    fn undo(&mut self, change: u64) -> io::Result<End> {
        restore_one(&mut self.trace, &mut self.host, change).map_err(io::Error::other)
    }

    fn keep(&mut self, change: u64) -> io::Result<()> {
        self.trace
            .step(change, Phase::Kept)
            .map_err(io::Error::other)
    }
}
