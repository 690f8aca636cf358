// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/first-hour.md`, line by line, in an empty home and a network namespace of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/first-hour.md");
    std::fs::read_to_string(path).unwrap()
}

/// The commands of all `sh` blocks, in order.
fn commands() -> String {
    let page = page();
    let blocks = page.split("```sh\n").skip(1);
    let all: Vec<&str> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert!(all.len() >= 6, "{all:?}");
    all.concat()
}

/// Each command is printed before it runs; the first that fails ends it. A measurement for which the machine was too busy
/// (exit code 4) has not failed. Servers that are left are ended.
fn script() -> String {
    let ends = "for id in *.pid; do [ ! -e \"$id\" ] || kill \"$(cat \"$id\")\"; done 2>/dev/null";
    let commands = commands();
    let lines = commands.lines().map(|line| match line {
        _ if line.starts_with("linerate ") => format!("{line} || [ $? = 4 ]\n"),
        _ if line.starts_with("iperf3 -s") => format!("{line}\n{LISTENS}\n"),
        _ => format!("{line}\n"),
    });
    let lines: String = lines.collect();
    format!(
        "trap '{ends}; exit $status' EXIT\nstatus=1\nset -ex\nip link set lo up\n{lines}\nstatus=0\n"
    )
}

/// iperf3 goes into the background before its port is open.
const LISTENS: &str =
    "timeout 60 sh -c 'until [ -n \"$(ss -Hltn sport = :5302)\" ]; do sleep 0.1; done'";

/// A shell in a namespace of its own; `None` where there is none.
fn shell(home: &Path) -> Option<Command> {
    for options in [&["--net"] as &[_], &["--net", "--user", "--map-root-user"]] {
        let mut tried = Command::new("unshare");
        tried.args(options).arg("true").stderr(Stdio::null());
        if tried.status().is_ok_and(|status| status.success()) {
            let mut shell = Command::new("unshare");
            shell
                .args(options)
                .args(["sh", "-c", &script()])
                .current_dir(home);
            return Some(shell);
        }
    }
    None
}

#[test]
fn the_first_hour_is_as_written() {
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("first-hour");
    let _none = std::fs::remove_dir_all(&home);
    std::fs::create_dir_all(&home).unwrap();
    let has_iperf3 = Command::new("iperf3").arg("--version").output().is_ok();
    let Some(mut shell) = shell(&home).filter(|_| has_iperf3) else {
        return println!("skipped: no iperf3, or no network namespaces");
    };
    let program = Path::new(env!("CARGO_BIN_EXE_linerate"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let output = shell
        .env("PATH", path)
        .env("HOME", &home)
        .env_remove("XDG_STATE_HOME")
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{}\n{}", said[0], said[1]);
    for part in ["TCP, 1 stream", "lost/sent", "sender", "half", "first"] {
        assert!(
            said[0].to_lowercase().contains(&part.to_lowercase()),
            "{part}: {}",
            said[0]
        );
    }
    let html = std::fs::read_to_string(home.join("first.html")).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>"));
}
