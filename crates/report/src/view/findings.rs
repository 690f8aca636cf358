// SPDX-License-Identifier: MIT OR Apache-2.0
//! Causes, by the losses they explain: evidence, the change as commands, its undo, how to verify it. On a healthy link:
//! nothing to fix.

mod lost;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;
use linerate_model::output::{
    Change, Evidence, Fact, Finding, ForwardResult, NicCheck, NicState, Output, Passage, Role,
    Weight,
};
use linerate_model::units::format::{BIT_RATES, with_unit};

use super::{Block, Line, Tone, role};
use lost::Lost;

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let (causes, rest) = answer_and_rest(output);
    causes.into_iter().chain(rest).collect()
}

/// The causes, and the remaining blocks.
pub(super) fn answer_and_rest(output: &Output) -> (Option<Block>, Vec<Block>) {
    let (informational, causes): (Vec<&Finding>, Vec<&Finding>) = output
        .findings
        .iter()
        .partition(|finding| finding.informational);
    let mut findings: Vec<Line> = causes
        .iter()
        .enumerate()
        .flat_map(|(before, finding)| cause(output, before + 1, finding, &causes[..before]))
        .collect();
    if causes.is_empty() && output.explained {
        findings.push(none(output));
    } else if output.explained {
        findings.extend(unnamed(output, &causes));
    }
    let notes = informational.iter().enumerate();
    let notes = notes.flat_map(|(before, finding)| note(finding, &informational[..before]));
    let next_heading = if is_measured(output) {
        "commands for further evidence"
    } else {
        "what to run next; add the output to this text"
    };
    let rest = [
        Block::lines("worth knowing", notes),
        Block::lines(
            "odd, and not explained by any finding",
            output.odd.iter().map(passage),
        ),
        Block::lines("cannot tell", undecided(output)),
        Block::lines("facts", output.facts.iter().map(fact)),
        Block::lines("weights, decibans", output.weights.iter().map(weight)),
        Block::lines("understood", output.understood.iter().map(passage)),
        Block::lines("ignored", output.ignored.iter().map(passage)),
        Block::lines(next_heading, next(output)),
    ];
    let heading = match causes.iter().any(|finding| is_weighed(finding)) {
        true => "findings, most likely first",
        false if ["inspect", "nic-check"].contains(&output.kind.as_str()) => "findings",
        false => "findings, by lost packets explained",
    };
    (
        Block::lines(heading, findings),
        rest.into_iter().flatten().collect(),
    )
}

/// The line where no rule names a cause, which is good only if nothing was lost.
pub(super) fn none(output: &Output) -> Line {
    let (text, tone) = not_measured(output)
        .or_else(|| of_a_device(output))
        .or_else(|| of_an_interface(output))
        .unwrap_or_else(|| of_tests(output));
    Line::new(2, text).tone(tone)
}

/// Where only settings or a text were read.
fn not_measured(output: &Output) -> Option<(String, Tone)> {
    let (text, tone) = match output.kind.as_str() {
        "inspect" => ("nothing looks wrong", Tone::Good),
        "explain" if output.hosts.is_empty() && !output.partial => (
            "no known tool output in this text: nothing to judge",
            Tone::Warn,
        ),
        "explain" if output.tests.is_empty() => {
            ("nothing in the parsed output shows a fault", Tone::Plain)
        }
        _ => return None,
    };
    Some((text.to_owned(), tone))
}

/// A device has a rate, which is never nothing to fix.
fn of_a_device(output: &Output) -> Option<(String, Tone)> {
    let any = |is: fn(&ForwardResult) -> bool| output.results.iter().any(is);
    let text = if any(|result| result.tester_limited) {
        "no cause was found; where the tester was the limit, the device was not judged"
    } else if any(|result| result.lower_fps.is_none()) {
        "no cause was found; not every search found a rate"
    } else if any(|result| result.upper_fps.is_some()) {
        "no cause was found for the rate of the device"
    } else {
        return None;
    };
    Some((text.to_owned(), Tone::Plain))
}

/// What could not be judged is neither right nor wrong.
fn of_an_interface(output: &Output) -> Option<(String, Tone)> {
    let checks = output.checks.iter();
    let right = checks.filter(|one| one.state == NicState::Right).count();
    let others = output.checks.len() - right;
    let text = format!("nothing to fix: {right} right, {others} not judged");
    (others > 0 && !is_cut_short(output)).then_some((text, Tone::Good))
}

fn of_tests(output: &Output) -> (String, Tone) {
    let lost: u64 = output.ledger.iter().map(|entry| entry.lost_packets).sum();
    match (lost, output.refused_packets(), output.unprovoked_losses()) {
        (0, 0, _) if is_cut_short(output) => (
            "no cause was found; not everything was measured".to_owned(),
            Tone::Plain,
        ),
        (0, 0, _) => ("nothing to fix".to_owned(), Tone::Good),
        (0, refused, _) => (
            format!("no rule explains why the sender's kernel refused {refused} datagrams"),
            Tone::Warn,
        ),
        (_, _, 0) => (provoked(output), Tone::Good),
        (_, _, rest) => (
            format!("no rule explains {rest} lost packets; the loss ledger shows where"),
            Tone::Warn,
        ),
    }
}

/// Whether the command failed, or a test is not valid that is no trial.
fn is_cut_short(output: &Output) -> bool {
    let mut tests = output.tests.iter();
    output.error.is_some() || tests.any(|test| !test.valid && !output.is_trial(test))
}

/// The losses of tests that no cause names: how many, and at which stages at most.
fn unnamed(output: &Output, causes: &[&Finding]) -> Option<Line> {
    let named: BTreeSet<&String> = causes.iter().flat_map(|cause| &cause.test_ids).gather();
    let lossy = output.unprovoked().into_iter();
    let rest = lossy.filter(|(test, _)| !named.contains(&test.id));
    let rest: Map<&str, u64> = rest.map(|(test, lost)| (test.id.as_str(), lost)).gather();
    let mut stages: Map<&str, u64> = Map::new();
    let entries = output.ledger.iter();
    let entries = entries.filter(|entry| rest.contains_key(entry.test_id.as_str()));
    for stage in entries
        .flat_map(|entry| &entry.stages)
        .filter(|stage| stage.hi > 0)
    {
        *stages.entry(&stage.stage).or_default() += stage.hi;
    }
    let at: Vec<String> = stages
        .iter()
        .map(|(stage, most)| format!("up to {most} at {stage}"))
        .collect();
    let at = if at.is_empty() {
        String::new()
    } else {
        format!(": {}", at.join(", "))
    };
    let lost: u64 = rest.values().sum();
    let text = match rest.len() {
        0 => return None,
        1 => format!("no rule explains the {lost} lost packets of another test{at}"),
        tests => format!("no rule explains the {lost} lost packets of {tests} other tests{at}"),
    };
    Some(Line::new(2, text).tone(Tone::Warn))
}

/// Where nothing but the test itself is to blame for the losses.
fn provoked(output: &Output) -> String {
    let lost = Lost::of(output);
    let mut informational = output.findings.iter().filter(|one| one.informational);
    let shares_cpus = informational.any(|finding| finding.explains.lost_packets > Some(0));
    let searched = lost.datagrams > 0 && !output.knees.is_empty();
    let reasons = [
        (searched, "trials above the highest rate without loss"),
        (lost.segments > 0, "TCP's probing for the rate of the path"),
        (shares_cpus, "CPUs that both ends share"),
    ];
    let reasons: Vec<&str> = reasons
        .iter()
        .filter(|one| one.0)
        .map(|one| one.1)
        .collect();
    let colon = if reasons.is_empty() { "" } else { ": " };
    let (what, why, also) = (lost.text(), reasons.join(", or "), lost.also());
    format!("nothing to fix: {what} lost, as expected{colon}{why}{also}")
}

/// One cause. What it shares with an earlier one (the same rule at the other end) is not repeated.
fn cause(output: &Output, number: usize, finding: &Finding, earlier: &[&Finding]) -> Vec<Line> {
    let head = format!("{number}. {}", finding.title);
    let mut lines = vec![Line::new(2, head).tone(Tone::Warn)];
    let before = earlier.iter().position(|known| known.rule == finding.rule);
    let said = before.map(|index| (index + 1, earlier[index]));
    let again =
        |text: fn(&Finding) -> &str| said.is_some_and(|(_, known)| text(known) == text(finding));
    let sure = strength(output, finding);
    let mut parts = vec![
        ("where", format!("{}; {sure}", place(finding))),
        ("explains", explains(output, finding)),
        ("evidence", evidence(finding)),
    ];
    if !again(|finding| &finding.why) {
        parts.push(("why", finding.why.clone()));
    }
    lines.extend(
        parts
            .iter()
            .flat_map(|(label, text)| Line::labelled(PART, label, text)),
    );
    lines.extend(check(finding));
    lines.extend(change(finding, said));
    if !again(|finding| &finding.verify) {
        lines.extend(Line::labelled(PART, "verify", &finding.verify));
    }
    let rivals = finding.alternatives.join(", ");
    lines.extend(Line::labelled(PART, "or almost as likely", &rivals));
    lines.extend(Line::labelled(
        PART,
        "contradicted by",
        &finding.conflicts.join(", "),
    ));
    let rule = format!("{} ({})", finding.rule, finding.source);
    let label = if is_weighed(finding) { "cause" } else { "rule" };
    lines.extend(Line::labelled(PART, label, &rule).filter(|_| said.is_none()));
    lines
}

/// Each command on its own line.
fn change(finding: &Finding, said: Option<(usize, &Finding)>) -> Vec<Line> {
    let Some(change) = &finding.change else {
        return Vec::new();
    };
    let at = at(finding);
    if let Some((number, known)) = said
        && known.change.as_ref() == Some(change)
    {
        let same = format!("as in {number}{at}");
        return Line::labelled(PART, "try", &same).into_iter().collect();
    }
    let mut lines = Vec::new();
    let mut commands = |label: &str, commands: &[String]| {
        if !commands.is_empty() {
            lines.push(Line::new(PART, format!("{label}:")));
        }
        lines.extend(commands.iter().flat_map(|text| command(PART + 2, text)));
    };
    commands(&format!("try{at}"), &change.commands);
    commands("undo", &change.undo);
    let (label, text) = risk(change);
    lines.extend(Line::labelled(PART, label, &text));
    lines
}

/// Where to try it, if that is one place.
fn at(finding: &Finding) -> String {
    match finding.place.as_str() {
        "" => format!(", on {}", host(finding.host)),
        "path" | "program" => String::new(),
        _ => format!(", on {}", place(finding)),
    }
}

/// A command, with its note below; or only the note.
fn command(indent: usize, text: &str) -> Vec<Line> {
    let (typed, note) = match text.split_once("   # ") {
        Some((typed, note)) => (typed, Some(note)),
        None if text.starts_with("# ") => ("", text.strip_prefix("# ")),
        None => (text, None),
    };
    let typed = (!typed.is_empty()).then(|| Line::command(indent, typed));
    let note = note.map(|note| Line::new(indent, format!("# {note}")));
    typed.into_iter().chain(note).collect()
}

/// The risk of a change, in words. Advice has no risk: what is known of it is a note.
fn risk(change: &Change) -> (&'static str, String) {
    let risk = change.risk.as_str();
    let (word, effects) = risk.split_once(": ").unwrap_or((risk, ""));
    let effects = Some(effects).filter(|text| !matches!(*text, "none" | "none known"));
    let effects = effects.unwrap_or_default();
    if word == "advice" && !effects.is_empty() {
        return ("note", effects.to_owned());
    }
    let only_notes = change.commands.iter().all(|text| text.starts_with("# "));
    let words = match word {
        "advice" if only_notes => "",
        "live" => "none for running traffic",
        "blip" => "the link may be down for some seconds",
        "reboot" => "needs a reboot",
        "rebuild" => "needs another kernel or driver",
        "firmware" => "needs other firmware; no setting changes it",
        "repair" => "work at the hardware; no setting changes it",
        "hw" => "a limit of this hardware; no setting changes it",
        "advice" => "none, diagnostic only",
        other => other,
    };
    let parts = [words, effects].into_iter().filter(|part| !part.is_empty());
    ("risk", parts.collect::<Vec<_>>().join("; "))
}

/// The strength of the evidence, in words.
fn strength<'f>(output: &Output, finding: &'f Finding) -> Cow<'f, str> {
    let words = match (finding.strength.as_str(), is_weighed(finding)) {
        ("proven", false) => return format!("proven: by {}", proof(output, finding)).into(),
        ("proven", true) => "proven: a message or counter names it",
        ("consistent", false) => "likely: consistent with all known facts",
        ("consistent", true) => {
            "likely: it fits what the text shows, and no other known cause fits as well"
        }
        ("weak", false) => "possible: weak evidence",
        ("weak", true) => "possible: a known cause of such symptoms",
        (other, _) => other,
    };
    words.into()
}

/// What a check of an interface saw, if the evidence is one; a rule's is a counter.
fn proof(output: &Output, finding: &Finding) -> &'static str {
    let seen = |one: &Evidence| {
        let mut checks = output.checks.iter().filter(|check| check.id == one.fact);
        checks.find_map(NicCheck::proof)
    };
    let mut evidence = finding.evidence.iter();
    evidence.find_map(seen).unwrap_or("a counter")
}

/// Whether it is a cause that was weighed, not a rule's.
fn is_weighed(finding: &Finding) -> bool {
    !finding.place.is_empty()
}

/// The command that decides, and by what.
fn check(finding: &Finding) -> Vec<Line> {
    let Some(check) = &finding.check else {
        return Vec::new();
    };
    let mut lines = vec![Line::new(PART, "check:".to_owned())];
    lines.extend(command(PART + 2, &check.command));
    lines.extend(Line::labelled(PART + 2, "confirms", &check.confirms));
    lines.extend(Line::labelled(PART + 2, "refutes", &check.refutes));
    lines
}

fn note(finding: &Finding, earlier: &[&Finding]) -> Vec<Line> {
    let mut lines = vec![Line::new(
        2,
        format!(
            "{} (rule {}, {})",
            finding.title,
            finding.rule,
            place(finding)
        ),
    )];
    let again = earlier.iter().any(|known| known.why == finding.why);
    if !again {
        lines.extend(Line::labelled(4, "why", &finding.why));
    }
    lines
}

fn place(finding: &Finding) -> String {
    let host = host_or_place(finding);
    finding.interface.as_ref().map_or_else(
        || host.to_owned(),
        |interface| format!("{host}, {interface}"),
    )
}

/// Where it is, without the interface.
pub(super) fn host_or_place(finding: &Finding) -> &str {
    match finding.place.as_str() {
        "" => host(finding.host),
        "host" => "this host",
        "partner" => "the other end",
        "path" => "the path",
        "switch" => "the switch",
        "vm-host" => "the host of the virtual machine",
        "program" => "a program, not the network",
        other => other,
    }
}

fn host(host: Role) -> &'static str {
    match host {
        Role::Local => "the local host",
        Role::Remote => "the remote host",
        Role::Device => "the device under test",
    }
}

/// The lost packets that it explains, of all.
pub(super) fn lost_of(output: &Output, finding: &Finding) -> Option<String> {
    let of_all: u64 = output.ledger.iter().map(|entry| entry.lost_packets).sum();
    let lost = finding.explains.lost_packets.filter(|lost| *lost > 0)?;
    Some(match lost.cmp(&of_all) {
        Ordering::Less => format!("{lost} of {of_all} lost packets"),
        Ordering::Equal => format!("all {lost} lost packets"),
        Ordering::Greater => format!("{lost} lost packets"),
    })
}

fn explains(output: &Output, finding: &Finding) -> String {
    let lost = lost_of(output, finding);
    let rate = finding
        .explains
        .bits_per_second
        .filter(|rate| *rate > 0.0)
        .map(|rate| with_unit(rate, BIT_RATES));
    let whose = match finding.test_ids.as_slice() {
        [] => String::new(),
        [first, second, third, _, ..] => {
            let more = finding.test_ids.len() - 3;
            format!(" ({first}, {second}, {third} and {more} more)")
        }
        few => format!(" ({})", few.join(", ")),
    };
    let own = lost.or(rate);
    let as_well = shared(output, finding, own.is_some());
    let parts: Vec<String> = own.into_iter().chain(as_well).collect();
    if parts.is_empty() {
        return String::new();
    }
    parts.join("; ") + &whose
}

/// The packets that other findings explain as well.
fn shared(output: &Output, finding: &Finding, also: bool) -> Option<String> {
    let explains = &finding.explains;
    let packets = explains.shared_packets.filter(|packets| *packets > 0)?;
    let causes = output.findings.iter().filter(|one| !one.informational);
    let named = |(index, one): (usize, &Finding)| {
        let other = !std::ptr::eq(one, finding) && explains.shared_with.contains(&one.rule);
        other.then(|| (index + 1).to_string())
    };
    let numbers: Vec<String> = causes.enumerate().filter_map(named).collect();
    let whose = numbers.join(" and ");
    Some(if also {
        format!("{packets} more, counted under {whose}, may also have this cause")
    } else {
        format!("an alternative cause of the {packets} lost packets counted under {whose}")
    })
}

/// The evidence in the test that it explains most of, which a finding names first.
fn evidence(finding: &Finding) -> String {
    let facts: Vec<String> = finding.evidence.iter().map(one).collect();
    let whose = match finding.test_ids.as_slice() {
        [first, _, ..] if !facts.is_empty() => format!("in {first} "),
        _ => String::new(),
    };
    whose + &facts.join("; ")
}

fn one(evidence: &Evidence) -> String {
    if evidence.source.ends_with(" dB") {
        return format!(
            "{}: {} ({})",
            evidence.fact, evidence.value, evidence.source
        );
    }
    let value = match (evidence.unit.as_str(), evidence.value.number()) {
        ("bit/s", Some(rate)) => with_unit(rate, BIT_RATES),
        ("" | "ratio", _) => evidence.value.to_string(),
        (unit, _) => format!("{} {unit}", evidence.value),
    };
    format!("{} = {value} ({})", evidence.fact, evidence.source)
}

/// Rules that some evidence supports, but that need unknown facts; the commands that read those are listed after them.
/// Where a test was run and nothing is unexplained, only their number.
fn undecided(output: &Output) -> Vec<Line> {
    let rules = &output.cannot_tell;
    if rules.is_empty() {
        return Vec::new();
    }
    if is_measured(output) && !is_unexplained(output) {
        let (many, what) = match rules.len() {
            1 => ("one possible cause".to_owned(), "it"),
            many => (format!("{many} possible causes"), "them"),
        };
        let text = format!("{many} could not be checked here: `linerate explain RUN` names {what}");
        return vec![Line::new(2, text)];
    }
    let first = rules.iter().take(MOST_UNDECIDED).map(|rule| {
        let name = if rule.cause.is_empty() {
            "rule"
        } else {
            &rule.cause
        };
        let facts = rule.facts.join(", ");
        let token = if rule.needs_token { NEEDS_TOKEN } else { "" };
        Line::new(
            2,
            format!("{name} ({}): {facts} not known{token}", rule.rule),
        )
    });
    let mut lines: Vec<Line> = first.collect();
    let more = rules.len().saturating_sub(MOST_UNDECIDED);
    if more > 0 {
        lines.push(Line::new(2, format!("{more} more (--json lists all)")));
    }
    lines
}

fn next(output: &Output) -> Vec<Line> {
    let shown = !is_measured(output) || is_unexplained(output);
    let commands = output.next_commands.iter().filter(|_| shown);
    commands.flat_map(|text| command(2, text)).collect()
}

/// Whether the document is of a test that was just run, not of `explain` or `inspect`.
fn is_measured(output: &Output) -> bool {
    !matches!(output.kind.as_str(), "explain" | "inspect")
}

/// Whether packets were lost and no cause was named.
fn is_unexplained(output: &Output) -> bool {
    let lost = output.ledger.iter().any(|entry| entry.lost_packets > 0);
    let named = output.findings.iter().any(|finding| !finding.informational);
    lost && !named && !output.is_healthy_but_for_searches()
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

fn weight(weight: &Weight) -> Line {
    let line = weight
        .line
        .map_or_else(String::new, |line| format!(", line {line}"));
    Line::new(
        2,
        format!("{}: {:+.1} {}{line}", weight.cause, weight.db, weight.what),
    )
}

fn passage(passage: &Passage) -> Line {
    if passage.first_line == 0 {
        return Line::new(2, passage.what.clone());
    }
    let lines = if passage.first_line == passage.last_line {
        format!("line {}", passage.first_line)
    } else {
        format!("lines {}-{}", passage.first_line, passage.last_line)
    };
    Line::new(2, format!("{lines}: {}", passage.what))
}

const MOST_UNDECIDED: usize = 6;
/// For a host that reports more to a client that knows its token.
const NEEDS_TOKEN: &str = " (may need a token: --token-file)";
/// The indent of the parts of a cause.
const PART: usize = 5;

#[cfg(test)]
mod tests;
