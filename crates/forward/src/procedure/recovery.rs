// SPDX-License-Identifier: MIT OR Apache-2.0
//! System recovery, RFC 2544 section 26.5: an overload, then half of it; until when are frames lost?

use linerate_method::recovery::{self, Plan};
use linerate_model::output::{self, Benchmarks, RecoveryAttempt, TrialPhase};

use super::{NO_THROUGHPUT, REPEATS, Task, unspoilt};
use crate::Tell;
use crate::rig::Rig;
use crate::trial::{Ask, Tried};
use linerate_model::failure::Failure;

impl Task<'_> {
    pub(super) fn recovery(
        &self,
        rig: &mut Rig<'_>,
        tell: Tell<'_>,
    ) -> Result<Benchmarks, Failure> {
        let profile = &rig.plan.profile;
        let (overload_s, watched_s) = (profile.overload_s, profile.recovery_s);
        let repeats = profile.repeats;
        let mut told = output::Recovery {
            subject: self.subject(),
            throughput_fps: self.throughput_fps,
            overload_s,
            watched_s,
            ..output::Recovery::default()
        };
        if let Some(fps) = self.throughput_fps {
            let plan = Plan::new(fps, self.limit.load_fps, overload_s, watched_s);
            told.overload_fps = Some(plan.overload_fps);
            told.reduced_fps = Some(plan.reduced_fps);
            let (mut seen, mut spoilt) = (Vec::new(), REPEATS);
            for _ in 0..repeats {
                let ask = self.overload(&plan, overload_s, watched_s);
                let tried = unspoilt(rig, tell, &ask, &mut spoilt, |tried| !tried.trial.valid)?;
                let recovery = judged(&plan, &tried);
                told.attempts.push(attempt(tried.trial.id, recovery));
                seen.push(recovery);
            }
            told.mean_s = recovery::mean_s(&seen);
            told.not_measured = why_not(&seen).map(str::to_owned);
        } else {
            told.not_measured = Some(NO_THROUGHPUT.to_owned());
        }
        Ok(Benchmarks {
            recovery: vec![told],
            ..Benchmarks::default()
        })
    }

    fn overload(&self, plan: &Plan, overload_s: f64, watched_s: f64) -> Ask<'_> {
        Ask {
            purpose: "recovery",
            load_fps: Some(plan.overload_fps),
            duration_s: overload_s,
            then: Some(TrialPhase {
                load_fps: plan.reduced_fps,
                duration_s: watched_s,
            }),
            ..Ask::of(self.sizes, self.way)
        }
    }
}

/// Of the direction that takes longer.
fn judged(plan: &Plan, tried: &Tried) -> recovery::Recovery {
    let last_lost = tried.arrivals.iter().filter_map(|one| one.last_lost).max();
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
        recovery::Recovery::NotYet { .. } => Some("frames were lost as long as it was watched"),
        recovery::Recovery::NoOverload => Some("nothing was lost: it was no overload"),
    })
}
