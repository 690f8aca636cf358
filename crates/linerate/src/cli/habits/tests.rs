// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables: a command line of iperf3, and ours.

use super::options::{HABITS, Here};
use super::*;

const COMMANDS: &[&str] = &[
    "check", "tcp", "udp", "sweep", "serve", "report", "lab", "man",
];

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn ours(line: &str) -> String {
    let translated = translated(&words(line), COMMANDS);
    translated
        .unwrap_or_else(|failure| panic!("{line}: {failure}"))
        .join(" ")
}

fn refusal(line: &str) -> Failure {
    match translated(&words(line), COMMANDS) {
        Err(failure) => failure,
        Ok(words) => panic!("{line}: {words:?}"),
    }
}

#[test]
fn a_command_line_of_iperf3_is_one_of_ours() {
    for (line, wanted) in [
        ("linerate -s", "linerate serve"),
        (
            "linerate -s -D -I /run/l.pid -p 5300 -1",
            "linerate serve --daemon --pidfile=/run/l.pid --port=5300 --one-off",
        ),
        (
            "linerate -s1i1 -V -f m --forceflush",
            "linerate serve --one-off",
        ),
        (
            "linerate --server --server-bitrate-limit=100M/5 --logfile x",
            "linerate serve --max-rate=100M --logfile=x",
        ),
        ("linerate -c 192.0.2.7", "linerate tcp 192.0.2.7"),
        (
            "linerate -c192.0.2.7 -P4",
            "linerate tcp 192.0.2.7 --parallel=4",
        ),
        ("linerate --client=h -t 5", "linerate tcp h --time=5"),
        (
            "linerate -Rc h -ub 10M -l64",
            "linerate udp h --reverse --bitrate=10M --length=64",
        ),
        (
            "linerate -t 5 --udp -c h --bidir",
            "linerate udp h --time=5 --bidir",
        ),
        // A value that looks like an option is still a value.
        (
            "linerate -c h -T -s --title -u",
            "linerate tcp h --title=-s --title=-u",
        ),
        (
            "linerate -c h -d --timestamps=%H:%M --skip-rx-copy",
            "linerate tcp h --verbose --timestamps=%H:%M --mode=auto/trunc",
        ),
        (
            "linerate -c h --timestamps -V",
            "linerate tcp h --timestamps --verbose",
        ),
        // Ours stay as they are.
        (
            "linerate -c h -qo /tmp/x --expect >=1M",
            "linerate tcp h -qo /tmp/x --expect >=1M",
        ),
        ("linerate tcp h -u -b 1M", "linerate udp h --bitrate=1M"),
        ("linerate udp h --udp", "linerate udp h"),
        ("linerate tcp -c h -P 2", "linerate tcp h --parallel=2"),
        ("linerate tcp h -P 2", "linerate tcp h -P 2"),
        ("linerate lab -- iperf3 -s", "linerate lab -- iperf3 -s"),
    ] {
        assert_eq!(ours(line), wanted, "{line}");
    }
}

#[test]
fn a_host_alone_is_checked() {
    for (line, wanted) in [
        ("linerate", "linerate --help"),
        ("linerate help", "linerate --help"),
        ("linerate help tcp", "linerate tcp --help"),
        ("linerate -v", "linerate --version"),
        ("linerate --lab --quick", "linerate check --lab --quick"),
        (
            "linerate 192.0.2.7 --quick",
            "linerate check 192.0.2.7 --quick",
        ),
        (
            "linerate [2001:db8::7]:5300",
            "linerate check [2001:db8::7]:5300",
        ),
        ("linerate fe80::1%eth0", "linerate check fe80::1%eth0"),
        ("linerate router", "linerate check router"),
        ("linerate lab1", "linerate check lab1"),
        // The parser says what is wrong with these.
        ("linerate measure h", "linerate measure h"),
        ("linerate /tmp/run", "linerate /tmp/run"),
        ("linerate --version", "linerate --version"),
    ] {
        assert_eq!(ours(line), wanted, "{line}");
    }
}

#[test]
fn a_mistyped_command_is_not_a_host() {
    for (word, command) in [
        ("chek", "check"),
        ("cehck", "check"),
        ("swep", "sweep"),
        ("server", "serve"),
        ("repo", "report"),
    ] {
        let failure = refusal(&format!("linerate {word}"));
        assert_eq!(failure.why, format!("`{word}` is not a command"));
        let hint = failure.try_.unwrap();
        assert!(hint.starts_with(&format!("linerate {command} ")), "{hint}");
        assert!(hint.ends_with(&format!("linerate check {word}")), "{hint}");
    }
}

#[test]
fn what_is_not_here_is_refused_with_what_to_use() {
    for (line, why, hint) in [
        (
            "linerate -c h --sctp",
            "--sctp is not supported",
            "TCP or UDP",
        ),
        (
            "linerate -c h -L 5",
            "-L, --flowlabel is not supported",
            "--dscp",
        ),
        (
            "linerate -c h -D",
            "-D, --daemon is an option of a server",
            "serve",
        ),
        (
            "linerate -s -b 5M",
            "-b, --bitrate is an option of a client",
            "serve",
        ),
        (
            "linerate -s -c h",
            "-s and -c cannot be used together",
            "-c HOST",
        ),
        ("linerate -c", "-c needs a value", "tcp --help"),
        (
            "linerate -s -J",
            "-J, --json is not supported",
            "at the client",
        ),
    ] {
        let failure = refusal(line);
        assert_eq!(failure.why, why, "{line}");
        assert!(failure.try_.unwrap().contains(hint), "{line}");
    }
}

/// What an option becomes is one that the command has.
#[test]
fn every_option_has_its_counterpart() {
    use clap::{CommandFactory, Parser};
    let top = super::super::args::Cli::command();
    for habit in HABITS {
        for (role, commands) in [
            (Role::Client, &["tcp", "udp"][..]),
            (Role::Server, &["serve"]),
        ] {
            let name = match habit.here(role) {
                Here::Same => habit.name,
                Here::Named(name) => name.trim_start_matches("--"),
                _ => continue,
            };
            let name = name.split('=').next().unwrap();
            let has = |command: &&str| {
                let command = top.find_subcommand(command).unwrap();
                let mut arguments = command.get_arguments();
                arguments.any(|one| {
                    one.get_long() == Some(name)
                        || one.get_all_aliases().is_some_and(|all| all.contains(&name))
                })
            };
            assert!(commands.iter().any(has), "--{name} of {role:?}");
        }
    }
    let line = ours("linerate -Rc 192.0.2.7 -u -b 1M --timestamps -4 --fq-rate 5M");
    let parsed = super::super::args::Cli::try_parse_from(words(&line));
    assert!(parsed.is_ok(), "{line}");
}

/// `docs/iperf3.md` has a row for each option, and the row says what happens.
#[test]
fn the_document_has_every_option() {
    let page = include_str!("../../../../../docs/iperf3.md");
    for habit in HABITS {
        let letter = habit.letter.map(|letter| format!("`-{letter}`, "));
        let start = format!("| {}`--{}` |", letter.unwrap_or_default(), habit.name);
        let row = page.lines().find(|line| line.starts_with(&start));
        let Some(row) = row else {
            // Old names are in the row of the new one.
            assert!(
                page.contains(&format!("also `--{}`", habit.name)),
                "{start}"
            );
            continue;
        };
        let allowed: &[&str] = match (habit.client, habit.server) {
            (Here::Same, _) | (Here::Other, Here::Same) => &["same", "different"],
            (Here::Named(_), _) | (_, Here::Named(_)) => &["same", "different"],
            (_, Here::Same) => &["same"],
            (Here::Idle, _) => &["no effect"],
            _ => &["not supported"],
        };
        let word = row[start.len()..].split('|').next().unwrap().trim();
        assert!(allowed.contains(&word), "{row}");
    }
}
