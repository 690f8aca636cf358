// SPDX-License-Identifier: MIT OR Apache-2.0
//! The counters of the wire, for readers while it runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::report::DirectionReport;

/// The counters of both directions, `a-b` first. They may be read after the wire has stopped.
#[derive(Clone, Debug, Default)]
pub struct WireCounters([Arc<Published>; 2]);

/// Counts of one direction since the wire started, in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionCounters {
    /// Taken from the sender's side, or lost instead.
    pub frames: u64,
    /// Lost because the wire was overloaded.
    pub overload_drops: u64,
}

/// What a direction's thread publishes every 10 ms. A lock, not atomics: not every machine has them for 64 bits.
#[derive(Debug, Default)]
pub(super) struct Published(Mutex<Publication>);

#[derive(Debug, Clone, Copy, Default)]
struct Publication {
    times: u64,
    counters: DirectionCounters,
}

impl WireCounters {
    /// All that the wire carried or lost until now: waits until each direction has counted again, 1 s at most.
    pub fn read(&self) -> [DirectionCounters; 2] {
        self.read_within(LONGEST)
    }

    fn read_within(&self, longest: Duration) -> [DirectionCounters; 2] {
        let before = self.times();
        let deadline = Instant::now() + longest;
        while !self.have_counted_since(before) && Instant::now() < deadline {
            thread::sleep(STEP);
        }
        self.0.each_ref().map(|direction| direction.lock().counters)
    }

    /// Twice, or to the end: the first time may have begun before.
    fn have_counted_since(&self, before: [u64; 2]) -> bool {
        let mut both = self.times().into_iter().zip(before);
        both.all(|(now, then)| now == ENDED || now >= then + 2)
    }

    /// Those of direction 0 (`a-b`) or 1.
    pub(super) fn direction(&self, number: u64) -> Arc<Published> {
        Arc::clone(&self.0[usize::from(number > 0)])
    }

    fn times(&self) -> [u64; 2] {
        self.0.each_ref().map(|direction| direction.lock().times)
    }
}

impl Published {
    pub(super) fn publish(&self, report: &DirectionReport) {
        let mut published = self.lock();
        published.counters = DirectionCounters {
            frames: report.received + report.missed,
            overload_drops: report.own_drops(),
        };
        published.times += 1;
    }

    /// No reader waits for another time.
    pub(super) fn publish_last(&self, report: &DirectionReport) {
        self.publish(report);
        self.lock().times = ENDED;
    }

    fn lock(&self) -> MutexGuard<'_, Publication> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// In place of the number of times, once the thread has ended.
const ENDED: u64 = u64::MAX;
const LONGEST: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use super::*;

    /// What a direction counted before the call is in the reading, whatever it had published.
    #[test]
    fn a_reading_waits_until_both_directions_have_counted_again() {
        let counters = WireCounters::default();
        let report = |received, missed| DirectionReport {
            received,
            missed,
            ..DirectionReport::default()
        };
        let readings = thread::scope(|scope| {
            let reading = scope.spawn(|| counters.read_within(Duration::from_secs(60)));
            for number in [0, 1] {
                let direction = counters.direction(number);
                scope.spawn(move || {
                    direction.publish(&report(1, 0));
                    thread::sleep(STEP);
                    direction.publish_last(&report(10, 3));
                });
            }
            reading.join()
        });
        let both = DirectionCounters {
            frames: 13,
            overload_drops: 3,
        };
        assert_eq!(readings.ok(), Some([both; 2]));
        assert_eq!(counters.read(), [both; 2], "the wire has stopped");
    }
}
