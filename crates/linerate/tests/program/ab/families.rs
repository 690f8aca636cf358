// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each command that measures, as the measurement of an experiment: its first run has the figure that decides.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::record::{reported, runs};
use super::{ended, place};
use crate::support::Server;

#[test]
fn udp_is_decided_by_its_throughput() {
    let server = Server::ours("--quiet");
    if let Some(why) = first_run("udp", &server.at("udp -n 64K -b 10M"), "throughput") {
        println!("skipped: {why}");
    }
}

#[test]
fn sweep_is_decided_by_its_knee() {
    let server = Server::ours("--quiet");
    let words = server.at("sweep -R --from 1M --to 2M --step 1M -t 200ms");
    if let Some(why) = first_run("sweep", &words, "knee") {
        println!("skipped: {why}");
    }
}

#[test]
fn check_is_decided_by_its_throughput() {
    let server = Server::ours("--quiet");
    if let Some(why) = first_run("check", &server.at("check --quick"), "throughput") {
        println!("skipped: {why}");
    }
}

#[test]
fn forward_is_decided_by_its_rate() {
    let words = "forward --lab bridge --profile quick --fault rate=10M --sizes 1518 --trial 100ms";
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    if let Some(why) = first_run("forward", &words, "forwarding") {
        println!("skipped: {why}");
    }
}

impl Server {
    /// The words of a measurement against it.
    fn at(&self, words: &str) -> Vec<String> {
        let port = self.port.to_string();
        let target = ["127.0.0.1", "-p", &port].map(str::to_owned);
        words.split(' ').map(str::to_owned).chain(target).collect()
    }
}

/// Interrupts an experiment after its first run, and reads what that gave; why, if it gave nothing.
fn first_run(name: &str, measurement: &[String], metric: &str) -> Option<String> {
    let place = place(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(["ab", "--a", "true", "--b", "true", "--aa", "0", "-o", "run"]);
    command.args(["--settle", "0", "--"]).args(measurement);
    command.current_dir(&place).env("XDG_STATE_HOME", &place);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let run = place.join("run");
    let deadline = Instant::now() + A_CHECK;
    while !is_over(&run) && child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "no run of {name} is over");
        sleep(Duration::from_millis(50));
    }
    // Where nothing can be measured it has given up by itself.
    let id = child.id().to_string();
    let _ = Command::new("kill").args(["-TERM", &id]).status();
    let status = ended(&mut child, &place);
    let document = reported(&run);
    let record = &document["experiment"];
    let first = runs(record).next().unwrap();
    if let Some(why) = first["invalid_reason"].as_str() {
        return Some(format!("what {name} gives, as it gave nothing: {why}"));
    }
    assert_eq!(
        (status.code(), &record["stopped"]),
        (Some(130), &"interrupted".into())
    );
    assert_eq!(first["figures"][0]["metric"], metric, "{first}");
    None
}

fn is_over(run: &Path) -> bool {
    let text = std::fs::read(run.join("run.json")).unwrap_or_default();
    let stored: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    stored["experiment"]["runs"][0].is_object()
}

/// Longer than the longest of them takes on a loaded machine.
const A_CHECK: Duration = Duration::from_secs(300);
