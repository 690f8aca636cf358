// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a mistyped name is from a known one.

/// Returns Levenshtein's distance: the letters to add, drop or change. Of a long name only the first 64 letters count.
#[must_use]
pub fn distance(wanted: &[char], name: &str) -> usize {
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
