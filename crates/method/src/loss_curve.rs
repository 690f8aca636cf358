// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frame loss curve (RFC 2544 §26.3): loss at the maximum load and at decreasing loads, until two trials in
//! succession have no loss.
//!
//! ```
//! use linerate_method::loss_curve::LossCurve;
//! use linerate_method::search::Measurement;
//! let mut curve = LossCurve::new(1000.0, 0.1)?;
//! while let Some(load_fps) = curve.next_load_fps() {
//!     let sent = load_fps as u64;
//!     curve.report(Measurement::new(sent, sent.saturating_sub(850)));
//! }
//! let loads: Vec<f64> = curve.points().iter().map(|point| point.load_fps).collect();
//! assert_eq!(loads, [1000.0, 900.0, 800.0, 700.0]);
//! # Ok::<(), linerate_method::loss_curve::StepError>(())
//! ```

use crate::search::Measurement;

/// The curve as far as it is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct LossCurve {
    max_load_fps: f64,
    step_ratio: f64,
    points: Vec<Point>,
}

/// One trial of the curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Intended load in frames per second and direction.
    pub load_fps: f64,
    /// The load as a share of the maximum, 0 … 1: the abscissa.
    pub load_ratio: f64,
    /// Loss ratio of the offered frames, 0 … 1: the ordinate. `None` if none were offered.
    pub loss_ratio: Option<f64>,
    /// The tester sent less than intended: the loss belongs to a lower load than this.
    pub under_run: bool,
}

/// Steps that RFC 2544 does not allow.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a step of {0} is not above 0 and at most 0.1 of the maximum load (RFC 2544 section 26.3)")]
pub struct StepError(pub f64);

impl LossCurve {
    /// Creates a curve down from `max_load_fps` (frames per second and direction) in steps of this share of
    /// it, at most 0.1.
    pub fn new(max_load_fps: f64, step_ratio: f64) -> Result<Self, StepError> {
        if !(step_ratio > 0.0 && step_ratio <= 0.1) {
            return Err(StepError(step_ratio));
        }
        Ok(Self {
            max_load_fps,
            step_ratio,
            points: Vec::new(),
        })
    }

    /// The load of the next trial; `None` when the curve is complete.
    pub fn next_load_fps(&self) -> Option<f64> {
        let is_complete = ends_lossless(&self.points);
        let load_ratio = self.next_ratio().filter(|_| !is_complete)?;
        Some(self.max_load_fps * load_ratio)
    }

    /// Records the result of the trial at [`Self::next_load_fps`]. Ignored when the curve is complete.
    pub fn report(&mut self, measured: Measurement) {
        let (Some(load_fps), Some(load_ratio)) = (self.next_load_fps(), self.next_ratio()) else {
            return;
        };
        let offered = measured.offered_frames;
        let lost = measured.lost_frames.min(offered);
        self.points.push(Point {
            load_fps,
            load_ratio,
            loss_ratio: (offered > 0).then(|| lost as f64 / offered as f64),
            under_run: measured.is_under_run(),
        });
    }

    /// The trials so far, from the maximum downwards.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The maximum number of trials, to estimate the duration.
    pub fn trials_max(&self) -> u32 {
        (1.0 / self.step_ratio - ROUNDING).ceil() as u32
    }

    fn next_ratio(&self) -> Option<f64> {
        let load_ratio = 1.0 - self.points.len() as f64 * self.step_ratio;
        (load_ratio > ROUNDING).then_some(load_ratio)
    }
}

fn ends_lossless(points: &[Point]) -> bool {
    let is_lossless = |point: &Point| point.loss_ratio == Some(0.0);
    matches!(points, [.., a, b] if is_lossless(a) && is_lossless(b))
}

/// Ten steps of a tenth are the whole.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(capacity: u64) -> Vec<Point> {
        let mut curve = LossCurve::new(1000.0, 0.1).unwrap();
        while let Some(load_fps) = curve.next_load_fps() {
            let sent = load_fps.round() as u64;
            curve.report(Measurement::new(sent, sent.saturating_sub(capacity)));
            assert!(curve.points().len() <= curve.trials_max() as usize);
        }
        curve.points
    }

    #[test]
    fn two_lossless_trials_end_it() {
        assert_eq!(curve(5000).len(), 2);
        let ratios: Vec<f64> = curve(750).iter().map(|p| p.loss_ratio.unwrap()).collect();
        assert_eq!(ratios, [0.25, 150.0 / 900.0, 0.0625, 0.0, 0.0]);
    }

    #[test]
    fn a_device_that_always_loses_is_followed_down_to_the_last_step() {
        let points = curve(0);
        assert_eq!(points.len(), 10);
        assert!((points[9].load_ratio - 0.1).abs() < 1e-9);
        assert!(points.iter().all(|point| point.loss_ratio == Some(1.0)));
    }

    #[test]
    fn what_the_tester_did_not_send_is_not_lost() {
        let mut curve = LossCurve::new(1000.0, 0.1).unwrap();
        curve.report(Measurement {
            offered_frames: 500,
            ..Measurement::new(1000, 50)
        });
        curve.report(Measurement {
            offered_frames: 0,
            ..Measurement::new(900, 0)
        });
        assert_eq!(curve.points()[0].loss_ratio, Some(0.1));
        assert!(curve.points()[0].under_run);
        assert_eq!(curve.points()[1].loss_ratio, None);
        curve.report(Measurement::new(800, 900));
        assert_eq!(curve.points()[2].loss_ratio, Some(1.0), "not more than all");
    }

    #[test]
    fn steps_are_small() {
        for step in [0.0, -0.1, 0.11, f64::NAN] {
            assert!(LossCurve::new(1.0, step).is_err(), "{step}");
        }
    }
}
