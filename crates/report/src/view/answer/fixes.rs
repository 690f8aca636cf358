// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to fix, a few lines each: where and what, how sure, what to try, how to undo it, how to check it.

use linerate_model::output::{Finding, Output};

use super::ends::whose;
use super::height::height;
use crate::view::{Block, Line, Tone, findings};

/// In about `room` lines.
pub(super) fn block(output: &Output, mut room: usize) -> Option<Block> {
    let causes: Vec<&Finding> = output
        .findings
        .iter()
        .filter(|one| !one.informational)
        .collect();
    let notes = output.findings.len() - causes.len();
    room = room.saturating_sub(2);
    let mut lines: Vec<Line> = Vec::new();
    let mut shown = 0;
    for (at, finding) in causes.iter().enumerate() {
        let whole = one(output, at + 1, finding);
        // The first is always there; the others while there is room, or else by their titles.
        let kept = match at {
            0 => fitting(&whole, room.max(LEAST)),
            _ if height(&whole) <= room => whole.len(),
            _ => usize::from(height(&whole[..1]) <= room),
        };
        if kept == 0 {
            break;
        }
        room = room.saturating_sub(height(&whole[..kept]));
        lines.extend(whole.into_iter().take(kept));
        shown += 1;
    }
    let more = [
        (causes.len() - shown, "more to fix"),
        (notes, "worth knowing"),
    ];
    let more: Vec<String> = more
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !more.is_empty() {
        lines.push(Line::new(2, format!("{}: -v", more.join(", "))));
    }
    if causes.is_empty() {
        let none = findings::none(output);
        let text = none.text.replace(" (below)", "");
        lines.insert(
            0,
            Line {
                indent: 0,
                text,
                ..none
            },
        );
    }
    let heading = match causes.len() {
        0 => String::new(),
        1 => "1 thing to fix".to_owned(),
        several => format!("{several} things to fix"),
    };
    output.explained.then_some(Block::Lines { heading, lines })
}

/// How many of these lines fit; one at least.
fn fitting(lines: &[Line], room: usize) -> usize {
    let fits = |count: &usize| height(&lines[..*count]) <= room;
    (1..=lines.len()).rev().find(fits).unwrap_or(1)
}

fn one(output: &Output, number: usize, finding: &Finding) -> Vec<Line> {
    let lost = findings::lost_of(output, finding);
    let lost = lost.map_or_else(String::new, |lost| format!(", {lost}"));
    let mut lines = vec![title(number, finding, &lost)];
    if let Some(change) = &finding.change {
        lines.extend(commands("try", &change.commands));
        lines.extend(commands("undo", &change.undo));
    }
    let check = finding.check.as_ref().map(|check| check.command.as_str());
    let check = check.unwrap_or(&finding.verify);
    let check = (!check.is_empty()).then(|| Line::new(5, format!("check  {check}")).hang(7));
    lines.extend(check);
    lines
}

fn title(number: usize, finding: &Finding, lost: &str) -> Line {
    let interface = finding.interface.as_ref();
    let interface = interface.map_or_else(String::new, |name| format!(" {name}"));
    let place = match finding.place.as_str() {
        "" => whose(finding.host),
        _ => findings::host_or_place(finding),
    };
    let sure = match finding.strength.as_str() {
        "proven" => "proven",
        "consistent" => "likely",
        _ => "possible",
    };
    let text = format!(
        "{number}. {place}{interface}: {}; {sure}{lost}",
        finding.title
    );
    Line::new(2, text).hang(3).tone(Tone::Warn)
}

/// The first command, without its note; the full form has all.
fn commands(label: &str, all: &[String]) -> Option<Line> {
    let typed = |text: &String| {
        let typed = text.split("   # ").next().unwrap_or(text).trim();
        (!typed.starts_with('#') && !typed.is_empty()).then(|| typed.to_owned())
    };
    let first = all.iter().find_map(typed)?;
    let more = all.iter().filter_map(typed).count().saturating_sub(1);
    let more = if more > 0 {
        format!("   (and {more} more: -v)")
    } else {
        String::new()
    };
    Some(Line::command(5, format!("{label:<6} {first}{more}")))
}

/// Title, what to try, how to undo it.
const LEAST: usize = 4;
