// SPDX-License-Identifier: MIT OR Apache-2.0
//! One reading of one source.

/// The counters of one source, before they become a [`Sample`](linerate_model::sample::Sample).
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) source: &'static str,
    pub(super) interface: Option<String>,
    /// When it was read, if not just now.
    pub(super) t_ns: Option<u64>,
    pub(super) counters: Vec<(String, u64)>,
}

impl Reading {
    /// A reading of the whole host, taken just now.
    pub(super) fn of_host(source: &'static str, counters: Vec<(String, u64)>) -> Self {
        Self {
            source,
            interface: None,
            t_ns: None,
            counters,
        }
    }
}
