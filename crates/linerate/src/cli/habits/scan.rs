// SPDX-License-Identifier: MIT OR Apache-2.0
//! Splits a command line as getopt_long(3) does with iperf3's options: bundled letters, attached values, `--name=value`.

use super::options::{Habit, Here, Role};
use linerate_model::failure::Failure;

/// What iperf3 would have understood.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) serves: bool,
    pub(super) host: Option<String>,
    pub(super) udp: bool,
    given: Vec<Given>,
}

/// A word, or an option of iperf3 with its value.
#[derive(Debug)]
enum Given {
    Word(String),
    Option(&'static Habit, Option<String>),
}

impl Scanned {
    /// Reads all words up to a `--`.
    ///
    /// # Errors
    /// An option lacks its value.
    pub(super) fn of(words: &[String]) -> Result<Self, Failure> {
        let mut scanned = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                let rest = std::iter::once(word).chain(words.by_ref());
                scanned.given.extend(rest.cloned().map(Given::Word));
            } else if let Some(name) = word.strip_prefix("--") {
                scanned.long(name, &mut words)?;
            } else if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
                scanned.short(letters, &mut words)?;
            } else {
                scanned.given.push(Given::Word(word.clone()));
            }
        }
        Ok(scanned)
    }

    /// The words of our command.
    ///
    /// # Errors
    /// An option is not supported, or not for this role.
    pub(super) fn words(self, command: &str, role: Role) -> Result<Vec<String>, Failure> {
        let mut words: Vec<String> = std::iter::once(command.to_owned())
            .chain(self.host)
            .collect();
        for given in self.given {
            match given {
                Given::Word(word) => words.push(word),
                Given::Option(habit, value) => words.extend(ours(habit, value, role)?),
            }
        }
        Ok(words)
    }

    fn long<'w>(
        &mut self,
        word: &str,
        words: &mut impl Iterator<Item = &'w String>,
    ) -> Result<(), Failure> {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        match (name, Habit::of_name(name)) {
            ("server", _) => self.serves = true,
            ("udp", _) => self.udp = true,
            ("client", _) => self.host = Some(value_of("--client", attached, words)?),
            (_, Some(habit)) if habit.has_value => {
                let value = value_of(&format!("--{name}"), attached, words)?;
                self.given.push(Given::Option(habit, Some(value)));
            }
            (_, Some(habit)) => self.given.push(Given::Option(habit, attached)),
            (_, None) => self.given.push(Given::Word(format!("--{word}"))),
        }
        Ok(())
    }

    fn short<'w>(
        &mut self,
        letters: &str,
        words: &mut impl Iterator<Item = &'w String>,
    ) -> Result<(), Failure> {
        for (at, letter) in letters.char_indices() {
            let rest = &letters[at + letter.len_utf8()..];
            let attached = || Some(rest.to_owned()).filter(|rest| !rest.is_empty());
            match (letter, Habit::of_letter(letter)) {
                ('s', _) => self.serves = true,
                ('u', _) => self.udp = true,
                ('c', _) => {
                    self.host = Some(value_of("-c", attached(), words)?);
                    break;
                }
                (_, Some(habit)) if habit.has_value => {
                    let value = value_of(&format!("-{letter}"), attached(), words)?;
                    self.given.push(Given::Option(habit, Some(value)));
                    break;
                }
                (_, Some(habit)) => self.given.push(Given::Option(habit, None)),
                (_, None) => {
                    // A letter of ours, perhaps with its value.
                    self.given.push(Given::Word(format!("-{}", &letters[at..])));
                    break;
                }
            }
        }
        Ok(())
    }
}

fn value_of<'w>(
    option: &str,
    attached: Option<String>,
    words: &mut impl Iterator<Item = &'w String>,
) -> Result<String, Failure> {
    let value = attached.or_else(|| words.next().cloned());
    value.ok_or_else(|| {
        Failure::usage(
            "understand the command line",
            format!("{option} needs a value"),
        )
        .hint("linerate tcp --help")
    })
}

/// An option as our command has it, if it has any effect there.
fn ours(habit: &Habit, value: Option<String>, role: Role) -> Result<Option<String>, Failure> {
    let name = match habit.here(role) {
        Here::Same => format!("--{}", habit.name),
        Here::Named(name) => name.to_owned(),
        Here::Idle => return Ok(None),
        Here::Absent(instead) => return Err(absent(habit, "is not supported", instead)),
        Here::Other => {
            let why = match role {
                Role::Client => "is an option of a server",
                Role::Server => "is an option of a client",
            };
            return Err(absent(habit, why, "linerate serve --help"));
        }
    };
    let value = value.map(|value| match habit.name {
        // iperf3's `RATE/SECONDS` averages; here the requested rate is compared.
        "server-bitrate-limit" => value.split('/').next().unwrap_or_default().to_owned(),
        _ => value,
    });
    Ok(Some(match value {
        Some(value) if habit.has_value || habit.name == "timestamps" => format!("{name}={value}"),
        _ => name,
    }))
}

fn absent(habit: &Habit, why: &str, instead: &str) -> Failure {
    let letter = habit.letter.map(|letter| format!("-{letter}, "));
    let option = format!("{}--{}", letter.unwrap_or_default(), habit.name);
    Failure::usage("understand the command line", format!("{option} {why}")).hint(instead)
}
