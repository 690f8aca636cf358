// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reader of `knowledge/tunables/*.toml`.

use super::values::Attempt;
use super::{Consent, Fields, Goal, Knobs, NotOn, Risk, Scope, Side, Tunable};
use crate::keys::{self, Word};
use crate::mistake::{Mistake, Mistakes};
use crate::sign::sourced;
use crate::toml_table;

/// Reads the settings `text` of the file `file`.
///
/// # Errors
/// Every mistake found. TOML's own stop at the first.
pub fn parse_tunables(file: &str, text: &str) -> Result<Vec<Tunable>, Vec<Mistake>> {
    keys::read(file, text, |raw: &RawFile, mistakes| {
        let each = raw.tunable.iter().map(|one| understood(one, mistakes));
        each.collect::<Option<Vec<_>>>().unwrap_or_default()
    })
}

/// The mistakes between files that are each correct: a name in two entries, and a coupled setting without an entry.
#[must_use]
pub fn check_tunables(all: &[(String, Tunable)]) -> Vec<Mistake> {
    let mut found = Vec::new();
    let named = || {
        all.iter()
            .flat_map(|(_, one)| one.knobs.iter().map(Knobs::text))
    };
    for (file, one) in all {
        let twice = one
            .knobs
            .iter()
            .map(Knobs::text)
            .filter(|name| named().filter(|other| other == name).count() > 1);
        found.extend(twice.map(|name| mistake(file, format!("`{name}` has two entries"), "one")));
        let unknown = one
            .coupled
            .iter()
            .filter(|name| named().all(|other| other != name.as_str()));
        found.extend(unknown.map(|name| {
            mistake(
                file,
                format!("`{name}` has no entry"),
                "the `knobs` of an entry",
            )
        }));
    }
    found
}

fn mistake(file: &str, wrong: String, allowed: &str) -> Mistake {
    Mistake {
        file: file.to_owned(),
        line: None,
        wrong,
        allowed: allowed.to_owned(),
    }
}

fn understood(raw: &RawTunable, mistakes: &mut Mistakes<'_>) -> Option<Tunable> {
    let at = raw.risk.span().start;
    well_formed(raw, at, mistakes);
    let risk = mistakes.word("risk", &raw.risk, Risk::of_word, Risk::WORDS);
    let scope = mistakes.word("scope", &raw.scope, Scope::of_word, Scope::WORDS);
    let side = raw.side.as_ref();
    let side = side.map(|word| mistakes.word("side", word, Side::of_word, Side::WORDS));
    let goals = raw
        .goals
        .iter()
        .map(|goal| mistakes.word("goals", goal, Goal::of_word, Goal::WORDS));
    let goals: Option<Vec<Goal>> = goals.collect();
    let consent = raw.consent.as_ref();
    let consent =
        consent.map(|word| mistakes.word("consent", word, Consent::of_word, Consent::WORDS));
    let fields = raw.changes.as_ref();
    let fields = fields.map(|word| mistakes.word("changes", word, Fields::of_word, Fields::WORDS));
    Some(Tunable {
        knobs: raw
            .knobs
            .iter()
            .map(|name| Knobs::new(name.get_ref()))
            .collect(),
        means: raw.means.clone(),
        unit: raw.unit.clone(),
        least: raw.least,
        most: raw.most,
        raise_only: raw.raise_only,
        risk: risk?,
        scope: scope?,
        side: side.flatten(),
        goals: goals?,
        coupled: raw.coupled.clone(),
        not_on: raw.not_on.iter().map(RawNotOn::owned).collect(),
        consent: consent.flatten(),
        sources: sourced(&raw.source, at, mistakes),
        attempts: raw
            .values
            .iter()
            .map(|word| Attempt::of_word(word.get_ref()))
            .collect(),
        changes: fields.flatten().unwrap_or(Fields::Each),
    })
}

fn well_formed(raw: &RawTunable, at: usize, mistakes: &mut Mistakes<'_>) {
    if raw.knobs.is_empty() {
        mistakes.at(at, "`knobs` is empty".to_owned(), "the names of a setting");
    }
    for name in &raw.knobs {
        let text = name.get_ref();
        let is_word = |word: &str| !word.is_empty();
        if text.split(' ').count() < 2 || !text.split(' ').all(is_word) {
            let wrong = format!("`{text}` is not a setting");
            mistakes.at(
                name.span().start,
                wrong,
                "a tool and a name: `ethtool -G rx`, `irq N`",
            );
        }
    }
    if raw.means.is_empty() || raw.means.ends_with('.') {
        mistakes.at(
            at,
            "`means` is not a sentence without its full stop".to_owned(),
            "what it does",
        );
    }
    if let (Some(least), Some(most)) = (raw.least, raw.most)
        && least > most
    {
        mistakes.at(
            at,
            format!("`least` {least} is above `most` {most}"),
            "bounds in their order",
        );
    }
    attempts_fit(raw, mistakes);
}

/// A number needs a unit, and has to be within the bounds.
fn attempts_fit(raw: &RawTunable, mistakes: &mut Mistakes<'_>) {
    for word in &raw.values {
        let at = word.span().start;
        let attempt = Attempt::of_word(word.get_ref());
        if attempt.is_number() && raw.unit.is_none() && !matches!(attempt, Attempt::Every) {
            mistakes.at(at, format!("`{}` has no unit", word.get_ref()), "`unit`");
        }
        if let Attempt::Number(number) = attempt
            && (raw.least.is_some_and(|least| number < least)
                || raw.most.is_some_and(|most| number > most))
        {
            mistakes.at(
                at,
                format!("`{number}` is out of bounds"),
                "a number from `least` to `most`",
            );
        }
    }
}

toml_table! {
    RawFile {
        tunable: Vec<RawTunable> = need,
    }
}

toml_table! {
    RawTunable {
        knobs: Vec<Word> = need,
        means: String = need,
        unit: Option<String> = or_default,
        least: Option<u64> = or_default,
        most: Option<u64> = or_default,
        values: Vec<Word> = or_default,
        changes: Option<Word> = or_default,
        raise_only: bool = or_default,
        risk: Word = need,
        scope: Word = need,
        side: Option<Word> = or_default,
        goals: Vec<Word> = or_default,
        coupled: Vec<String> = or_default,
        not_on: Vec<RawNotOn> = or_default,
        consent: Option<Word> = or_default,
        source: Vec<Word> = need,
    }
}

toml_table! {
    RawNotOn {
        driver: String = need,
        because: String = need,
    }
}

impl RawNotOn {
    fn owned(&self) -> NotOn {
        NotOn {
            driver: self.driver.clone(),
            because: self.because.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[[tunable]]\nknobs = [\"ethtool -G rx\"]\nmeans = \"x\"\nunit = \"descriptors\"\nleast = 2\n\
                        most = 9\nvalues = [\"most\", \"4\"]\nrisk = \"blip\"\nscope = \"interface\"\nsource = [\"x\"]\n";

    #[test]
    fn each_fault_of_an_entry_is_reported() {
        assert_eq!(parse_tunables("t.toml", GOOD).map(|all| all.len()), Ok(1));
        for (from, to, wrong) in [
            ("\"ethtool -G rx\"", "", "`knobs` is empty"),
            ("ethtool -G rx", "rx", "is not a setting"),
            ("\"x\"\nunit", "\"x.\"\nunit", "full stop"),
            ("least = 2", "least = 10", "above"),
            ("\"4\"", "\"40\"", "out of bounds"),
            ("unit = \"descriptors\"\n", "", "has no unit"),
            ("blip", "none", "`risk` cannot be"),
            ("interface", "port", "`scope` cannot be"),
            ("source = [\"x\"]", "source = []", "`source` is empty"),
            ("source", "goals = [\"speed\"]\nsource", "`goals` cannot be"),
            (
                "source",
                "consent = \"none\"\nsource",
                "`consent` cannot be",
            ),
            ("source", "bounds = 3\nsource", "there is no key"),
        ] {
            let found = parse_tunables("t.toml", &GOOD.replacen(from, to, 1)).expect_err(wrong);
            assert!(
                found.iter().any(|one| one.wrong.contains(wrong)),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_name_has_one_entry_and_a_coupled_one_has_an_entry() {
        let text = format!(
            "{GOOD}{}",
            GOOD.replace("risk", "coupled = [\"irq N\"]\nrisk")
        );
        let all = parse_tunables("t.toml", &text).unwrap();
        let all: Vec<_> = all
            .into_iter()
            .map(|one| ("t.toml".to_owned(), one))
            .collect();
        let found: Vec<String> = check_tunables(&all)
            .into_iter()
            .map(|one| one.wrong)
            .collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[2].contains("irq N"), "{found:?}");
    }
}
