// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where names and values stand in a text: found in one pass, whatever the number of both.

use std::collections::HashMap;

use super::observed::Line;
use super::written::Written;

/// The first lines of each word that was asked for.
pub(super) struct Places<'t> {
    lines: &'t [Line<'t>],
    of: HashMap<&'t str, Vec<usize>>,
}

impl<'t> Places<'t> {
    /// Finds `words` in lines.
    pub(super) fn of(lines: &'t [Line<'t>], words: impl Iterator<Item = &'t str>) -> Self {
        let mut of: HashMap<&'t str, Vec<usize>> = HashMap::new();
        of.extend(words.map(|word| (word, Vec::new())));
        if of.is_empty() {
            return Self { lines, of };
        }
        for (at, line) in lines.iter().enumerate() {
            for word in line.text.split(is_apart) {
                if let Some(places) = of.get_mut(word)
                    && places.len() < PLACES_MOST
                {
                    places.push(at);
                }
            }
        }
        Self { lines, of }
    }

    /// The first line that has a name and a value.
    pub(super) fn line(&self, name: &str, value: &str) -> Option<u64> {
        let shows = |line: &&Line<'_>| line.text.contains(name) && line.text.contains(value);
        let places = |word: &str| self.of.get(word).into_iter().flatten();
        let near = places(last(name)).chain(places(first(value)));
        let mut lines = near.filter_map(|at| self.lines.get(*at));
        lines.find(shows).map(|line| line.number)
    }

    /// The first line that ends with a value as the text writes it.
    pub(super) fn written(&self, written: &Written) -> Option<u64> {
        let places = self.of.get(written.value.as_str())?;
        let mut lines = places.iter().filter_map(|at| self.lines.get(*at));
        lines
            .find(|line| written.ends(line.text))
            .map(|line| line.number)
    }
}

/// The words by which [`Places::line`] finds a name and its value.
pub(super) fn words_of<'t>(name: &'t str, value: &'t str) -> [&'t str; 2] {
    [last(name), first(value)]
}

fn last(name: &str) -> &str {
    name.rsplit(is_apart).next().unwrap_or(name)
}

fn first(value: &str) -> &str {
    value.split(is_apart).next().unwrap_or(value)
}

fn is_apart(letter: char) -> bool {
    letter.is_whitespace() || ":=,;()[]".contains(letter)
}

/// A word that stands in more lines finds nothing.
const PLACES_MOST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_name_with_its_value() {
        let lines = [
            "eth0: Speed: 100Mb/s",
            "eth1: Speed: 1000Mb/s",
            "RX packets:7 errors:3",
        ];
        let lines = lines.iter().zip(1..);
        let lines: Vec<Line<'_>> = lines.map(|(text, number)| Line { number, text }).collect();
        let asked = [("Speed", "1000Mb/s"), ("RX errors", "3"), ("errors", "9")];
        let words = asked.iter().flat_map(|(name, value)| words_of(name, value));
        let places = Places::of(&lines, words);
        assert_eq!(places.line("Speed", "1000Mb/s"), Some(2));
        assert_eq!(places.line("errors", "3"), Some(3));
        assert_eq!(places.line("errors", "9"), None);
    }
}
