// SPDX-License-Identifier: MIT OR Apache-2.0
//! The longest bursts without loss and the size of the buffer that takes them, RFC 9004.

use linerate_method::back_to_back::{Benchmark, Campaign, is_applicable, wait_s};
use linerate_model::failure::Failure;
use linerate_model::output::BackToBack;

use super::{NO_THROUGHPUT, REPEATS};
use crate::subject::Subject;
use crate::trial::{TrialRequest, TrialRun};
use crate::trials::Trials;

pub(super) fn measure(
    subject: &Subject<'_>,
    trials: &mut Trials<'_, '_>,
) -> Result<BackToBack, Failure> {
    let limit = &subject.limit;
    let plan = trials.tester.plan.profile.bursts(limit.load_fps);
    let mut result = BackToBack {
        subject: subject.record(),
        burst_fps: plan.burst_fps,
        is_line_rate: limit.is_line_rate(),
        throughput_fps: subject.throughput_fps,
        step_ratio: plan.step_ratio,
        tries: plan.tries,
        limit_s: plan.limit_s,
        ..BackToBack::default()
    };
    match subject.throughput_fps {
        None => result.not_measured = Some(NO_THROUGHPUT.to_owned()),
        Some(fps) if !is_applicable(plan.burst_fps * NEARLY, fps) => {
            result.not_measured = Some(FORWARDS_ALL.to_owned());
        }
        Some(fps) => {
            let mut campaign = Campaign::new(plan);
            let mut repeats = REPEATS * plan.searches;
            while let Some(frames) = campaign.next_frames() {
                campaign.report(burst(subject, trials, (frames, fps), &mut repeats)?);
            }
            conclude(&mut result, &campaign, fps);
        }
    }
    Ok(result)
}

/// Sends one burst; returns the number of frames lost.
fn burst(
    subject: &Subject<'_>,
    trials: &mut Trials<'_, '_>,
    (frames, throughput_fps): (u64, f64),
    repeats: &mut u32,
) -> Result<u64, Failure> {
    let burst_fps = subject.limit.load_fps;
    let residual_s = trials.tester.plan.profile.burst_residual_s;
    let request = TrialRequest {
        purpose: "back-to-back",
        load_fps: Some(burst_fps),
        duration_s: (frames as f64 + HALF_A_FRAME) / burst_fps,
        residual_s: wait_s(frames, burst_fps, throughput_fps, residual_s),
        ..TrialRequest::of(subject.sizes, subject.way)
    };
    let run = trials.run_unspoilt(&request, repeats, is_no_burst)?;
    Ok(run.sum(|one| one.lost_frames))
}

/// A sender that stalled gave the device time: then a burst without loss is no evidence.
fn is_no_burst(run: &TrialRun) -> bool {
    let mut ways = run.trial.directions.iter();
    !run.trial.valid || run.trial.loss_ratio == 0.0 && ways.any(|one| one.sender_stalled_ns > 0)
}

fn conclude(result: &mut BackToBack, campaign: &Campaign, throughput_fps: f64) {
    result.longest_frames = campaign.longest_frames().to_vec();
    if campaign.is_endless() {
        result.not_measured = Some(format!("a burst of {} s lost nothing", result.limit_s));
        return;
    }
    let found = Benchmark::new(&result.longest_frames, result.burst_fps, throughput_fps);
    result.mean_frames = found.map(|found| found.mean_frames);
    result.deviation_frames = found.and_then(|found| found.deviation_frames);
    result.implied_s = found.map(|found| found.implied_s);
    result.corrected_s = found.map(|found| found.corrected_s);
    result.buffer_frames = found.map(|found| found.buffer_frames);
}

/// Makes load times duration, rounded down, the number of frames.
const HALF_A_FRAME: f64 = 0.5;
/// A search ends before its bounds meet.
const NEARLY: f64 = 0.99;
const FORWARDS_ALL: &str = "throughput equals the maximum load: a burst of any length passes";
