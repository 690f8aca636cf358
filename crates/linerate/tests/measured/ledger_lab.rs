// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ledger against real losses whose cause is known: each fault of the lab puts at least 99 % of
//! what it loses at the stage where it loses it, with the kernel's drop reasons and without.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use linerate_diagnose::evidence::Evidence;
use linerate_diagnose::ledger;
use linerate_model::output::{LedgerEntry, LinkKind, Stage};
use linerate_model::record::Record;
use linerate_model::sample::Sample;

use crate::turns::{Turn, side_by_side};

/// Faults with flags, and the stage at which they lose.
const FAULTS: &[(&str, &str, &str)] = &[
    ("rcvbuf=4K", "-b 0 -l 300", "rx-socket"),
    ("cpu-contention=4", "-b 0 -l 300 -w 8K", "rx-socket"),
    ("paused-reader=700ms", "-b 50M -w 64K", "rx-socket"),
    ("nft-drop=3", "-b 50M -l 300", "rx-ip"),
    ("loss=13%", "-b 50M", "wire"),
    ("loss=13%", "-b 50M -R", "wire"),
    ("loss=13%", "-b 30M --bidir", "wire"),
    ("burst-loss=11%:9", "-b 50M", "wire"),
    ("corrupt=12%", "-b 50M", "wire"),
    ("rate=20M", "-b 50M", "wire"),
    // Through the wire, so that the sender does not learn it at once.
    ("mtu=1400 delay=1ms", "-b 50M -l 1472", "rx-ring"),
    ("loss=11%", "-6 -b 50M", "wire"),
    ("nft-drop=3", "-6 -b 50M -l 300", "rx-ip"),
    // Several frames each: the stage is known, the number of datagrams within the frames'.
    ("rcvbuf=8K", "-b 0 -l 4000", "rx-socket"),
];

/// On a busy machine few of what was asked for is sent, and what else crosses the link weighs more.
const ATTEMPTS: usize = 3;

#[test]
fn each_fault_stands_where_it_loses() {
    let wrong = side_by_side(FAULTS, |(faults, flags, stage)| {
        let mut wrong = Vec::new();
        for number in 0..ATTEMPTS {
            let turn = Turn::of_attempt(number);
            let Some(record) = measure(turn, faults, flags) else {
                println!("skipped: no namespaces");
                return Vec::new();
            };
            wrong = misplaced_in(record, &format!("{faults} {flags}"), stage);
            if wrong.is_empty() {
                break;
            }
        }
        wrong
    });
    let wrong: Vec<_> = wrong.concat();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The sender learns what its qdisc drops: that was never sent.
#[test]
fn what_the_qdisc_refuses_is_not_lost() {
    let Some(record) = measure(Turn::together(), "qdisc-limit=20M", "-b 50M") else {
        return println!("skipped: no namespaces");
    };
    let refused = record.run.tests[0].refused_packets.unwrap_or(0);
    assert!(refused > 100, "refused: {refused}");
    for entry in ledger::of(&Evidence::of(&record)) {
        assert_eq!(entry.lost_packets, 0, "{entry:?}");
        assert_eq!((entry.unattributed_lo, entry.unattributed_hi), (0, 0));
    }
}

#[test]
fn two_faults_share_what_was_lost() {
    let Some(record) = measure(Turn::together(), "loss=7% rcvbuf=4K", "-b 0 -l 300") else {
        return println!("skipped: no namespaces");
    };
    let drops = record.run.tests[0].socket_drops.unwrap();
    for entry in ledger::of(&Evidence::of(&record)) {
        let lost = entry.lost_packets;
        let at = |name: &str| {
            entry
                .stages
                .iter()
                .find(|stage| stage.stage == name)
                .unwrap()
        };
        assert_eq!((at("rx-socket").lo, at("rx-socket").hi), (drops, drops));
        assert!(at("wire").lo >= (lost - drops) * 99 / 100, "{entry:?}");
    }
}

/// What is wrong with a record, with the kernel's drop reasons and without.
fn misplaced_in(record: Record, case: &str, stage: &str) -> Vec<String> {
    let with = ledger::of(&Evidence::of(&record));
    let without = ledger::of(&Evidence::of(&without_reasons(record)));
    let ways = [("", with), (", no reasons", without)];
    let entries = ways.iter().flat_map(|(way, entries)| {
        let case = format!("{case}{way}");
        entries
            .iter()
            .filter_map(move |entry| misplaced(&case, entry, stage))
    });
    entries.collect()
}

/// What is wrong with an entry, if less than 99 % stand at the stage, or more than 2 % may be elsewhere.
fn misplaced(case: &str, entry: &LedgerEntry, name: &str) -> Option<String> {
    let lost = entry.lost_packets;
    let of = |stages: Vec<&Stage>| {
        stages
            .iter()
            .fold((0, 0), |(lo, hi), one| (lo + one.lo, hi + one.hi))
    };
    let (there, elsewhere): (Vec<_>, Vec<_>) =
        entry.stages.iter().partition(|stage| stage.stage == name);
    let ((least, most), (_, elsewhere)) = (of(there), of(elsewhere));
    println!("{case}: lost {lost}, {name} {least} … {most}, elsewhere at most {elsewhere}");
    let right = lost > 100 && least * 100 >= lost * 99 && elsewhere * 50 <= lost;
    (!right).then(|| format!("{case}: {entry:?}"))
}

/// As on a host that does not let the program watch the kernel.
fn without_reasons(mut record: Record) -> Record {
    record
        .samples
        .retain(|sample| !sample.source.starts_with("skb:"));
    record
}

/// A run between two hosts of the lab; `None` where there are no namespaces.
fn measure(_turn: Turn, faults: &str, flags: &str) -> Option<Record> {
    let name = format!("{faults}{flags}").replace([' ', '=', '%', ':'], "-");
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ledger-lab-{name}"));
    if place.exists() {
        fs::remove_dir_all(&place).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(["udp", "--lab", "-t", "2", "-o"]).arg(&place);
    command.args(flags.split_whitespace());
    for fault in faults.split_whitespace() {
        command.args(["--fault", fault]);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let Some(record) = stored(&place) else {
        assert!(said.contains("namespace"), "{faults} {flags}: {said}");
        return None;
    };
    let test = record.run.tests.first();
    let test = test.unwrap_or_else(|| panic!("{faults} {flags}: {said}"));
    (test.link_kind == Some(LinkKind::Veth)).then_some(record)
}

fn stored(place: &Path) -> Option<Record> {
    let run = fs::read_to_string(place.join("run.json")).ok()?;
    let samples = fs::read_to_string(place.join("samples.jsonl")).ok()?;
    let samples = samples.lines().map(serde_json::from_str::<Sample>);
    Some(Record::of_run(
        serde_json::from_str(&run).unwrap(),
        samples.collect::<Result<_, _>>().unwrap(),
    ))
}
