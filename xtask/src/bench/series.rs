// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of several rounds, and ratios with their spread.

use std::fmt;

/// One value a round; `None` where the round gave none.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Series(pub(crate) Vec<Option<f64>>);

/// Smallest, median and largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// Smallest.
    pub(crate) min: f64,
    /// Median; of an even count the mean of the middle two.
    pub(crate) median: f64,
    /// Largest.
    pub(crate) max: f64,
}

impl Series {
    /// Of the rounds that gave a value.
    pub(crate) fn spread(&self) -> Option<Spread> {
        let mut values: Vec<f64> = self
            .0
            .iter()
            .flatten()
            .copied()
            .filter(|v| v.is_finite())
            .collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let [min, max] = [*values.first()?, *values.last()?];
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        Some(Spread { min, median, max })
    }

    /// Round by round: this over `other`.
    pub(crate) fn over(&self, other: &Self) -> Self {
        let ratio = |(a, b): (&Option<f64>, &Option<f64>)| Some((*a)? / (*b)?);
        Self(self.0.iter().zip(&other.0).map(ratio).collect())
    }
}

impl fmt::Display for Spread {
    /// `median (min…max)` in three digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!(
            "{} ({}…{})",
            short(self.median),
            short(self.min),
            short(self.max)
        );
        f.pad(&text)
    }
}

/// About three digits.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude >= 100.0 => format!("{value:.0}"),
        magnitude if magnitude >= 10.0 => format!("{value:.1}"),
        0.0 => "0".to_owned(),
        magnitude if magnitude < 0.01 => format!("{value:.4}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        let ours = Series(vec![Some(4.0), None, Some(9.0)]);
        let peer = Series(vec![Some(2.0), Some(1.0), Some(3.0)]);
        let spread = ours.over(&peer).spread().unwrap();
        assert_eq!((spread.min, spread.median, spread.max), (2.0, 2.5, 3.0));
    }

    #[test]
    fn no_value_is_no_spread() {
        assert_eq!(Series(vec![None, None]).spread(), None);
    }
}
