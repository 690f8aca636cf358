// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole campaigns through ssh: the far host of a lab has a receive buffer that is too small. What is proven there stays there,
//! in its own journal; when the connection dies in the middle, its agent alone undoes everything.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::far_side::FarSide;

const FILE: &str = "/proc/sys/net/ipv4/tcp_rmem";
const SMALL: &str = "4096\t16384\t16384";
const FAULTS: &str = "--fault tcp-rmem --fault delay=5ms";
const TUNE: &str =
    "linerate tune $LINERATE_PEER $TOKEN --remote=far --aa 0 --settle 0 --confirm-within 10 -o run";
/// A machine that is busy with other tests takes its time, and an attempt may prove nothing.
const PATIENCE: Duration = Duration::from_secs(300);
const ATTEMPTS: usize = 3;

#[test]
fn a_campaign_keeps_what_is_proven_on_the_far_host_and_it_is_undone_there() {
    let script = format!(
        "{TUNE} --json --blocks 6 -- tcp -t 500ms >tune.json
         ssh far cat {FILE} >kept
         ssh far linerate tune status --json >status.json
         ssh far linerate tune restore --kept --json >restore.json
         ssh far cat {FILE} >restored"
    );
    for attempt in 1..=ATTEMPTS {
        let Some(mut side) = FarSide::in_lab("campaign", FAULTS, &script) else {
            return;
        };
        await_end(&mut side);
        let tuned = document(&side, "tune.json");
        let all = tuned["tuning"]["candidates"].as_array();
        let of_window = |one: &&Value| {
            let because = one["because"].as_str().unwrap_or_default();
            because.starts_with("S05") && one["state"] == "kept" && one["finding_gone"] == true
        };
        let Some(first) = all.and_then(|all| all.iter().find(of_window)) else {
            assert!(attempt < ATTEMPTS, "{tuned:#}\n{}", side.log());
            continue;
        };
        assert_eq!(
            tuned["tuning"]["ended"],
            "kept",
            "{tuned:#}\n{}",
            side.log()
        );
        let because = first["because"].as_str().unwrap_or_default();
        assert!(because.starts_with("S05"), "{first:#}");
        assert_eq!(first["host"], "remote");
        assert_eq!(first["state"], "kept");
        assert_eq!(first["confirmation"]["verdict"], "better");
        assert_eq!(first["finding_gone"], true, "{first:#}");
        let kept = text(&side, "kept");
        assert!(!kept.contains(SMALL), "{kept}");
        let status = document(&side, "status.json");
        assert_eq!(status["changes"][0]["state"], "kept", "{status:#}");
        assert_eq!(status["changes"][0]["knob"], "sysctl net.ipv4.tcp_rmem");
        assert_eq!(
            document(&side, "restore.json")["changes"][0]["state"],
            "restored"
        );
        let restored = text(&side, "restored");
        assert!(restored.starts_with(SMALL), "{restored}");
        return;
    }
}

/// Without a word from the near host: the agent knows by the end of its input.
#[test]
fn a_campaign_whose_ssh_is_killed_leaves_nothing_on_the_far_host() {
    dies("killed-campaign", |side| {
        let client = side.file("client").display().to_string();
        side.signal(
            "-KILL",
            side.process(&["/usr/bin/ssh", &client, "--changes"]),
        );
    });
}

/// No packet passes any more in either direction: sshd there notices that its client is silent.
#[test]
fn a_campaign_whose_path_is_cut_leaves_nothing_on_the_far_host() {
    dies("cut-campaign", |side| side.cut());
}

/// A campaign whose connection dies after some of its runs.
fn dies(name: &str, die: fn(&FarSide)) {
    let script = format!(
        "{TUNE} --blocks 50 -- tcp -t 500ms >said 2>&1; echo $? >code
         until [ -e over ]; do sleep 0.1; done"
    );
    let Some(mut side) = tried(name, &script) else {
        return;
    };
    die(&side);
    await_that(&side, "it is restored", |side| side.value(FILE) == SMALL);
    side.expect_nothing_open();
    await_that(&side, "the campaign ends", |side| {
        side.file("code").exists()
    });
    let said = text(&side, "said");
    for part in ["tcp_rmem", "its agent undoes"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(text(&side, "code").trim(), "3", "{said}");
    fs::write(side.file("over"), "").unwrap();
    await_end(&mut side);
}

/// A campaign that tries a change now. Where a busy machine hides the finding, it has ended: then another one.
fn tried(name: &str, script: &str) -> Option<FarSide> {
    for _ in 0..ATTEMPTS {
        let side = FarSide::in_lab(name, FAULTS, script)?;
        let runs = side.file("run/trials/trial-1/runs");
        let is_tried = |side: &FarSide| {
            let done = fs::read_dir(&runs).map_or(0, Iterator::count);
            done > 4 && side.value(FILE) != SMALL
        };
        let has_ended = |side: &FarSide| side.file("code").exists();
        await_that(&side, "a change is tried", |side| {
            is_tried(side) || has_ended(side)
        });
        if !has_ended(&side) {
            return Some(side);
        }
    }
    panic!("no campaign tried a change");
}

fn await_end(side: &mut FarSide) {
    let deadline = Instant::now() + PATIENCE;
    while !side.has_ended() {
        assert!(
            Instant::now() < deadline,
            "the lab runs still: {}",
            side.log()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn await_that(side: &FarSide, what: &str, is_so: impl Fn(&FarSide) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so(side) {
        let said = fs::read_to_string(side.file("said")).unwrap_or_default();
        assert!(
            Instant::now() < deadline,
            "not in time: {what}\n{said}\n{}",
            side.log()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn text(side: &FarSide, name: &str) -> String {
    let read = fs::read_to_string(side.file(name));
    read.unwrap_or_else(|why| panic!("{name}: {why}\n{}", side.log()))
}

fn document(side: &FarSide, name: &str) -> Value {
    let text = text(side, name);
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}\n{}", side.log()))
}
