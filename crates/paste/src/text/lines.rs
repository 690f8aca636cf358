// SPDX-License-Identifier: MIT OR Apache-2.0
//! A window on the lines of a text that counts the bytes looked at, so that tests can check for linear work.

use std::cell::Cell;

/// The lines from a position on.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a> {
    lines: &'a [&'a str],
    looked: &'a Cell<u64>,
}

/// What is known about the origin of the lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hint<'a> {
    /// The command whose output these lines probably are.
    pub command: Option<&'a str>,
}

impl<'a> Lines<'a> {
    /// Returns a window on all `lines`; `looked` is increased by the bytes of every line that a reader asks for.
    #[must_use]
    pub const fn new(lines: &'a [&'a str], looked: &'a Cell<u64>) -> Self {
        Self { lines, looked }
    }

    /// The lines from `index` on.
    #[must_use]
    pub fn from(self, index: usize) -> Self {
        Self {
            lines: self.lines.get(index..).unwrap_or_default(),
            looked: self.looked,
        }
    }

    /// One line.
    #[must_use]
    pub fn get(self, index: usize) -> Option<&'a str> {
        let line = *self.lines.get(index)?;
        let seen = self.looked.get().saturating_add(line.len() as u64 + 1);
        self.looked.set(seen);
        Some(line)
    }

    /// The number of lines.
    #[must_use]
    pub const fn len(self) -> usize {
        self.lines.len()
    }

    /// Whether there are no lines.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.lines.is_empty()
    }

    /// The next line from `index` on that is not blank, after at most two blank ones.
    pub(super) fn skip_blank(self, index: usize) -> Option<usize> {
        (index..index + 3)
            .find(|index| self.get(*index).is_some_and(|line| !line.trim().is_empty()))
    }

    /// The lines from `from` on for which `mine` holds, with their index; single blank lines between them are skipped.
    pub(super) fn run(
        self,
        from: usize,
        mut mine: impl FnMut(&'a str) -> bool,
    ) -> Vec<(usize, &'a str)> {
        let mut found = Vec::new();
        let mut next = from;
        while let Some(index) = self.skip_blank(next) {
            let Some(line) = self.get(index).filter(|line| mine(line)) else {
                break;
            };
            found.push((index, line));
            next = index + 1;
        }
        found
    }
}

impl<'a> Hint<'a> {
    /// The words of the command.
    pub(super) fn words(self) -> impl Iterator<Item = &'a str> {
        self.command.unwrap_or_default().split_whitespace()
    }

    /// Whether the command has this program and, if one is named, this option.
    pub(super) fn is(self, program: &str, option: &str) -> bool {
        let mut words = self.words().skip_while(|word| base(word) != program);
        words.next().is_some() && (option.is_empty() || words.any(|word| word == option))
    }

    /// The file that the command shows, if it shows one.
    pub(super) fn file(self) -> Option<&'a str> {
        let shows = [
            "cat", "tail", "head", "more", "less", "grep", "egrep", "type",
        ];
        let shown = self.words().any(|word| shows.contains(&base(word)));
        let file = self
            .words()
            .find(|word| word.starts_with("/proc/") || word.starts_with("/sys/"));
        file.filter(|_| shown)
            .map(|file| file.trim_end_matches([';', '|']))
    }

    /// All files that the command shows, as a shell expands `{a,b}`.
    pub(super) fn files(self) -> Vec<String> {
        if self.file().is_none() {
            return Vec::new();
        }
        let words = self.words().map(|word| word.trim_end_matches([';', '|']));
        let paths = words.filter(|word| word.starts_with("/proc/") || word.starts_with("/sys/"));
        paths.flat_map(expanded).take(FILES_MOST).collect()
    }

    /// The first word that could name an interface.
    pub(super) fn interface(self) -> Option<&'a str> {
        self.words()
            .skip(1)
            .map(|word| word.trim_end_matches(';'))
            .find(|word| is_interface(word))
    }
}

/// `/sys/a` and `/sys/b` of `/sys/{a,b}`.
fn expanded(word: &str) -> Vec<String> {
    let braces = word.find('{').zip(word.rfind('}'));
    let parts = braces.and_then(|(open, close)| {
        let inside = word.get(open + 1..close)?;
        Some((word.get(..open)?, inside, word.get(close + 1..)?))
    });
    let Some((before, inside, after)) = parts else {
        return vec![word.to_owned()];
    };
    let names = inside.split(',');
    names.map(|name| format!("{before}{name}{after}")).collect()
}

/// Files of one command.
const FILES_MOST: usize = 64;

/// Whether a word is the name of a network interface, as Linux distributions give them.
pub(super) fn is_interface(word: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "eth", "en", "em", "wlan", "wl", "usb", "lan", "wan", "br", "bond", "team", "veth", "tap",
        "tun", "vlan", "dsa", "sfp", "fm", "p", "ge", "xe", "can", "ib", "dpni",
    ];
    let plain = word.len() <= 15
        && word
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || ".-_@:".contains(letter));
    let letters = word.trim_end_matches(|letter: char| !letter.is_ascii_alphabetic());
    let numbered = word.chars().any(|letter| letter.is_ascii_digit());
    let known = PREFIXES.contains(&letters)
        || ["enp", "eno", "ens", "enx", "wlp", "end"]
            .iter()
            .any(|prefix| word.starts_with(prefix));
    word == "lo"
        || (plain
            && numbered
            && (known
                || PREFIXES.iter().any(|prefix| {
                    word.starts_with(prefix)
                        && word[prefix.len()..].starts_with(|next: char| next.is_ascii_digit())
                })))
}

fn base(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}
