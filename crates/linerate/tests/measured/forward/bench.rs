// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs `linerate forward --lab …` as a user would.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::turns::Turn;

/// What one run said and stored.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) document: Value,
    pub(crate) said: String,
    /// The lines of `trials.ndjson`.
    pub(crate) trials: Vec<Value>,
}

/// Runs it to its end; `None`, and a printed line, where this machine has no namespaces or no such device.
pub(crate) fn forward(name: &str, arguments: &str) -> Option<Ran> {
    forward_at(Turn::together(), name, arguments)
}

fn forward_at(_turn: Turn, name: &str, arguments: &str) -> Option<Ran> {
    let dir = fresh_dir(name);
    let output = command(&dir, arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    if IMPOSSIBLE_HERE.iter().any(|cannot| said.contains(cannot)) {
        println!("skipped: {name}: {said}");
        return None;
    }
    let lines = std::fs::read_to_string(dir.join("trials.ndjson")).unwrap_or_default();
    let trials = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    Some(Ran {
        code: output.status.code().unwrap_or(-1),
        document,
        said,
        trials: trials.collect(),
    })
}

/// Without namespaces; without flowtables; without AF_XDP.
const IMPOSSIBLE_HERE: [&str; 3] = [
    "af_xdp_copy sending: socket: Address family not supported",
    "error: cannot put a device between two ports of this machine",
    "error: cannot give the device a flowtable",
];

/// Other work on this machine may spoil a run: it is repeated, this many times at most.
const ATTEMPTS: usize = 6;
/// Attempts after which a machine that was busy in each is not waited for any longer.
const BUSY_ATTEMPTS: usize = 3;
/// A load that stalled longer says nothing: the search counts no such trial as good (RFC 2544 §26.1: constant load).
const CONSTANT_LOAD: f64 = 0.005;
/// Too large a share of such trials for a result within a few seconds.
const MOST_INTERRUPTED: f64 = 0.2;

/// Runs it until it is judged right. What never may be wrong is asserted of every run.
pub(crate) fn until_right(name: &str, arguments: &str, judge: impl Fn(&Ran) -> Result<(), String>) {
    until_counted(name, arguments, |ran| {
        ran.assert_unharmed();
        judge(ran)
    });
}

/// As [`until_right`], where the device harms frames.
pub(crate) fn until_counted(
    name: &str,
    arguments: &str,
    judge: impl Fn(&Ran) -> Result<(), String>,
) {
    let (mut wrong, mut interrupted) = (Vec::new(), Vec::new());
    for attempt in 0..ATTEMPTS {
        let Some(ran) = forward_at(Turn::of_attempt(attempt), name, arguments) else {
            return;
        };
        ran.assert_conserved();
        match judge(&ran) {
            Ok(()) => return,
            Err(why) => wrong.push(why),
        }
        interrupted.push(ran.interrupted());
        if attempt + 1 >= BUSY_ATTEMPTS && is_busy(&interrupted) {
            break;
        }
    }
    let busy = is_busy(&interrupted);
    assert!(busy, "{name}: {wrong:#?}, interrupted {interrupted:.2?}");
    println!(
        "skipped: {name}: the machine is busy (it interrupted {interrupted:.2?} of the trials)"
    );
}

/// Whether the machine interrupted too many trials of every attempt.
fn is_busy(interrupted: &[f64]) -> bool {
    interrupted.iter().all(|share| *share > MOST_INTERRUPTED)
}

/// Starts it; its run will be in the directory.
pub(crate) fn start(name: &str, arguments: &str) -> (Child, PathBuf) {
    let dir = fresh_dir(name);
    let child = command(&dir, arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    (child, dir)
}

fn command(dir: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command
        .args(["forward", "--json", "-o"])
        .arg(dir)
        .args(arguments.split_whitespace())
        .stdin(Stdio::null());
    command
}

fn fresh_dir(name: &str) -> PathBuf {
    let name = format!("linerate-forward-{}-{name}", std::process::id());
    let dir = std::env::temp_dir().join(name);
    let _absent = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Waits until `is_so`, or says what it waited for in vain.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "in vain: until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Ran {
    /// The result of this goal and direction.
    pub(crate) fn result(&self, goal: &str, direction: &str) -> &Value {
        let results = self.document["results"].as_array().unwrap();
        let found = results
            .iter()
            .find(|one| one["goal"] == goal && one["direction"] == direction);
        found.unwrap_or_else(|| panic!("no {goal} {direction}: {}\n{}", self.document, self.said))
    }

    /// Its lower bound, frames a second; 0 without one.
    pub(crate) fn lower_fps(&self, goal: &str, direction: &str) -> f64 {
        self.result(goal, direction)["lower_fps"]
            .as_f64()
            .unwrap_or(0.0)
    }

    /// That all of this load got through.
    pub(crate) fn carried(&self, goal: &str, direction: &str, load_fps: f64) -> Result<(), String> {
        let lower_fps = self.lower_fps(goal, direction);
        let carried = (lower_fps - load_fps).abs() < 1e-6;
        let losses = || self.trials.iter().map(|trial| &trial["loss_ratio"]);
        carried.then_some(()).ok_or_else(|| {
            let losses: Vec<_> = losses().collect();
            format!("{goal} {direction}: {lower_fps} of {load_fps}, losses {losses:?}")
        })
    }

    /// `explain RUN` shows the table again.
    pub(crate) fn assert_explained(&self) {
        let dir = self.document["run_dir"].as_str().unwrap();
        let reported = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(["explain", dir])
            .output();
        let reported = String::from_utf8(reported.unwrap().stdout).unwrap();
        assert!(
            reported.contains("Highest rate without loss (ndr"),
            "{reported}"
        );
    }

    /// The share of the trials whose load the machine interrupted.
    fn interrupted(&self) -> f64 {
        let stalled = self
            .trials
            .iter()
            .map(|trial| trial["stalled_ratio"].as_f64().unwrap());
        let interrupted = stalled.filter(|ratio| *ratio > CONSTANT_LOAD).count();
        interrupted as f64 / self.trials.len().max(1) as f64
    }

    /// Every frame that was offered is received or lost, in every direction of every trial.
    pub(crate) fn assert_conserved(&self) {
        assert_eq!(self.document["trials"].as_array().unwrap(), &self.trials);
        assert!(!self.trials.is_empty());
        for trial in &self.trials {
            for one in trial["directions"].as_array().unwrap() {
                let count = |name: &str| one[name].as_u64().unwrap();
                assert_eq!(
                    count("offered_frames"),
                    count("received_frames") + count("lost_frames"),
                    "{trial}"
                );
                let sent = count("offered_frames") + count("unsent_frames");
                assert_eq!(count("intended_frames"), sent, "{trial}");
            }
        }
    }

    /// No frame came elsewhere, or otherwise than it was sent.
    pub(crate) fn assert_unharmed(&self) {
        for trial in &self.trials {
            for one in trial["directions"].as_array().unwrap() {
                let count = |name: &str| one[name].as_u64().unwrap();
                for never in [
                    "misforwarded_frames",
                    "corrupt_frames",
                    "wrong_ttl_frames",
                    "fragment_frames",
                ] {
                    assert_eq!(count(never), 0, "{never}: {trial}");
                }
            }
        }
    }
}
