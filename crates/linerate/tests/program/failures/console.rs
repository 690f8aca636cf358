// SPDX-License-Identifier: MIT OR Apache-2.0
//! A serial console, a pipe, a terminal: what is said fits where it is read.

use super::process::{Ended, linerate, run, serve, start};
use std::process::Command;

/// A serial console: no UTF-8, no cursor, 80 columns.
fn serial(words: &str) -> Command {
    let mut command = linerate(words);
    command.env("TERM", "dumb").env("LC_ALL", "C");
    command
}

/// ASCII, no escape, no line above 80 bytes but for one word that is longer (a path), and for the
/// sentences of an error, which a pipe gets whole.
fn fits(words: &str, ended: &Ended) {
    for text in [&ended.stdout, &ended.stderr] {
        assert!(text.is_ascii(), "{words}: {text}");
        assert!(!text.contains(['\x1b', '\r']), "{words}: {text}");
        let sentence = |row: &str| {
            ["error: ", "  why: ", "  try: "]
                .iter()
                .any(|start| row.starts_with(start))
        };
        for row in text.lines().filter(|row| row.len() > 80 && !sentence(row)) {
            let longest = row.split(' ').map(str::len).max().unwrap_or(0);
            let rest = row.len() - longest;
            assert!(
                longest > 40 && rest < 40,
                "{words}: {} bytes: {row}",
                row.len()
            );
        }
    }
}

#[test]
fn every_command_fits_a_serial_console() {
    let (_server, port) = serve();
    let host = format!("127.0.0.1 -p {port}");
    for words in [
        format!("udp {host} -b 5M -t 500ms -i 100ms"),
        format!("udp {host} --bidir -P 3 -b 5M -t 500ms -i 100ms -v"),
        format!("tcp {host} -P 2 -t 500ms -i 100ms"),
        format!("tcp {host} --bidir -R -t 500ms"),
        format!("sweep {host} --from 5M --to 15M --step 5M -t 200ms"),
        format!("check {host} --quick"),
        "doctor".to_owned(),
        "udp 127.0.0.1 -p 1".to_owned(),
        "tcp no-such-host.invalid".to_owned(),
        "udp --no-such-flag".to_owned(),
        "--help".to_owned(),
        "udp --help".to_owned(),
    ] {
        fits(&words, &run(serial(&words)));
    }
}

#[test]
fn a_partial_result_fits_a_serial_console() {
    let (_server, port) = serve();
    let words = format!("udp 127.0.0.1 -p {port} -b 5M -t 60 -i 100ms");
    let mut client = start(serial(&words));
    client.wait_for("bit/s", 2);
    client.signal("INT");
    let ended = client.end();
    assert_eq!(ended.code(), Some(130));
    assert!(
        ended.stdout.contains("PARTIAL: interrupted"),
        "{}",
        ended.stdout
    );
    let said = &ended.stderr;
    assert!(
        said.contains("interrupted: ") && !said.contains("error"),
        "{said}"
    );
    fits(&words, &ended);
}

/// Without a terminal nothing is drawn over: one line an interval, one a test.
#[test]
fn a_pipe_gets_a_line_an_interval() {
    let (_server, port) = serve();
    let ended = run(linerate(&format!(
        "udp 127.0.0.1 -p {port} -b 5M -t 500ms -i 100ms"
    )));
    let lines = ended
        .stderr
        .lines()
        .filter(|row| row.starts_with("[  1] up"))
        .count();
    assert!(lines >= 3, "{}", ended.stderr);
    let of_streams = ended.stdout.lines().filter(|row| row.contains("[  1]"));
    let ends: Vec<_> = of_streams
        .filter_map(|row| row.rsplit(' ').next())
        .collect();
    assert_eq!(ends, ["sender", "receiver"], "progress is no result");
    assert!(!ended.stderr.contains(['\x1b', '\r']));
}

#[test]
fn colour_only_where_it_is_wanted() {
    let (_server, port) = serve();
    let words = format!("udp 127.0.0.1 -p {port} -b 5M -t 200ms -i 0");
    for (name, value, flag, colored) in [
        ("NO_COLOR", "1", "", false),
        ("CLICOLOR_FORCE", "1", "", true),
        ("TERM", "dumb", "", false),
        ("NO_COLOR", "1", "--color=always", true),
        ("CLICOLOR_FORCE", "1", "--color=never", false),
    ] {
        let mut command = linerate(&format!("{words} {flag}"));
        command
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .env(name, value);
        let ended = run(command);
        assert_eq!(
            ended.stdout.contains('\x1b'),
            colored,
            "{name} {flag}: {}",
            ended.stdout
        );
    }
}
