// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loss over load, RFC 2544 section 26.3.

use linerate_method::loss_curve::{LossCurve, Point};
use linerate_model::failure::Failure;
use linerate_model::output::{self, LossPoint};

use super::REPEATS;
use crate::subject::Subject;
use crate::trial::{TrialRequest, TrialRun};
use crate::trials::Trials;

pub(super) fn measure(
    subject: &Subject<'_>,
    trials: &mut Trials<'_, '_>,
) -> Result<output::LossCurve, Failure> {
    let limit = &subject.limit;
    let mut curve = LossCurve::new(limit.load_fps, STEP)
        .map_err(|why| Failure::usage("measure loss over load", why))?;
    let duration_s = trials.tester.plan.profile.loss_curve_trial_s;
    let (mut done, mut repeats) = (Vec::new(), REPEATS);
    while let Some(load_fps) = curve.next_load_fps() {
        let request = TrialRequest {
            purpose: "loss-curve",
            load_fps: Some(load_fps),
            duration_s,
            ..TrialRequest::of(subject.sizes, subject.way)
        };
        // A load at the tester's ceiling will not be sent at the next attempt either.
        let hopeless = limit.is_testers(load_fps);
        let excused = |run: &TrialRun| run.trial.valid || limit.holds_up(run);
        let is_spoilt = |run: &TrialRun| !hopeless && !excused(run);
        let run = trials.run_unspoilt(&request, &mut repeats, is_spoilt)?;
        curve.report(run.measurement());
        done.push((run.trial.id, run.trial.valid));
    }
    let points = curve.points().iter().zip(&done);
    Ok(output::LossCurve {
        subject: subject.record(),
        max_load_fps: limit.load_fps,
        trial_s: duration_s,
        points: points.map(|(point, trial)| record(point, *trial)).collect(),
    })
}

fn record(point: &Point, (trial, valid): (u32, bool)) -> LossPoint {
    LossPoint {
        trial,
        load_fps: point.load_fps,
        load_ratio: point.load_ratio,
        loss_ratio: point.loss_ratio,
        tester_limited: point.under_run || !valid,
    }
}

/// RFC 2544 allows steps of at most a tenth of the highest load.
pub(super) const STEP: f64 = 0.1;
