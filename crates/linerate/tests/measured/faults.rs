// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every fault of the lab, made for real with real packets, is named first from the record alone, and
//! the ledger puts the lost packets where they died; faults in pairs are both named; a healthy lab is
//! called so. The values stand nowhere in the sources. `cargo test -p linerate --test measured faults -- --nocapture`
//! prints the table of faults and named causes.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::turns::{Turn, side_by_side};

/// A fault, a test that meets it, what it may be called, and where its packets die.
struct Case {
    fault: &'static str,
    line: &'static str,
    causes: &'static [&'static str],
    stage: Option<&'static str>,
}

const fn case(
    fault: &'static str,
    line: &'static str,
    causes: &'static [&'static str],
    stage: Option<&'static str>,
) -> Case {
    Case {
        fault,
        line,
        causes,
        stage,
    }
}

const CASES: &[Case] = &[
    case(
        "rcvbuf=9K",
        "udp -b 170M -t 2",
        &["udp-receive-buffer-too-small"],
        Some("rx-socket"),
    ),
    case(
        "qdisc-limit=37M",
        "udp -b 90M -t 2",
        &["own-queue-drops"],
        None,
    ),
    case(
        "nft-drop=70",
        "udp -b 60M -t 2",
        &["packet-filter-drops"],
        Some("rx-ip"),
    ),
    case(
        "mtu=1300",
        "udp -b 60M -l 1400 -t 2",
        &["mtu-mismatch"],
        None,
    ),
    case(
        "loss=2.3%",
        "udp -b 60M -t 2",
        &["loss-on-the-path"],
        Some("wire"),
    ),
    case(
        "burst-loss=1.7%:14",
        "udp -b 60M -t 2",
        &["loss-on-the-path-in-bursts"],
        Some("wire"),
    ),
    case(
        "black-hole=1100",
        "udp -b 20M -t 2",
        &["mtu-black-hole"],
        Some("wire"),
    ),
    case("black-hole=1100", "tcp -t 2", &["mtu-black-hole"], None),
    case(
        "reorder=2.1%:3ms",
        "udp -b 60M -t 2",
        &["reordering-on-the-path"],
        None,
    ),
    case(
        "duplicate=1.9%",
        "udp -b 60M -t 2",
        &["duplication-on-the-path"],
        None,
    ),
    case(
        "corrupt=1.3%",
        "udp -b 60M -t 2",
        &["corruption-on-the-path"],
        Some("wire"),
    ),
    case(
        "rate=77M:20K",
        "sweep --from 40M --to 120M --step 40M -t 1",
        &["rate-ceiling-on-the-path"],
        Some("wire"),
    ),
    case(
        "offload-off",
        "tcp -t 2",
        &["segmentation-offload-off"],
        None,
    ),
    case(
        "reno=11ms:0.3%",
        "tcp -t 4",
        &["congestion-control-unsuited-to-loss-and-delay"],
        None,
    ),
    case(
        "tcp-rmem=19K delay=6ms",
        "tcp -t 2",
        &["tcp-receiver-limited", "tcp-receive-window-too-small"],
        None,
    ),
    case(
        "tcp-wmem=21K delay=6ms",
        "tcp -t 2",
        &["tcp-send-buffer-limited", "tcp-send-buffer-too-small"],
        None,
    ),
    case(
        "somaxconn=1 paused-reader=800ms delay=60ms",
        "tcp -P 12 -t 1",
        &["listen-backlog-full"],
        None,
    ),
    case("arp-flux", "tcp -t 1", &["arp-flux"], None),
    case(
        "paused-reader=210ms",
        "udp -b 430M -t 3",
        &["receiver-paused"],
        Some("rx-socket"),
    ),
    case(
        "cpu-contention=3",
        "udp -b 120M -w 48K -t 3",
        &["receiver-had-no-processor"],
        None,
    ),
    case(
        "link-down=900ms:600ms",
        "udp -b 60M -t 3",
        &["link-unstable"],
        None,
    ),
];

/// What another user of this machine causes, and is rightly reported. It is no cause that the lab made,
/// except where it is the one that is looked for.
const OF_THIS_MACHINE: [&str; 5] = [
    "lab-wire-overloaded",
    "sender-had-no-processor",
    "sender-limited",
    "receiver-had-no-processor",
    "receiver-too-slow",
];

/// Other work on this machine may keep a fault from having its effect: then it is made again.
const ATTEMPTS: usize = 8;

/// This many cases at most may find no quiet moment in all their attempts: they are printed as not made.
const NOT_MADE_AT_MOST: usize = 3;

fn run(line: &str, faults: &str) -> Option<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    measured(command, line, faults)
}

fn measured(mut command: Command, line: &str, faults: &str) -> Option<Value> {
    command
        .args(line.split_whitespace())
        .args(["--lab", "--json"]);
    for fault in faults.split_whitespace() {
        command.args(["--fault", fault]);
    }
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{line}: {error}"));
    document(&output)
}

/// `None` where this machine has no lab.
fn document(output: &Output) -> Option<Value> {
    let value: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    });
    let loopback = |test: &Value| test["link_kind"] == "loopback";
    let tests = value["tests"].as_array().cloned().unwrap_or_default();
    (!tests.iter().any(loopback)).then_some(value)
}

/// The causes that are not only worth knowing, in their order, but for those of this machine.
fn causes(document: &Value, expected: &[&str]) -> Vec<String> {
    let findings = document["findings"].as_array().cloned().unwrap_or_default();
    let named = findings
        .iter()
        .filter(|finding| finding["informational"] != true)
        .filter_map(|finding| finding["cause"].as_str());
    let mut causes: Vec<String> = Vec::new();
    for cause in named.filter(|cause| expected.contains(cause) || !OF_THIS_MACHINE.contains(cause))
    {
        if !causes.iter().any(|known| known == cause) {
            causes.push(cause.to_owned());
        }
    }
    causes
}

/// The share of the lost packets that the ledger puts at a stage: surely, and at most.
fn share_at(document: &Value, stage: &str) -> Option<(f64, f64)> {
    let entries = document["ledger"].as_array()?.iter();
    let entry = entries.max_by_key(|entry| entry["lost_packets"].as_u64())?;
    let lost = entry["lost_packets"].as_f64().filter(|lost| *lost > 0.0)?;
    let stages = entry["stages"].as_array()?;
    let at = stages.iter().filter(|found| found["stage"] == stage);
    let sum = |name: &str| {
        at.clone()
            .filter_map(|found| found[name].as_f64())
            .sum::<f64>()
    };
    Some((sum("lo") / lost, sum("hi") / lost))
}

/// The cause that was named for a case, or what is wrong with the answer.
fn named(case: &Case, document: &Value) -> Result<String, String> {
    let named = causes(document, case.causes);
    let first = named.first().cloned().unwrap_or_default();
    if !case.causes.contains(&first.as_str()) {
        return Err(format!("called {named:?}"));
    }
    let Some(stage) = case.stage else {
        return Ok(first);
    };
    match share_at(document, stage) {
        Some((least, most)) if most >= 0.99 && least >= 0.9 => {
            Ok(format!("{first}, {:.1} % at {stage}", most * 100.0))
        }
        share => Err(format!(
            "called {first}, but at {stage}: {share:?} of {}",
            document["ledger"]
        )),
    }
}

/// Other work on this machine kept the sender from sending: what the fault would do is not seen.
fn is_kept_from_sending(document: &Value) -> bool {
    let findings = document["findings"].as_array().cloned().unwrap_or_default();
    findings
        .iter()
        .any(|finding| finding["cause"] == "sender-had-no-processor")
}

enum Outcome {
    Named(String),
    /// In every attempt the machine was too busy, and what was named in the last.
    NotMade(String),
    Wrong(String),
}

/// Makes a fault until it is named rightly; `None` where this machine has no lab.
fn attempt(case: &Case, run: impl Fn(&str, &str) -> Option<Value>) -> Option<Outcome> {
    let (mut why, mut busy) = (String::new(), true);
    for number in 0..ATTEMPTS {
        let _turn = Turn::of_attempt(number);
        let document = run(case.line, case.fault)?;
        match named(case, &document) {
            Ok(called) => return Some(Outcome::Named(called)),
            Err(wrong) => why = wrong,
        }
        busy &= is_kept_from_sending(&document);
    }
    Some(if busy {
        Outcome::NotMade(why)
    } else {
        Outcome::Wrong(why)
    })
}

#[test]
fn every_fault_is_named_first_and_its_packets_are_found() {
    let all: Vec<&Case> = CASES.iter().collect();
    named_first(&all, run);
}

/// An ordinary user reads no drop reasons of the kernel (`skb:kfree_skb`): where those tell most, the
/// other counters have to do.
#[test]
fn what_the_kernel_drops_is_named_without_root_too() {
    let Some(user) = UnprivilegedUser::new() else {
        return println!("skipped: no ordinary user can be made to run the program here");
    };
    let of_kernel = |case: &&Case| {
        let name = case.fault.split('=').next().unwrap_or_default();
        DROPPED_BY_THE_KERNEL.contains(&name)
    };
    let cases: Vec<&Case> = CASES.iter().filter(of_kernel).collect();
    assert_eq!(cases.len(), DROPPED_BY_THE_KERNEL.len());
    named_first(&cases, |line, faults| {
        let document = measured(user.command(), line, faults)?;
        let reasons = document["ledger"]
            .to_string()
            .contains("skb:kfree_skb flow");
        assert!(!reasons, "{faults}: read without a right to");
        Some(document)
    });
}

const DROPPED_BY_THE_KERNEL: [&str; 4] = ["rcvbuf", "qdisc-limit", "nft-drop", "mtu"];

/// A user without privileges, with a directory that is removed with it.
struct UnprivilegedUser {
    home: PathBuf,
    /// If this process may become somebody else, and has to.
    uid: Option<u32>,
}

impl UnprivilegedUser {
    /// `None` where the program cannot be run so, or has no lab then.
    fn new() -> Option<Self> {
        let home = std::env::temp_dir().join(format!("linerate-faults-{}", std::process::id()));
        std::fs::create_dir_all(&home).ok()?;
        // Only root may give a file away.
        let root = chown(&home, Some(NOBODY), Some(NOBODY)).is_ok();
        let user = Self {
            home,
            uid: root.then_some(NOBODY),
        };
        let mut lab = user.command();
        let lab = lab.args(["lab", "--", "true"]).output();
        let made = lab.is_ok_and(|output| {
            output.status.success() && !String::from_utf8_lossy(&output.stderr).contains("loopback")
        });
        made.then_some(user)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command.env("XDG_STATE_HOME", &self.home).current_dir("/");
        if let Some(uid) = self.uid {
            command.uid(uid).gid(uid);
        }
        command
    }
}

impl Drop for UnprivilegedUser {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.home);
    }
}

const NOBODY: u32 = 65534;

fn named_first(cases: &[&Case], run: impl Fn(&str, &str) -> Option<Value> + Sync) {
    let (mut wrong, mut not_made) = (Vec::new(), Vec::new());
    let outcomes = side_by_side(cases, |case| attempt(case, &run));
    for (case, outcome) in cases.iter().zip(outcomes) {
        let Some(outcome) = outcome else {
            return println!("skipped: no lab on this machine");
        };
        let (list, said) = match outcome {
            Outcome::Named(called) => (None, called),
            Outcome::NotMade(why) => (
                Some(&mut not_made),
                format!("not made, too busy here: {why}"),
            ),
            Outcome::Wrong(why) => (Some(&mut wrong), format!("WRONG: {why}")),
        };
        println!("{:<24} {said}", case.fault);
        list.into_iter().for_each(|list| list.push(case.fault));
    }
    assert!(wrong.is_empty(), "not named first: {wrong:?}");
    assert!(
        not_made.len() <= NOT_MADE_AT_MOST,
        "this machine is too busy for these faults: {not_made:?}"
    );
}

/// The cookie of a connection that had to wait for the accept queue was sent again before the test began.
#[test]
fn what_waited_for_the_accept_queue_is_no_loss_of_the_test() {
    let faults = "somaxconn=1 paused-reader=800ms delay=60ms";
    let mut retransmits = Vec::new();
    let none = (0..ATTEMPTS).any(|number| {
        let _turn = Turn::of_attempt(number);
        let Some(document) = run("tcp -P 12 -t 1", faults) else {
            println!("skipped: no lab on this machine");
            return true;
        };
        let waited = causes(&document, &[]).contains(&"listen-backlog-full".to_owned());
        let again = document["tests"][0]["retransmits"].as_u64();
        retransmits.push((waited, again));
        waited && again == Some(0)
    });
    assert!(none, "waited, segments sent again: {retransmits:?}");
}

#[test]
fn two_faults_at_once_are_both_named() {
    let pairs = [
        (
            "loss=1.1% rcvbuf=9K",
            "udp -b 170M -t 2",
            ["loss-on-the-path", "udp-receive-buffer-too-small"],
        ),
        (
            "nft-drop=40 duplicate=1.4%",
            "udp -b 60M -t 2",
            ["packet-filter-drops", "duplication-on-the-path"],
        ),
    ];
    side_by_side(&pairs, |(faults, line, wanted)| {
        let mut named = Vec::new();
        let both = (0..ATTEMPTS).any(|number| {
            let _turn = Turn::of_attempt(number);
            let Some(document) = run(line, faults) else {
                println!("skipped: no lab on this machine");
                return true;
            };
            named = causes(&document, &[]);
            // Drops of two kinds in one row look like a burst.
            let reported = |cause: &&str| named.iter().any(|name| name.starts_with(*cause));
            wanted.iter().all(reported)
        });
        assert!(both, "{faults}: {named:?}");
    });
}

/// Nothing that rules are asked about may reveal what was done to the lab.
#[test]
fn the_record_does_not_name_its_fault() {
    let _turn = Turn::together();
    let home = std::env::temp_dir().join(format!("linerate-unnamed-{}", std::process::id()));
    let stored = home.join("run");
    let line = format!("udp -b 5M -t 1 -o {}", stored.display());
    let Some(document) = run(&line, "loss=0.07331%") else {
        return println!("skipped: no lab on this machine");
    };
    assert!(
        document.to_string().contains("0.07331"),
        "the document tells its command line"
    );
    let record = std::fs::read_to_string(stored.join("run.json"));
    let _gone = std::fs::remove_dir_all(&home);
    let record = record.unwrap_or_else(|error| panic!("{}: {error}", stored.display()));
    assert!(
        !record.contains("0.07331") && !record.contains("\"fault\""),
        "{record}"
    );
}

/// What other work on this machine causes does not come back; what is said of the lab would.
#[test]
fn a_healthy_lab_has_nothing_to_fix() {
    let lines = [
        "check --quick",
        "udp -b 100M -t 2",
        "tcp -t 2",
        "tcp -t 2 -R",
    ];
    side_by_side(&lines, |line| {
        let mut named = Vec::new();
        let healthy = (0..ATTEMPTS).any(|number| {
            let _turn = Turn::of_attempt(number);
            let Some(document) = run(line, "") else {
                println!("skipped: no lab on this machine");
                return true;
            };
            named = causes(&document, &[]);
            named.is_empty()
        });
        assert!(healthy, "{line}: {named:?}");
    });
}
