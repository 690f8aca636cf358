// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nowhere to store, nobody to print to: the measurement is made and reported all the same.

use std::fs::{File, OpenOptions};
use std::process::Stdio;

use super::process::{Ended, linerate, run, serve, shell, start};
use super::verdict::document;

const TEST: &str = "udp 127.0.0.1 -p PORT -b 5M -k 150 -i 100ms";

fn line(port: u16) -> String {
    TEST.replace("PORT", &port.to_string())
}

/// Measured, well, and said not to be stored, and why.
fn not_stored(ended: &Ended, why: &str) {
    let document = document(ended);
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_eq!(document["run_dir"], serde_json::Value::Null);
    assert_eq!(document["tests"][0]["valid"], true);
    let reported = ended
        .stderr
        .lines()
        .find(|line| line.starts_with("not stored: "));
    assert!(
        reported.is_some_and(|line| line.contains(why)),
        "{}",
        ended.stderr
    );
}

#[test]
fn no_home() {
    let (_server, port) = serve();
    let mut command = linerate(&format!("{} --json", line(port)));
    command.env_remove("HOME").env_remove("XDG_STATE_HOME");
    not_stored(&run(command), "neither XDG_STATE_HOME nor HOME is set");
}

#[test]
fn a_home_that_is_no_directory() {
    let (_server, port) = serve();
    let mut command = linerate(&format!("{} --json", line(port)));
    command
        .env_remove("XDG_STATE_HOME")
        .env("HOME", "/dev/null");
    not_stored(&run(command), "/dev/null/.local/state");
    let command = linerate(&format!("{} --json -o /dev/null/run", line(port)));
    not_stored(&run(command), "/dev/null/run");
}

/// A mount namespace of its own, in which `mount` succeeded; `None` where there is none.
fn on_a_mount(mount: &str, then: &str) -> Option<Ended> {
    let (_server, port) = serve();
    let place = std::env::temp_dir();
    let place = place.display();
    let ended = run(shell(&format!(
        "exec unshare -rm sh -c '{mount} {place} && {then} XDG_STATE_HOME={place} exec $LINERATE {} --json'",
        line(port)
    )));
    if ended.stdout.is_empty() && !ended.stderr.contains("why: ") {
        eprintln!("skipped: {}", ended.stderr);
        return None;
    }
    Some(ended)
}

#[test]
fn a_read_only_root() {
    if let Some(ended) = on_a_mount("mount -t tmpfs -o ro none", "") {
        not_stored(&ended, "Read-only file system");
    }
}

/// Room for the directory only; then for the first words but not for all.
#[test]
fn a_full_disk() {
    let fill = |left: &str| {
        let place = std::env::temp_dir();
        let place = place.display();
        format!("{{ cat /dev/zero >{place}/fill 2>/dev/null; truncate -s -{left} {place}/fill;}};")
    };
    for left in ["0", "8K"] {
        if let Some(ended) = on_a_mount("mount -t tmpfs -o size=256k none", &fill(left)) {
            not_stored(&ended, "No space left on device");
        }
    }
}

#[test]
fn a_reader_of_the_results_that_leaves_is_a_quiet_success() {
    let (_server, port) = serve();
    for form in ["", "--json", "--json-stream"] {
        let mut command = linerate(&format!("{} -q {form}", line(port)));
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            (output.status.code(), reported.as_str()),
            (Some(0), ""),
            "{form}"
        );
    }
}

/// The results cannot be printed: an error, not a panic.
#[test]
fn stdout_on_a_full_disk() {
    let (_server, port) = serve();
    let words = line(port);
    for words in [
        words.as_str(),
        "doctor",
        "man",
        "completions bash",
        "--help",
        "--version",
    ] {
        for form in ["", "--json"] {
            if form == "--json" && !words.starts_with("udp") && words != "doctor" {
                continue;
            }
            let reported = with_stdout(&format!("{words} {form}"), full());
            assert!(
                reported.1.contains("No space left on device"),
                "{words}: {}",
                reported.1
            );
            assert!(
                reported.1.contains("error: cannot ") && !reported.1.contains("panicked"),
                "{words}: {}",
                reported.1
            );
            assert_eq!(reported.0, Some(3), "{words}");
        }
    }
}

/// Not even opened: the numbers reach nobody, and no file of the run is written to instead.
#[test]
fn stdout_that_is_closed() {
    let (_server, port) = serve();
    for stream in [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"] {
        let ended = run(shell(&format!("exec $LINERATE {} {stream}", line(port))));
        assert_eq!(ended.code(), Some(0), "{stream}: {}", ended.stderr);
        assert!(
            !ended.stderr.contains("panicked"),
            "{stream}: {}",
            ended.stderr
        );
    }
}

#[test]
fn stderr_on_a_full_disk_costs_words_only() {
    let (_server, port) = serve();
    let mut command = linerate(&format!("{} --json", line(port)));
    let output = command.stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok());
}

/// A log that cannot be written stops no test.
#[test]
fn a_servers_log_on_a_full_disk() {
    let port = crate::support::free_port();
    let server = format!("serve --bind 127.0.0.1 -p {port} --log-file /dev/full");
    let mut server = start(linerate(&server));
    server.wait_for("listens on port", 1);
    let ended = run(linerate(&format!("{} --json", line(port))));
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    server.signal("TERM");
    assert_eq!(server.end().code(), Some(0));
}

fn with_stdout(words: &str, stdout: File) -> (Option<i32>, String) {
    let output = linerate(words)
        .stdout(stdout)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}
