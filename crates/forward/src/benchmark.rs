// SPDX-License-Identifier: MIT OR Apache-2.0
//! The benchmarks (RFC 2544, 9004, 6201), made of trials; the method decides what to send.
//!
//! Each is measured for all sizes and ways before the next, the throughput first: most others need it.

mod back_to_back;
mod latency;
mod loss_curve;
mod recovery;
mod reset;

use linerate_method::profile::Profile;
use linerate_model::failure::Failure;
use linerate_model::output::{Benchmarks, ForwardResult};

use crate::event::Event;
use crate::load_search::{self, LoadSearch};
use crate::plan::{ForwardPlan, Procedure};
use crate::subject::Subject;
use crate::tester::Tester;
use crate::trials::Trials;

/// Measures one benchmark, and reports it; `later_s` is the estimated duration of all that follow.
///
/// # Errors
/// As [`trial::run`](crate::trial::run); every trial reported until then is valid.
pub(crate) fn measure(
    subject: &mut Subject<'_>,
    procedure: Procedure,
    later_s: f64,
    trials: &mut Trials<'_, '_>,
) -> Result<(), Failure> {
    let mut all = Benchmarks::default();
    match procedure {
        Procedure::Throughput => {
            let results = LoadSearch { subject, later_s }.run(trials)?;
            for result in &results {
                trials.report(Event::Result(result));
            }
            subject.throughput_fps = strictest(trials.tester.plan, &results);
            return Ok(());
        }
        Procedure::LossCurve => all.loss_curves = vec![loss_curve::measure(subject, trials)?],
        Procedure::BackToBack => all.back_to_back = vec![back_to_back::measure(subject, trials)?],
        Procedure::Latency => all.latency = latency::measure(subject, trials)?,
        Procedure::Recovery => all.recovery = vec![recovery::measure(subject, trials)?],
        Procedure::Reset => all.reset = vec![reset::measure(subject, trials)?],
    }
    trials.report(Event::Benchmark(&all));
    Ok(())
}

/// The result of the goal with the least loss.
fn strictest(plan: &ForwardPlan, results: &[ForwardResult]) -> Option<f64> {
    let goals = plan.goals.iter();
    let least = goals.min_by(|(_, a), (_, b)| a.loss_ratio.total_cmp(&b.loss_ratio));
    let (name, _) = least?;
    let result = results.iter().find(|result| result.goal == *name);
    result.and_then(|result| result.lower_fps)
}

/// The estimated duration of one benchmark, seconds. Unless it is known, the throughput is taken as half of the
/// highest load.
///
/// # Errors
/// A search whose bounds make no sense.
pub(crate) fn estimate_s(
    subject: &Subject<'_>,
    procedure: Procedure,
    tester: &Tester<'_>,
) -> Result<f64, Failure> {
    let load_fps = subject.limit.load_fps;
    let profile = Profile {
        waits: tester.plan.profile.waits.taking(tester.per_trial_s()),
        ..tester.plan.profile
    };
    Ok(match procedure {
        Procedure::Throughput => load_search::estimate_s(subject, tester)?,
        Procedure::LossCurve => profile.loss_curve_s(loss_curve::STEP).unwrap_or(0.0),
        Procedure::BackToBack => profile.back_to_back_s(load_fps, load_fps / 2.0),
        Procedure::Latency => profile.latency_s(),
        Procedure::Recovery => profile.recovery_total_s(),
        Procedure::Reset => profile.reset_total_s(),
    })
}

/// How often spoilt trials are repeated in a benchmark of one size; for bursts, in each search.
const REPEATS: u32 = 8;
const NO_THROUGHPUT: &str = "no rate without loss was found to measure it at";
