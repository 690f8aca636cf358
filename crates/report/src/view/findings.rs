// SPDX-License-Identifier: MIT OR Apache-2.0
//! Causes, in the order of what they explain: evidence, the change as commands, its undo, how to see
//! that it helped. On a healthy link: nothing to fix.

use linerate_model::output::{Evidence, Explains, Fact, Finding, Output, Passage};
use linerate_model::units::format::{BIT_RATES, with_unit};

use super::{Block, Line, Tone, role};

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let (informational, causes): (Vec<&Finding>, Vec<&Finding>) = output
        .findings
        .iter()
        .partition(|finding| finding.informational);
    let mut findings: Vec<Line> = causes
        .iter()
        .enumerate()
        .flat_map(|(number, finding)| cause(number + 1, finding))
        .collect();
    if causes.is_empty() && output.explained {
        findings.push(none(output));
    }
    let blocks = [
        lines("findings: causes, what explains most first", findings),
        lines(
            "worth knowing",
            informational
                .iter()
                .flat_map(|finding| note(finding))
                .collect(),
        ),
        lines("cannot tell", untold(output)),
        lines("facts", output.facts.iter().map(fact).collect()),
        lines(
            "understood",
            output.understood.iter().map(passage).collect(),
        ),
        lines("ignored", output.ignored.iter().map(passage).collect()),
        lines(
            "what to run next, and to add to this",
            output
                .next_commands
                .iter()
                .map(|command| Line::new(2, command.clone()))
                .collect(),
        ),
    ];
    blocks.into_iter().flatten().collect()
}

fn lines(heading: &str, lines: Vec<Line>) -> Option<Block> {
    (!lines.is_empty()).then(|| Block::Lines {
        heading: heading.to_owned(),
        lines,
    })
}

/// No rule named a cause. That is good only where nothing was lost.
fn none(output: &Output) -> Line {
    let lost: u64 = output.ledger.iter().map(|entry| entry.lost_packets).sum();
    let ended = output.error.is_some()
        || output
            .tests
            .iter()
            .any(|test| !test.valid && !output.is_trial(test));
    match (lost, ended) {
        _ if output.kind == "inspect" => Line::new(2, "nothing looks wrong").tone(Tone::Good),
        _ if output.kind == "explain" && output.tests.is_empty() => Line::new(2, "no fault is shown by what could be read"),
        (0, false) => Line::new(2, "nothing to fix").tone(Tone::Good),
        (0, true) => Line::new(2, "no cause was found; not everything was measured"),
        (lost, _) if output.is_healthy_but_for_searches() => Line::new(2, format!("nothing to fix: the {lost} lost packets are those that the search for the highest rate provoked")).tone(Tone::Good),
        (lost, _) => Line::new(2, format!("no rule explains the {lost} lost packets; the ledger says how far they got")).tone(Tone::Warn),
    }
}

fn cause(number: usize, finding: &Finding) -> Vec<Line> {
    let head = format!(
        "{number}. {} ({}, rule {}, {})",
        finding.title,
        finding.strength,
        finding.rule,
        place(finding)
    );
    let mut lines = vec![Line::new(2, head).tone(Tone::Warn)];
    let mut add = |label: &str, text: &str| {
        if !text.is_empty() {
            lines.push(Line::new(5, format!("{label}: {text}")));
        }
    };
    add("explains", &explains(&finding.explains, &finding.test_ids));
    add(
        "evidence",
        &finding
            .evidence
            .iter()
            .map(evidence)
            .collect::<Vec<_>>()
            .join("; "),
    );
    add("why", &finding.why);
    if let Some(change) = &finding.change {
        change
            .commands
            .iter()
            .for_each(|command| add("try", command));
        change.undo.iter().for_each(|command| add("undo", command));
        add("risk", &change.risk);
    }
    add("verify", &finding.verify);
    add("says otherwise", &finding.conflicts.join(", "));
    add("source", &finding.source);
    lines
}

fn note(finding: &Finding) -> Vec<Line> {
    let mut lines = vec![Line::new(
        2,
        format!(
            "{} (rule {}, {})",
            finding.title,
            finding.rule,
            place(finding)
        ),
    )];
    if !finding.why.is_empty() {
        lines.push(Line::new(4, format!("why: {}", finding.why)));
    }
    lines
}

fn place(finding: &Finding) -> String {
    let host = role(finding.host);
    finding.interface.as_ref().map_or_else(
        || host.to_owned(),
        |interface| format!("{host} {interface}"),
    )
}

fn explains(explains: &Explains, tests: &[String]) -> String {
    let lost = explains
        .lost_packets
        .filter(|lost| *lost > 0)
        .map(|lost| format!("{lost} lost packets"));
    let rate = explains
        .bits_per_second
        .filter(|rate| *rate > 0.0)
        .map(|rate| with_unit(rate, BIT_RATES));
    let whose = match tests {
        [] => String::new(),
        [first, second, third, _, ..] => {
            format!(" ({first}, {second}, {third} and {} more)", tests.len() - 3)
        }
        few => format!(" ({})", few.join(", ")),
    };
    lost.or(rate).map_or_else(String::new, |what| what + &whose)
}

fn evidence(evidence: &Evidence) -> String {
    let unit = if evidence.unit.is_empty() {
        String::new()
    } else {
        format!(" {}", evidence.unit)
    };
    format!(
        "{} = {}{unit} ({})",
        evidence.fact, evidence.value, evidence.source
    )
}

/// Rules that something speaks for, and what would tell; not all of them, as every command that
/// would tell is listed behind.
fn untold(output: &Output) -> Vec<Line> {
    let told = output.cannot_tell.iter().take(MOST_UNTOLD).map(|rule| {
        let facts = rule.facts.join(", ");
        let commands = if rule.missing.is_empty() {
            String::new()
        } else {
            format!(": {}", rule.missing.join("; "))
        };
        Line::new(
            2,
            format!("rule {}: {facts} not known{commands}", rule.rule),
        )
    });
    let mut lines: Vec<Line> = told.collect();
    let more = output.cannot_tell.len().saturating_sub(MOST_UNTOLD);
    if more > 0 {
        lines.push(Line::new(
            2,
            format!("{more} more rules: --json has them all"),
        ));
    }
    lines
}

fn fact(fact: &Fact) -> Line {
    let unit = if fact.unit.is_empty() {
        String::new()
    } else {
        format!(" {}", fact.unit)
    };
    let places = [
        fact.test_id.as_deref(),
        fact.host.map(role),
        fact.interface.as_deref(),
    ];
    let places: Vec<&str> = places.into_iter().flatten().collect();
    let at = if places.is_empty() {
        String::new()
    } else {
        format!(" [{}]", places.join(" "))
    };
    Line::new(
        2,
        format!("{} = {}{unit}{at} ({})", fact.name, fact.value, fact.source),
    )
}

fn passage(passage: &Passage) -> Line {
    let lines = if passage.first_line == passage.last_line {
        format!("line {}", passage.first_line)
    } else {
        format!("lines {}-{}", passage.first_line, passage.last_line)
    };
    Line::new(2, format!("{lines}: {}", passage.what))
}

/// More say no more.
const MOST_UNTOLD: usize = 6;
