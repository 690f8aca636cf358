// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the lab's commands and threads run, and whether they may run at all.
#![expect(unsafe_code, reason = "pre_exec")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal};

use crate::cpu;

/// Keeps `command` and what it starts on one CPU.
pub fn pin_command(command: &mut Command, cpu: usize) {
    let pin = move || cpu::pin(cpu);
    // SAFETY: `pin` makes one system call on a set that lies on the stack.
    unsafe { command.pre_exec(pin) };
}

/// A child by its number, to be held up and let go. The caller keeps it from being reaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader(Pid);

impl Reader {
    /// That child.
    pub fn of(child: &Child) -> Self {
        Self(Pid::from_child(child))
    }

    /// SIGSTOP: it takes nothing from its sockets any more.
    ///
    /// # Errors
    /// ESRCH when it has gone.
    pub fn pause(self) -> io::Result<()> {
        Ok(rustix::process::kill_process(self.0, Signal::STOP)?)
    }

    /// Passes a signal on, by its number; one that this system does not know is none.
    ///
    /// # Errors
    /// ESRCH when it has gone.
    pub fn signal(self, number: u8) -> io::Result<()> {
        match Signal::from_named_raw(i32::from(number)) {
            Some(signal) => Ok(rustix::process::kill_process(self.0, signal)?),
            None => Ok(()),
        }
    }

    /// As [`Self::signal`], to every process of the group that it leads.
    ///
    /// # Errors
    /// ESRCH when none is left, or when it leads none.
    pub fn signal_group(self, number: u8) -> io::Result<()> {
        match Signal::from_named_raw(i32::from(number)) {
            Some(signal) => Ok(rustix::process::kill_process_group(self.0, signal)?),
            None => Ok(()),
        }
    }

    /// SIGCONT.
    ///
    /// # Errors
    /// ESRCH when it has gone.
    pub fn resume(self) -> io::Result<()> {
        Ok(rustix::process::kill_process(self.0, Signal::CONT)?)
    }
}
