// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much idle time an end had for certain. The readings of `/proc/stat` enclose a test: a short test between two
//! readings far apart may have used all of its time although the processor was idle for most of the time between them.

use super::load::{Shares, TICKS_PER_SECOND};
use crate::evidence::Source;
use crate::facts::vantage::Vantage;

/// The idle share of the test, at least: of the idle time between the readings, as much as can be outside the test is.
pub(super) fn least(host: &Vantage<'_>, shares: &Shares) -> f64 {
    let span_s = host.host_counters().span_s(Source::Stat);
    let test_s = host.test.map(|test| test.duration_s).filter(|s| *s > 0.0);
    match span_s.zip(test_s) {
        Some((span_s, test_s)) => {
            let idle_s = shares.idle() * shares.counted(span_s) * span_s;
            let outside_s = (span_s - test_s).max(0.0);
            ((idle_s - outside_s) / test_s).clamp(0.0, 1.0)
        }
        None => shares.idle(),
    }
}

/// The share of the time between the readings of which the processors have no ticks. Each reading may be a tick early or
/// late.
pub(super) fn missing(host: &Vantage<'_>, shares: &Shares) -> f64 {
    let span_s = host.host_counters().span_s(Source::Stat).unwrap_or(0.0);
    let rounding_s = 2.0 / TICKS_PER_SECOND;
    1.0 - shares.counted((span_s - rounding_s).max(0.0))
}
