// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a person sees of a result: the answer on one screen, all of it with `-v`, a line a direction with `-q`.

use super::support::Server;
use std::process::Command;

/// Lines on stdout, each command against a server on the loopback.
fn lines(words: &str) -> Vec<String> {
    let server = Server::ours("--quiet");
    let line = words.replace("HOST", &format!("127.0.0.1 -p {}", server.port));
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command
        .args(line.split_whitespace())
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_test_ends_with_its_answer_on_the_last_screen() {
    for words in [
        "tcp HOST -t 500ms",
        "tcp HOST -t 500ms --bidir -P 2",
        "udp HOST -b 5M -t 500ms",
        "udp HOST -b 5M -t 500ms -R",
    ] {
        let lines = lines(words);
        assert!(lines.len() <= 24, "{words}: {lines:#?}");
        assert!(lines[0].starts_with("linerate "), "{words}: {lines:#?}");
        let ends = ["sender", "receiver"].map(|end| lines.iter().any(|line| line.ends_with(end)));
        assert_eq!(ends, [true, true], "{words}: {lines:#?}");
    }
}

#[test]
fn a_check_is_35_lines_with_the_verdict_first() {
    let lines = lines("check HOST --quick");
    assert!(lines.len() <= 35, "{lines:#?}");
    let place = |start: &str| {
        let found = lines
            .iter()
            .position(|line| line.trim_start().starts_with(start));
        found.unwrap_or_else(|| panic!("{start}: {lines:#?}"))
    };
    let order = [
        "here ",
        "there ",
        "up ",
        "down ",
        "TCP, 1 stream",
        "UDP, no loss",
        "round trip",
        "details",
    ];
    let places = order.map(place);
    assert!(places.is_sorted(), "{lines:#?}");
}

#[test]
fn quiet_is_a_line_a_direction() {
    for (words, directions) in [
        ("tcp HOST -t 300ms -q", &["up"] as &[_]),
        ("udp HOST -b 5M -t 300ms --bidir -q", &["up", "down"]),
    ] {
        let lines = lines(words);
        let ways: Vec<_> = lines
            .iter()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert_eq!(ways, directions, "{lines:#?}");
    }
}

#[test]
fn verbose_has_counters_modes_and_spacing() {
    let text = lines("udp HOST -b 5M -t 300ms -v").join("\n");
    for part in [
        "mode mmsg",
        "spacing of arrivals",
        "counters that increased",
        "processors of both ends",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
