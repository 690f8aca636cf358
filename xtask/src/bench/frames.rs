// SPDX-License-Identifier: MIT OR Apache-2.0
//! 64-byte frames as fast as they go: our ports against trafgen and dpdk-testpmd, in turn on one veth, each on one processor. Every frame
//! of ours has its own sequence number and time; the peers send one frame over and over.
//!
//! Frames are counted by the kernel, at the interface. Where other work shares the machine the rate a processor second is the
//! better figure: it is what a processor of one's own would carry.

mod contender;
mod meter;
pub(crate) mod spacing;

use std::process::Command;

use serde_json::{Value, json};

use super::options::Options;
use super::series::{Series, short};
use super::table::print_aligned;
use super::testbed::{Side, Testbed};
use crate::process;
use contender::Contender;
use meter::Rate;

/// Measures and prints it; `ours` is the example `ports` of the crate `linerate-linux`.
pub(crate) fn run(testbed: &Testbed, ours: &str, options: &Options) -> Value {
    println!("\nframes: 64-byte frames over a veth, one processor each");
    match measure(testbed, ours, options) {
        Ok(document) => document,
        Err(why) => {
            println!("  failed: {why}");
            json!({"row": "frames", "error": why})
        }
    }
}

fn measure(testbed: &Testbed, ours: &str, options: &Options) -> Result<Value, String> {
    connect(testbed)?;
    let contenders = contender::present(ours)?;
    let seconds = options.seconds.unwrap_or(3);
    let mut rounds: Vec<Vec<Result<Rate, String>>> =
        contenders.iter().map(|_| Vec::new()).collect();
    for round in 0..options.rounds {
        let mut order: Vec<usize> = (0..contenders.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for place in order {
            eprintln!("frames round {}: {}", round + 1, contenders[place].label);
            rounds[place].push(meter::rate(testbed, &contenders[place], seconds));
        }
    }
    contender::tidy_up();
    let sending = table(&contenders, &rounds);
    let receiving = tells(testbed, ours, seconds);
    Ok(json!({"row": "frames", "sending": sending, "ours": receiving}))
}

/// Both ends in one namespace, with nothing of the kernel's own on them.
fn connect(testbed: &Testbed) -> Result<(), String> {
    // A row before this one may have done it.
    let mut known = testbed.command(Side::Client, "ip");
    if process::run(known.args(["link", "show", NEAR]), LIMIT)?
        .status
        .success()
    {
        return Ok(());
    }
    let run = |words: &[&str]| {
        let (program, rest) = words.split_first().ok_or("no command")?;
        let mut command = testbed.command(Side::Client, program);
        let finished = process::run(command.args(rest), LIMIT)?;
        if finished.status.success() {
            Ok(())
        } else {
            Err(process::last_line(&finished.stderr).to_owned())
        }
    };
    run(&[
        "ip", "link", "add", NEAR, "type", "veth", "peer", "name", FAR,
    ])?;
    for name in [NEAR, FAR] {
        run(&["ip", "link", "set", name, "addrgenmode", "none"])?;
        run(&["ip", "link", "set", name, "up"])?;
    }
    Ok(())
}

fn table(contenders: &[Contender], rounds: &[Vec<Result<Rate, String>>]) -> Value {
    let series = |place: usize, of: fn(&Rate) -> f64| {
        Series(
            rounds[place]
                .iter()
                .map(|round| round.as_ref().ok().map(of))
                .collect(),
        )
    };
    let mut lines = vec![
        ["", "kpps", "kpps_per_cpu_second", "ours/this"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut entries = Vec::new();
    for (place, contender) in contenders.iter().enumerate() {
        let (wall, cpu) = (
            series(place, |rate| rate.wall_kpps),
            series(place, |rate| rate.cpu_kpps),
        );
        let rival = contenders
            .iter()
            .position(|other| Some(other.label.as_str()) == contender.rival);
        let ratio = rival.and_then(|ours| series(ours, |rate| rate.cpu_kpps).over(&cpu).spread());
        let text = |series: &Series| {
            series
                .spread()
                .map_or("-".to_owned(), |spread| spread.to_string())
        };
        lines.push(vec![
            contender.label.clone(),
            text(&wall),
            text(&cpu),
            ratio.map_or(String::new(), |ratio| ratio.to_string()),
        ]);
        let failure = rounds[place].iter().find_map(|round| round.as_ref().err());
        entries.push(json!({"contender": contender.label, "kpps": wall.0, "kpps_per_cpu_second": cpu.0, "failure": failure}));
    }
    print_aligned(&lines);
    for (contender, rounds) in contenders.iter().zip(rounds) {
        if let Some(why) = rounds.iter().find_map(|round| round.as_ref().err()) {
            println!("  {}: {why}", contender.label);
        }
    }
    json!(entries)
}

/// What only ours can: sending and receiving in one thread with every byte looked at, and even spacing.
fn tells(testbed: &Testbed, ours: &str, seconds: u32) -> Value {
    let mut reported = Vec::new();
    for backends in [
        ["af_xdp_copy", "af_packet_ring"],
        ["af_xdp_copy", "af_xdp_copy"],
        ["af_packet_ring", "af_packet_ring"],
    ] {
        for command in ["loop", "pace"] {
            let answer = ask(testbed, ours, command, backends, seconds);
            match &answer {
                Ok(answer) => println!(
                    "  {command} {}: {}",
                    backends.join(" "),
                    sentence(command, answer)
                ),
                Err(why) => println!("  {command} {}: failed: {why}", backends.join(" ")),
            }
            reported.push(json!({"command": command, "backends": backends, "answer": answer}));
        }
    }
    json!(reported)
}

fn ask(
    testbed: &Testbed,
    ours: &str,
    command: &str,
    [send, receive]: [&str; 2],
    seconds: u32,
) -> Result<Value, String> {
    let mut process: Command = testbed.command(Side::Client, ours);
    process.args([
        command,
        NEAR,
        FAR,
        "--backend",
        send,
        "--receive",
        receive,
        "--seconds",
        &seconds.to_string(),
    ]);
    let finished = process::run(
        &mut process,
        // A thread that is kept from running has three times as long.
        LIMIT + std::time::Duration::from_secs(4 * u64::from(seconds)),
    )?;
    serde_json::from_str(&finished.stdout)
        .map_err(|_| process::last_line(&finished.stderr).to_owned())
}

fn sentence(command: &str, answer: &Value) -> String {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    if command == "loop" {
        let (received, cpu) = (number(&answer["received"]), number(&answer["cpu_seconds"]));
        let kpps = |seconds: f64| short(received / seconds / 1e3);
        let lost = number(&answer["frames"]) - received;
        return format!(
            "{} kpps, {} kpps a processor second, {lost} lost, {} damaged, received by {}",
            kpps(number(&answer["seconds"])),
            kpps(cpu),
            answer["damaged"],
            answer["receive"],
        );
    }
    format!(
        "100 kpps: gaps off by {} % (median), {} % (90th), {} % (99th), kept from running {} ms, last frame {} ns late",
        answer["gap_error_percent"]["p50"],
        answer["gap_error_percent"]["p90"],
        answer["gap_error_percent"]["p99"],
        answer["stalled_ms"],
        answer["last_late_ns"]
    )
}

/// The two ends of the veth.
const NEAR: &str = "frames0";
const FAR: &str = "frames1";
const LIMIT: std::time::Duration = std::time::Duration::from_secs(30);
