// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the thread of a stream uses: CPU time always, hardware events on request.

use linerate_linux::cpu::{Usage, thread_usage};
use linerate_linux::perf::ThreadCounters;
use linerate_model::output::{EventsMissing, ThreadTime};

/// Runs from the start of a stream's work to its end, in its thread.
#[derive(Debug)]
pub(crate) struct ThreadClock {
    before: Usage,
    counters: Option<Result<ThreadCounters, EventsMissing>>,
}

impl ThreadClock {
    /// Starts it in the calling thread.
    pub(crate) fn start(events: bool) -> Self {
        let counters = events.then(ThreadCounters::begin);
        Self {
            before: thread_usage(),
            counters,
        }
    }

    /// Stops it, in the same thread.
    pub(crate) fn stop(self) -> ThreadTime {
        let used = thread_usage().since(&self.before);
        let events = self.counters.map(|counters| counters?.read());
        ThreadTime {
            user_ns: used.user_ns,
            system_ns: used.system_ns,
            events: events.and_then(Result::ok),
            events_missing: events.and_then(Result::err),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_only_on_request_and_else_their_absence_is_explained() {
        let plain = ThreadClock::start(false).stop();
        assert_eq!((plain.events, plain.events_missing), (None, None));
        let counted = ThreadClock::start(true).stop();
        assert_ne!(counted.events.is_some(), counted.events_missing.is_some());
    }
}
