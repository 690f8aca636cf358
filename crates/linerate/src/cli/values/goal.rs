// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to search for: `--goal ndr`, `--goal tst009`, `--goal loss=0.1%,trial=5s,sum=15s`.

use std::str::FromStr;

use linerate_method::profile::Profile;
use linerate_method::search::Goal;

/// A goal by name, with what is to be different.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) struct GoalWord {
    /// As typed.
    pub(in crate::cli) name: String,
    base: Base,
    changes: Vec<(Part, f64)>,
}

/// What a goal begins with.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Base {
    /// The profile's trials, with this loss allowed.
    Profile {
        loss_ratio: f64,
    },
    Named(Goal),
}

/// What of a goal can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Loss,
    Exceed,
    Trial,
    Sum,
    Width,
}

impl GoalWord {
    /// The goal, as far as nothing else is said with the profile's trials.
    pub(in crate::cli) fn goal(&self, profile: &Profile) -> Goal {
        let base = match self.base {
            Base::Profile { loss_ratio } => profile.goal(loss_ratio),
            Base::Named(goal) => goal,
        };
        let changed = self.changes.iter().fold(base, changed);
        Goal {
            initial_trial_s: changed.initial_trial_s.min(changed.final_trial_s),
            duration_sum_s: changed.duration_sum_s.max(changed.final_trial_s),
            ..changed
        }
    }
}

/// A trial of another length takes the sum with it; what allows more loss cannot be as narrow.
fn changed(goal: Goal, (part, value): &(Part, f64)) -> Goal {
    match part {
        Part::Loss => Goal {
            loss_ratio: *value,
            width: goal.width.max(*value),
            ..goal
        },
        Part::Exceed => Goal {
            exceed_ratio: *value,
            ..goal
        },
        Part::Trial => Goal {
            duration_sum_s: goal.duration_sum_s * value / goal.final_trial_s,
            final_trial_s: *value,
            ..goal
        },
        Part::Sum => Goal {
            duration_sum_s: *value,
            ..goal
        },
        Part::Width => Goal {
            width: *value,
            ..goal
        },
    }
}

impl FromStr for GoalWord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split(',').peekable();
        let base = match *words.peek().unwrap_or(&"") {
            "ndr" => Some(Base::Profile { loss_ratio: 0.0 }),
            "pdr" => Some(Base::Profile {
                loss_ratio: Goal::pdr().loss_ratio,
            }),
            "rfc2544" => Some(Base::Named(Goal::rfc2544())),
            "tst009" => Some(Base::Named(Goal::tst009())),
            word if word.starts_with("loss=") => None,
            _ => return Err(EXPECTED.to_owned()),
        };
        if base.is_some() {
            words.next();
        }
        let changes = words.map(change).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            name: text.to_owned(),
            base: base.unwrap_or(Base::Profile { loss_ratio: 0.0 }),
            changes,
        })
    }
}

fn change(word: &str) -> Result<(Part, f64), String> {
    let (part, value) = word.split_once('=').unwrap_or((word, ""));
    let change = match part {
        "loss" => ratio(value).map(|ratio| (Part::Loss, ratio)),
        "exceed" => ratio(value).map(|ratio| (Part::Exceed, ratio)),
        "width" => ratio(value)
            .filter(|ratio| *ratio > 0.0)
            .map(|ratio| (Part::Width, ratio)),
        "trial" => seconds(value).map(|seconds| (Part::Trial, seconds)),
        "sum" => seconds(value).map(|seconds| (Part::Sum, seconds)),
        _ => None,
    };
    change.ok_or_else(|| format!("'{word}': {EXPECTED}"))
}

/// At least 0, below 1; `0.5%` is 0.005.
pub(in crate::cli) fn ratio(text: &str) -> Option<f64> {
    let ratio: f64 = match text.strip_suffix('%') {
        // The nearest number: 0.7 divided by 100.0 is 0.006999999999999999.
        Some(digits) => match format!("{digits}e-2").parse() {
            Ok(ratio) => ratio,
            Err(_) => digits.parse::<f64>().ok()? / 100.0,
        },
        None => text.parse().ok()?,
    };
    (0.0..1.0).contains(&ratio).then_some(ratio)
}

fn seconds(text: &str) -> Option<f64> {
    let ms = super::duration(text).ok().filter(|ms| *ms > 0)?;
    Some(ms as f64 / 1000.0)
}

const EXPECTED: &str = "expected ndr, pdr, rfc2544, tst009 or loss=0.1%, and after it ,exceed=0.5 ,trial=1s ,sum=3s ,width=1%";

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(text: &str) -> Goal {
        text.parse::<GoalWord>().unwrap().goal(&Profile::QUICK)
    }

    #[test]
    fn names() {
        assert_eq!(goal("ndr"), Profile::QUICK.goal(0.0));
        assert_eq!(goal("pdr"), Profile::QUICK.goal(0.005));
        assert_eq!(goal("loss=0.1%"), Profile::QUICK.goal(0.001));
        assert_eq!(goal("loss=0.25"), Profile::QUICK.goal(0.25));
        assert_eq!(goal("rfc2544"), Goal::rfc2544());
        assert_eq!(goal("tst009"), Goal::tst009());
    }

    /// As the same number without the sign: a figure's key contains it.
    #[test]
    fn a_percentage_is_the_nearest_number() {
        for tenths in 0..1000_u32 {
            let percentage = format!("{}.{}%", tenths / 10, tenths % 10);
            assert_eq!(
                ratio(&percentage),
                Some(f64::from(tenths) / 1000.0),
                "{percentage}"
            );
        }
        assert_eq!(ratio("0.7%").unwrap().to_string(), "0.007");
    }

    #[test]
    fn parts() {
        let own = goal("loss=1%,exceed=0.2,trial=2s,sum=10s,width=3%");
        assert_eq!(
            (own.loss_ratio, own.exceed_ratio, own.width),
            (0.01, 0.2, 0.03)
        );
        assert_eq!((own.final_trial_s, own.duration_sum_s), (2.0, 10.0));
        let shorter = goal("tst009,trial=0.5s");
        assert_eq!((shorter.final_trial_s, shorter.duration_sum_s), (0.5, 1.0));
        assert_eq!(shorter.initial_trial_s, 0.5, "not longer than the last");
        assert_eq!(goal("ndr,trial=30s").duration_sum_s, 90.0);
    }

    #[test]
    fn nonsense_is_refused() {
        for nonsense in [
            "",
            "loss",
            "loss=",
            "loss=1",
            "loss=-1%",
            "NDR=0",
            "ndr,",
            "ndr,depth=3",
            "trial=1s",
            "ndr,width=0",
            "ndr,trial=0",
            "ndr,pdr",
        ] {
            assert!(nonsense.parse::<GoalWord>().is_err(), "{nonsense}");
        }
    }
}
