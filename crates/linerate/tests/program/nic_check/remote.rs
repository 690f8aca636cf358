// SPDX-License-Identifier: MIT OR Apache-2.0
//! `nic-check --remote-command`: the agent at the other end is a process of its own, in the other host's namespace, and
//! is asked through a pipe.

use std::fs;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::named;

/// Host B, whose process others find by its number, and the check in host A.
const PEER: &str = r#"echo $$ >b; exec "$L" serve --quiet"#;
const CHECK: &str = r#""$L" nic-check eth0 "$LINERATE_PEER" --json -o /dev/null/none \
    --remote-command "nsenter --net=/proc/$(cat b)/ns/net '$L' agent --stdio --frames" >document"#;

/// Host B, which hands a connection to an agent, and the check, whose questions cross the link: no ssh, and an address of the link.
const RELAY: &str = r#"exec "$T" --exact nic_check::remote::hands_a_connection_on --ignored"#;
const ACROSS: &str = r#""$L" nic-check eth0 "$LINERATE_PEER" --json -o /dev/null/none --remote-command \
    "bash -c 'until { exec 3<>/dev/tcp/$LINERATE_PEER/7007; } 2>/dev/null; do sleep 0.1; done; cat <&3 & exec cat >&3'" >document"#;
const RELAYED: u16 = 7007;

/// The relay's frames are left out of every count, and it is said that it uses the link.
#[test]
fn a_relay_over_the_link_that_is_judged_is_recognised() {
    if Command::new("bash").arg("--version").output().is_err() {
        println!("skipped: no bash(1)");
        return;
    }
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("nic-check-relayed");
    let _old = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    let mut seen = Vec::new();
    for _ in 0..super::ATTEMPTS {
        let Some((code, document, said)) = reported(&place, &["--nic"], RELAY, ACROSS) else {
            return;
        };
        let right = named(&document, "right");
        let counted = ["tx-counters", "rx-counters", "rx-udp4-bad", "tx-tcp4-sum"];
        if code == 0 && counted.iter().all(|id| right.iter().any(|one| one == id)) {
            assert!(said.contains("across the link that is judged"), "{said}");
            assert!(said.contains(&format!("{RELAYED} there")), "{said}");
            return;
        }
        seen.push((code, named(&document, "wrong"), document["error"].clone()));
    }
    panic!("{seen:#?}");
}

/// In host B of the test above.
#[test]
#[ignore = "the test above starts it in the other host"]
fn hands_a_connection_on() {
    let (connection, _) = TcpListener::bind(("0.0.0.0", RELAYED))
        .unwrap()
        .accept()
        .unwrap();
    let both: [OwnedFd; 2] = [connection.try_clone().unwrap().into(), connection.into()];
    let [from, to] = both;
    let mut agent = Command::new(std::env::var_os("L").expect("started by the test above"));
    agent
        .args(["agent", "--stdio", "--frames"])
        .stdin(from)
        .stdout(to);
    agent.status().unwrap();
}

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
    reported(place, flags, PEER, CHECK).map(|(code, document, _)| (code, document))
}

/// The same, and what was said: one command runs in host B, the other in host A.
fn reported(place: &Path, flags: &[&str], peer: &str, check: &str) -> Option<(i32, Value, String)> {
    let program = env!("CARGO_BIN_EXE_linerate");
    let ended = Command::new(program)
        .current_dir(place)
        .env("L", program)
        .env("T", std::env::current_exe().unwrap())
        .arg("lab")
        .args(flags)
        .args(["--peer", peer, "--", "sh", "-c", check])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    if said.contains("grants no network namespaces") || said.contains("loopback instead of a lab") {
        println!("skipped: no lab on this machine: {said}");
        return None;
    }
    let document = serde_json::from_slice(&fs::read(place.join("document")).unwrap());
    let document = document.unwrap_or_else(|error| panic!("{error}: {said}"));
    Some((ended.status.code().unwrap_or(-1), document, said))
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
