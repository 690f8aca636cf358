// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loss over load, RFC 2544 section 26.3.

use linerate_method::loss_curve::{LossCurve, Point};
use linerate_method::search::Measurement;
use linerate_model::output::{self, Benchmarks, LossPoint, Trial};

use super::{REPEATS, Task, unspoilt};
use crate::Tell;
use crate::rig::Rig;
use crate::trial::{Ask, Tried};
use linerate_model::failure::Failure;

impl Task<'_> {
    pub(super) fn loss_curve(
        &self,
        rig: &mut Rig<'_>,
        tell: Tell<'_>,
    ) -> Result<Benchmarks, Failure> {
        let mut curve = LossCurve::new(self.limit.load_fps, STEP)
            .map_err(|why| Failure::usage("measure loss over load", why))?;
        let duration_s = rig.plan.profile.loss_curve_trial_s;
        let (mut trials, mut repeats) = (Vec::new(), REPEATS);
        while let Some(load_fps) = curve.next_load_fps() {
            let ask = Ask {
                purpose: "loss-curve",
                load_fps: Some(load_fps),
                duration_s,
                ..Ask::of(self.sizes, self.way)
            };
            // What the tester can hardly send, it will not send at the next attempt either.
            let hopeless = self.limit.is_testers(load_fps);
            let excused = |tried: &Tried| tried.trial.valid || self.limit.holds_up(tried);
            let is_spoilt = |tried: &Tried| !hopeless && !excused(tried);
            let tried = unspoilt(rig, tell, &ask, &mut repeats, is_spoilt)?;
            curve.report(measurement(&tried.trial));
            trials.push((tried.trial.id, tried.trial.valid));
        }
        let points = curve.points().iter().zip(&trials);
        let curve = output::LossCurve {
            subject: self.subject(),
            max_load_fps: self.limit.load_fps,
            trial_s: duration_s,
            points: points.map(|(point, trial)| told(point, *trial)).collect(),
        };
        Ok(Benchmarks {
            loss_curves: vec![curve],
            ..Benchmarks::default()
        })
    }
}

fn told(point: &Point, (trial, valid): (u32, bool)) -> LossPoint {
    LossPoint {
        trial,
        load_fps: point.load_fps,
        load_ratio: point.load_ratio,
        loss_ratio: point.loss_ratio,
        tester_limited: point.under_run || !valid,
    }
}

fn measurement(trial: &Trial) -> Measurement {
    let ways = &trial.directions;
    let offered: u64 = ways.iter().map(|one| one.offered_frames).sum();
    Measurement {
        offered_frames: offered,
        ..Measurement::new(
            ways.iter().map(|one| one.intended_frames).sum(),
            ways.iter().map(|one| one.lost_frames).sum(),
        )
    }
}

/// RFC 2544 allows a tenth of the highest load at most.
pub(super) const STEP: f64 = 0.1;
