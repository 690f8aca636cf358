// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a thread that is ready to run waits for a CPU.

use linerate_linux::cpu::WaitTime;

/// The most that one thread waited on a run queue within [`WINDOW_NS`]. A receiver that waits longer than its buffer lasts
/// loses datagrams, whether it waits once or runs for moments in between.
#[derive(Debug)]
pub(crate) struct Waits {
    /// `None` where the kernel does not report it.
    time: Option<WaitTime>,
    /// When it was looked at, and the sum of all waits by then; the oldest is overwritten.
    looks: [(u64, u64); LOOKS],
    newest: usize,
    most_ns: u64,
}

impl Waits {
    /// Those of the calling thread from `now_ns` on.
    pub(crate) fn of_this_thread(now_ns: u64) -> Self {
        let time = WaitTime::of_this_thread();
        let waited_ns = time.as_ref().and_then(WaitTime::ns).unwrap_or(0);
        Self {
            time,
            looks: [(now_ns, waited_ns); LOOKS],
            newest: 0,
            most_ns: 0,
        }
    }

    /// One system call after a millisecond or more, nothing before.
    pub(crate) fn look(&mut self, now_ns: u64) {
        let last_ns = self.looks[self.newest].0;
        if now_ns.saturating_sub(last_ns) >= LOOK_NS
            && let Some(waited_ns) = self.time.as_ref().and_then(WaitTime::ns)
        {
            self.take(now_ns, waited_ns);
        }
    }

    fn take(&mut self, now_ns: u64, waited_ns: u64) {
        let begin_ns = now_ns.saturating_sub(WINDOW_NS);
        let within = self.looks.iter().filter(|(at_ns, _)| *at_ns >= begin_ns);
        let first = within.min().unwrap_or(&self.looks[self.newest]);
        self.most_ns = self.most_ns.max(waited_ns.saturating_sub(first.1));
        self.newest = (self.newest + 1) % LOOKS;
        self.looks[self.newest] = (now_ns, waited_ns);
    }

    /// Nanoseconds; of a wait that is longer than the window all of it.
    pub(crate) fn most_ns(&self) -> Option<u64> {
        self.time.as_ref().map(|_| self.most_ns)
    }
}

/// A full-size buffer lasts for some milliseconds at the highest rates.
const LOOK_NS: u64 = 1_000_000;
/// Some turns of the scheduler, each of up to 3 ms.
const WINDOW_NS: u64 = 20_000_000;
/// More than fit into the window.
const LOOKS: usize = 32;

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
            while waits.most_ns() == Some(0) && Instant::now() < deadline {
                waits.look(clock::monotonic_ns());
            }
            done.store(true, Ordering::Relaxed);
            assert_ne!(waits.most_ns(), Some(0), "two busy threads, one CPU");
        });
    }

    #[test]
    fn waits_within_the_window_are_added() {
        const MS: u64 = 1_000_000;
        let mut waits = Waits::of_this_thread(0);
        waits.looks = [(0, 0); LOOKS];
        for turn in 1..=100 {
            waits.take(turn * 2 * MS, turn * MS);
        }
        assert_eq!(waits.most_ns, 10 * MS, "half of every 20 ms");
        waits.take(300 * MS, 195 * MS);
        assert_eq!(waits.most_ns, 95 * MS, "one long wait");
    }

    #[test]
    fn looks_within_a_millisecond_are_one() {
        let mut waits = Waits::of_this_thread(5);
        waits.look(5 + LOOK_NS - 1);
        assert_eq!(waits.newest, 0);
        waits.look(5 + LOOK_NS);
        assert_eq!(waits.newest, usize::from(waits.time.is_some()));
    }
}
