// SPDX-License-Identifier: MIT OR Apache-2.0
//! How busy this machine is before a command begins.

use linerate_linux::cpu;
use linerate_wire::proc::loadavg::{self, LoadAverage};

/// The number of other tasks that want each processor: 0 on an idle machine, and where it is unknown.
pub(in crate::cli) fn runnable_per_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    loadavg::parse(&text).map_or(0.0, |load| others(load) / cpu::count().max(1) as f64)
}

/// The average of the last minute lags; the tasks of this moment come and go.
fn others(load: LoadAverage) -> f64 {
    let now = load.runnable.saturating_sub(OWN) as f64;
    f64::midpoint(now, load.one_minute.min(now + 1.0))
}

/// The task that reads is runnable, too.
const OWN: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn load(one_minute: f64, runnable: u32) -> f64 {
        others(LoadAverage {
            one_minute,
            five_minutes: 0.0,
            fifteen_minutes: 0.0,
            runnable,
        })
    }

    #[test]
    fn the_moment_counts_more_than_the_minute() {
        assert_eq!(load(0.0, 1), 0.0);
        assert_eq!(load(4.0, 5), 4.0);
        assert_eq!(load(8.0, 1), 0.5, "it has just become idle");
        assert_eq!(load(0.0, 5), 2.0, "it has just become busy");
    }
}
