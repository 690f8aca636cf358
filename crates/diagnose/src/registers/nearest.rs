// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names of a map that somebody who mistyped may have meant.

use super::map::{Map, spelling};

/// At most three names, the nearest first. A name too far from all finds none.
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
    found.sort_unstable();
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

/// Levenshtein's distance: letters to add, drop or change.
pub(crate) fn distance(wanted: &[char], name: &str) -> usize {
    let name: Vec<char> = name.chars().take(LONGEST).collect();
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for (i, letter) in wanted.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in name.iter().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn the_distance_counts_letters() {
        let to = |a: &str, b| distance(&a.chars().collect::<Vec<_>>(), b);
        assert_eq!(to("RCR", "RCR"), 0);
        assert_eq!(to("RCX", "RCR"), 1);
        assert_eq!(to("IEE_T", "IEEE_T"), 1);
        assert_eq!(to("", "RCR"), 3);
        assert_eq!(to("RCR", ""), 3);
    }
}
