// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the numbers can mislead, a line each. What the lines of the ends say is not repeated.

use linerate_model::output::{Output, Test, Warning};

use crate::view::{Block, Line, Tone, name, relevant, way};

pub(super) fn block(output: &Output) -> Option<Block> {
    let mut distinct: Vec<(&Warning, Vec<String>)> = Vec::new();
    // A search says itself what ended it.
    let shown = |test: &&Test| output.kind != "check" || !output.is_trial(test);
    for test in relevant(output).into_iter().filter(shown) {
        for warning in test
            .warnings
            .iter()
            .filter(|one| !SAID.contains(&one.id.as_str()))
        {
            let whose = format!("{} {}", name(test), way(test.direction));
            match distinct
                .iter_mut()
                .find(|(known, _)| known.id == warning.id)
            {
                Some((_, tests)) => tests.push(whose),
                None => distinct.push((warning, vec![whose])),
            }
        }
    }
    let more = distinct.len().saturating_sub(MOST);
    let lines = distinct
        .iter()
        .take(MOST)
        .map(|(warning, tests)| line(output, warning, tests));
    let more = (more > 0).then(|| Line::new(2, format!("and {more} more warnings (-v)")));
    Block::lines("", lines.chain(more))
}

fn line(output: &Output, warning: &Warning, tests: &[String]) -> Line {
    let whose = match (tests, output.tests.len()) {
        (_, 1) => String::new(),
        ([first], _) => format!(" ({first})"),
        ([first, rest @ ..], _) => format!(" ({first} and {} more)", rest.len()),
        ([], _) => String::new(),
    };
    Line::new(
        2,
        format!("warning: {}{whose}: {}", warning.id, warning.text),
    )
    .tone(Tone::Warn)
}

/// The lines of the ends say these.
const SAID: &[&str] = &["not-a-wire", "one-machine"];
const MOST: usize = 3;
