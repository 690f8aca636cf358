// SPDX-License-Identifier: MIT OR Apache-2.0
//! What has to hold in a table beyond its words, and between tables.

use linerate_model::map::Map;

use super::raw::{RawDriver, Word};
use super::table::LINK_FIELDS;
use super::{Driver, Mistake};
use crate::mistake::Mistakes;

/// Reports the mistakes of one file other than wrong words.
pub(super) fn check(file: &str, raw: &RawDriver, mistakes: &mut Mistakes<'_>) {
    file_is_named_after_driver(file, raw, mistakes);
    kernel_is_a_version(raw, mistakes);
    every_entry_has_names_and_sources(raw, mistakes);
    no_name_twice(raw, mistakes);
    every_link_field_is_reported(raw, mistakes);
    no_set_of_one(raw, mistakes);
    something_was_checked(raw, mistakes);
}

/// Returns the mistakes between tables that are each correct: duplicate driver names.
#[must_use]
pub fn check_together(drivers: &[Driver]) -> Vec<Mistake> {
    let mut owners: Map<&str, &str> = Map::new();
    let mut found = Vec::new();
    for driver in drivers {
        for name in std::iter::once(&driver.name).chain(&driver.also) {
            if let Some(owner) = owners.insert(name, &driver.name) {
                found.push(Mistake {
                    file: format!("{}.toml", driver.name),
                    line: None,
                    wrong: format!("`{name}` is also claimed by {owner}.toml"),
                    allowed: "a driver's name in one table only".to_owned(),
                });
            }
        }
    }
    found
}

fn file_is_named_after_driver(file: &str, raw: &RawDriver, mistakes: &mut Mistakes<'_>) {
    let name = file.rsplit('/').next().unwrap_or(file);
    let expected = format!("{}.toml", raw.driver.get_ref());
    if name != expected {
        let wrong = format!(
            "the driver is `{}` and the file is `{name}`",
            raw.driver.get_ref()
        );
        mistakes.at(
            raw.driver.span().start,
            wrong,
            &format!("a file called `{expected}`"),
        );
    }
}

fn kernel_is_a_version(raw: &RawDriver, mistakes: &mut Mistakes<'_>) {
    let version = raw.kernel.get_ref();
    let number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if version.split('.').count() < 2 || !version.split('.').all(number) {
        let wrong = format!("`kernel` cannot be `{version}`");
        mistakes.at(
            raw.kernel.span().start,
            wrong,
            "a version such as `6.12.117`",
        );
    }
}

fn every_entry_has_names_and_sources(raw: &RawDriver, mistakes: &mut Mistakes<'_>) {
    let counters = raw.counter.iter().map(|c| (&c.group, &c.names, &c.source));
    let blinds = raw.blind.iter().map(|b| (&b.group, &b.names, &b.source));
    for (group, names, source) in counters.chain(blinds) {
        let at = group.span().start;
        if names.is_empty() {
            mistakes.at(
                at,
                "`names` is empty".to_owned(),
                "at least one counter's name",
            );
        }
        if source.is_empty() {
            mistakes.at(at, "`source` is empty".to_owned(), super::Source::FORM);
        }
    }
}

fn no_name_twice(raw: &RawDriver, mistakes: &mut Mistakes<'_>) {
    let mut seen: Map<(&str, &str), ()> = Map::new();
    for (group, name) in all_names(raw) {
        if seen.insert((group.get_ref(), name.get_ref()), ()).is_some() {
            let wrong = format!(
                "`{}` of `{}` is listed twice",
                name.get_ref(),
                group.get_ref()
            );
            mistakes.at(
                name.span().start,
                wrong,
                "each name of a group once, in [[counter]] or [[blind]]",
            );
        }
    }
}

fn every_link_field_is_reported(raw: &RawDriver, mistakes: &mut Mistakes<'_>) {
    let listed: Vec<&Word> = all_names(raw)
        .filter(|(group, _)| group.get_ref() == "link")
        .map(|(_, name)| name)
        .collect();
    for name in &listed {
        if !LINK_FIELDS.contains(&name.get_ref().as_str()) {
            let wrong = format!("`link` has no field `{}`", name.get_ref());
            mistakes.at(name.span().start, wrong, &LINK_FIELDS.join(", "));
        }
    }
    let missing = LINK_FIELDS
        .iter()
        .filter(|f| !listed.iter().any(|t| t.get_ref() == **f));
    let missing: Vec<String> = missing.map(|f| format!("`{f}`")).collect();
    if !missing.is_empty() {
        let wrong = format!("link fields not listed: {}", missing.join(", "));
        mistakes.of_file(
            wrong,
            "each in a [[counter]] if the driver fills it, else in a [[blind]]",
        );
    }
}

fn no_set_of_one(raw: &RawDriver, mistakes: &mut Mistakes<'_>) {
    let mut members: Map<&str, (usize, &Word)> = Map::new();
    for counter in &raw.counter {
        for set in &counter.alias {
            members.entry(set.get_ref()).or_insert((0, set)).0 += counter.names.len();
        }
    }
    for (set, (count, word)) in members {
        if count == 1 {
            let wrong = format!("the alias set `{set}` has one member");
            mistakes.at(
                word.span().start,
                wrong,
                "the same word at every counter of the set",
            );
        }
    }
}

fn something_was_checked(raw: &RawDriver, mistakes: &mut Mistakes<'_>) {
    let mut sources = raw.counter.iter().flat_map(|c| &c.source);
    if sources.all(|s| s.get_ref() == "recall") {
        mistakes.of_file(
            "no counter is checked: every source is `recall`".to_owned(),
            "at least one [[counter]] with a file and a function of the kernel",
        );
    }
}

fn all_names(raw: &RawDriver) -> impl Iterator<Item = (&Word, &Word)> {
    let counters = raw.counter.iter().map(|c| (&c.group, &c.names));
    let blinds = raw.blind.iter().map(|b| (&b.group, &b.names));
    counters
        .chain(blinds)
        .flat_map(|(group, names)| names.iter().map(move |name| (group, name)))
}
