// SPDX-License-Identifier: MIT OR Apache-2.0
//! Everything that is known before anything is concluded: a run as stored, a run that just ended,
//! or as much of one as a pasted text gives.

use crate::output::{Direction, Host, Role, Test, Trial};
use crate::run::Run;
use crate::sample::Sample;

/// What was measured and read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// Plan, hosts, tests, settings.
    pub run: Run,
    /// Raw counters, in the order of reading.
    pub samples: Vec<Sample>,
    /// Of a device in the middle; they have what its samples come to.
    pub trials: Vec<Trial>,
    /// Whether it was put together from a text that somebody pasted: then most of it is missing.
    pub pasted: bool,
}

impl Record {
    /// A run and the counters stored beside it.
    #[must_use]
    pub const fn of_run(run: Run, samples: Vec<Sample>) -> Self {
        Self {
            run,
            samples,
            trials: Vec::new(),
            pasted: false,
        }
    }

    /// With the trials of a device, which say what its samples would.
    #[must_use]
    pub fn with_trials(mut self, trials: &[Trial]) -> Self {
        self.samples.retain(|sample| sample.host != Role::Device);
        self.trials = trials.to_vec();
        self
    }

    /// Whether the device in the middle is the tester's own machine; `None` where nobody said.
    #[must_use]
    pub fn device_is_here(&self) -> Option<bool> {
        let boot = |role| self.host(role)?.boot_id.as_deref();
        Some(boot(Role::Local)? == boot(Role::Device)?)
    }

    /// The host of a role, where it described itself.
    #[must_use]
    pub fn host(&self, role: Role) -> Option<&Host> {
        self.run.hosts.iter().find(|host| host.role == role)
    }

    /// Whether both ends are one machine: what that machine counts as a whole is then one count.
    #[must_use]
    pub fn one_machine(&self) -> bool {
        let ends = self.host(Role::Local).zip(self.host(Role::Remote));
        ends.is_some_and(|(local, remote)| local.is_same_machine(remote))
    }
}

/// Which end of a test an evidence is looked for at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Where the payload comes from.
    Sender,
    /// Where it goes to.
    Receiver,
}

impl Side {
    /// The host of this side in a test.
    #[must_use]
    pub const fn role(self, test: &Test) -> Role {
        match (self, test.direction) {
            (Self::Sender, Direction::Up) | (Self::Receiver, Direction::Down) => Role::Local,
            (Self::Sender, Direction::Down) | (Self::Receiver, Direction::Up) => Role::Remote,
        }
    }

    /// The interface of this side in a test, where it is known.
    #[must_use]
    pub fn interface(self, test: &Test) -> Option<&str> {
        match self.role(test) {
            Role::Local => test.local_interface.as_deref(),
            Role::Remote | Role::Device => test.remote_interface.as_deref(),
        }
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}
