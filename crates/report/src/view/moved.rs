// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings, clocks and temperatures that were not the same before and after a test.

use linerate_model::output::{Moved, MovedKind, Output};
use linerate_model::state::any_setting;

use super::{Block, Line, Tone};

/// The first ones; all are in the document.
pub(super) fn short(output: &Output) -> Option<Block> {
    block(output, SHORT)
}

/// Every one of them.
pub(super) fn all(output: &Output) -> Option<Block> {
    block(output, usize::MAX)
}

fn block(output: &Output, most: usize) -> Option<Block> {
    let moved = &output.moved;
    let lines = moved.iter().take(most).map(line);
    let more = moved.len().saturating_sub(most);
    let more = (more > 0).then(|| Line::new(2, format!("and {more} more changes (-v)")));
    let concludes = output.explained && any_setting(moved);
    let unused = concludes.then(|| Line::new(2, UNUSED));
    Block::lines("", lines.chain(more).chain(unused))
}

fn line(moved: &Moved) -> Line {
    let text = match moved.kind {
        MovedKind::Setting => format!("warning: during the test {}", moved.sentence()),
        MovedKind::Clock => format!(
            "warning: during the test the clock of a processor was lowered: {}",
            moved.sentence()
        ),
        MovedKind::Temperature => format!(
            "warning: during the test a temperature crossed a trip point: {}",
            moved.sentence()
        ),
    };
    Line::new(2, text).tone(Tone::Warn)
}

const UNUSED: &str = "findings do not use a setting that changed";
const SHORT: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn output(count: usize) -> Output {
        let moved = |number: usize| Moved {
            source: "sysctl".to_owned(),
            name: format!("net.core.value_{number}"),
            before: "1".to_owned(),
            after: "2".to_owned(),
            owner: Some("tuned".to_owned()),
            ..Moved::default()
        };
        Output {
            explained: true,
            moved: (0..count).map(moved).collect(),
            ..Output::default()
        }
    }

    fn texts(block: Option<Block>) -> Vec<String> {
        match block {
            Some(Block::Lines { lines, .. }) => lines.into_iter().map(|line| line.text).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn the_answer_has_the_first_and_the_full_form_all() {
        let lines = texts(short(&output(30)));
        assert_eq!(lines.len(), 5);
        assert_eq!(
            lines[0],
            "warning: during the test net.core.value_0 changed from 1 to 2; likely tuned"
        );
        assert_eq!(&lines[3..], ["and 27 more changes (-v)", UNUSED]);
        assert_eq!(texts(all(&output(30))).len(), 31);
        assert_eq!(short(&output(0)), None);
    }

    #[test]
    fn a_clock_is_not_a_setting() {
        let mut output = output(1);
        output.moved[0].kind = MovedKind::Clock;
        let lines = texts(short(&output));
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains("clock of a processor was lowered"));
    }
}
