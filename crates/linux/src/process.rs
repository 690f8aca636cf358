// SPDX-License-Identifier: MIT OR Apache-2.0
//! CPU affinity and signals of the lab's commands.
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

/// Has the kernel end `command` when the thread that starts it ends, also by SIGKILL (`PR_SET_PDEATHSIG`).
pub fn ends_with_parent(command: &mut Command) {
    let ask = || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(io::Error::from)
    };
    // SAFETY: `ask` makes one system call.
    unsafe { command.pre_exec(ask) };
}

/// A child process that can be paused and signalled. The caller must not reap it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader(Pid);

impl Reader {
    /// That child.
    pub fn of(child: &Child) -> Self {
        Self(Pid::from_child(child))
    }

    /// Sends SIGSTOP: it stops reading its sockets. So does the group that it leads, if it leads one.
    ///
    /// # Errors
    /// ESRCH when it has gone.
    pub fn pause(self) -> io::Result<()> {
        self.signal_all(Signal::STOP)
    }

    /// Sends a signal by its number; unknown numbers are ignored.
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

    /// Sends SIGCONT, to whom [`Self::pause`] sent SIGSTOP.
    ///
    /// # Errors
    /// ESRCH when it has gone.
    pub fn resume(self) -> io::Result<()> {
        self.signal_all(Signal::CONT)
    }

    fn signal_all(self, signal: Signal) -> io::Result<()> {
        rustix::process::kill_process_group(self.0, signal)
            .or_else(|_leads_none| rustix::process::kill_process(self.0, signal))
            .map_err(io::Error::from)
    }
}
