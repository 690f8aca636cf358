// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantities as text: four significant digits, one unit per column, aligned on the decimal point, which is
//! `.` in every locale.

use std::fmt;

use super::{BitsPerSecond, Bytes, Nanos, PacketsPerSecond};

/// A unit: `(size in base units, name)`.
pub type Step = (f64, &'static str);

/// Bit rates, decimal.
pub const BIT_RATES: &[Step] = &[
    (1.0, "bit/s"),
    (1e3, "kbit/s"),
    (1e6, "Mbit/s"),
    (1e9, "Gbit/s"),
    (1e12, "Tbit/s"),
];
/// Packet rates.
pub const PACKET_RATES: &[Step] = &[(1.0, "pps"), (1e3, "kpps"), (1e6, "Mpps")];
/// Sizes, 1024-based.
pub const SIZES: &[Step] = &[
    (1.0, "bytes"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
];
/// Times, from nanoseconds.
pub const TIMES: &[Step] = &[(1.0, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")];
/// Latencies are always shown in microseconds.
pub const MICROSECOND: Step = (1e3, "us");

/// The text for an unknown number.
pub const UNKNOWN: &str = "n/a";

impl fmt::Display for BitsPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&with_unit(self.0, BIT_RATES))
    }
}

impl fmt::Display for PacketsPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&with_unit(self.0, PACKET_RATES))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..1024 => f.pad(&format!("{} bytes", self.0)),
            bytes => f.pad(&with_unit(bytes as f64, SIZES)),
        }
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..1000 => f.pad(&format!("{} ns", self.0)),
            nanos => f.pad(&with_unit(nanos as f64, TIMES)),
        }
    }
}

/// Formats `value` (in base units) with a suitable unit: `612.4 Mbit/s`.
#[must_use]
pub fn with_unit(value: f64, steps: &[Step]) -> String {
    let (size, name) = step_for(value, steps);
    format!("{} {name}", significant(value / size))
}

/// Formats four significant digits, at most three decimals.
#[must_use]
pub fn significant(value: f64) -> String {
    let whole_digits = |value: f64| format!("{:.0}", value.abs().trunc()).len();
    let decimals = 4_usize.saturating_sub(whole_digits(value)).min(3);
    let text = format!("{value:.decimals$}");
    // Rounding may have added a digit: 99.996 is 100.0, not 100.00.
    let grown = text.parse().map_or(decimals, |rounded: f64| {
        4_usize.saturating_sub(whole_digits(rounded)).min(3)
    });
    if grown < decimals {
        format!("{value:.grown$}")
    } else {
        text
    }
}

/// A column of numbers in one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The common unit.
    pub unit: &'static str,
    /// Cells of one width, aligned on the decimal point; [`UNKNOWN`] for an unknown value.
    pub cells: Vec<String>,
}

/// Formats a column in the unit that suits its (lower) median: a sweep from 50 M to 1000 M is in Mbit/s.
#[must_use]
pub fn column(values: &[Option<f64>], steps: &[Step]) -> Column {
    column_in(values, common_step(values, steps))
}

/// Returns the unit that suits the median of `values`.
#[must_use]
pub fn common_step(values: &[Option<f64>], steps: &[Step]) -> Step {
    step_for(lower_median(values), steps)
}

/// Formats a column in the given unit.
#[must_use]
pub fn column_in(values: &[Option<f64>], (size, unit): Step) -> Column {
    let texts: Vec<_> = values
        .iter()
        .map(|value| value.map(|value| significant(value / size)))
        .collect();
    Column {
        unit,
        cells: align(&texts),
    }
}

/// Pads numbers so that their decimal points line up.
#[must_use]
pub fn align(texts: &[Option<String>]) -> Vec<String> {
    let places = |text: &str| text.split_once('.').map_or(0, |(_, after)| after.len() + 1);
    let known = || texts.iter().flatten();
    let after = known().map(|text| places(text)).max().unwrap_or(0);
    let padded: Vec<_> = texts
        .iter()
        .map(|text| match text {
            Some(text) => format!("{text}{}", " ".repeat(after - places(text))),
            None => UNKNOWN.to_owned(),
        })
        .collect();
    let width = padded.iter().map(String::len).max().unwrap_or(0);
    padded
        .iter()
        .map(|text| format!("{text:>width$}"))
        .collect()
}

/// Formats a loss ratio in percent; `0` means no loss at all.
#[must_use]
pub fn percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    match percent {
        0.0 => "0".to_owned(),
        small if small < 0.0001 => "<0.0001".to_owned(),
        small if small < 1.0 => format!("{small:.4}"),
        more => format!("{more:.2}"),
    }
}

/// Formats a ratio that a user gave in percent, with as few digits as it was given with.
#[must_use]
pub fn exact_percent(ratio: f64) -> String {
    ((ratio * 1e12).round() / 1e10).to_string()
}

/// The lower median of the magnitudes, without zeros.
fn lower_median(values: &[Option<f64>]) -> f64 {
    let known = values.iter().flatten().map(|value| value.abs());
    let mut known: Vec<_> = known.filter(|value| *value > 0.0).collect();
    known.sort_unstable_by(f64::total_cmp);
    let middle = known.len().saturating_sub(1) / 2;
    known.get(middle).copied().unwrap_or(0.0)
}

/// The largest unit of which `value` has at least one after rounding.
fn step_for(value: f64, steps: &[Step]) -> Step {
    let fits = |step: &&Step| value.abs() / step.0 >= 0.9995;
    let smallest = steps.first().copied().unwrap_or((1.0, ""));
    steps.iter().rev().find(fits).copied().unwrap_or(smallest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_significant_digits() {
        for (value, wanted) in [
            (0.0, "0.000"),
            (0.5, "0.500"),
            (1.0, "1.000"),
            (9.9996, "10.00"),
            (99.996, "100.0"),
            (612.44, "612.4"),
            (999.96, "1000"),
            (12_345.6, "12346"),
            (-1.5, "-1.500"),
        ] {
            assert_eq!(significant(value), wanted);
        }
    }

    #[test]
    fn the_unit_suits_the_number() {
        for (value, wanted) in [
            (0.0, "0.000 bit/s"),
            (999.0, "999.0 bit/s"),
            (999_960.0, "1.000 Mbit/s"),
            (612.44e6, "612.4 Mbit/s"),
            (2.5e9, "2.500 Gbit/s"),
            (1e15, "1000 Tbit/s"),
        ] {
            assert_eq!(BitsPerSecond(value).to_string(), wanted);
        }
        assert_eq!(PacketsPerSecond(14.88e6).to_string(), "14.88 Mpps");
        assert_eq!(Bytes(1470).to_string(), "1.436 KiB");
        assert_eq!(Bytes(64).to_string(), "64 bytes");
        assert_eq!(Bytes(4 << 20).to_string(), "4.000 MiB");
        assert_eq!(Nanos(1_500).to_string(), "1.500 us");
        assert_eq!(Nanos(7).to_string(), "7 ns");
    }

    #[test]
    fn a_column_has_one_unit_and_one_point() {
        let column = column(&[Some(50e6), None, Some(612.44e6), Some(1000e6)], BIT_RATES);
        assert_eq!(column.unit, "Mbit/s");
        assert_eq!(column.cells, ["  50.00", "    n/a", " 612.4 ", "1000   "]);
        let column = super::column(&[Some(5e6), Some(612.44e6), Some(99.5e6)], BIT_RATES);
        assert_eq!(column.unit, "Mbit/s");
        assert_eq!(column.cells, ["  5.000", "612.4  ", " 99.50 "]);
    }

    #[test]
    fn no_loss_is_said_only_of_none() {
        for (ratio, wanted) in [
            (0.0, "0"),
            (1e-9, "<0.0001"),
            (0.000_012, "0.0012"),
            (0.012_34, "1.23"),
            (1.0, "100.00"),
        ] {
            assert_eq!(percent(ratio), wanted);
        }
    }

    proptest::proptest! {
        #[test]
        fn a_column_is_of_one_width(values in proptest::collection::vec(proptest::option::of(0.0..1e13_f64), 1..20)) {
            let column = column(&values, BIT_RATES);
            let width = column.cells[0].len();
            proptest::prop_assert!(column.cells.iter().all(|cell| cell.len() == width));
        }
    }
}
