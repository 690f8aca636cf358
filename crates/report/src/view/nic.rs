// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an interface does right and wrong: by groups, and property by property.

use linerate_model::output::{NicCheck, NicState, Output};

use super::{Align, Block, Column, Line, Table, Tone};

/// The groups, and the checks that failed.
pub(super) fn answer(output: &Output) -> Vec<Block> {
    let lines = output
        .checks
        .iter()
        .filter(|check| check.state != NicState::Right);
    let blocks = [groups(output), Block::lines("", reasons(lines))];
    blocks.into_iter().flatten().collect()
}

/// Every property.
pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let checks = &output.checks;
    if checks.is_empty() {
        return Vec::new();
    }
    let words =
        |name: &str, of: fn(&NicCheck) -> String| Column::words(name, checks.iter().map(of));
    let counts = |name: &str, of: fn(&NicCheck) -> u64| {
        Column::counts(name, "", checks.iter().map(|check| Some(of(check))))
    };
    let table = Block::Table(Table {
        heading: HEADING.to_owned(),
        keys: 1,
        columns: vec![
            words("check", |check| check.id.clone()),
            words("state", |check| check.state.words().to_owned()),
            counts("tried", |check| check.tried),
            counts("wrong", |check| check.wrong),
            words("offload", |check| check.offload.clone()),
            words("what", |check| check.what.clone()),
        ],
        tones: checks.iter().map(tone).collect(),
    });
    let others = checks.iter().filter(|check| check.state != NicState::Right);
    std::iter::once(table)
        .chain(Block::lines("", reasons(others)))
        .collect()
}

fn tone(check: &NicCheck) -> Tone {
    match check.state {
        NicState::Right => Tone::Good,
        NicState::Wrong => Tone::Bad,
        NicState::NotAWire | NicState::NotPossible => Tone::Warn,
    }
}

/// A row for each group and offload.
fn groups(output: &Output) -> Option<Block> {
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for check in &output.checks {
        let row = (check.group.as_str(), check.offload.as_str());
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let of = |row: &(&str, &str)| {
        let (group, offload) = *row;
        let all = output.checks.iter();
        all.filter(move |check| check.group == group && check.offload == offload)
            .collect::<Vec<_>>()
    };
    let count = |name: &str, states: &[NicState]| {
        let is_one = |check: &&&NicCheck| states.contains(&check.state);
        let cells = rows
            .iter()
            .map(|row| match of(row).iter().filter(is_one).count() {
                0 => String::new(),
                count => count.to_string(),
            });
        Column {
            align: Align::Right,
            ..Column::words(name, cells)
        }
    };
    let cases = rows
        .iter()
        .map(|row| Some(of(row).iter().map(|check| check.tried).sum()));
    let columns = vec![
        Column::words("group", rows.iter().map(|row| row.0.to_owned())),
        Column::words("offload", rows.iter().map(|row| row.1.to_owned())),
        count("right", &[NicState::Right]),
        count("wrong", &[NicState::Wrong]),
        count("not judged", &[NicState::NotAWire, NicState::NotPossible]),
        Column::counts("cases", "", cases),
    ];
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            heading: HEADING.to_owned(),
            keys: 2,
            tones: rows.iter().map(|row| worst(&of(row))).collect(),
            columns,
        })
    })
}

fn worst(checks: &[&NicCheck]) -> Tone {
    let has = |state: NicState| checks.iter().any(|check| check.state == state);
    match (has(NicState::Wrong), has(NicState::Right)) {
        (true, _) => Tone::Bad,
        (false, true) => Tone::Good,
        (false, false) => Tone::Warn,
    }
}

/// What is not right, and why; the same reason once.
fn reasons<'o>(checks: impl Iterator<Item = &'o NicCheck>) -> Vec<Line> {
    let mut said: Vec<(NicState, String, Vec<&str>, Tone)> = Vec::new();
    for check in checks {
        let why = why(check);
        match said
            .iter_mut()
            .find(|(state, known, ..)| *state == check.state && *known == why)
        {
            Some((_, _, ids, _)) => ids.push(&check.id),
            None => said.push((check.state, why, vec![&check.id], tone(check))),
        }
    }
    let line = |(state, why, ids, tone): (NicState, String, Vec<&str>, Tone)| {
        Line::new(2, format!("{}: {}: {why}", state.words(), ids.join(" ")))
            .hang(4)
            .tone(tone)
    };
    said.into_iter().map(line).collect()
}

fn why(check: &NicCheck) -> String {
    let reason = check.reason.clone().unwrap_or_default();
    let Some(example) = &check.example else {
        return reason;
    };
    let count = format!("{} of {}", check.wrong, check.tried);
    let at = example
        .offset
        .map_or_else(String::new, |at| format!(" at byte {at}"));
    let seen = format!(
        "{}{at}: expected {}, seen {}",
        example.what, example.expected, example.seen
    );
    match reason.is_empty() {
        true => format!("{count}; {seen}"),
        false => format!("{count}; {reason}; {seen}"),
    }
}

const HEADING: &str = "checks, by what both ends saw";
