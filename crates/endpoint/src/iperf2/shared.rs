// SPDX-License-Identifier: MIT OR Apache-2.0
//! What all clients of one iperf2 server share.

use super::slots::Slots;
use crate::plan::ServeOptions;
use crate::server::log::Log;
use crate::server::metrics::Metrics;
use crate::stop::Stop;
use linerate_linux::signal::Interrupt;
use std::time::Duration;

/// Options, log, counters, slots and the stop flag of one server.
pub(super) struct Shared<'a> {
    pub(super) options: &'a ServeOptions,
    pub(super) log: Log,
    pub(super) metrics: Metrics,
    pub(super) slots: Slots,
    pub(super) stop: Stop,
    interrupt: &'a Interrupt,
}

impl<'a> Shared<'a> {
    /// All slots are free.
    pub(super) fn new(options: &'a ServeOptions, log: Log, interrupt: &'a Interrupt) -> Self {
        Self {
            options,
            log,
            metrics: Metrics::new(options),
            slots: Slots::new(options),
            stop: Stop::default(),
            interrupt,
        }
    }

    /// Whether no more clients are accepted.
    pub(super) fn is_over(&self) -> bool {
        let (finished, idle) = self.slots.state();
        let limit = self.options.idle_timeout_s.map(Duration::from_secs);
        let idle_too_long = limit.zip(idle).is_some_and(|(limit, idle)| idle >= limit);
        let one_is_over = self.options.one_off && finished > 0 && idle.is_some();
        self.interrupt.requested().is_some() || idle_too_long || one_is_over
    }
}
