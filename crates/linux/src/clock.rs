// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clocks in nanoseconds, and waiting for an absolute deadline.
//!
//! Everything that is scheduled or subtracted uses the monotonic clock; the wall clock only labels.
//! No function here fails: a kernel without these clocks does not exist.

use std::num::NonZeroU64;

use rustix::thread::{ClockId as SleepClock, clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds of `CLOCK_MONOTONIC`: not settable, steered by NTP, stops in suspend.
#[must_use]
pub fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Nanoseconds since 1970 of `CLOCK_REALTIME`, the clock of kernel receive time stamps.
#[must_use]
pub fn wall_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime))
}

/// Waits until `deadline_ns` of [`monotonic_ns`] and returns the time it is then.
///
/// Sleeps up to `spin_ns` before the deadline and spins the rest: 20–50 µs hides the wake-up latency
/// of an idle machine for little CPU; 0 never spins. Call [`precise_sleep`] once in the thread first.
pub fn sleep_until_ns(deadline_ns: u64, spin_ns: u64) -> u64 {
    loop {
        let now = monotonic_ns();
        if now >= deadline_ns {
            return now;
        }
        if deadline_ns - now > spin_ns {
            // An error can only be EINTR: the loop looks at the clock again.
            let _ =
                clock_nanosleep_absolute(SleepClock::Monotonic, &timespec(deadline_ns - spin_ns));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Waits for deadlines with as little spinning as this machine's wake-ups need.
///
/// It spins as long as the typical (median) recent sleep overslept, never longer than the limit: a machine that
/// wakes on time does not spin, and rare late wake-ups, which no affordable spin would hide, do not make it.
#[derive(Debug, Clone, Copy)]
pub struct Sleeper {
    spin_ns: u64,
    limit_ns: u64,
}

impl Sleeper {
    /// Never spins longer than `limit_ns` for one deadline (50 µs is plenty; 0: only sleeps).
    #[must_use]
    pub fn new(limit_ns: u64) -> Self {
        Self {
            spin_ns: limit_ns / 2,
            limit_ns,
        }
    }

    /// Waits until `deadline_ns` of [`monotonic_ns`] and returns the time it is then.
    pub fn until(&mut self, deadline_ns: u64) -> u64 {
        let wake_ns = deadline_ns.saturating_sub(self.spin_ns);
        if monotonic_ns() < wake_ns {
            let woken_ns = sleep_until_ns(wake_ns, 0);
            self.note(woken_ns - wake_ns);
        }
        sleep_until_ns(deadline_ns, u64::MAX)
    }

    /// Steps toward the median: up as often as down there.
    fn note(&mut self, overslept_ns: u64) {
        let step = self.limit_ns / 64;
        self.spin_ns = if overslept_ns > self.spin_ns {
            (self.spin_ns + step).min(self.limit_ns)
        } else {
            self.spin_ns.saturating_sub(step)
        };
    }
}

/// Lets this thread's sleeps end when due instead of up to 50 µs later (`PR_SET_TIMERSLACK` of 1 ns).
pub fn precise_sleep() {
    // Refusal (a seccomp filter) costs precision only, which the reported lateness shows.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// The number of readings from which the offset is taken.
const READINGS: u32 = 5;

/// Wall-clock time that never jumps during a run: the monotonic clock plus an offset fixed at the start.
#[derive(Debug, Clone, Copy)]
pub struct Wall {
    offset_ns: i128,
}

impl Wall {
    /// Fixes the offset between the clocks as it is now, from the quickest of several readings: a
    /// busy machine may take the processor away between that of one clock and that of the other.
    #[must_use]
    pub fn start() -> Self {
        let reading = |_| {
            let before_ns = monotonic_ns();
            let wall_ns = wall_ns();
            let took_ns = monotonic_ns() - before_ns;
            let offset_ns = i128::from(wall_ns) - i128::from(before_ns + took_ns / 2);
            (took_ns, offset_ns)
        };
        let quickest = (0..READINGS)
            .map(reading)
            .min_by_key(|(took_ns, _)| *took_ns);
        let offset_ns = quickest.map_or(0, |(_, offset_ns)| offset_ns);
        Self { offset_ns }
    }

    /// The wall time of a monotonic instant, in nanoseconds since 1970.
    #[must_use]
    pub fn at(&self, monotonic_ns: u64) -> u64 {
        u64::try_from(i128::from(monotonic_ns) + self.offset_ns).unwrap_or(0)
    }

    /// The monotonic instant of a wall time, such as a kernel receive time stamp; 0 if before boot.
    #[must_use]
    pub fn monotonic_of(&self, wall_ns: u64) -> u64 {
        u64::try_from(i128::from(wall_ns) - self.offset_ns).unwrap_or(0)
    }
}

fn nanoseconds(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds
        .saturating_mul(SECOND_NS)
        .saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(ns / SECOND_NS).unwrap_or(i64::MAX),
        // Below 1e9, which fits the 32-bit field of 32-bit machines.
        tv_nsec: (ns % SECOND_NS) as _,
    }
}

const SECOND_NS: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_never_ends_early() {
        precise_sleep();
        for spin_ns in [0, 30_000, 10_000_000] {
            let deadline = monotonic_ns() + 300_000;
            assert!(sleep_until_ns(deadline, spin_ns) >= deadline);
        }
    }

    #[test]
    fn a_sleeper_spins_only_as_long_as_wake_ups_are_late() {
        let mut sleeper = Sleeper::new(50_000);
        let deadline = monotonic_ns() + 300_000;
        assert!(sleeper.until(deadline) >= deadline);
        (0..1000).for_each(|_| sleeper.note(1_000_000));
        assert_eq!(sleeper.spin_ns, 50_000);
        (0..1000).for_each(|_| sleeper.note(10_000));
        assert!(sleeper.spin_ns.abs_diff(10_000) < 1_000);
        sleeper.note(1_000_000);
        assert!(sleeper.spin_ns.abs_diff(10_000) < 2_000);
    }

    #[test]
    fn a_past_deadline_returns_at_once_with_the_time() {
        let before = monotonic_ns();
        assert!(sleep_until_ns(1, 0) >= before);
    }

    #[test]
    fn wall_and_monotonic_convert_back_and_forth() {
        let wall = Wall::start();
        let now = monotonic_ns();
        assert_eq!(wall.monotonic_of(wall.at(now)), now);
        assert_eq!(wall.monotonic_of(0), 0);
    }
}
