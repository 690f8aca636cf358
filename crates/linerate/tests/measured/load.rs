// SPDX-License-Identifier: MIT OR Apache-2.0
//! How busy this machine is with the work of others: the processors' time in `/proc/stat` while
//! the test itself does nothing.

use std::fmt;
use std::time::Duration;

/// Shares of the time of all processors.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    idle_ratio: f64,
    stolen_ratio: f64,
}

impl Load {
    /// Of the next moment.
    pub(crate) fn measure() -> Self {
        let before = times();
        std::thread::sleep(MOMENT);
        let after = times();
        let grown = |field: usize| (after[field] - before[field]) as f64;
        let all: f64 = (0..FIELDS).map(grown).sum();
        Self {
            idle_ratio: (grown(IDLE) + grown(IO_WAIT)) / all.max(1.0),
            stolen_ratio: grown(STEAL) / all.max(1.0),
        }
    }

    /// Whether a test that needs a processor at once gets it.
    pub(crate) fn is_quiet(self) -> bool {
        self.idle_ratio > 0.75 && self.stolen_ratio < 0.05
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [idle, stolen] = [self.idle_ratio, self.stolen_ratio].map(|ratio| ratio * 100.0);
        write!(f, "{idle:.0} % idle, {stolen:.0} % stolen")
    }
}

/// The first fields of the line `cpu` of proc_stat(5).
fn times() -> [u64; FIELDS] {
    let stat = std::fs::read_to_string("/proc/stat").unwrap();
    let line = stat.lines().next().unwrap();
    let mut fields = line.split_whitespace().skip(1);
    std::array::from_fn(|_| fields.next().unwrap().parse().unwrap())
}

const FIELDS: usize = 8;
const IDLE: usize = 3;
const IO_WAIT: usize = 4;
const STEAL: usize = 7;
/// Long enough for a share that is not made of a few ticks of 10 ms.
const MOMENT: Duration = Duration::from_millis(400);
