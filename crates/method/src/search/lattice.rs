// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loads that a search may try: evenly spaced by ratio, so that a width is a whole number.
//!
//! Step `i` of `M` is `min · exp(i / M · ln(max / min))`. Halving, doubling and comparing widths are
//! exact on the steps, which floating point would not allow on the loads.

/// All loads from the minimum (step 0) to the maximum (the last step).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lattice {
    min_fps: f64,
    max_fps: f64,
    last: usize,
}

impl Lattice {
    /// The coarsest lattice on which each of `widths` is a whole number of steps, never too wide
    /// and at most one per cent too narrow.
    pub(super) fn new(min_fps: f64, max_fps: f64, widths: &[f64]) -> Self {
        let range = (max_fps / min_fps).ln();
        let fits = |last: usize| {
            widths.iter().all(|&width| {
                let steps = steps_of(width, range, last);
                (QUALITY_LOWEST..=QUALITY_HIGHEST).contains(&(steps.floor() / steps))
            })
        };
        let last = (1..MOST_STEPS).find(|&last| fits(last));
        Self {
            min_fps,
            max_fps,
            last: last.unwrap_or(MOST_STEPS),
        }
    }

    /// The step of the maximum load.
    pub(super) fn last(&self) -> usize {
        self.last
    }

    /// The load of a step in frames per second.
    pub(super) fn load_fps(&self, step: usize) -> f64 {
        if step == 0 {
            return self.min_fps;
        }
        if step >= self.last {
            return self.max_fps;
        }
        let share = step as f64 / self.last as f64;
        self.min_fps * (share * self.range()).exp()
    }

    /// The highest step that does not exceed `load_fps`; step 0 below the minimum.
    pub(super) fn step_below(&self, load_fps: f64) -> usize {
        if load_fps <= self.min_fps {
            return 0;
        }
        let near = (load_fps / self.min_fps).ln() / self.range() * self.last as f64;
        let near = (near as usize).saturating_add(1).min(self.last);
        (0..=near)
            .rev()
            .find(|&step| self.load_fps(step) <= load_fps)
            .unwrap_or(0)
    }

    /// A relative width in whole steps; at least one.
    pub(super) fn width_steps(&self, width: f64) -> usize {
        (steps_of(width, self.range(), self.last) as usize).max(1)
    }

    fn range(&self) -> f64 {
        (self.max_fps / self.min_fps).ln()
    }
}

/// `(upper − lower) / upper = width` in steps: `−ln(1 − width)` over the logarithm of one step.
fn steps_of(width: f64, range: f64, last: usize) -> f64 {
    -(-width).ln_1p() * last as f64 / range
}

const QUALITY_LOWEST: f64 = 0.99;
/// Below 1, so that rounding never makes an interval wider than its goal.
const QUALITY_HIGHEST: f64 = 0.999_999;
/// Widths of a hundred-thousandth over nine decades fit in.
const MOST_STEPS: usize = 1 << 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_of_the_reference_searches() {
        let table = [
            (1e4, 14_880_952.0, 1458),
            (1e3, 1_488_095.0, 1458),
            (1e3, 1e9, 2757),
            (1e4, 1_488_095.0, 999),
        ];
        for (min, max, last) in table {
            let lattice = Lattice::new(min, max, &[0.005]);
            assert_eq!(lattice.last(), last, "{min}..{max}");
            assert_eq!(lattice.width_steps(0.005), 1);
        }
    }

    #[test]
    fn every_step_finds_itself_and_no_width_is_exceeded() {
        let lattice = Lattice::new(1e3, 1e7, &[0.005, 0.02]);
        for step in 0..=lattice.last() {
            assert_eq!(lattice.step_below(lattice.load_fps(step)), step);
        }
        for width in [0.005, 0.02] {
            let steps = lattice.width_steps(width);
            let (lower, upper) = (lattice.load_fps(100), lattice.load_fps(100 + steps));
            assert!((upper - lower) / upper <= width);
            assert!((upper - lower) / upper > width * 0.98);
        }
    }
}
