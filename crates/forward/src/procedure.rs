// SPDX-License-Identifier: MIT OR Apache-2.0
//! The benchmarks of RFC 2544 and its kin, each by the same trials; what to send is the method's.
//!
//! One after the other for all sizes and ways, the throughput first: the others are measured at it.

mod back_to_back;
mod latency;
mod loss_curve;
mod name;
mod recovery;
mod reset;

use linerate_model::output::{Benchmarks, Subject};

pub use name::Procedure;

use super::ceiling::Limit;
use super::plan::Way;
use super::rig::Rig;
use super::trial::{Ask, Tried, genome};
use super::{Event, Tell};
use linerate_method::frame_size::Mix;
use linerate_method::profile::Profile;
use linerate_model::failure::Failure;

/// What a benchmark is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task<'a> {
    pub sizes: &'a Mix,
    pub way: Way,
    pub limit: Limit,
    /// The highest rate without loss, or with the least that was searched for; frames a second.
    pub throughput_fps: Option<f64>,
}

impl Task<'_> {
    /// Measures one benchmark.
    ///
    /// # Errors
    /// As [`Rig::trial`]; every trial that was told until then is valid.
    pub(super) fn run(
        &self,
        procedure: Procedure,
        rig: &mut Rig<'_>,
        tell: Tell<'_>,
    ) -> Result<Benchmarks, Failure> {
        match procedure {
            Procedure::Throughput => Ok(Benchmarks::default()),
            Procedure::LossCurve => self.loss_curve(rig, tell),
            Procedure::BackToBack => self.back_to_back(rig, tell),
            Procedure::Latency => self.latency(rig, tell),
            Procedure::Recovery => self.recovery(rig, tell),
            Procedure::Reset => self.reset(rig, tell),
        }
    }

    /// How long one benchmark takes, seconds. Where nobody knows it yet, the throughput is half of
    /// the highest load.
    pub(super) fn estimate_s(&self, procedure: Procedure, profile: &Profile) -> f64 {
        match procedure {
            Procedure::Throughput => 0.0,
            Procedure::LossCurve => profile.loss_curve_s(loss_curve::STEP).unwrap_or(0.0),
            Procedure::BackToBack => {
                profile.back_to_back_s(self.limit.load_fps, self.limit.load_fps / 2.0)
            }
            Procedure::Latency => profile.latency_s(),
            Procedure::Recovery => profile.recovery_total_s(),
            Procedure::Reset => profile.reset_total_s(),
        }
    }

    fn subject(&self) -> Subject {
        Subject {
            frame_bytes: self.sizes.frame_bytes(),
            genome: genome(self.sizes),
            direction: self.way.name().to_owned(),
        }
    }
}

/// A trial with a number, told.
fn tried(rig: &mut Rig<'_>, tell: Tell<'_>, ask: &Ask<'_>) -> Result<Tried, Failure> {
    let mut tried = rig.trial(ask)?;
    rig.trials += 1;
    tried.trial.id = rig.trials;
    tell(Event::Trial(&tried.trial));
    Ok(tried)
}

/// The same, repeated as long as the tester spoilt it, so many times at most.
fn unspoilt(
    rig: &mut Rig<'_>,
    tell: Tell<'_>,
    ask: &Ask<'_>,
    repeats: &mut u32,
    is_spoilt: impl Fn(&Tried) -> bool,
) -> Result<Tried, Failure> {
    loop {
        let tried = tried(rig, tell, ask)?;
        if *repeats == 0 || !is_spoilt(&tried) {
            return Ok(tried);
        }
        *repeats -= 1;
    }
}

/// Spoilt trials that are made again, of each benchmark of one size; of bursts in each search.
const REPEATS: u32 = 8;
const NO_THROUGHPUT: &str = "there is no rate without loss to measure it at";
