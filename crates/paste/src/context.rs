// SPDX-License-Identifier: MIT OR Apache-2.0
//! The position in the text: last prompt, last command, last heading.

use super::addresses::Addresses;
use super::command;

/// The place of one thing that was understood.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Place {
    /// The host, by its prompt, or by the system that the text names.
    pub(super) host: Option<String>,
    /// Which end of a test the text says this is.
    pub(super) side: Option<Side>,
    /// The state: `before`, `after`, `first test` …
    pub(super) label: Option<String>,
    /// The last heading.
    pub(super) title: Option<String>,
    /// How many headings came before.
    pub(super) section: usize,
}

/// An end of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// The place as the lines go by.
#[derive(Debug, Default)]
pub(super) struct Context {
    place: Place,
    prose_lines: usize,
    /// The command of which the next lines are the output.
    pub(super) command: Option<String>,
    /// The folder of `/sys/class/net` in which it runs.
    pub(super) folder: Option<String>,
    /// Whether the host is a system that the text speaks of, and whose prompt stands for it.
    system: Option<Option<String>>,
    /// Hosts by the end of a test that they were last, and where.
    sides: Vec<(String, Side, usize)>,
    addresses: Addresses,
    lines: usize,
    /// Hosts that were the two ends of a test.
    pub(super) peers: Vec<(String, String)>,
}

impl Context {
    /// The next line begins.
    pub(super) const fn line(&mut self) {
        self.lines += 1;
    }

    pub(super) fn place(&self) -> Place {
        self.place.clone()
    }

    /// A prompt: from here on this host speaks.
    pub(super) fn prompt(&mut self, host: Option<&str>) {
        if let Some(host) = host {
            if !self.stands_for_system(host) && self.place.host.as_deref() != Some(host) {
                self.place.host = Some(host.to_owned());
                self.system = None;
            }
            self.place.side = None;
        }
        self.command = None;
    }

    /// Whether this prompt belongs to the system that the text describes: the first name after it.
    fn stands_for_system(&mut self, host: &str) -> bool {
        match &mut self.system {
            Some(prompt) if !SYSTEMS.contains(&host) => {
                prompt.get_or_insert_with(|| host.to_owned()) == host
            }
            _ => false,
        }
    }

    /// A line that may say which address the host has.
    pub(super) fn addressed(&mut self, line: &str) {
        if let Some(host) = &self.place.host {
            self.addresses.learn(host, line);
        }
    }

    /// A command was typed.
    pub(super) fn typed(&mut self, line: &str) {
        self.prose_lines = 0;
        let iperf = line
            .split_whitespace()
            .any(|word| word.starts_with("iperf"));
        let has = |option: &str| line.split_whitespace().any(|word| word == option);
        let side = if has("-s") {
            Some(Side::Server)
        } else {
            has("-c").then_some(Side::Client)
        };
        if let (true, Some(side), Some(host)) = (iperf, side, self.place.host.clone()) {
            self.addresses.sends(&host, line);
            self.learn(host, side);
        }
        // Only a loop shows files by names without their folder.
        let folder = self.folder.as_ref().filter(|_| line.starts_with("for "));
        self.command = Some(match folder {
            Some(folder) => format!("cd {folder}; {line}"),
            None => line.to_owned(),
        });
    }

    /// A host was an end of a test; the other end is who was the opposite shortly before.
    fn learn(&mut self, host: String, side: Side) {
        let near = |known: &&(String, Side, usize)| {
            known.1 != side
                && known.0 != host
                && known.2 + NEAR_LINES > self.lines
                && self.addresses.can_meet(&known.0, &host)
        };
        if let Some((other, ..)) = self.sides.iter().rev().find(near) {
            let pair = (other.clone(), host.clone());
            if !self.peers.contains(&pair) && self.peers.len() < HOSTS_MAX {
                self.peers.push(pair);
            }
        }
        self.sides.retain(|(known, ..)| *known != host);
        if self.sides.len() < HOSTS_MAX {
            self.sides.push((host, side, self.lines));
        }
    }

    /// Something was understood.
    pub(super) const fn understood(&mut self) {
        self.prose_lines = 0;
    }

    /// Takes a line that no reader knows; `alone` if blank lines surround it. True if it is a heading.
    pub(super) fn prose(&mut self, line: &str, alone: bool) -> bool {
        self.command = None;
        self.prose_lines += 1;
        let lower = line.trim().to_lowercase();
        self.side(&lower);
        if let Some(system) = SYSTEMS.iter().find(|system| {
            lower
                .strip_prefix("in ")
                .is_some_and(|rest| rest.starts_with(**system))
        }) {
            self.place.host = Some((*system).to_owned());
            self.system = Some(None);
        }
        let label = label(&lower);
        let numbered = self.place.label.as_deref().is_some_and(is_numbered);
        if self.prose_lines >= LABEL_LINES && !numbered && self.place.label.is_some() {
            self.place.label = None;
            self.place.title = None;
        }
        if is_name(line) {
            self.place.title = Some(line.trim().to_owned());
        }
        let heading = label.is_some() || is_heading(line, alone);
        if heading {
            self.place.section += 1;
            self.place.title = Some(
                line.trim()
                    .trim_matches(|letter: char| "#=*-: ".contains(letter))
                    .to_owned(),
            );
            self.place.label = label;
        }
        heading
    }

    /// `Client Side`, `Log @Server Side`.
    fn side(&mut self, lower: &str) {
        let short = lower.len() <= 60;
        let sides = [
            ("client side", Side::Client),
            ("server side", Side::Server),
            ("client:", Side::Client),
            ("server:", Side::Server),
            ("on the client", Side::Client),
            ("on the server", Side::Server),
        ];
        let Some((_, side)) = sides
            .into_iter()
            .find(|(words, _)| short && lower.contains(words))
        else {
            return;
        };
        self.place.side = Some(side);
        let known = self.sides.iter().rev().find(|(_, of, _)| *of == side);
        self.place.host = known.map(|(host, ..)| host.clone()).or_else(|| {
            Some(
                if side == Side::Client {
                    "client"
                } else {
                    "server"
                }
                .to_owned(),
            )
        });
        if let Some(host) = self.place.host.clone() {
            self.learn(host, side);
        }
    }
}

/// A state's name, if the line announces one.
fn label(lower: &str) -> Option<String> {
    let line = lower.trim_matches(|letter: char| "#=*-:~ ".contains(letter));
    let words: Vec<&str> = line.split_whitespace().take(8).collect();
    let short =
        !line.is_empty() && line.len() <= 48 && words.len() <= 7 && !line.ends_with(['.', ',']);
    let first = words.first()?.trim_end_matches([':', ',']);
    let meaning = match first {
        "before" | "vorher" | "antes" | "avant" => "before",
        "after" | "nachher" | "después" | "despues" | "après" => "after",
        "first" | "second" | "third" if is_numbered(line) => line,
        "test" | "run" | "case" if is_numbered(line) => line,
        "old" | "new" | "patched" | "unpatched" | "baseline" | "without" | "with"
            if words.len() <= 4 && lower.ends_with(':') =>
        {
            line
        }
        _ => return None,
    };
    (short && !command::is_typed(line)).then(|| meaning.to_owned())
}

/// `first test`, `test 2`, `run 3`.
fn is_numbered(label: &str) -> bool {
    let number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    match label.split_whitespace().collect::<Vec<_>>()[..] {
        ["first" | "second" | "third", "test" | "run" | "case"] => true,
        ["test" | "run" | "case", word] => number(word),
        _ => false,
    }
}

/// A short line alone, without the end of a sentence.
fn is_heading(line: &str, alone: bool) -> bool {
    let line = line.trim();
    let words = line.split_whitespace().count();
    let marked = line.starts_with("## ") || line.starts_with("==") || line.ends_with("==");
    let plain = alone && line.starts_with(|first: char| first.is_alphanumeric());
    (marked || plain)
        && (1..=7).contains(&words)
        && line.len() <= 60
        && !line.ends_with(['.', ',', '?', ';', '!'])
}

/// One to three words that name what follows, without a blank line: `QFE/DLPI`.
fn is_name(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let capitals = line.chars().filter(char::is_ascii_uppercase).count();
    let named = words.all(|word| {
        word.starts_with(|first: char| first.is_ascii_uppercase() || first.is_ascii_digit())
    });
    let few = (1..=3).contains(&line.split_whitespace().count());
    named
        && few
        && capitals > 2
        && line != "EOF"
        && line.len() <= 30
        && !line.ends_with(['.', ',', ':', '?', '!'])
}

/// The ends of a test are mentioned within this many lines.
const NEAR_LINES: usize = 60;
/// Hosts whose end of a test is remembered.
const HOSTS_MAX: usize = 64;

/// Systems that a text compares on the same board: what is said `in` one is another host's.
const SYSTEMS: &[&str] = &["android", "linux", "windows", "freebsd"];

/// Lines of prose after its heading at which a state ends.
const LABEL_LINES: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_sentences() {
        for (line, expected) in [
            ("before", Some("before")),
            ("after (tcp)", Some("after")),
            ("=== before ===", Some("before")),
            ("first test:", Some("first test")),
            ("after applying this patch, we can see stable results", None),
            ("with the driver in place it is better", None),
        ] {
            assert_eq!(label(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_host_by_its_system_and_by_its_side() {
        let mut context = Context::default();
        context.prompt(Some("board"));
        context.typed("iperf -s");
        context.prompt(Some("pc"));
        context.typed("iperf -c board -r");
        context.prose("Log @Server Side", false);
        assert_eq!(context.place().host.as_deref(), Some("board"));
        context.prose("In android,I got:", false);
        context.prompt(Some("board"));
        assert_eq!(context.place().host.as_deref(), Some("android"));
    }
}
