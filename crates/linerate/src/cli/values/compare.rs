// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of `compare` and `ab`.

use std::fmt;

use linerate_model::output::{Comparison, Expectation, Judgement};
use linerate_model::units::format::exact_percent;

/// When a comparison fails: `--fail-if`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::cli) enum FailIf {
    /// Proven to be worse, by more than this share.
    Worse(f64),
    /// Nothing is proven.
    Inconclusive,
}

impl FailIf {
    /// Returns whether the figures that decide are as expected: none of them fails.
    pub(in crate::cli) fn expectation(self, all: &[Comparison]) -> Expectation {
        let mut decisive = all.iter().filter(|one| one.primary);
        Expectation {
            expression: format!("not {self}"),
            met: !decisive.any(|one| self.is(one)),
            ..Expectation::default()
        }
    }

    /// Whether this comparison is one.
    fn is(self, of: &Comparison) -> bool {
        match self {
            Self::Inconclusive => of.verdict == Judgement::Inconclusive,
            Self::Worse(share) => is_worse(of.verdict) && loss_of(of) > share,
        }
    }
}

impl fmt::Display for FailIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inconclusive => f.write_str("inconclusive"),
            Self::Worse(0.0) => f.write_str("worse"),
            Self::Worse(share) => write!(f, "worse:{}%", exact_percent(*share)),
        }
    }
}

fn is_worse(verdict: Judgement) -> bool {
    matches!(verdict, Judgement::Worse | Judgement::WorseButIrrelevant)
}

/// By which share it is worse.
fn loss_of(of: &Comparison) -> f64 {
    let ratio = of.ratio.unwrap_or(1.0);
    if of.higher_is_better {
        1.0 - ratio
    } else {
        ratio - 1.0
    }
}

/// A margin: `2%`, `0.5%`.
pub(in crate::cli) fn margin(text: &str) -> Result<f64, String> {
    let range = "expected a share above 0% and up to 100%, such as 2%";
    let share = percent(text).ok_or(range)?;
    (share > 0.0 && share <= 1.0)
        .then_some(share)
        .ok_or_else(|| range.to_owned())
}

pub(in crate::cli) fn fail_if(text: &str) -> Result<FailIf, String> {
    let range = || "expected worse, worse:3% or inconclusive".to_owned();
    match text.split_once(':') {
        None if text == "worse" => Ok(FailIf::Worse(0.0)),
        None if text == "inconclusive" => Ok(FailIf::Inconclusive),
        Some(("worse", share)) => {
            let share = percent(share).filter(|share| (0.0..=1.0).contains(share));
            share.map(FailIf::Worse).ok_or_else(range)
        }
        _ => Err(range()),
    }
}

/// `3%` is 0.03. A number without the sign could be either, and is neither.
fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.strip_suffix('%')?.trim_end().parse().ok()?;
    number.is_finite().then_some(number / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_their_sign() {
        assert_eq!(margin("2%"), Ok(0.02));
        assert_eq!(fail_if("worse:3%"), Ok(FailIf::Worse(0.03)));
        assert_eq!(fail_if("worse"), Ok(FailIf::Worse(0.0)));
        assert_eq!(
            fail_if("inconclusive").map(|what| what.to_string()),
            Ok("inconclusive".to_owned())
        );
        for text in ["0.02", "0%", "101%", "-1%", "nan%", ""] {
            assert!(margin(text).is_err(), "{text}");
        }
        for text in ["better", "worse:", "worse:3", "Worse"] {
            assert!(fail_if(text).is_err(), "{text}");
        }
    }

    #[test]
    fn worse_depends_on_what_is_better() {
        let of = |ratio, higher_is_better, verdict| Comparison {
            ratio: Some(ratio),
            higher_is_better,
            verdict,
            ..Comparison::default()
        };
        let limit = FailIf::Worse(0.03);
        assert!(limit.is(&of(0.9, true, Judgement::Worse)));
        assert!(!limit.is(&of(0.98, true, Judgement::Worse)), "by less");
        assert!(limit.is(&of(1.1, false, Judgement::Worse)));
        assert!(
            !limit.is(&of(0.9, true, Judgement::Inconclusive)),
            "not proven"
        );
        assert!(FailIf::Inconclusive.is(&of(0.9, true, Judgement::Inconclusive)));
    }
}
