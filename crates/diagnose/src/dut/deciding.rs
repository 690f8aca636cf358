// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trial that decided a result: the one at the lowest load that the device did not carry; where it
//! carried all that was offered, the one at the highest; where it carried none, the one that lost most.

use linerate_model::output::{ForwardResult, Trial};

use linerate_model::record::Record;

/// A result and the trial behind its bound.
#[derive(Debug, Clone, Copy)]
pub struct Deciding<'r> {
    /// The first of those that the trial decided.
    pub result: &'r ForwardResult,
    /// It.
    pub trial: &'r Trial,
}

/// The deciding trials of the results, each once.
#[must_use]
pub fn deciding<'r>(results: &'r [ForwardResult], trials: &'r [Trial]) -> Vec<Deciding<'r>> {
    let mut found: Vec<Deciding<'r>> = Vec::new();
    for result in results {
        let Some(trial) = of(result, trials) else {
            continue;
        };
        if !found.iter().any(|known| known.trial.id == trial.id) {
            found.push(Deciding { result, trial });
        }
    }
    found
}

/// Those of a record of which the device reported.
pub(crate) fn reported(record: &Record) -> impl Iterator<Item = Deciding<'_>> {
    let all = deciding(&record.run.results, &record.trials);
    all.into_iter().filter(|one| one.trial.device.is_some())
}

/// How findings and the ledger name a trial.
#[must_use]
pub fn name(trial: &Trial) -> String {
    format!("trial-{}", trial.id)
}

/// `a-b`, `b-a` or `both`.
pub(crate) fn way(trial: &Trial) -> String {
    match trial.directions.as_slice() {
        [only] => format!("{}-{}", only.from, only.to),
        _ => "both".to_owned(),
    }
}

/// The trial at the result's bound. One that the tester spoilt only where there is no other.
#[must_use]
pub fn of<'r>(result: &ForwardResult, trials: &'r [Trial]) -> Option<&'r Trial> {
    let of_search = |trial: &&Trial| {
        trial.purpose == SEARCH
            && trial.frame_bytes == result.frame_bytes
            && way(trial) == result.direction
    };
    let searched = trials.iter().filter(of_search);
    let (bound_fps, lossy) = match (result.upper_fps, result.lower_fps) {
        (Some(upper), Some(_)) => (upper, true),
        (None, Some(lower)) => (lower, false),
        // It carried no load: the trial that lost most says most.
        (_, None) => {
            let lossy = searched.filter(|trial| trial.valid && trial.loss_ratio > 0.0);
            return lossy.max_by_key(|one| {
                one.directions
                    .iter()
                    .map(|way| way.lost_frames)
                    .sum::<u64>()
            });
        }
    };
    let fits = |trial: &&Trial| {
        (trial.load_fps / bound_fps - 1.0).abs() < SAME && (trial.loss_ratio > 0.0) == lossy
    };
    let mut fitting = searched.filter(fits);
    let last = fitting.clone().next_back();
    fitting.rfind(|trial| trial.valid).or(last)
}

const SEARCH: &str = "search";
/// Loads are written as they are.
const SAME: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::TrialDirection;

    fn trial(id: u32, load_fps: f64, loss_ratio: f64, valid: bool) -> Trial {
        Trial {
            id,
            purpose: SEARCH.to_owned(),
            frame_bytes: 64,
            load_fps,
            loss_ratio,
            valid,
            directions: vec![TrialDirection {
                lost_frames: (load_fps * loss_ratio) as u64,
                from: "a".to_owned(),
                to: "b".to_owned(),
                ..TrialDirection::default()
            }],
            ..Trial::default()
        }
    }

    fn result(lower_fps: f64, upper_fps: Option<f64>) -> ForwardResult {
        ForwardResult {
            frame_bytes: 64,
            direction: "a-b".to_owned(),
            lower_fps: Some(lower_fps),
            upper_fps,
            ..ForwardResult::default()
        }
    }

    #[test]
    fn the_bound_above_decides_and_what_the_tester_spoilt_does_not() {
        let trials = [
            trial(1, 100.0, 0.0, true),
            trial(2, 120.0, 0.1, true),
            trial(3, 120.0, 0.0, true),
            trial(4, 120.0, 0.2, false),
            trial(5, 200.0, 0.4, true),
        ];
        let id = |result: &ForwardResult| of(result, &trials).map(|trial| trial.id);
        assert_eq!(id(&result(100.0, Some(120.0))), Some(2));
        assert_eq!(id(&result(100.0, None)), Some(1), "it carried everything");
        assert_eq!(id(&result(100.0, Some(121.0))), None);
        let unfinished = ForwardResult {
            lower_fps: None,
            ..result(0.0, None)
        };
        assert_eq!(id(&unfinished), Some(5), "the one that lost most");
        let both = [result(100.0, Some(120.0)), result(100.0, Some(120.0))];
        assert_eq!(deciding(&both, &trials).len(), 1, "of two goals");
    }
}
