// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rule has to show itself at work: with these facts it fires, with one of them otherwise it does not,
//! and with any of them missing it cannot tell.

use linerate_model::map::Map;
use linerate_model::output::Value;
use toml::Spanned;

use super::raw::RawExample;
use super::{Rule, Verdict, evaluate};
use linerate_knowledge::Mistakes;

type Values = Map<String, Value>;

/// Notes every way in which the example does not show the rule.
pub(super) fn check(rule: &Rule, raw: &Spanned<RawExample>, mistakes: &mut Mistakes<'_>) {
    let example = raw.get_ref();
    let fires = &example.fires;
    let mut note = |wrong: String, allowed: &str| {
        mistakes.at(
            raw.span().start,
            format!("rule {}: {wrong}", rule.id),
            allowed,
        )
    };
    let asked: Vec<&str> = rule.asks().collect();
    for name in fires.keys().filter(|name| !asked.contains(&name.as_str())) {
        note(
            format!("its example gives `{name}`, which it does not ask for"),
            "only facts of its conditions",
        );
    }
    if ask(rule, fires) != Verdict::Fires {
        note(
            "it does not fire with its own example".to_owned(),
            "facts with which every condition holds",
        );
    }
    for (title, other) in [("nearly", &example.nearly), ("not", &example.not)] {
        if other.len() != 1
            || !other
                .iter()
                .all(|(name, value)| fires.get(name).is_some_and(|was| was != value))
        {
            note(
                format!("`{title}` has to differ from `fires` in exactly one fact"),
                "one fact of `fires` with another value",
            );
        }
        let mut all = fires.clone();
        all.extend(other.clone());
        if ask(rule, &all) != Verdict::DoesNotFire {
            note(
                format!("it does not stay silent with `{title}`"),
                "a value with which a condition does not hold",
            );
        }
    }
    for name in rule.when.iter().flat_map(super::Condition::facts) {
        let mut without = fires.clone();
        without.remove(name);
        if !matches!(ask(rule, &without), Verdict::CannotTell(missing) if missing.iter().any(|fact| fact == name))
            && !applies_asks(rule, name)
        {
            note(
                format!("without `{name}` it still says something"),
                "cannot tell",
            );
        }
    }
}

fn applies_asks(rule: &Rule, name: &str) -> bool {
    rule.applies
        .iter()
        .flat_map(super::Condition::facts)
        .any(|fact| fact == name)
}

fn ask(rule: &Rule, values: &Values) -> Verdict {
    evaluate(rule, |name| values.get(name))
}
