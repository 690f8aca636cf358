// SPDX-License-Identifier: MIT OR Apache-2.0
//! The longest bursts without loss and the buffer behind them, RFC 9004.

use linerate_method::back_to_back::{Benchmark, Campaign, is_applicable, wait_s};
use linerate_model::output::{BackToBack, Benchmarks};

use super::{NO_THROUGHPUT, REPEATS, Task, unspoilt};
use crate::Tell;
use crate::rig::Rig;
use crate::trial::{Ask, Tried};
use linerate_model::failure::Failure;

impl Task<'_> {
    pub(super) fn back_to_back(
        &self,
        rig: &mut Rig<'_>,
        tell: Tell<'_>,
    ) -> Result<Benchmarks, Failure> {
        let plan = rig.plan.profile.bursts(self.limit.load_fps);
        let mut told = BackToBack {
            subject: self.subject(),
            burst_fps: plan.burst_fps,
            is_line_rate: self.limit.line_fps == Some(self.limit.load_fps),
            throughput_fps: self.throughput_fps,
            step_ratio: plan.step_ratio,
            tries: plan.tries,
            limit_s: plan.limit_s,
            ..BackToBack::default()
        };
        match self.throughput_fps {
            None => told.not_measured = Some(NO_THROUGHPUT.to_owned()),
            Some(fps) if !is_applicable(plan.burst_fps * NEARLY, fps) => {
                told.not_measured = Some(FORWARDS_ALL.to_owned());
            }
            Some(fps) => {
                let mut campaign = Campaign::new(plan);
                let mut spoilt = REPEATS * plan.searches;
                while let Some(frames) = campaign.next_frames() {
                    campaign.report(self.burst(rig, tell, (frames, fps), &mut spoilt)?);
                }
                conclude(&mut told, &campaign, fps);
            }
        }
        Ok(Benchmarks {
            back_to_back: vec![told],
            ..Benchmarks::default()
        })
    }

    /// Sends one burst; what it lost.
    fn burst(
        &self,
        rig: &mut Rig<'_>,
        tell: Tell<'_>,
        (frames, throughput_fps): (u64, f64),
        spoilt: &mut u32,
    ) -> Result<u64, Failure> {
        let burst_fps = self.limit.load_fps;
        let residual_s = rig.plan.profile.burst_residual_s;
        let ask = Ask {
            purpose: "back-to-back",
            load_fps: Some(burst_fps),
            duration_s: (frames as f64 + HALF_A_FRAME) / burst_fps,
            residual_s: wait_s(frames, burst_fps, throughput_fps, residual_s),
            ..Ask::of(self.sizes, self.way)
        };
        let tried = unspoilt(rig, tell, &ask, spoilt, is_no_burst)?;
        let ways = tried.trial.directions.iter();
        Ok(ways.map(|one| one.lost_frames).sum())
    }
}

/// A sender that stood still gave the device time: that nothing was lost then says nothing.
fn is_no_burst(tried: &Tried) -> bool {
    let mut ways = tried.trial.directions.iter();
    !tried.trial.valid || tried.trial.loss_ratio == 0.0 && ways.any(|one| one.sender_stalled_ns > 0)
}

fn conclude(told: &mut BackToBack, campaign: &Campaign, throughput_fps: f64) {
    told.longest_frames = campaign.longest_frames().to_vec();
    if campaign.is_endless() {
        told.not_measured = Some(format!("a burst of {} s lost nothing", told.limit_s));
        return;
    }
    let found = Benchmark::new(&told.longest_frames, told.burst_fps, throughput_fps);
    told.mean_frames = found.map(|found| found.mean_frames);
    told.deviation_frames = found.and_then(|found| found.deviation_frames);
    told.implied_s = found.map(|found| found.implied_s);
    told.corrected_s = found.map(|found| found.corrected_s);
    told.buffer_frames = found.map(|found| found.buffer_frames);
}

/// The whole frames of load times duration are meant to be these.
const HALF_A_FRAME: f64 = 0.5;
/// A search ends before its bounds meet.
const NEARLY: f64 = 0.99;
const FORWARDS_ALL: &str = "the throughput is the highest load: a burst at that rate has no end";
