// SPDX-License-Identifier: MIT OR Apache-2.0
//! `history` over stored runs, and `check --watch`, which adds to them.

use crate::failures::process::{Ended, linerate, run};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// An empty directory of this test.
fn place(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("history-{name}"));
    let _absent = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    place
}

fn store(place: &Path, name: &str, run: &serde_json::Value) {
    fs::create_dir_all(place.join(name)).unwrap();
    fs::write(place.join(name).join("run.json"), run.to_string()).unwrap();
}

/// Sixteen days; after the eighth the kernel is another one and the rate lower. Each has a second figure whose name
/// begins as that of the first.
fn sixteen_days(place: &Path) {
    let noise = [0.3, -0.8, 0.5, -0.2, 0.9, -0.6, 0.1, -0.4];
    for day in 1..=16_u32 {
        let late = day > 8;
        let rate = if late { 870.0 } else { 941.0 } + noise[day as usize % 8];
        let test = |name: &str, streams: u32| {
            json!({"id": format!("{name}-up"), "name": name, "direction": "up", "streams": streams,
                "delivered_bits_per_second": rate * 1e6, "valid": true})
        };
        let run = json!({
            "schema": "linerate.run/1", "kind": "check", "partial": false,
            "started": format!("2026-01-{day:02}T12:00:00Z"),
            "plan": {"host": "h2"},
            "hosts": [{"role": "remote", "kernel": if late { "6.12.1" } else { "6.1.0" }}],
            "tests": [test("tcp", 1), test("tcp", 2)],
        });
        store(place, &format!("202601{day:02}T120000Z-check-h2"), &run);
    }
    let failed = json!({
        "schema": "linerate.run/1", "kind": "tcp", "partial": true, "started": "2026-01-09T13:00:00Z",
        "error": {"what": "cannot find nosuch.example", "why": "no address", "try": ""},
    });
    store(place, "20260109T130000Z-tcp-nosuch.example", &failed);
}

fn history(place: &Path, words: &[&str]) -> Ended {
    let mut command = linerate("history");
    command.arg(place).args(words);
    run(command)
}

#[test]
fn a_figure_is_chosen_by_its_exact_name_and_its_change_explained() {
    let place = place("figure");
    sixteen_days(&place);
    for name in ["throughput tcp up", "throughput tcp up, 2 streams"] {
        let ended = history(&place, &["--figure", name]);
        let text = ended.stdout;
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        assert!(
            text.contains(&format!("{name} of check against h2")),
            "{text}"
        );
        assert!(
            text.contains("the level changed once: 2026-01-09 12:00"),
            "{text}"
        );
        assert!(text.contains("kernel (remote): 6.1.0 -> 6.12.1"), "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        assert_eq!(
            text.matches("2026-01-12 12:00").count(),
            1,
            "one table: {text}"
        );
    }
}

#[test]
fn attempts_that_failed_are_a_line_of_their_own() {
    let place = place("failed");
    sixteen_days(&place);
    let listed = history(&place, &["-n", "4"]).stdout;
    assert!(!listed.contains("n/a"), "{listed}");
    let all = history(&place, &["-n", "0"]).stdout;
    let line = "1 attempt failed: cannot find nosuch.example (--failed lists them)";
    assert!(all.contains(line), "{all}");
    assert_eq!(all.matches("20260101T120000Z").count(), 1, "{all}");
    let failed = history(&place, &["--failed"]).stdout;
    assert!(
        failed.contains("20260109T130000Z-tcp-nosuch.example: cannot find"),
        "{failed}"
    );
    assert!(!failed.contains("check-h2"), "{failed}");
}

#[test]
fn a_page_has_each_figure_with_its_changes() {
    let place = place("page");
    sixteen_days(&place);
    let file = place.join("page.html");
    let ended = history(&place, &["-o", &file.display().to_string()]);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    let page = fs::read_to_string(&file).unwrap();
    assert_eq!(page.matches("<svg").count(), 2, "{page}");
    assert_eq!(
        page.matches("kernel (remote): 6.1.0 -&gt; 6.12.1").count(),
        2,
        "{page}"
    );
    let refused = history(&place, &["-o", "page.pdf"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stderr.contains(".html"), "{}", refused.stderr);
    assert!(!Path::new("page.pdf").exists());
}

/// `check --watch`, in the middle of it: what it prints can be read.
fn watch(port: u16, state: &Path, words: &str) -> Child {
    let line = format!("check 127.0.0.1 -p {port} --quick {words}");
    Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(line.split_whitespace())
        .env("XDG_STATE_HOME", state)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_watch_checks_again_whatever_happened_and_stores_each_run() {
    let state = place("watch-count");
    let closed = crate::support::free_port();
    let mut child = watch(closed, &state, "--watch 100ms --count 3");
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let lines: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(lines.len(), 4, "a header and three rows: {lines:#?}");
    assert!(
        lines[1..].iter().all(|row| row.contains("cannot connect")),
        "{lines:#?}"
    );
    let runs = fs::read_dir(state.join("linerate/runs")).unwrap();
    let runs = runs.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_dir()));
    assert_eq!(runs.count(), 3);
}

#[test]
fn a_watch_that_waits_ends_with_0() {
    let state = place("watch-wait");
    let closed = crate::support::free_port();
    let mut child = watch(closed, &state, "--watch 1h");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let row = lines.by_ref().map(Result::unwrap).nth(1);
    assert!(row.is_some_and(|row| row.contains("cannot connect")));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_watch_that_is_interrupted_within_a_check_ends_with_130() {
    let state = place("watch-within");
    // It accepts and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let mut child = watch(port, &state, "--watch 1h");
    let _client = silent.accept().unwrap();
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_watch_refuses_what_it_cannot_do() {
    for (words, why) in [
        ("check h2 --watch 1m --json", "--json"),
        ("check h2 --watch 1m -o /tmp/x", "--output"),
        ("check h2 --count 3", "--watch"),
        ("check h2 --watch 1m --count 0", "0"),
    ] {
        let ended = run(linerate(words));
        assert_eq!(ended.status.code(), Some(2), "{words}");
        assert!(ended.stderr.contains(why), "{words}: {}", ended.stderr);
    }
}
