// SPDX-License-Identifier: MIT OR Apache-2.0
//! A profile of the kernel, if one was taken.

use super::Vantage;

/// The share of the samples that fell into functions whose names have one of `words` in them, 0 to 1. `None` if nobody
/// took a profile.
pub(in crate::facts) fn profiled(vantage: &Vantage<'_>, words: &[&str]) -> Option<f64> {
    let mut functions = vantage.values("perf top").peekable();
    functions.peek()?;
    let share = |(name, percent): (&str, &str)| {
        let about = words.iter().any(|word| name.contains(word));
        about.then(|| percent.trim_end_matches('%').parse::<f64>().ok())?
    };
    Some(functions.filter_map(share).sum::<f64>() / 100.0)
}
