// SPDX-License-Identifier: MIT OR Apache-2.0
//! System recovery, RFC 2544 section 26.5: an overload, then half of it; until when are frames lost?

use linerate_method::recovery::{self, Plan};
use linerate_model::failure::Failure;
use linerate_model::output::{self, RecoveryAttempt, TrialPhase};

use super::{NO_THROUGHPUT, REPEATS};
use crate::subject::Subject;
use crate::trial::{TrialRequest, TrialRun};
use crate::trials::Trials;

pub(super) fn measure(
    subject: &Subject<'_>,
    trials: &mut Trials<'_, '_>,
) -> Result<output::Recovery, Failure> {
    let profile = &trials.tester.plan.profile;
    let (overload_s, watched_s) = (profile.overload_s, profile.recovery_s);
    let mut result = output::Recovery {
        subject: subject.record(),
        throughput_fps: subject.throughput_fps,
        overload_s,
        watched_s,
        ..output::Recovery::default()
    };
    let Some(fps) = subject.throughput_fps else {
        result.not_measured = Some(NO_THROUGHPUT.to_owned());
        return Ok(result);
    };
    let plan = Plan::new(fps, subject.limit.load_fps, overload_s, watched_s);
    result.overload_fps = Some(plan.overload_fps);
    result.reduced_fps = Some(plan.reduced_fps);
    let request = TrialRequest {
        purpose: "recovery",
        load_fps: Some(plan.overload_fps),
        duration_s: overload_s,
        then: Some(TrialPhase {
            load_fps: plan.reduced_fps,
            duration_s: watched_s,
        }),
        ..TrialRequest::of(subject.sizes, subject.way)
    };
    let (mut seen, mut repeats) = (Vec::new(), REPEATS);
    for _ in 0..profile.repeats {
        let run = trials.run_unspoilt(&request, &mut repeats, |run| !run.trial.valid)?;
        let recovery = judged(&plan, &run);
        result.attempts.push(attempt(run.trial.id, recovery));
        seen.push(recovery);
    }
    result.mean_s = recovery::mean_s(&seen);
    result.not_measured = why_not(&seen).map(str::to_owned);
    Ok(result)
}

/// The recovery of the direction that takes longer.
fn judged(plan: &Plan, run: &TrialRun) -> recovery::Recovery {
    let last_lost = run.arrivals.iter().filter_map(|one| one.last_lost).max();
    plan.recovery(last_lost)
}

fn attempt(trial: u32, recovery: recovery::Recovery) -> RecoveryAttempt {
    let (state, recovery_s) = match recovery {
        recovery::Recovery::After { seconds } => ("recovered", Some(seconds)),
        recovery::Recovery::NotYet { .. } => ("not-recovered", None),
        recovery::Recovery::NoOverload => ("no-overload", None),
    };
    RecoveryAttempt {
        trial,
        state: state.to_owned(),
        recovery_s,
    }
}

fn why_not(seen: &[recovery::Recovery]) -> Option<&'static str> {
    let mut seen = seen.iter();
    seen.find_map(|one| match one {
        recovery::Recovery::After { .. } => None,
        recovery::Recovery::NotYet { .. } => Some("loss did not stop within the observation time"),
        recovery::Recovery::NoOverload => {
            Some("nothing was lost: the load did not overload the device")
        }
    })
}
