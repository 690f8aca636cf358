// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text → table, or every mistake in it. Takes text, touches no file.

use super::check::check;
use super::raw::{RawBlind, RawCounter, RawDriver, Word};
use super::{Counter, Counts, Driver, Group, Pattern, Reset, Source, Stage, Unit, Width};
use crate::keys;
use crate::mistake::{Mistake, Mistakes};

/// Reads the table `text` of the file `file`, whose name has to be the driver's.
///
/// # Errors
/// Every mistake found, in the order of the checks. TOML's own stop at the first.
pub fn parse(file: &str, text: &str) -> Result<Driver, Vec<Mistake>> {
    keys::read(file, text, |raw, mistakes| {
        check(file, raw, mistakes);
        understand(raw, mistakes)
    })
}

fn understand(raw: &RawDriver, mistakes: &mut Mistakes<'_>) -> Driver {
    let counters = raw
        .counter
        .iter()
        .flat_map(|c| counters(c, mistakes))
        .collect();
    let blind = raw.blind.iter().flat_map(|b| blind(b, mistakes)).collect();
    Driver {
        name: raw.driver.get_ref().clone(),
        also: raw.also.clone(),
        hardware: raw.hardware.clone(),
        kernel: raw.kernel.get_ref().clone(),
        counters,
        blind,
    }
}

/// Returns one counter for each name; none if a word of the entry is wrong.
fn counters(raw: &RawCounter, mistakes: &mut Mistakes<'_>) -> Vec<Counter> {
    // All words are read first, so that every mistake is reported.
    let group = mistakes.word("group", &raw.group, Group::of_word, Group::WORDS);
    let stage = mistakes.word("stage", &raw.stage, Stage::of_word, Stage::WORDS);
    let counts = mistakes.word("counts", &raw.counts, Counts::of_word, Counts::WORDS);
    let unit = mistakes.word("unit", &raw.unit, Unit::of_word, Unit::WORDS);
    let width = mistakes.word("width", &raw.width, Width::of_word, Width::WORDS);
    let reset = raw
        .reset
        .as_ref()
        .and_then(|w| mistakes.word("reset", w, Reset::of_word, Reset::WORDS));
    let sources = sources(&raw.source, mistakes);
    let (Some(group), Some(stage), Some(counts), Some(unit), Some(width)) =
        (group, stage, counts, unit, width)
    else {
        return Vec::new();
    };
    let counter = |name: &Word| Counter {
        group,
        name: Pattern::new(name.get_ref()),
        stage,
        counts,
        unit,
        width,
        reset,
        refresh_ms: raw.refresh_ms,
        shared: raw.shared,
        alias: raw.alias.iter().map(|a| a.get_ref().clone()).collect(),
        means: raw.means.clone(),
        sources: sources.clone(),
    };
    raw.names.iter().map(counter).collect()
}

fn blind(raw: &RawBlind, mistakes: &mut Mistakes<'_>) -> Vec<(Group, Pattern)> {
    sources(&raw.source, mistakes);
    let Some(group) = mistakes.word("group", &raw.group, Group::of_word, Group::WORDS) else {
        return Vec::new();
    };
    let names = raw.names.iter();
    names.map(|n| (group, Pattern::new(n.get_ref()))).collect()
}

pub(super) fn sources(raw: &[Word], mistakes: &mut Mistakes<'_>) -> Vec<Source> {
    let mut understood = Vec::new();
    for text in raw {
        match Source::of_text(text.get_ref()) {
            Some(source) => understood.push(source),
            None => mistakes.at(
                text.span().start,
                format!("`{}` gives no place in the source", text.get_ref()),
                Source::FORM,
            ),
        }
    }
    understood
}
