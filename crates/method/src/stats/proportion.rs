// SPDX-License-Identifier: MIT OR Apache-2.0
//! Intervals of a loss ratio. They take losses as independent, and losses come in bursts: of one run they
//! say what happened, of the next they say too much. Runs are compared by their median and worst.

use super::{beta, normal};
use crate::bound;

/// The two-sided interval of Clopper and Pearson (1934), error `alpha` (0…1); `None` where nothing was sent
/// or more was lost.
pub fn clopper_pearson(lost: u64, sent: u64, alpha: f64) -> Option<[f64; 2]> {
    let high = bound::clopper_pearson_upper(lost, sent, alpha / 2.0)?;
    let low = match lost {
        0 => 0.0,
        lost if lost == sent => (alpha / 2.0).powf(1.0 / sent as f64),
        lost => beta::quantile(alpha / 2.0, lost as f64, (sent - lost) as f64 + 1.0),
    };
    Some([low, high])
}

/// Wilson's interval (1927): narrower, right on average.
pub fn wilson(lost: u64, sent: u64, alpha: f64) -> Option<[f64; 2]> {
    if sent == 0 || lost > sent {
        return None;
    }
    let (ratio, n) = (lost as f64 / sent as f64, sent as f64);
    let z = normal::quantile(1.0 - alpha / 2.0);
    let square = z * z;
    let centre = ratio + square / (2.0 * n);
    let half = z * (ratio * (1.0 - ratio) / n + square / (4.0 * n * n)).sqrt();
    let scale = 1.0 + square / n;
    Some([(centre - half).max(0.0) / scale, (centre + half) / scale])
}
