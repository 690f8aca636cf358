// SPDX-License-Identifier: MIT OR Apache-2.0
//! The benchmarks beside the throughput, each on a device of which the answer is known.

use serde_json::Value;

use super::bench::{Ran, until_right};

#[test]
fn a_mix_of_sizes_has_its_latency_and_its_curve() {
    let arguments = "--lab route --sizes imix --profile quick --trial 0.3 --goal ndr \
         --max-load 1kpps --tests latency,loss-curve";
    until_right("mix", arguments, |ran| {
        ran.carried("ndr", "a-b", 1000.0)?;
        let curve = one(ran, "loss_curves");
        let points = curve["points"].as_array().unwrap();
        let tail = &points[points.len() - 2..];
        judge(tail.iter().all(|point| point["loss_ratio"] == 0.0), curve)?;
        assert_eq!(curve["max_load_fps"], 1000.0);
        assert_eq!(
            curve["genome"],
            "CUSTOM IMIX - AABAABAABABC (A=64 B=594 C=1518)"
        );
        let latency = one(ran, "latency");
        // A stream of 2 s, of which the first half second does not count.
        let frames = latency["streams"][0]["frames"].as_u64().unwrap();
        judge((1400..=1500).contains(&frames), latency)?;
        assert!(latency["typical_ns"]["median"].as_u64().unwrap() > 0);
        let names = ran.document["forward"]["tests"].as_array().unwrap();
        let names: Vec<_> = names.iter().map(|test| test["name"].as_str()).collect();
        let all = ["throughput", "loss-curve", "latency"].map(Some);
        assert_eq!(names, all, "what it needs, too");
        Ok(())
    });
}

/// Ethernet frames of 252 bytes: the device sends 992 a second, holds some 1518 bytes of them, and
/// has as many bytes of credit.
#[test]
fn a_limited_device_recovers_at_once_and_holds_a_dozen_frames() {
    let arguments = "--lab route --fault rate=2M --sizes 256 --profile quick --trial 0.5 \
         --goal ndr --max-load 8kpps --time-limit 25 --tests recovery,back-to-back";
    until_right("buffer", arguments, |ran| {
        let bursts = one(ran, "back_to_back");
        let mean = bursts["mean_frames"].as_f64().unwrap_or(0.0);
        judge((5.0..40.0).contains(&mean), bursts)?;
        assert_eq!(bursts["longest_frames"].as_array().unwrap().len(), 3);
        let recovery = one(ran, "recovery");
        let seconds = recovery["mean_s"].as_f64().unwrap_or(9.0);
        judge(seconds < 0.5, recovery)
    });
}

#[test]
fn a_silence_of_a_second_is_timed() {
    let arguments = "--lab route --fault link-down=9s:1s --sizes 64 --profile quick --trial 0.3 \
         --goal ndr --max-load 200pps --tests reset --reset-command true --reset-time 14";
    until_right("reset", arguments, |ran| {
        let reset = one(ran, "reset");
        let seconds = reset["mean_s"].as_f64().unwrap_or(0.0);
        judge((0.9..4.0).contains(&seconds), reset)
    });
}

fn one<'a>(ran: &'a Ran, benchmark: &str) -> &'a Value {
    let all = &ran.document["benchmarks"][benchmark];
    assert_eq!(all.as_array().map(Vec::len), Some(1), "{}", ran.said);
    &all[0]
}

fn judge(right: bool, measured: &Value) -> Result<(), String> {
    right.then_some(()).ok_or_else(|| measured.to_string())
}
