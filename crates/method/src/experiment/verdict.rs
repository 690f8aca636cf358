// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verdict of a comparison.

use linerate_model::output::Judgement;

/// Returns the verdict, given whether the ratio B / A was proven to differ from 1, and whether it was proven to
/// be inside the margin. Both may be true: a real but irrelevant difference.
pub fn judge(different: bool, equivalent: bool, ratio: f64, higher_is_better: bool) -> Judgement {
    let better = (ratio > 1.0) == higher_is_better;
    match (different, equivalent, better) {
        (true, false, true) => Judgement::Better,
        (true, false, false) => Judgement::Worse,
        (true, true, true) => Judgement::BetterButIrrelevant,
        (true, true, false) => Judgement::WorseButIrrelevant,
        (false, true, _) => Judgement::Equivalent,
        (false, false, _) => Judgement::Inconclusive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_verdicts() {
        for (different, equivalent, ratio, higher_is_better, verdict) in [
            (true, false, 1.05, true, Judgement::Better),
            (true, false, 0.95, true, Judgement::Worse),
            (true, false, 0.95, false, Judgement::Better),
            (true, true, 1.009, true, Judgement::BetterButIrrelevant),
            (true, true, 1.009, false, Judgement::WorseButIrrelevant),
            (false, true, 1.001, true, Judgement::Equivalent),
            (false, false, 1.05, true, Judgement::Inconclusive),
        ] {
            assert_eq!(
                judge(different, equivalent, ratio, higher_is_better),
                verdict
            );
        }
    }
}
