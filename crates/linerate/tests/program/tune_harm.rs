// SPDX-License-Identifier: MIT OR Apache-2.0
//! A change that harms the other host, whose agent is a script: it is rolled back, the campaign goes on without it, and
//! later ones do not try it. In the first host of a lab, whose settings are its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// As an agent that watches its host: from the second change on it has an alarm.
const AGENT: &str = r#"
say() { printf '{"id":%s,"answer":%s}\n' "$1" "$2"; }
printf '%s\n' '{"hello":{"protocol":1,"version":"1","hostname":"router","uid":0,"capabilities":["guards"]}}'
changes=0 is_open=false
while read -r line; do
    id=${line#'{"id":'} id=${id%%,*}
    case "$line" in
    *'"ask":"beat"'*) ;;
    *'"ask":{"key"'*) say "$id" '{"key":{"knob":"sysctl net.ipv4.tcp_rmem","place":"host"}}' ;;
    *'"ask":{"apply"'*)
        changes=$((changes + 1)) is_open=true
        say "$id" "{\"applied\":{\"change\":$changes,\"old\":\"1 2 3\",\"effective\":\"1 2 4\"}}" ;;
    *'"ask":"alarm"'*)
        case "$is_open $changes" in
        'false '* | 'true 1') say "$id" '{"alarm":null}' ;;
        *) is_open=false; say "$id" '{"alarm":"the kernel reported NETDEV WATCHDOG: eth0"}' ;;
        esac ;;
    *'"ask":{"undo"'*) is_open=false; say "$id" '"undone"' ;;
    *) say "$id" '"done"' ;;
    esac
done
"#;

#[test]
fn what_harms_the_other_host_is_rolled_back_and_not_tried_again_without_retry() {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tune-harm");
    let _old = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("agent"), AGENT).unwrap();
    let Some(first) = until(&place, "", is_tried) else {
        return;
    };
    let candidate = of_router(&first);
    let reason = "the kernel reported NETDEV WATCHDOG: eth0";
    assert_eq!(
        (&candidate["state"], &candidate["reason"]),
        (&"rolled-back".into(), &reason.into()),
        "{first:#}"
    );
    assert_ne!(first["ended"], "unfinished", "{first:#}");
    let withheld = |tuning: &Value| {
        let all = tuning["by_hand"].as_array().cloned().unwrap_or_default();
        all.iter().any(|one| {
            let why = one["why"].as_str().unwrap_or_default();
            why.starts_with("it was rolled back on ") && why.contains(reason)
        })
    };
    let Some(later) = until(&place, "", withheld) else {
        return;
    };

    assert!(!is_tried(&later), "{later:#}");
    let again = until(&place, "--retry", is_tried).unwrap();
    assert_eq!(of_router(&again)["state"], "rolled-back", "{again:#}");
}

/// What a busy machine spoils is done again: the finding needs a run in which the window limits the rate.
fn until(place: &Path, flags: &str, is_right: impl Fn(&Value) -> bool) -> Option<Value> {
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let tuning = campaign(place, flags)?;
        if is_right(&tuning) {
            return Some(tuning);
        }
        seen.push(tuning);
    }
    panic!("{seen:#?}");
}

/// Nothing where there is no lab.
fn campaign(place: &Path, flags: &str) -> Option<Value> {
    let script = format!(
        "\"$L\" tune \"$LINERATE_PEER\" --remote-command 'sh agent' --aa 0 --blocks 6 --settle 0 \
         --json -o /dev/null/none {flags} -- tcp -t 500ms >document"
    );
    let program = env!("CARGO_BIN_EXE_linerate");
    let ended = Command::new(program)
        .current_dir(place)
        .env("XDG_STATE_HOME", place)
        .env("L", program)
        .args(["lab", "--fault", "tcp-rmem", "--fault", "delay=5ms"])
        .args(["--", "sh", "-c", &script])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    if said.contains("grants no network namespaces") || said.contains("loopback instead of a lab") {
        println!("skipped: no lab on this machine: {said}");
        return None;
    }
    let document: Value = serde_json::from_slice(&fs::read(place.join("document")).unwrap())
        .unwrap_or_else(|error| panic!("{error}: {said}"));
    Some(document["tuning"].clone())
}

fn candidates(tuning: &Value) -> Vec<Value> {
    tuning["candidates"].as_array().cloned().unwrap_or_default()
}

fn is_tried(tuning: &Value) -> bool {
    candidates(tuning).iter().any(|one| one["host"] == "remote")
}

fn of_router(tuning: &Value) -> Value {
    let all = candidates(tuning);
    let one = all.iter().find(|one| one["host"] == "remote");
    one.unwrap_or_else(|| panic!("{tuning:#}")).clone()
}

const ATTEMPTS: usize = 4;
