// SPDX-License-Identifier: MIT OR Apache-2.0
//! The secondary figures: which of them harm is excluded for, shown for, or neither, and what would decide.

use linerate_model::output::{Comparison, Guard, GuardStatus};

use super::super::{Block, Line, Tone};
use super::{are_near_1, change, percent};

pub(super) fn block(all: &[Comparison]) -> Option<Block> {
    let first = all.first()?;
    let of = |status| {
        first
            .guards
            .iter()
            .filter(move |guard| guard.status == status)
    };
    let harmed = of(GuardStatus::Harmed).map(|guard| {
        let text = format!("worse by more than the margin: {}", measured(guard));
        Line::new(2, text).tone(Tone::Bad)
    });
    let held: Vec<String> = of(GuardStatus::Held).map(named).collect();
    let held = (!held.is_empty()).then(|| {
        let text = format!("not worse by more than the margin: {}", held.join(", "));
        Line::new(2, text)
    });
    let unknown = of(GuardStatus::CannotTell).map(|guard| {
        let (measured, decides) = (measured(guard), deciding(guard, first.blocks.is_some()));
        let text = format!("cannot tell: {measured}; {decides}");
        Line::new(2, text).tone(Tone::Warn)
    });
    Block::lines(
        "guards: secondary figures that must not become worse",
        harmed.chain(held).chain(unknown),
    )
}

/// With its margin.
fn named(guard: &Guard) -> String {
    let title = format!("{} {}", guard.metric, guard.name);
    format!("{} ({})", title.trim_end(), percent(guard.margin))
}

pub(super) fn measured(guard: &Guard) -> String {
    let (Some(ratio), Some([low, high])) = (guard.ratio, guard.ci90) else {
        return named(guard);
    };
    let near = are_near_1([ratio, low, high].into_iter());
    let [ratio, low, high] = [ratio, low, high].map(|one| change(near, one));
    format!("{} {ratio}, 90 % interval {low} … {high}", named(guard))
}

/// What would decide.
fn deciding(guard: &Guard, in_blocks: bool) -> String {
    let unit = if in_blocks { "blocks" } else { "runs per side" };
    match (guard.needed, guard.ci90) {
        (Some(needed), _) => format!("about {needed} {unit} would decide"),
        (None, Some(_)) => "it is too close to the margin to decide".to_owned(),
        (None, None) => format!("too few {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_to_hold_says_what_would_decide() {
        let guard = |metric: &str, status, ci90, needed| Guard {
            metric: metric.to_owned(),
            name: "udp up".to_owned(),
            ratio: Some(1.02),
            ci90,
            margin: 0.1,
            status,
            needed,
            ..Guard::default()
        };
        let tight = Some([0.99, 1.05]);
        let first = Comparison {
            blocks: Some(8),
            guards: vec![
                guard("rtt-p99", GuardStatus::Held, tight, None),
                guard(
                    "jitter",
                    GuardStatus::CannotTell,
                    Some([0.8, 1.3]),
                    Some(41),
                ),
                guard("loss", GuardStatus::Harmed, Some([3.0, 4.0]), None),
                guard("share", GuardStatus::CannotTell, None, None),
            ],
            ..Comparison::default()
        };
        let Some(Block::Lines { lines, .. }) = block(&[first]) else {
            panic!("no lines");
        };
        let lines: Vec<String> = lines.into_iter().map(|line| line.text).collect();
        assert_eq!(
            lines,
            [
                "worse by more than the margin: loss udp up (10 %) × 1.020, 90 % interval × 3.000 … × 4.000",
                "not worse by more than the margin: rtt-p99 udp up (10 %)",
                "cannot tell: jitter udp up (10 %) +2 %, 90 % interval -20 % … +30 %; about 41 blocks would decide",
                "cannot tell: share udp up (10 %); too few blocks",
            ]
        );
        assert!(block(&[Comparison::default()]).is_none());
    }
}
