// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to fix, a few lines each: where and what, how sure, what to try, how to undo it, how to check it.

use linerate_model::output::{Finding, Output};

use super::ends::whose;
use super::height::height;
use crate::view::{Block, Line, Tone, findings};

/// In about `room` lines.
pub(super) fn block(output: &Output, room: usize) -> Option<Block> {
    let causes = output.findings.iter().filter(|one| !one.informational);
    let causes: Vec<&Finding> = causes.collect();
    let heading = match causes.len() {
        0 => return output.explained.then(|| nothing(output)),
        1 => "1 thing to fix".to_owned(),
        several => format!("{several} things to fix"),
    };
    // The heading, and the line of what is left out.
    let (mut lines, shown) = fixes(output, &causes, room.saturating_sub(2));
    lines.extend(more(
        causes.len() - shown,
        output.findings.len() - causes.len(),
    ));
    output.explained.then_some(Block::Lines { heading, lines })
}

fn nothing(output: &Output) -> Block {
    let none = Line {
        indent: 0,
        ..findings::none(output)
    };
    Block::Lines {
        heading: String::new(),
        lines: std::iter::once(none)
            .chain(more(0, output.findings.len()))
            .collect(),
    }
}

/// The lines, and of how many causes they are. The first cause is always there; the others while there is room, or else
/// by their titles.
fn fixes(output: &Output, causes: &[&Finding], mut room: usize) -> (Vec<Line>, usize) {
    let mut lines: Vec<Line> = Vec::new();
    for (at, finding) in causes.iter().enumerate() {
        let whole = one(output, at + 1, finding);
        let kept = match at {
            0 => fitting(&whole, room.max(LEAST)),
            _ if height(&whole) <= room => whole.len(),
            _ if height(&whole[..1]) <= room => 1,
            _ => return (lines, at),
        };
        room = room.saturating_sub(height(&whole[..kept]));
        lines.extend(whole.into_iter().take(kept));
    }
    (lines, causes.len())
}

/// What is left out.
fn more(causes: usize, notes: usize) -> Option<Line> {
    let counts = [(causes, "more to fix"), (notes, "worth knowing")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let texts: Vec<String> = counts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!texts.is_empty()).then(|| Line::new(2, format!("{}: -v", texts.join(", "))))
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
        let changes = |text: &&str| change.undo.is_empty() || !only_reads(text);
        lines.extend(commands("try", &change.commands, changes));
        lines.extend(undo(&change.undo));
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

/// The first command that is wanted, or else the first. The full form has all.
fn commands(label: &str, all: &[String], wanted: impl Fn(&&str) -> bool) -> Option<Line> {
    let all: Vec<&str> = all.iter().filter_map(|text| typed(text)).collect();
    let first = all.iter().copied().find(wanted).or(all.first().copied())?;
    let more = match all.len() - 1 {
        0 => String::new(),
        more => format!("   (and {more} more: -v)"),
    };
    Some(Line::command(5, format!("{label:<6} {first}{more}")))
}

/// The first undo with its note: some are incomplete without.
fn undo(all: &[String]) -> Option<Line> {
    let line = commands("undo", all, |_| true)?;
    let first = all.iter().find(|text| typed(text).is_some())?;
    let note = first
        .split_once("   # ")
        .map(|(_, note)| format!("   # {note}"));
    let text = format!("{}{}", line.text, note.unwrap_or_default());
    Some(Line { text, ..line })
}

/// A command without its note; `None` if it is only a note.
fn typed(text: &str) -> Option<&str> {
    let typed = text.split("   # ").next().unwrap_or(text).trim();
    (!typed.starts_with('#') && !typed.is_empty()).then_some(typed)
}

/// Whether a command only shows something, so that the undo next to it is not its own.
fn only_reads(command: &str) -> bool {
    READERS.iter().any(|reader| command.starts_with(reader))
}

const READERS: [&str; 22] = [
    "cat ",
    "conntrack -",
    "dmesg",
    "ethtool --show-",
    "ethtool -I",
    "ethtool -S",
    "ethtool -a",
    "ethtool -g",
    "ethtool -i",
    "ethtool -k",
    "ethtool -n",
    "for irq in",
    "for q in /sys",
    "grep ",
    "ip -s",
    "ip rule;",
    "nft -a list",
    "nft list",
    "perf ",
    "tc -s",
    "tc qdisc show",
    "top ",
];

/// Title, what to try, how to undo it.
const LEAST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// The undo shown is that of the command shown.
    #[test]
    fn a_command_that_only_shows_is_not_the_one_to_undo() {
        let all = [
            "tc -s qdisc show dev eth0",
            "tc qdisc replace dev eth0 root fq",
        ];
        let all = all.map(str::to_owned);
        let shown = |wanted: &dyn Fn(&&str) -> bool| commands("try", &all, wanted).unwrap().text;
        assert!(shown(&|text| !only_reads(text)).starts_with("try    tc qdisc replace"));
        assert!(shown(&|_| true).starts_with("try    tc -s qdisc show"));
        let notes = ["# by hand".to_owned()];
        assert!(commands("try", &notes, |_| true).is_none());
        let back = ["tc qdisc replace dev eth0 root tbf   # with its options".to_owned()];
        let back = undo(&back).unwrap().text;
        assert_eq!(
            back,
            "undo   tc qdisc replace dev eth0 root tbf   # with its options"
        );
    }
}
