// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text → rules, or every mistake in it. Takes text, touches no file.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::example;
use super::raw::{RawFile, RawRule, Word};
use super::template;
use super::{Condition, Explains, Risk, Rule, Scope, Strength};
use crate::facts::known;
use crate::ledger::FORWARD_STAGES;
use linerate_knowledge::Stage;
use linerate_knowledge::distance;
use linerate_knowledge::keys;
use linerate_knowledge::{Mistake, Mistakes};
use linerate_model::order;
use linerate_model::order::Gather as _;

/// Reads the rules of the file `file`.
///
/// # Errors
/// Every mistake found. TOML's own stop at the first.
pub fn parse(file: &str, text: &str) -> Result<Vec<Rule>, Vec<Mistake>> {
    let read = keys::read(file, text, |raw: &RawFile, mistakes| {
        let rules = raw.rule.iter().filter_map(|raw| rule(raw, mistakes));
        rules.collect()
    });
    read.map_err(|mut found: Vec<Mistake>| {
        order::by_key(&mut found, |mistake| mistake.line);
        found
    })
}

/// What is wrong between files that are each right: an id used twice, a `contradicts` of no rule.
#[must_use]
pub fn check_together(files: &[(String, Vec<Rule>)]) -> Vec<Mistake> {
    let mut ids = BTreeSet::new();
    let mut found = Vec::new();
    let mut note = |file: &str, wrong: String, allowed: &str| {
        found.push(Mistake {
            file: file.to_owned(),
            line: None,
            wrong,
            allowed: allowed.to_owned(),
        });
    };
    for (file, rule) in files
        .iter()
        .flat_map(|(file, rules)| rules.iter().map(move |rule| (file, rule)))
    {
        if !ids.insert(rule.id.as_str()) {
            note(
                file,
                format!("the id `{}` is used twice", rule.id),
                "an id of its own",
            );
        }
    }
    for (file, rule) in files
        .iter()
        .flat_map(|(file, rules)| rules.iter().map(move |rule| (file, rule)))
    {
        for other in rule
            .contradicts
            .iter()
            .filter(|other| !ids.contains(other.as_str()))
        {
            note(
                file,
                format!("`{}` contradicts `{other}`, which is no rule", rule.id),
                "the id of a rule",
            );
        }
    }
    found
}

fn rule(raw: &RawRule, mistakes: &mut Mistakes<'_>) -> Option<Rule> {
    // All is read before anything is missed, so that every mistake is reported.
    let scope = mistakes.word("scope", &raw.scope, Scope::of_word, Scope::WORDS);
    let strength = mistakes.word(
        "strength",
        &raw.strength,
        Strength::of_word,
        Strength::WORDS,
    );
    let risk = match &raw.change {
        None => Some(Risk::Advice),
        Some(change) => mistakes.word("risk", &change.risk, Risk::of_word, Risk::WORDS),
    };
    let [applies, when, any] =
        [&raw.applies, &raw.when, &raw.any].map(|texts| conditions(texts, mistakes));
    let explains = explains(raw.explains.as_ref(), mistakes);
    whole(raw, mistakes);
    if raw.fallback && !matches!(explains, None | Some(Explains::Stage(_))) {
        let (wrong, allowed) = ("a fallback is for one stage", "`explains` with a stage");
        mistakes.at(raw.id.span().start, wrong.to_owned(), allowed);
    }
    let rule = Rule {
        id: raw.id.get_ref().clone(),
        cause: raw.cause.get_ref().clone(),
        title: raw.title.get_ref().clone(),
        scope: scope?,
        applies,
        when,
        any,
        strength: strength?,
        validity: raw.validity,
        informational: raw.informational,
        fallback: raw.fallback,
        of_machine: raw.of_machine,
        explains: explains?,
        contradicts: raw.contradicts.clone(),
        why: raw.why.get_ref().clone(),
        commands: texts(raw.change.as_ref().map(|change| &change.commands)),
        undo: texts(raw.change.as_ref().map(|change| &change.undo)),
        risk: risk?,
        side_effects: raw
            .change
            .as_ref()
            .map(|change| change.side_effects.clone())
            .unwrap_or_default(),
        figure: figure(raw, mistakes),
        tradeoffs: tradeoffs(raw, mistakes),
        verify: raw.verify.get_ref().clone(),
        sources: raw.source.clone(),
    };
    example::check(&rule, &raw.example, mistakes);
    sentences(&rule, raw, mistakes);
    Some(rule)
}

/// The metric that decides about a change.
fn figure(raw: &RawRule, mistakes: &mut Mistakes<'_>) -> Option<String> {
    let word = raw.change.as_ref()?.figure.as_ref()?;
    Some(known_figure(word, mistakes))
}

/// The metrics that a change is expected to make worse.
fn tradeoffs(raw: &RawRule, mistakes: &mut Mistakes<'_>) -> Vec<String> {
    let change = raw.change.as_ref();
    let words = change.map_or(&[][..], |change| &change.tradeoffs);
    words
        .iter()
        .map(|word| known_figure(word, mistakes))
        .collect()
}

fn known_figure(word: &Word, mistakes: &mut Mistakes<'_>) -> String {
    if !FIGURES.contains(&word.get_ref().as_str()) {
        let wrong = format!("no figure `{}`", word.get_ref());
        mistakes.at(word.span().start, wrong, &FIGURES.join(", "));
    }
    word.get_ref().clone()
}

const FIGURES: &[&str] = &["throughput", "loss", "rtt-p99"];

/// A rule that fires can say its sentences: what they need is known then.
fn sentences(rule: &Rule, raw: &RawRule, mistakes: &mut Mistakes<'_>) {
    let conditions = rule.applies.iter().chain(&rule.when);
    let sure: BTreeSet<&str> = conditions.flat_map(Condition::facts).gather();
    for text in [&raw.title, &raw.why, &raw.verify] {
        let needed = template::needed(text.get_ref()).into_iter();
        for name in needed.filter(|name| known(name).is_some() && !sure.contains(name.as_str())) {
            mistakes.at(
                text.span().start,
                format!("`{{{name}}}` may be unknown when the rule fires"),
                "a fact of `applies` or `when`, or parentheses around it, which are left out then",
            );
        }
    }
}

/// What has to hold beyond the words.
fn whole(raw: &RawRule, mistakes: &mut Mistakes<'_>) {
    let mut ask = |fine: bool, word: &Word, wrong: &str, allowed: &str| {
        if !fine {
            mistakes.at(word.span().start, wrong.to_owned(), allowed);
        }
    };
    let cause = raw.cause.get_ref();
    let plain = cause
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && !cause.is_empty();
    ask(
        plain,
        &raw.cause,
        "a cause is a stable name",
        "lower-case letters, digits and hyphens",
    );
    ask(
        !raw.when.is_empty() || !raw.any.is_empty(),
        &raw.id,
        "the rule has no condition",
        "at least one in `when`",
    );
    ask(
        !raw.source.is_empty(),
        &raw.id,
        "no source is given",
        "at least one `source`",
    );
    ask(
        !raw.informational || raw.change.is_none(),
        &raw.id,
        "an informational rule changes nothing",
        "no `change`, or not informational",
    );
    let printed = [&raw.title, &raw.why, &raw.verify].into_iter();
    let commands = raw
        .change
        .iter()
        .flat_map(|change| change.commands.iter().chain(&change.undo));
    for text in printed.chain(commands) {
        for name in template::facts(text.get_ref()).filter(|name| known(name).is_none()) {
            ask(
                false,
                text,
                &format!("`{{{name}}}` is no fact"),
                "a name that the rule may ask for, or `{interface}`",
            );
        }
    }
}

fn conditions(texts: &[Word], mistakes: &mut Mistakes<'_>) -> Vec<Condition> {
    let mut understood = Vec::new();
    for text in texts {
        match Condition::parse(text.get_ref()) {
            Ok(condition) => understood.push(condition),
            Err(wrong) => mistakes.at(text.span().start, wrong, "`fact > 3`, `fact == 'word'`, `fact in ['a', 'b']`, `fact > 0.9 * other`, `fact == true`"),
        }
    }
    for (condition, text) in understood.iter().zip(texts) {
        for name in condition.facts().filter(|name| known(name).is_none()) {
            mistakes.at(
                text.span().start,
                format!("`{name}` is no fact"),
                &nearest(name),
            );
        }
    }
    understood
}

/// The known name that shares most with a wrong one.
fn nearest(name: &str) -> String {
    let parts: BTreeSet<&str> = name.split('_').gather();
    let shared = |known: &str| known.split('_').filter(|part| parts.contains(part)).count();
    let letters: Vec<char> = name.chars().take(LONGEST_NAME).collect();
    let best = crate::facts::catalogue().min_by_key(|known| {
        let away = distance(&letters, known.name);
        (Reverse(shared(known.name)), away)
    });
    best.map_or_else(String::new, |known| {
        format!(
            "one of the facts that `linerate explain --facts RUN` prints; the nearest is `{}`",
            known.name
        )
    })
}

fn explains(raw: Option<&Word>, mistakes: &mut Mistakes<'_>) -> Option<Explains> {
    let Some(word) = raw else {
        return Some(Explains::Nothing);
    };
    let text = word.get_ref().as_str();
    let understood = match text.split_once(' ') {
        None if is_stage(text) => Some(Explains::Stage(text.to_owned())),
        None if text == "all-lost" => Some(Explains::AllLost),
        Some(("packets", of)) => packets(of),
        Some(("rate", fact)) if known(fact).is_some() => Some(Explains::Rate(fact.to_owned())),
        _ => None,
    };
    if understood.is_none() {
        mistakes.at(
            word.span().start,
            format!("`explains` cannot be `{text}`"),
            "a stage such as rx-mac, all-lost, `packets FACT`, `packets FACT at STAGE`, `rate FACT`",
        );
    }
    understood
}

fn packets(text: &str) -> Option<Explains> {
    let (fact, stage) = match text.split_once(" at ") {
        Some((fact, stage)) => (fact, Some(stage)),
        None => (text, None),
    };
    (known(fact).is_some() && stage.is_none_or(is_stage)).then(|| Explains::Packets {
        fact: fact.to_owned(),
        stage: stage.map(str::to_owned),
    })
}

fn is_stage(text: &str) -> bool {
    Stage::of_word(text).is_some() || FORWARD_STAGES.contains(&text)
}

fn texts(words: Option<&Vec<Word>>) -> Vec<String> {
    words
        .into_iter()
        .flatten()
        .map(|word| word.get_ref().clone())
        .collect()
}

/// Of a fact's.
const LONGEST_NAME: usize = 64;

#[cfg(test)]
mod tests;
