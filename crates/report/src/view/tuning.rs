// SPDX-License-Identifier: MIT OR Apache-2.0
//! A campaign of `tune`: how it ended, each change with its proof and its undo, what is left to a person.

use linerate_model::output::{
    ByHand, Candidate, CandidateState, Comparison, Guard, Mechanism, MovedFact, Output, Role,
    Tuning, TuningEnd,
};
use linerate_model::units::format::significant;

use super::comparison::figure_text;
use super::comparison::sentence::effect;
use super::{Block, Line, Tone, moved};

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let parts = output.tuning.iter().map(|tuning| parts(output, tuning));
    parts.flatten().collect()
}

fn parts(output: &Output, tuning: &Tuning) -> Vec<Block> {
    let of = |state| {
        tuning
            .candidates
            .iter()
            .filter(move |one| one.state == state)
    };
    let part = |heading, state| Block::lines(heading, of(state).flat_map(lines));
    let blocks = [
        Block::lines("", head(output, tuning)),
        part("kept", CandidateState::Kept),
        part("rolled back at once", CandidateState::RolledBack),
        part("undone", CandidateState::Reverted),
        part("not possible here", CandidateState::NotPossible),
        part(untried(tuning), CandidateState::NotTried),
        Block::lines(
            "all that is kept, against the original configuration",
            together(tuning).map(whole),
        ),
        Block::lines("left to you", tuning.by_hand.iter().flat_map(by_hand)),
        moved::short(output),
        Block::lines("", next(output)),
    ];
    blocks.into_iter().flatten().collect()
}

/// What is kept as a whole, where that is more than one change: the trial of one confirms it.
fn together(tuning: &Tuning) -> impl Iterator<Item = &Comparison> {
    let kept = tuning
        .candidates
        .iter()
        .filter(|one| one.state == CandidateState::Kept);
    let is_shown = is_kept(tuning) && kept.count() > 1;
    tuning.whole.iter().filter(move |_| is_shown)
}

fn is_kept(tuning: &Tuning) -> bool {
    tuning.ended == TuningEnd::Kept
}

fn untried(tuning: &Tuning) -> &'static str {
    match tuning.ended {
        TuningEnd::DryRun => "would be tried",
        _ => "not tried",
    }
}

/// How it ended.
fn head(output: &Output, tuning: &Tuning) -> Vec<Line> {
    let count = |state| {
        let same = |one: &&Candidate| one.state == state;
        tuning.candidates.iter().filter(same).count()
    };
    let why = tuning.why.as_deref().unwrap_or_default();
    let (text, tone) = match tuning.ended {
        TuningEnd::Kept => (kept(output, count(CandidateState::Kept)), Tone::Good),
        TuningEnd::Inconclusive => (undone("inconclusive", tuning), Tone::Warn),
        TuningEnd::NothingBetter => (undone("nothing is better", tuning), Tone::Plain),
        TuningEnd::NothingToTry => (
            "nothing to try: no finding proposes a change that this host can make".to_owned(),
            Tone::Plain,
        ),
        TuningEnd::Ceiling => (format!("no setting raises this limit: {why}"), Tone::Plain),
        TuningEnd::DryRun => {
            let text = "nothing was changed; this would be tried, one after the other";
            (text.to_owned(), Tone::Plain)
        }
        TuningEnd::Unfinished => {
            let changed = match why {
                "" => "what it had changed is undone".to_owned(),
                why => format!("not restored: {why}"),
            };
            let text = format!("the campaign was not completed; {changed}");
            (text, Tone::Warn)
        }
    };
    let limit = Some(why).filter(|_| is_kept(tuning));
    let limit = limit.and_then(|why| Line::labelled(2, "the limit is now", why));
    let is_noisy = tuning.smallest_effect.is_some_and(|effect| effect > NOISY);
    let noise = is_noisy.then(|| Line::new(2, LESS_NOISE));
    let first = Line::new(0, format!("tune: {text}")).tone(tone);
    std::iter::once(first).chain(limit).chain(noise).collect()
}

/// What was tried, and how much it could have missed.
fn undone(ended: &str, tuning: &Tuning) -> String {
    let is_undone = |one: &&Candidate| {
        matches!(
            one.state,
            CandidateState::Reverted | CandidateState::RolledBack
        )
    };
    let count = tuning.candidates.iter().filter(is_undone).count();
    let tried = changes(count, ["was", "were"]);
    let missed = tuning.smallest_effect.map(missed).unwrap_or_default();
    format!("{ended}: {tried} tried and undone{missed}")
}

/// From this effect on, what hides it is worth reducing.
const NOISY: f64 = 0.05;
const LESS_NOISE: &str =
    "to detect smaller effects: longer runs (-t 10), more blocks (--blocks 24), an idle machine";

fn kept(output: &Output, count: usize) -> String {
    let is_lab = output.command.iter().any(|word| word == "--lab");
    let has_files = output
        .changes
        .iter()
        .any(|one| one.knob.starts_with("file "));
    let until = match (is_lab, has_files) {
        (true, _) => "it was in force until the lab ended",
        (false, true) => "in force, with files that set it at boot",
        (false, false) => "in force until the next reboot",
    };
    format!("{} proven better: {until}", changes(count, ["is", "are"]))
}

fn changes(count: usize, [one, more]: [&str; 2]) -> String {
    match count {
        1 => format!("1 change {one}"),
        count => format!("{count} changes {more}"),
    }
}

fn missed(effect: f64) -> String {
    let percent = significant(100.0 * effect);
    format!("; an improvement of {percent} % or more would probably have been detected")
}

fn lines(one: &Candidate) -> Vec<Line> {
    let commands = one.commands.iter().enumerate();
    let commands = commands.map(|(at, command)| match at {
        0 => Line::command(0, format!("{}. {command}{}", one.number, on(one.host))),
        _ => Line::command(3, command.clone()),
    });
    let mut lines: Vec<Line> = commands.collect();
    let is_kept = one.state == CandidateState::Kept;
    if is_kept {
        lines.extend(one.comparison.as_ref().map(|one| measured("effect", one)));
        let second = one.confirmation.as_ref();
        lines.extend(second.map(|one| measured("confirmed", one)));
        lines.extend(one.comparison.as_ref().and_then(price));
    }
    let why = one.reason.as_deref().unwrap_or_default();
    lines.extend(Line::labelled(3, "why", why));
    let label = match one.because.as_str() {
        "" => "tunable",
        _ => "finding",
    };
    lines.extend(Line::labelled(3, label, &finding(one)));
    let mechanism = one.mechanism.as_ref().filter(|_| is_kept);
    lines.extend(mechanism.map(|seen| works(seen, one.finding_gone)));
    lines.extend(mechanism.and_then(facts));
    match one.state {
        CandidateState::NotTried => {
            lines.extend(Line::labelled(3, "decided by", &one.measurement.join(" ")));
            lines.extend(Line::labelled(3, "risk", &one.risk));
        }
        CandidateState::Kept => {
            let undo = one.undo.iter();
            lines.extend(undo.map(|command| Line::command(3, format!("undo: {command}"))));
        }
        CandidateState::NotPossible | CandidateState::Reverted | CandidateState::RolledBack => {}
    }
    lines
}

fn finding(one: &Candidate) -> String {
    format!("{} {}", one.because, one.title).trim().to_owned()
}

fn on(host: Role) -> &'static str {
    match host {
        Role::Local => "",
        Role::Remote | Role::Device => "   # on the peer",
    }
}

fn measured(label: &str, one: &Comparison) -> Line {
    let sides = [&one.before, &one.after];
    let [before, after] = sides.map(|side| median(side.median, &one.unit));
    let name = format!("{} {}", one.metric, one.name);
    let text = format!("{} {before} → {after}: {}", name.trim_end(), effect(one));
    Line::new(3, format!("{label}: {text}")).tone(super::comparison::tone(one.verdict))
}

fn median(value: Option<f64>, unit: &str) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| figure_text(value, unit))
}

/// What became worse, as the finding's rule expects.
fn price(one: &Comparison) -> Option<Line> {
    let worse = one.guards.iter().filter(|guard| guard.worse);
    let each: Vec<String> = worse.map(became).collect();
    Line::labelled(3, "in return", &each.join("; "))
}

fn became(guard: &Guard) -> String {
    let [before, after] = [guard.before, guard.after].map(|value| median(value, &guard.unit));
    let name = format!("{} {}", guard.metric, guard.name);
    format!("{} {before} → {after}", name.trim_end())
}

fn whole(one: &Comparison) -> Line {
    Line {
        indent: 2,
        ..measured("effect", one)
    }
}

/// Whether the finding went with the change: in the runs of the trial, and in the fresh check.
fn works(seen: &Mechanism, gone: Option<bool>) -> Line {
    let runs = format!(
        "found in {} of {} runs without the change, in {} of {} with it",
        seen.found_before, seen.runs_before, seen.found_after, seen.runs_after
    );
    let (fresh, tone) = match gone {
        Some(true) => ("; gone in a fresh check", Tone::Good),
        Some(false) => ("; a fresh check still has it", Tone::Warn),
        None => ("", Tone::Plain),
    };
    Line::new(3, format!("mechanism: {runs}{fresh}")).tone(tone)
}

/// What the finding is made from, where it moved.
fn facts(seen: &Mechanism) -> Option<Line> {
    let moved = |fact: &&MovedFact| fact.before != fact.after;
    let moved_facts = seen.facts.iter().filter(moved).map(|fact| {
        let value = |value: Option<f64>| {
            value.map_or_else(|| "n/a".to_owned(), |one| figure_text(one, &fact.unit))
        };
        format!(
            "{} {} → {}",
            fact.name,
            value(fact.before),
            value(fact.after)
        )
    });
    let moved_facts: Vec<String> = moved_facts.collect();
    Line::labelled(3, "facts", &moved_facts.join("; "))
}

fn by_hand(one: &ByHand) -> Vec<Line> {
    let head = format!("{} {}: {}", one.rule, one.title, one.why);
    let commands = one.commands.iter();
    let commands = commands.map(|command| Line::command(3, command.clone()));
    std::iter::once(Line::new(0, head))
        .chain(commands)
        .collect()
}

fn next(output: &Output) -> Vec<Line> {
    let next = output.next_commands.iter();
    let next = next.map(|command| Line::command(0, format!("next: {command}")));
    let details = output.run_dir.iter().map(|directory| {
        Line::command(
            0,
            format!("details  linerate report {directory} -o run.html"),
        )
    });
    next.chain(details).collect()
}

#[cfg(test)]
mod tests;
