// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate forward` against real devices of this kernel: bridges and routers in namespaces, and
//! what can be wrong with them. Their limits are far below what a busy machine can offer. Without
//! namespaces every test is printed as skipped.

mod bench;
mod benchmarks;
mod diagnosed;
mod faulty;
mod tap;

use std::process::Command;

use crate::turns::Turn;
use bench::{forward, start, until, until_right};

#[test]
fn a_bridge_that_floods_passes_both_ways_what_is_offered() {
    let arguments = "--lab bridge --fault flood --sizes 64 --bidirectional --flows 3 --vlan 7 \
         --profile quick --trial 0.3 --goal ndr --max-load 1kpps";
    until_right("flood", arguments, |ran| {
        for direction in ["a-b", "both"] {
            ran.carried("ndr", direction, 1000.0)?;
            let irregular = &ran.result("ndr", direction)["irregular"];
            assert_eq!(irregular, "no upper bound: no higher load was offered");
        }
        assert_eq!(ran.code, 0, "{}", ran.said);
        let trial = ran.trials.last().unwrap();
        assert_eq!(trial["frame_bytes"], 68, "64 bytes have no room for a tag");
        assert_eq!(trial["flows"].as_array().unwrap().len(), 6);
        let links = &ran.document["hosts"][0]["interfaces"];
        assert_eq!(links[0]["link_kind"], "veth", "not a wire");
        ran.assert_explained();
        Ok(())
    });
}

#[test]
fn a_router_forwards_ipv6_between_networks_and_takes_one_hop() {
    let arguments = "--lab route -6 --sizes 64 -R --flows 200 --networks \
         --profile quick --trial 0.3 --goal ndr --max-load 1kpps";
    until_right("route6", arguments, |ran| {
        assert_eq!(ran.document["forward"]["path"], "routed");
        assert_eq!(ran.trials[0]["frame_bytes"], 84);
        ran.carried("ndr", "b-a", 1000.0)
    });
}

/// The rate is drawn at random for each run.
#[test]
fn a_rate_limit_is_found_within_two_percent() {
    let seed = std::process::id().wrapping_mul(2_654_435_761) >> 12;
    let bits_per_second = 5_000_000 + u64::from(seed % 3_000) * 1000;
    // The limit counts a frame from its Ethernet header on, without FCS.
    let truth_fps = bits_per_second as f64 / 8.0 / 252.0;
    let arguments = format!(
        "--lab route --fault rate={bits_per_second} --sizes 256 --profile quick --trial 0.5 \
         --goal ndr --max-load 8kpps --time-limit 15"
    );
    until_right("rate", &arguments, |ran| {
        let lower_fps = ran.lower_fps("ndr", "a-b");
        if (lower_fps / truth_fps - 1.0).abs() > 0.02 {
            return Err(format!("{truth_fps} frames a second, found {lower_fps}"));
        }
        assert!(ran.result("ndr", "a-b")["upper_fps"].as_f64().unwrap() > lower_fps);
        Ok(())
    });
}

#[test]
fn a_loss_of_a_thousandth_meets_pdr() {
    let arguments = "--lab route --fault loss=1000 --sizes 128 --profile quick --trial 0.5 \
         --max-load 3kpps --time-limit 6 --goal pdr --goal loss=0.3%";
    until_right("pdr", arguments, |ran| {
        ran.carried("pdr", "a-b", 3000.0)?;
        ran.carried("loss=0.3%", "a-b", 3000.0)
    });
}

#[test]
fn a_loss_of_a_thousandth_fails_ndr() {
    let arguments = "--lab route --fault loss=1000 --sizes 128 --profile quick --trial 0.5 \
         --max-load 3kpps --time-limit 6 --goal ndr";
    let Some(ran) = forward("ndr", arguments) else {
        return;
    };
    ran.assert_conserved();
    let ndr_fps = ran.lower_fps("ndr", "a-b");
    assert!(ndr_fps <= 2000.0, "1000 frames lose one: {ndr_fps}");
}

#[test]
fn a_router_that_forgets_its_neighbours_is_answered_all_the_time() {
    let arguments = "--lab route --fault neighbour-expiry=100ms --sizes 64 --profile quick \
         --trial 0.3 --goal ndr --max-load 200pps";
    until_right("expiry", arguments, |ran| ran.carried("ndr", "a-b", 200.0));
}

#[test]
fn a_port_that_goes_down_in_a_trial_costs_frames_and_no_run() {
    let arguments = "--lab route --fault link-down=7s:1s --sizes 64 --profile quick --trial 2.5 \
         --goal ndr --max-load 200pps --time-limit 20";
    until_right("down", arguments, |ran| {
        let ratio = |trial: &serde_json::Value| trial["loss_ratio"].as_f64().unwrap();
        let hurt = ran.trials.iter().any(|trial| ratio(trial) > 0.1);
        let came_back = ran.trials.last().is_some_and(|trial| ratio(trial) == 0.0);
        (hurt && came_back)
            .then_some(())
            .ok_or_else(|| format!("hurt {hurt}, came back {came_back}"))
    });
}

/// Both ends of the cable go. On a machine too busy to end a trial until then it is tried again, later.
#[test]
fn a_port_that_is_deleted_in_a_trial_ends_the_run_and_keeps_what_was_measured() {
    // All of it takes 40 s of traffic and waits.
    for after_s in [11, 20, 35] {
        let arguments = format!(
            "--lab route --fault port-gone={after_s}s --sizes 64,128,256 --profile quick --trial 5 \
             --goal ndr --max-load 200pps"
        );
        let Some(ran) = forward("gone", &arguments) else {
            return;
        };
        assert_eq!(ran.code, 3, "{}", ran.said);
        if ran.trials.is_empty() {
            continue;
        }
        ran.assert_conserved();
        let error = &ran.document["error"];
        assert_eq!(
            error["what"], "cannot continue with port port1",
            "{}",
            ran.said
        );
        assert_eq!(error["why"], "the interface is gone");
        return;
    }
    panic!("no trial ended in half a minute");
}

/// A bridge hands tags over beside the frame, where a program of XDP does not see them.
#[test]
fn a_tag_is_seen_where_af_xdp_would_lose_it() {
    let arguments = "--lab bridge --vlan 7 --backend af_xdp_copy --sizes 68 --profile quick \
         --trial 0.1 --goal ndr --max-load 200pps";
    until_right("tag-xdp", arguments, |ran| {
        let port = &ran.document["forward"]["ports"][1];
        assert_eq!(port["receive_backend"], "af_packet_ring");
        ran.carried("ndr", "a-b", 200.0)
    });
}

/// Tried on every kernel: one without flowtables says so.
#[test]
fn a_flowtable_routes_and_takes_one_hop() {
    let arguments = "--lab flowtable --sizes 64 --profile quick --trial 0.3 --goal ndr \
         --max-load 500pps";
    until_right("flowtable", arguments, |ran| {
        ran.carried("ndr", "a-b", 500.0)
    });
}

#[test]
fn a_fault_that_a_device_cannot_have_is_refused() {
    let Some(ran) = forward("impossible", "--lab bridge --fault hops=2") else {
        return;
    };
    assert_eq!(ran.code, 2, "{}", ran.said);
    assert_eq!(ran.document["error"]["try"], "--lab user-route");
}

#[test]
fn a_network_in_use_is_refused() {
    let Some(ran) = forward("guard", "lo no-such-port") else {
        return;
    };
    assert_eq!(ran.code, 2, "{}", ran.said);
    let why = ran.document["error"]["why"].as_str().unwrap();
    assert!(
        why.starts_with("lo has the address") && why.contains("RFC 6815"),
        "{why}"
    );
    let forced = forward("guard", "lo no-such-port --i-own-this-network").unwrap();
    assert_eq!(forced.code, 3, "{}", forced.said);
}

#[test]
fn an_interrupted_run_keeps_the_trials_that_ended() {
    let arguments = "--lab bridge --sizes 64 --profile lab --trial 4 --goal ndr --max-load 500pps";
    let _turn = Turn::together();
    let (mut child, dir) = start("interrupted", arguments);
    let lines = || std::fs::read_to_string(dir.join("trials.ndjson")).unwrap_or_default();
    let mut ended = None;
    until("a trial has ended", || {
        ended = child.try_wait().unwrap();
        ended.is_some() || lines().ends_with('\n')
    });
    if let Some(status) = ended {
        assert_eq!(status.code(), Some(3), "it ended by itself");
        println!("skipped: interrupted: no lab here");
        return;
    }
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let run = std::fs::read_to_string(dir.join("run.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    assert_eq!(run["partial"], true);
    for line in lines().lines() {
        let trial: serde_json::Value = serde_json::from_str(line).unwrap();
        // It has ended: it counts, or it says that the tester could not run all the time.
        let stalled = trial["stalled_ratio"].as_f64() > Some(0.005);
        assert!(trial["valid"] == true || stalled, "{trial}");
    }
}
