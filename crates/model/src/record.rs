// SPDX-License-Identifier: MIT OR Apache-2.0
//! All data from which conclusions are drawn: of a stored run, a run that has just ended, or as much as a
//! pasted text contains.

use crate::output::{Direction, Host, LinkKind, Role, Test, Trial};
use crate::run::Run;
use crate::sample::Sample;
use crate::work;

/// Measurements and readings of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// Plan, hosts, tests, settings.
    pub run: Run,
    /// Raw counters, in chronological order.
    pub samples: Vec<Sample>,
    /// Trials of a device under test, with the growth of its counters.
    pub trials: Vec<Trial>,
    /// Whether it was built from pasted text; most of it is then missing.
    pub pasted: bool,
}

impl Record {
    /// A run and the counters stored with it.
    #[must_use]
    pub const fn of_run(run: Run, samples: Vec<Sample>) -> Self {
        Self {
            run,
            samples,
            trials: Vec::new(),
            pasted: false,
        }
    }

    /// The tests in their order. Each look is counted ([`work`]): what is asked for every test must not scan them all.
    pub fn tests(&self) -> impl Iterator<Item = &Test> + Clone {
        self.run.tests.iter().inspect(|_| work::look())
    }

    /// Adds the trials of a device under test, which replace its samples.
    #[must_use]
    pub fn with_trials(mut self, trials: &[Trial]) -> Self {
        self.samples.retain(|sample| sample.host != Role::Device);
        self.trials = trials.to_vec();
        self
    }

    /// Whether the device under test is the tester's own machine; `None` if unknown.
    #[must_use]
    pub fn device_is_here(&self) -> Option<bool> {
        let boot = |role| self.host(role)?.boot_id.as_deref();
        Some(boot(Role::Local)? == boot(Role::Device)?)
    }

    /// The host of a role, if it described itself.
    #[must_use]
    pub fn host(&self, role: Role) -> Option<&Host> {
        self.run.hosts.iter().find(|host| host.role == role)
    }

    /// Whether both ends are one machine, whose counters then cover both.
    #[must_use]
    pub fn one_machine(&self) -> bool {
        one_machine(&self.run.hosts, &self.run.tests)
    }
}

/// Whether both ends of `tests` are one machine: both say so, or the tests never leave it. A stock peer says nothing.
pub(crate) fn one_machine(hosts: &[Host], tests: &[Test]) -> bool {
    let host = |role| hosts.iter().find(|host| host.role == role);
    let ends = host(Role::Local).zip(host(Role::Remote));
    let same = ends.is_some_and(|(local, remote)| local.is_same_machine(remote));
    same || tests
        .iter()
        .any(|test| test.link_kind == Some(LinkKind::Loopback))
}

/// One end of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The end that sends the payload.
    Sender,
    /// The end that receives it.
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

    /// The interface of this side in a test, if known.
    #[must_use]
    pub fn interface(self, test: &Test) -> Option<&str> {
        match self.role(test) {
            Role::Local => test.local_interface.as_deref(),
            Role::Remote | Role::Device => test.remote_interface.as_deref(),
        }
    }

    /// The other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}
