// SPDX-License-Identifier: MIT OR Apache-2.0
//! `nic-check --remote-command`: the agent at the other end is a process of its own, in the other host's namespace, and
//! is asked through a pipe.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::named;

/// Host B, whose process others find by its number, and the check in host A.
const PEER: &str = r#"echo $$ >b; exec "$L" serve --quiet"#;
const CHECK: &str = r#""$L" nic-check eth0 "$LINERATE_PEER" --json -o /dev/null/none \
    --remote-command "nsenter --net=/proc/$(cat b)/ns/net '$L' agent --stdio --frames" >document"#;

#[test]
fn an_agent_in_the_other_host_judges_through_a_pipe() {
    if Command::new("nsenter").arg("--version").output().is_err() {
        println!("skipped: no nsenter(1)");
        return;
    }
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("nic-check-remote");
    let _old = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    judged(&place, &["--nic"], &[]);
    judged(&place, &["--fault", "nic-udp-zero"], &["tx-udp4-zero-sum"]);
}

/// These are wrong, and nothing but a sum of zero is.
fn judged(place: &Path, flags: &[&str], expected: &[&str]) {
    until(place, flags, |code, document| {
        let has = |state: &str, ids: &[&str]| {
            let all = named(document, state);
            ids.iter().all(|id| all.iter().any(|one| one == id))
        };
        let wrong = named(document, "wrong");
        code == i32::from(!expected.is_empty())
            && wrong.iter().all(|id| id.ends_with("-zero-sum"))
            && has("wrong", expected)
            && has("right", &["tx-udp4-sum", "rx-udp4-bad", "rx-time-stamps"])
            && has("not-possible", &["rx-hardware-time-stamps"])
    });
}

/// What a busy machine spoils is done again.
fn until(place: &Path, flags: &[&str], is_right: impl Fn(i32, &Value) -> bool) {
    let mut seen = Vec::new();
    for _ in 0..super::ATTEMPTS {
        let Some((code, document)) = checked(place, flags) else {
            return;
        };
        if is_right(code, &document) {
            return;
        }
        let error = document["error"].clone();
        seen.push((code, named(&document, "wrong"), error));
    }
    panic!("{flags:?}: {seen:#?}");
}

/// Nothing where there is no lab.
fn checked(place: &Path, flags: &[&str]) -> Option<(i32, Value)> {
    let program = env!("CARGO_BIN_EXE_linerate");
    let ended = Command::new(program)
        .current_dir(place)
        .env("L", program)
        .arg("lab")
        .args(flags)
        .args(["--peer", PEER, "--", "sh", "-c", CHECK])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    if said.contains("grants no network namespaces") || said.contains("loopback instead of a lab") {
        println!("skipped: no lab on this machine: {said}");
        return None;
    }
    let document = serde_json::from_slice(&fs::read(place.join("document")).unwrap());
    let document = document.unwrap_or_else(|error| panic!("{error}: {said}"));
    Some((ended.status.code().unwrap_or(-1), document))
}

#[test]
fn a_command_that_starts_no_agent_is_named() {
    for (command, why) in [
        ("echo no such host >&2; exit 3", "no such host"),
        ("echo hello", "hello"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(["nic-check", "lo", "127.0.0.2", "--json"])
            .args(["-o", "/dev/null/none", "--remote-command", command])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let document: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{command}: {error}: {said}"));
        let error = &document["error"];
        assert_ne!(output.status.code(), Some(0), "{command}: {document:#}");
        assert!(error.to_string().contains(why), "{command}: {error:#}");
        assert!(error.to_string().contains(command), "{command}: {error:#}");
    }
}
