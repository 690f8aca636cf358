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

    /// The kernel's own account of the thread, in nanoseconds (sched-stats.rst): as of its last tick.
    fn schedstat_ns() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok()
    }

    /// Datagrams to itself, for this much CPU time.
    fn work(until_ns: u64) {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(socket.local_addr().unwrap()).unwrap();
        while linerate_linux::cpu::thread_ns() < until_ns {
            socket.send(&[0; 1400]).unwrap();
            socket.recv(&mut [0; 2000]).unwrap();
        }
    }

    #[test]
    fn it_agrees_with_the_kernel_s_account_on_an_idle_and_on_a_busy_machine() {
        if schedstat_ns().is_none() {
            return println!("skipped: the kernel has no schedstat");
        }
        for others in [0, 2] {
            let stop = std::sync::atomic::AtomicBool::new(false);
            let is_stopped = || stop.load(std::sync::atomic::Ordering::Relaxed);
            std::thread::scope(|scope| {
                (0..others).for_each(|_| drop(scope.spawn(|| while !is_stopped() {})));
                let before_ns = schedstat_ns().unwrap_or(0);
                let clock = ThreadClock::start(false);
                work(linerate_linux::cpu::thread_ns() + 400_000_000);
                let ours_ns = clock.stop();
                let theirs_ns = schedstat_ns().map_or(0, |after| after - before_ns);
                let ratio = ours_ns.ns() as f64 / theirs_ns as f64;
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
                assert!(
                    (0.98..=1.02).contains(&ratio),
                    "{ours_ns:?}, not {theirs_ns}"
                );
                assert!(
                    ours_ns.system_ns > ours_ns.user_ns,
                    "datagrams: {ours_ns:?}"
                );
            });
        }
    }

    #[test]
    fn events_are_counted_only_on_request_and_else_their_absence_is_explained() {
        let plain = ThreadClock::start(false).stop();
        assert_eq!((plain.events, plain.events_missing), (None, None));
        let counted = ThreadClock::start(true).stop();
        assert_ne!(counted.events.is_some(), counted.events_missing.is_some());
    }
}
