// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a thread that is ready to run waits for a CPU.

use linerate_linux::cpu::WaitTime;

/// The longest wait of one thread on a run queue. A receiver that waits longer than its buffer lasts loses datagrams.
#[derive(Debug)]
pub(crate) struct Waits {
    /// `None` where the kernel does not report it.
    time: Option<WaitTime>,
    looked_ns: u64,
    waited_ns: u64,
    longest_ns: u64,
}

impl Waits {
    /// Those of the calling thread from `now_ns` on.
    pub(crate) fn of_this_thread(now_ns: u64) -> Self {
        let time = WaitTime::of_this_thread();
        Self {
            waited_ns: time.as_ref().and_then(WaitTime::ns).unwrap_or(0),
            time,
            looked_ns: now_ns,
            longest_ns: 0,
        }
    }

    /// One system call after a millisecond or more, nothing before.
    pub(crate) fn look(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.looked_ns) < LOOK_NS {
            return;
        }
        self.looked_ns = now_ns;
        if let Some(waited_ns) = self.time.as_ref().and_then(WaitTime::ns) {
            let since_ns = waited_ns.saturating_sub(self.waited_ns);
            self.longest_ns = self.longest_ns.max(since_ns);
            self.waited_ns = waited_ns;
        }
    }

    /// The longest wait between two looks, nanoseconds. Several waits within a millisecond count as one.
    pub(crate) fn longest_ns(&self) -> Option<u64> {
        self.time.as_ref().map(|_| self.longest_ns)
    }
}

/// A full-size buffer lasts for some milliseconds at the highest rates.
const LOOK_NS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use linerate_linux::{clock, cpu};

    use super::*;

    #[test]
    fn a_thread_that_shares_its_cpu_waits_for_it() {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(cpu::pin(0).is_ok());
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            assert!(cpu::pin(0).is_ok());
            let mut waits = Waits::of_this_thread(clock::monotonic_ns());
            let deadline = Instant::now() + Duration::from_secs(60);
            while waits.longest_ns() == Some(0) && Instant::now() < deadline {
                waits.look(clock::monotonic_ns());
            }
            done.store(true, Ordering::Relaxed);
            assert_ne!(waits.longest_ns(), Some(0), "two busy threads, one CPU");
        });
    }

    #[test]
    fn looks_within_a_millisecond_are_one() {
        let mut waits = Waits::of_this_thread(5);
        waits.look(5 + LOOK_NS - 1);
        assert_eq!(waits.looked_ns, 5);
        waits.look(5 + LOOK_NS);
        assert_eq!(waits.looked_ns, 5 + LOOK_NS);
    }
}
