// SPDX-License-Identifier: MIT OR Apache-2.0
//! Suggestions for a mistyped name.

use linerate_knowledge::distance;
use linerate_model::order;

use super::map::{Map, spelling};

/// Returns at most three similar names, the nearest first.
pub(super) fn nearest(map: &Map, name: &str) -> Vec<String> {
    let spelled = spelling(name);
    let bare = map.without_prefixes(&spelled).next();
    let wanted: Vec<char> = bare.as_ref().unwrap_or(&spelled).chars().collect();
    if wanted.is_empty() || wanted.len() > LONGEST {
        return Vec::new();
    }
    let mut found: Vec<(usize, &str)> = Vec::new();
    for register in &map.registers {
        let distances = register.names().map(|n| distance(&wanted, &spelling(n)));
        let best = distances.min().unwrap_or(usize::MAX);
        if best <= tolerance(wanted.len()) {
            found.push((best, &register.name));
        }
    }
    order::by(&mut found, Ord::cmp);
    found.iter().take(3).map(|(_, n)| (*n).to_owned()).collect()
}

/// One mistake in a short name, two in most.
const fn tolerance(letters: usize) -> usize {
    match letters {
        0..=3 => 1,
        4..=8 => 2,
        _ => 3,
    }
}

const LONGEST: usize = 64;
