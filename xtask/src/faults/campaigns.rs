// SPDX-License-Identifier: MIT OR Apache-2.0
//! `faults --tune [--binary PATH] [FAULT...]`: campaigns of `tune --lab`, as a table: over each fault whose remedy the lab
//! owns the remedy must be kept, in a healthy and in a noisy lab nothing.
//!
//! A campaign that proves nothing on a busy machine is wrong here. Not a test: it takes some ten minutes.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Outcome;
use crate::bench::{Options, binary};
use crate::process;

/// A campaign, and what it must come to.
struct Campaign {
    name: &'static str,
    /// What follows `tune --lab`.
    words: &'static str,
    /// How the command of a change begins that is kept, one of these; none if nothing is.
    keeps: &'static [&'static str],
}

const fn campaign(
    name: &'static str,
    words: &'static str,
    keeps: &'static [&'static str],
) -> Campaign {
    Campaign { name, words, keeps }
}

/// With a delay the buffer limits the rate, whatever the processors do. Reno needs some seconds until losses determine it.
const CAMPAIGNS: [Campaign; 9] = [
    campaign(
        "tcp-rmem",
        "--fault tcp-rmem --fault delay=5ms -- tcp -t 500ms",
        &["sysctl -w net.ipv4.tcp_rmem="],
    ),
    campaign(
        "tcp-wmem",
        "--fault tcp-wmem --fault delay=5ms -- tcp -t 500ms",
        &["sysctl -w net.ipv4.tcp_wmem="],
    ),
    campaign(
        "qdisc-limit",
        "--fault qdisc-limit -- tcp -t 500ms",
        &["tc qdisc del dev eth0 root"],
    ),
    campaign(
        "offload-off",
        "--fault offload-off -- tcp -t 500ms",
        &["ethtool -K eth0 "],
    ),
    campaign(
        "threaded-napi",
        "--fault threaded-napi -- tcp -P 2 -t 500ms",
        &[
            "echo 0 > /sys/class/net/eth0/threaded",
            // Long segments do not fill the ring either: of both, only the first that is better may be needed.
            "ethtool -K eth0 tso on gso on",
        ],
    ),
    campaign(
        "rps",
        "--fault rps -- tcp -t 500ms",
        &["echo 0 > /sys/class/net/eth0/queues/rx-0/rps_cpus"],
    ),
    campaign(
        "reno",
        "--fault reno=20ms:0.5% -- tcp -t 3",
        &["sysctl -w net.ipv4.tcp_congestion_control=bbr"],
    ),
    campaign("healthy", "-- tcp -t 500ms", &[]),
    campaign(
        "noise",
        "--fault cpu-contention=8 --explore=tcp_rmem -- tcp -t 300ms",
        &[],
    ),
];

/// Runs every campaign that is asked for, and prints its row. Whether all ended as they must.
pub(super) fn run(words: &[&str]) -> Outcome {
    let options = Options::parse(words)?;
    let program = binary(&options)?;
    let all = CAMPAIGNS.iter().filter(|one| options.wants(one.name));
    println!("| lab | ended | kept | effect | seconds |\n| --- | --- | --- | --- | --- |");
    let mut is_right = true;
    for one in all {
        let began = Instant::now();
        let document = tune(&program, one)?;
        let tuning = &document["tuning"];
        let row = row(one, tuning, began.elapsed().as_secs());
        let right = one.is_right(tuning);
        println!("{row}{}", if right { "" } else { " WRONG" });
        is_right &= right;
    }
    Ok(is_right)
}

impl Campaign {
    fn is_right(&self, tuning: &Value) -> bool {
        let kept = kept(tuning);
        let is_meant = |one: &&Value| {
            let mut starts = self.keeps.iter();
            starts.any(|start| command(one).starts_with(start))
        };
        let ended = tuning["ended"].as_str().unwrap_or_default();
        match self.keeps {
            [] => kept.is_empty() && KEEPS_NOTHING.contains(&ended),
            _ => ended == "kept" && !kept.is_empty() && kept.iter().all(is_meant),
        }
    }
}

fn tune(program: &std::path::Path, one: &Campaign) -> Result<Value, String> {
    let mut tune = Command::new(program);
    tune.args(["tune", "--lab", "--json", "-q", "-o", "/dev/null/none"])
        .args(["--aa", "2", "--blocks", "8", "--settle", "50ms"])
        .args(one.words.split_whitespace());
    let ended = process::run(&mut tune, LIMIT)?;
    serde_json::from_str(&ended.stdout).map_err(|why| {
        let said = process::last_line(&ended.stderr);
        format!("{}: {why}: {said}", one.name)
    })
}

fn row(one: &Campaign, tuning: &Value, seconds: u64) -> String {
    let kept = kept(tuning);
    let commands: Vec<String> = kept
        .iter()
        .map(|one| format!("`{}`", command(one)))
        .collect();
    let effects: Vec<String> = kept.iter().map(|one| effect(one)).collect();
    let ended = tuning["ended"].as_str().unwrap_or("no campaign");
    let [commands, effects] = [commands, effects].map(|list| list.join("; "));
    format!(
        "| {} | {ended} | {commands} | {effects} | {seconds} |",
        one.name
    )
}

/// The ratio of both trials, with the interval of the first.
fn effect(one: &Value) -> String {
    let ratio = |of: &str| one[of]["ratio"].as_f64().unwrap_or(f64::NAN);
    let ends = &one["comparison"]["ci95"];
    let end = |at: usize| ends[at].as_f64().unwrap_or(f64::NAN);
    format!(
        "× {:.2} ({:.2} … {:.2}), again × {:.2}",
        ratio("comparison"),
        end(0),
        end(1),
        ratio("confirmation")
    )
}

fn kept(tuning: &Value) -> Vec<&Value> {
    let all = tuning["candidates"].as_array().into_iter().flatten();
    all.filter(|one| one["state"] == "kept").collect()
}

fn command(one: &Value) -> &str {
    one["commands"][0].as_str().unwrap_or_default()
}

const KEEPS_NOTHING: [&str; 3] = ["nothing-to-try", "nothing-better", "inconclusive"];
/// Much longer than the longest takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(1200);
