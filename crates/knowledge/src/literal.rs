// SPDX-License-Identifier: MIT OR Apache-2.0
//! Everything that causes and known faults look for literally, found in one pass over a text.

use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::cause::{causes, faults};
use crate::sign::{Shows, Sign};

/// In which lines each of the literals is.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// By the literal's number: places of lines, the first ones.
    lines: HashMap<usize, Vec<usize>>,
}

impl Seen {
    /// The places of the first lines that have `literal`.
    #[must_use]
    pub fn of(&self, literal: &str) -> &[usize] {
        let number = LITERALS.numbers.get(literal);
        number
            .and_then(|number| self.lines.get(number))
            .map_or(&[], Vec::as_slice)
    }
}

/// Looks for all literals in the lines of a text.
pub fn seen_in<'l>(lines: impl IntoIterator<Item = &'l str>) -> Seen {
    let mut seen = Seen::default();
    let Some(search) = &LITERALS.search else {
        return seen;
    };
    for (place, line) in lines.into_iter().enumerate() {
        for hit in search.find_overlapping_iter(line) {
            let places = seen.lines.entry(hit.pattern().as_usize()).or_default();
            if places.len() < PLACES_MOST && places.last() != Some(&place) {
                places.push(place);
            }
        }
    }
    seen
}

struct Literals {
    search: Option<AhoCorasick>,
    numbers: HashMap<&'static str, usize>,
}

static LITERALS: LazyLock<Literals> = LazyLock::new(|| {
    let signs = causes().iter().flat_map(|cause| &cause.evidence);
    let signs = signs.chain(faults().iter().flat_map(|fault| &fault.signs));
    let names = faults()
        .iter()
        .flat_map(|fault| [&fault.devices, &fault.chips, &fault.drivers]);
    let names = names.flatten().map(String::as_str);
    let mut all: Vec<&'static str> = signs.filter_map(literal).chain(names).collect();
    all.retain(|literal| !literal.is_empty());
    all.sort_unstable();
    all.dedup();
    Literals {
        search: AhoCorasick::new(&all).ok(),
        numbers: all.into_iter().zip(0..).collect(),
    }
});

fn literal(sign: &'static Sign) -> Option<&'static str> {
    match &sign.shows {
        Shows::Message(pattern) => Some(pattern.longest_literal()),
        _ => None,
    }
}

/// Lines with one literal beyond these say no more.
const PLACES_MOST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_once_and_in_order() {
        let name = faults()
            .iter()
            .flat_map(|fault| &fault.chips)
            .next()
            .unwrap();
        let line = format!("a {name} and again {name}");
        let seen = seen_in(["nothing", &line, &line]);
        assert_eq!(seen.of(name), [1, 2]);
        assert!(seen.of("no such literal").is_empty());
    }
}
