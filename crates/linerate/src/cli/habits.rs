// SPDX-License-Identifier: MIT OR Apache-2.0
//! iperf3's habits: its command line, and `linerate HOST`, become one of ours before it is parsed. Nothing else changes.

mod options;
mod scan;

use linerate_model::failure::Failure;
use options::Role;
use scan::Scanned;

/// The words as the parser understands them; the first is the program.
///
/// # Errors
/// An option of iperf3 that is not supported, or a word that is most likely a mistyped command.
pub(super) fn translated(words: &[String], commands: &[&str]) -> Result<Vec<String>, Failure> {
    let Some((program, rest)) = words.split_first() else {
        return Ok(words.to_vec());
    };
    let own = match rest {
        [] => vec!["--help".to_owned()],
        [word, page @ ..] if word == "help" => [page, &["--help".to_owned()]].concat(),
        [command, flags @ ..] if ["tcp", "udp"].contains(&command.as_str()) => {
            test(command, flags)?.unwrap_or_else(|| rest.to_vec())
        }
        [word, ..] if commands.contains(&word.as_str()) => rest.to_vec(),
        [word] if word == "-v" => vec!["--version".to_owned()],
        [word, ..] if word == "--lab" => check(rest),
        [word, ..] if word.starts_with('-') => iperf3(rest)?,
        [word, more @ ..] => host(word, more, commands).map(|is_host| match is_host {
            true => check(rest),
            false => rest.to_vec(),
        })?,
    };
    Ok(std::iter::once(program.clone()).chain(own).collect())
}

fn check(rest: &[String]) -> Vec<String> {
    let command = std::iter::once("check".to_owned());
    command.chain(rest.iter().cloned()).collect()
}

/// `-s …` or `-c HOST …`; other words are left to the parser.
fn iperf3(rest: &[String]) -> Result<Vec<String>, Failure> {
    let scanned = Scanned::of(rest)?;
    match (scanned.serves, &scanned.host) {
        (true, Some(_)) => Err(Failure::usage(
            "understand the command line",
            "-s and -c cannot be used together",
        )
        .hint("linerate -s      or      linerate -c HOST")),
        (true, None) => scanned.words("serve", Role::Server),
        (false, Some(_)) => {
            let command = if scanned.udp { "udp" } else { "tcp" };
            scanned.words(command, Role::Client)
        }
        (false, None) => Ok(rest.to_vec()),
    }
}

/// `tcp HOST -u` is `udp HOST`; `tcp -c HOST` is `tcp HOST`. `None` if nothing is to be changed.
fn test(command: &str, flags: &[String]) -> Result<Option<Vec<String>>, Failure> {
    let Ok(scanned) = Scanned::of(flags) else {
        return Ok(None);
    };
    match (scanned.udp, scanned.serves, &scanned.host) {
        (true, false, _) => scanned.words("udp", Role::Client).map(Some),
        (false, false, Some(_)) => scanned.words(command, Role::Client).map(Some),
        _ => Ok(None),
    }
}

/// Whether the first word is a host. A command that does not exist, with an operand, is left to the parser.
fn host(word: &str, more: &[String], commands: &[&str]) -> Result<bool, Failure> {
    if word.contains(['.', ':', '[']) && !word.contains('/') {
        return Ok(true);
    }
    if word.contains('/') || more.first().is_some_and(|next| !next.starts_with('-')) {
        return Ok(false);
    }
    // No command has a digit.
    let meant = commands.iter().find(|command| is_near(word, command));
    match meant.filter(|_| !word.contains(|letter: char| letter.is_ascii_digit())) {
        None => Ok(true),
        Some(command) => Err(Failure::usage(
            "understand the command line",
            format!("`{word}` is not a command"),
        )
        .hint(format!(
            "linerate {command}      or, if {word} is a host,      linerate check {word}"
        ))),
    }
}

/// The start of a command, its name with more letters, or one or two letters wrong.
fn is_near(word: &str, command: &str) -> bool {
    let [short, long] = match word.len() < command.len() {
        true => [word, command],
        false => [command, word],
    };
    let wrong = if word.len() < 5 { 1 } else { 2 };
    (short.len() > 2 && long.starts_with(short)) || distance(word, command) <= wrong
}

/// Levenshtein's: letters to insert, remove or replace.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, compared) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(letter != compared);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests;
