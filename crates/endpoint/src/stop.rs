// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stop flag of a server, shared by its threads.

use std::sync::atomic::{AtomicBool, Ordering};

/// Tells all threads of one server to end.
#[derive(Debug, Default)]
pub(crate) struct Stop(AtomicBool);

impl Stop {
    /// Whether everything has to end now.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends everything.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
