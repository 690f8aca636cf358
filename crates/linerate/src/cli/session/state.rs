// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of both hosts over the tests of a run, and what has changed in it.

use linerate_endpoint::KnownState;
use linerate_model::credible::{self, MOVED_MOST};
use linerate_model::output::{Moved, Role};
use linerate_model::setting::Setting;
use linerate_model::state::StateVector;

use crate::store::Store;

/// What was read so far.
#[derive(Debug)]
pub(super) struct State {
    vector: StateVector,
    moved: Vec<Moved>,
    /// How many may still be kept.
    room: usize,
}

impl State {
    /// The settings before the first test.
    pub(super) fn learn(&mut self, settings: &[Setting]) {
        self.vector.learn(settings);
    }

    /// The state after a test, with the programs that may have changed it, which are stored.
    pub(super) fn update(&mut self, settings: &[Setting], store: &mut Store) {
        let mut moved = self.vector.update(settings);
        // The other end is not trusted.
        credible::moved(&mut moved);
        moved.truncate(self.room);
        self.room -= moved.len();
        self.moved.extend(moved);
        let programs = settings.iter().filter(|one| one.source == PROGRAMS);
        for seen in programs {
            if !store.run().settings.contains(seen) {
                store.settings(std::slice::from_ref(seen));
            }
        }
    }

    /// What the next test need not report.
    pub(super) fn known(&self) -> KnownState {
        KnownState {
            local: self.vector.digest(Role::Local),
            remote: self.vector.digest(Role::Remote),
        }
    }

    /// What has changed since the last call.
    pub(super) fn take_moved(&mut self) -> Vec<Moved> {
        std::mem::take(&mut self.moved)
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            vector: StateVector::default(),
            moved: Vec::new(),
            room: MOVED_MOST,
        }
    }
}

/// Running programs that change settings, by the command that lists them.
const PROGRAMS: &str = "ps -eo comm";
