// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stretch of numbers with round steps: what an axis is made of.

/// From `low` to `high`, with a line at each whole `tick`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    /// The left end.
    pub low: f64,
    /// The right end, beyond `low`.
    pub high: f64,
    tick: f64,
}

impl Span {
    /// Around values, from zero where they are not close to each other; `None` of none.
    pub(crate) fn around(values: &[f64]) -> Option<Self> {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let (mut low, mut high) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
        if low >= high {
            // Zero alone is at the left end of a unit.
            let room = high.abs() / 20.0;
            let end = if high == 0.0 { 1.0 } else { high + room };
            (low, high) = (low - room, end);
        }
        if low > 0.0 && low < high / 2.0 {
            low = 0.0;
        }
        let room = (high - low) * ROOM;
        let tick = tick((high - low) * FEWER);
        let low = if low == 0.0 { low } else { low - room };
        Some(Self {
            low,
            high: high + room,
            tick,
        })
    }

    /// The position of a value: 0 is the left end, 1 the right end; values beyond are at the end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// The values that are written at the axis.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        let first = (self.low / self.tick - NEARLY).ceil();
        let last = (self.high / self.tick + NEARLY).floor();
        let many = (last - first).max(0.0) as u32;
        (0..=many)
            .map(|count| (first + f64::from(count)) * self.tick)
            .collect()
    }
}

/// One, two or five of a power of ten, so that four to eight of them reach `most`.
pub(crate) fn tick(most: f64) -> f64 {
    if most <= 0.0 || !most.is_finite() {
        return 1.0;
    }
    let rough = most / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let factor = match rough / power {
        few if few <= 1.2 => 1.0,
        few if few <= 2.5 => 2.0,
        few if few <= 6.0 => 5.0,
        _ => 10.0,
    };
    factor * power
}

/// Without zeros that say nothing.
pub(crate) fn short(value: f64) -> String {
    let text = format!("{value:.6}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// Few enough steps for labels of six digits.
const FEWER: f64 = 1.25;
/// So much of the stretch is free at either end.
const ROOM: f64 = 0.04;
/// A step that rounding put beyond the end.
const NEARLY: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_a_few_round_steps() {
        for most in [0.003, 0.87, 1.0, 9.4, 12.9, 47.0, 940.0, 1488.0, 81_274.0] {
            let tick = tick(most);
            let many = (most / tick).ceil();
            assert!((3.0..=8.0).contains(&many), "{many} of {tick} to {most}");
        }
        assert_eq!(tick(0.0), 1.0);
    }

    #[test]
    fn a_number_on_an_axis_is_short() {
        assert_eq!(
            [0.0, 0.5, 200.0, 0.000_02, -0.000_000_1].map(short),
            ["0", "0.5", "200", "0.00002", "0"]
        );
    }

    #[test]
    fn a_stretch_holds_its_values_and_starts_at_zero_where_they_are_far_apart() {
        let near = Span::around(&[940.2, 941.9]).unwrap();
        assert!(near.low > 939.0 && near.low <= 940.2 && near.high >= 941.9);
        assert_eq!(near.ticks(), [940.5, 941.0, 941.5]);
        let far = Span::around(&[53.0, 216.0]).unwrap();
        assert_eq!((far.low, far.share(0.0)), (0.0, 0.0));
        assert!((3..=7).contains(&far.ticks().len()), "{:?}", far.ticks());
        assert_eq!(far.share(1e9), 1.0, "values beyond are at the end");
        for one in [0.0, 5.0, -3.0] {
            let alone = Span::around(&[one, one]).unwrap();
            assert!(alone.low <= one && one < alone.high, "{alone:?}");
            assert!(
                alone.ticks().len() > 2 && alone.ticks().len() < 9,
                "{alone:?}"
            );
        }
        assert_eq!(Span::around(&[f64::NAN]), None);
    }
}
