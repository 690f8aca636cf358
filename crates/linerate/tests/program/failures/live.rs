// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands on a terminal while a test runs, and the key that stops it.

use super::process::{PROGRAM, linerate, run, serve, shell, start};

/// util-linux's `script` gives a command a terminal of its own; both streams come out of its stdout.
fn on_a_terminal(line: &str) -> Option<std::process::Command> {
    let there = std::process::Command::new("script")
        .arg("--version")
        .output();
    if there.is_err() {
        println!("skipped: no `script` (util-linux) here to make a terminal");
        return None;
    }
    let command = format!("{line}; echo EXIT $?; stty -a");
    let mut script = shell(&format!("exec script -qfec '{command}' /dev/null >&2"));
    script.env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
    Some(script)
}

#[test]
fn a_terminal_shows_the_running_test_and_q_stops_it() {
    let (_server, port) = serve();
    let line = format!("{PROGRAM} udp 127.0.0.1 -p {port} -b 5M -t 60 -i 100ms --bidir");
    let Some(command) = on_a_terminal(&line) else {
        return;
    };
    let mut client = start(command);
    for word in ["(q stops)", "s left", "lost 0 of", "cpus  here", "far end"] {
        client.wait_for(word, 1);
    }
    client.type_in(b"q");
    let ended = client.end();
    let said = ended.stderr;
    assert!(said.contains("EXIT 130"), "{said}");
    assert!(said.contains("PARTIAL"), "{said}");
    let (_, after) = said.split_once("EXIT").unwrap();
    assert!(
        !after.contains("-icanon") && !after.contains("-echo "),
        "{after}"
    );
}

#[test]
fn without_a_terminal_each_test_of_a_sweep_has_one_line() {
    let (_server, port) = serve();
    let sweep = format!("sweep 127.0.0.1 -p {port} --from 5M --to 10M --step 5M -t 300ms -R");
    let ended = run(linerate(&sweep));
    let rows: Vec<&str> = rows(ended.stderr.lines()).collect();
    assert!(
        rows[0].starts_with("udp-5M         down    0.30 s"),
        "{}",
        ended.stderr
    );
    assert!(
        rows.iter()
            .any(|row| row.starts_with("udp-10M        down    0.30 s")),
        "{}",
        ended.stderr
    );
    assert!(rows.iter().all(is_ended), "{}", ended.stderr);
    // The two rates and the confirmation, at least.
    assert!(rows.len() >= 3, "{}", ended.stderr);
    assert!(!ended.stderr.contains(['\x1b', '\r']));
    let quiet = run(linerate(&format!("{sweep} -q")));
    assert_eq!(quiet.stderr, "");
}

/// Every row of a test that has ended is still on the screen at the end, in order, with nothing written over it; the
/// redrawn progress is gone.
#[test]
fn on_a_terminal_finished_tests_stay_on_the_screen() {
    let (_server, port) = serve();
    for columns in [80, 60, 40] {
        let line = format!(
            "stty rows 24 cols {columns}; {PROGRAM} sweep 127.0.0.1 -p {port} --from 5M --to 20M --step 5M -t 200ms --confirm 300ms"
        );
        let Some(command) = on_a_terminal(&line) else {
            return;
        };
        let said = run(command).stderr;
        assert!(said.contains("EXIT 0"), "{said}");
        assert!(said.contains("\x1b[J"), "nothing was redrawn: {said}");
        let screen = screen(&said);
        let (progress, result) = split(&screen);
        let rows: Vec<&str> = rows(progress.iter().map(String::as_str)).collect();
        assert!(rows.len() >= 10, "{columns} columns: {screen:#?}");
        for way in ["up", "down"] {
            let words = rows.iter().map(|row| row.split_whitespace());
            let own = words.filter_map(|mut words| {
                let name = words.next();
                name.filter(|_| words.next() == Some(way))
            });
            // A busy machine may spoil a trial, which is then repeated.
            let mut names: Vec<&str> = own.collect();
            names.dedup();
            let expected = ["udp-5M", "udp-10M", "udp-15M", "udp-20M"];
            assert_eq!(names[..4], expected, "{columns} columns: {screen:#?}");
        }
        for row in &rows {
            let is_whole = row.contains("bit/s") && (columns < 80 || is_ended(row));
            assert!(is_whole && !row.contains("left"), "{row:?} of {screen:#?}");
        }
        let remains = |row: &&String| {
            row.contains(" left") || row.contains("cpus") || row.contains("(q stops)")
        };
        let announced = |row: &&String| row.starts_with("about ");
        assert_eq!(
            progress
                .iter()
                .filter(|row| remains(row) && !announced(row))
                .count(),
            0,
            "{screen:#?}"
        );
        assert!(!result.is_empty(), "{screen:#?}");
        let wide = progress.iter().filter(|row| row.chars().count() > columns);
        assert_eq!(wide.count(), 0, "{columns} columns: {screen:#?}");
    }
}

/// Whether a row says what became of its test.
fn is_ended(row: &&str) -> bool {
    row.contains("lost") || row.contains("not valid")
}

/// The lines before the document, and from it on.
fn split(screen: &[String]) -> (&[String], &[String]) {
    let at = screen.iter().position(|row| row.starts_with("linerate "));
    screen.split_at(at.unwrap_or(screen.len()))
}

fn rows<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    lines.filter(|line| line.starts_with("udp-"))
}

/// What a terminal shows after this output (ECMA-48: CR, LF, CUU, ED, SGR), with all that scrolled away.
fn screen(output: &str) -> Vec<String> {
    let mut rows: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0, 0);
    let mut characters = output.chars();
    while let Some(character) = characters.next() {
        match character {
            '\r' => column = 0,
            '\n' => {
                row += 1;
                rows.resize(rows.len().max(row + 1), Vec::new());
            }
            '\x1b' => {
                assert_eq!(characters.next(), Some('['));
                let mut number = String::new();
                let ended = loop {
                    match characters.next() {
                        Some(one) if one.is_ascii_alphabetic() => break one,
                        Some(one) => number.push(one),
                        None => panic!("a sequence without an end"),
                    }
                };
                match ended {
                    'A' => row -= number.parse::<usize>().unwrap(),
                    'J' => {
                        rows.truncate(row + 1);
                        rows[row].truncate(column);
                    }
                    'm' => {}
                    other => panic!("an unknown sequence: {number}{other}"),
                }
            }
            other => {
                let line = &mut rows[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = other;
                column += 1;
            }
        }
    }
    rows.into_iter().map(String::from_iter).collect()
}

#[test]
fn the_screen_of_these_tests_is_drawn_over() {
    let output = "one\r\ntwo\r\nthree\r\x1b[1A\x1b[Jrow\r\nlast\x1b[31m!\x1b[0m";
    assert_eq!(screen(output), ["one", "row", "last!"]);
}
