// SPDX-License-Identifier: MIT OR Apache-2.0
//! A matrix whose host does not stay as it is: a setting that moves during a run, and a process that is killed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::{cells, place, stderr, was_disturbed};

/// A script in the first host of a lab, `$LINERATE` is the program; nothing where there are no namespaces.
fn in_lab(place: &Path, script: &str) -> Option<Output> {
    let program = env!("CARGO_BIN_EXE_linerate");
    let mut command = Command::new(program);
    command.args(["lab", "--", "sh", "-c", script]);
    command
        .env("LINERATE", program)
        .env("XDG_STATE_HOME", place);
    let output = command.current_dir(place).output().unwrap();
    if stderr(&output).contains("private network namespaces") {
        return Some(output);
    }
    println!("skipped: no lab on this machine ({})", stderr(&output));
    None
}

/// A setting that another program writes under the load of the only run: it is repeated, and the cell has its run.
#[test]
fn a_run_during_which_a_setting_moved_is_repeated() {
    let place = place("moved");
    let script = r#"
        "$LINERATE" matrix "$LINERATE_PEER" -o run -t 3 --rounds 1 --settle 0 -b 10M --axes protocol=udp --json > document 2> said &
        for i in $(seq 1 800); do
            grep -qs '"phase":"load"' run/runs/*/samples.jsonl && break
            sleep 0.05
        done
        echo '4096 131072 1000000' > /proc/sys/net/ipv4/tcp_rmem
        wait $!
        echo $? > code
    "#;
    let Some(output) = in_lab(&place, script) else {
        return;
    };
    let read = |name: &str| fs::read_to_string(place.join(name)).unwrap_or_default();
    let said = read("said");
    let json: Value = serde_json::from_str(&read("document"))
        .unwrap_or_else(|error| panic!("{error}: {said}{}", stderr(&output)));
    if was_disturbed(&json) {
        return;
    }
    assert_eq!(read("code").trim(), "0", "{said}");
    let cell = &cells(&json)[0];
    assert_eq!(
        (&cell["state"], &cell["figures"][0]["n"]),
        (&"done".into(), &1.into()),
        "{cell}"
    );
    let moved = "during the run net.ipv4.tcp_rmem changed from";
    let excluded = cell["excluded"].as_array().unwrap().iter();
    let reasons: Vec<&str> = excluded.filter_map(|one| one["reason"].as_str()).collect();
    assert!(
        reasons.iter().any(|reason| reason.starts_with(moved)),
        "{cell}"
    );
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let repeated = format!("does not count, is repeated: {moved}");
    assert!(said.contains(&repeated), "{said}");
    assert_eq!(json["moved"][0]["name"], "net.ipv4.tcp_rmem", "{json}");
}

/// The offloads are in the journal, and are as they were after kill -9.
#[test]
fn a_killed_one_leaves_no_offload() {
    let place = place("offload");
    let script = r#"
        gro() { ethtool -k eth0 | grep -o 'generic-receive-offload: o[nf]*'; }
        gro > before || exit 77
        "$LINERATE" matrix "$LINERATE_PEER" -o run -t 100ms --rounds 50 --settle 0 --axes offload=on,off -q &
        killed=$!
        other() { [ "$(gro)" != "$(cat before)" ]; }
        for i in $(seq 1 800); do other || ! [ -d "/proc/$killed" ] || sleep 0.05; other && break; done
        kill -STOP $killed
        gro > changed
        kill -9 $killed
        wait $killed
        "$LINERATE" tune restore > restored 2>&1
        for i in $(seq 1 200); do other && sleep 0.05; done
        gro > after
    "#;
    let Some(output) = in_lab(&place, script) else {
        return;
    };
    let read = |name: &str| fs::read_to_string(place.join(name)).unwrap_or_default();
    if output.status.code() == Some(77) {
        return println!("skipped: no ethtool here ({})", stderr(&output));
    }
    let (before, changed, after) = (read("before"), read("changed"), read("after"));
    assert_ne!(before, changed, "{}", stderr(&output));
    assert_eq!(before, after, "{}", read("restored"));
}

/// Where no namespaces are granted, a lab is this machine: what its commands change is the machine's, and nobody else may
/// change settings meanwhile.
#[test]
fn the_commands_of_a_lab_without_namespaces_are_those_of_the_machine() {
    let place = place("loopback");
    let script = r#"
        ip link set lo up && echo 0 > /proc/sys/user/max_user_namespaces && echo 0 > /proc/sys/user/max_net_namespaces || exit 77
        matrix() {
            "$LINERATE" matrix --lab -t 100ms --rounds 50 --settle 0 --set 'letter: a=printf A >> log; b=printf B >> log; restore=printf R >> log' "$@"
        }
        matrix -o run 2> first & first=$!
        for i in $(seq 1 800); do [ -s log ] || ! [ -d "/proc/$first" ] || sleep 0.05; done
        matrix -o second > second 2>&1
        echo $? > code
        kill -TERM $first
        wait $first
    "#;
    let output = Command::new("unshare")
        .args(["-Urn", "sh", "-c", script])
        .env("LINERATE", env!("CARGO_BIN_EXE_linerate"))
        .env("XDG_STATE_HOME", &place)
        .current_dir(&place)
        .output();
    let read = |name: &str| fs::read_to_string(place.join(name)).unwrap_or_default();
    let (first, second) = (read("first"), read("second"));
    if !first.contains("loopback instead of a lab") {
        return println!("skipped: namespaces cannot be forbidden here: {first} {output:?}");
    }
    assert_eq!(read("code").trim(), "3", "{second}");
    assert!(second.contains("wait until it has ended"), "{second}");
    assert!(read("log").ends_with('R'), "{first}");
}
