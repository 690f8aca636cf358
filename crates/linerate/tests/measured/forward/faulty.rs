// SPDX-License-Identifier: MIT OR Apache-2.0
//! A router that does everything wrong, in user space, and knows exactly how often.

use serde_json::Value;

use super::bench::{Ran, until_counted, until_right};

/// What one direction of a trial counted, by the names of its fields.
type Counts = [(&'static str, u64); 8];

/// Of this many test frames it does so to the last one; the first that applies.
const LOST: u64 = 7;
const SENT_BACK: u64 = 11;
const DAMAGED: u64 = 13;
const DUPLICATED: u64 = 5;
const HELD_BACK: u64 = 3;
const CHATTER: u64 = 17;

#[test]
fn every_fault_is_counted_in_its_own_place() {
    for ways in ["--bidirectional", "-6 -R"] {
        let arguments = format!(
            "--lab user-route --vlan 7 {ways} --flows 3 --sizes 128 --profile quick --trial 0.1 \
             --goal ndr --max-load 1kpps --time-limit 1 --fault loss={LOST} \
             --fault send-back={SENT_BACK} --fault corrupt={DAMAGED} --fault duplicate={DUPLICATED} \
             --fault reorder={HELD_BACK} --fault chatter={CHATTER} --fault hops=2"
        );
        until_counted("faults", &arguments, |ran| {
            ran.trials.iter().try_for_each(as_expected)
        });
    }
}

fn as_expected(trial: &Value) -> Result<(), String> {
    for one in trial["directions"].as_array().unwrap() {
        let offered = one["offered_frames"].as_u64().unwrap();
        assert!(offered > 0);
        for (name, count) in expected(offered) {
            if one[name] != count {
                return Err(format!("{name}: {count} expected: {one}"));
            }
        }
    }
    Ok(())
}

/// What a receiver must count behind the router, worked out from what arrives there and when.
fn expected(offered: u64) -> Counts {
    let (mut arrived, mut held) = (Vec::new(), None);
    let (mut sent_back, mut damaged, mut chatter, mut copies) = (0, 0, 0, 0);
    for number in 1..=offered {
        let turn = [LOST, SENT_BACK, DAMAGED, DUPLICATED, HELD_BACK, CHATTER];
        let fault = turn.into_iter().find(|every| number % every == 0);
        match fault {
            Some(LOST) => continue,
            Some(SENT_BACK) => {
                sent_back += 1;
                continue;
            }
            Some(HELD_BACK) if held.is_none() => {
                held = Some(number);
                continue;
            }
            Some(DAMAGED) => damaged += 1,
            _ => arrived.push(number),
        }
        copies += u64::from(fault == Some(DUPLICATED));
        chatter += u64::from(fault == Some(CHATTER));
        arrived.extend(held.take());
    }
    arrived.extend(held);
    let received = arrived.len() as u64;
    let earlier = |(at, number): &(usize, &u64)| arrived[..*at].iter().any(|one| one > *number);
    let reordered = arrived.iter().enumerate().filter(earlier).count() as u64;
    [
        ("received_frames", received),
        ("lost_frames", offered - received),
        ("duplicate_frames", copies),
        ("reordered_frames", reordered),
        ("misforwarded_frames", sent_back),
        ("corrupt_frames", damaged),
        ("foreign_frames", chatter),
        ("wrong_ttl_frames", received + copies),
    ]
}

/// Its neighbour entries grow old ten times a second, and are forgotten when nobody answers.
#[test]
fn a_tagged_port_is_answered_for_the_whole_run() {
    for (ways, name) in [("--bidirectional", "both"), ("-6", "a-b")] {
        let arguments = format!(
            "--lab user-route --vlan 7 {ways} --fault neighbour-expiry=100ms --sizes 128 \
             --profile quick --trial 0.3 --goal ndr --max-load 500pps"
        );
        until_right("tagged", &arguments, |ran| {
            let foreign = |one: &Value| one["foreign_frames"] != 0;
            if directions(ran).any(foreign) {
                return Err(format!("foreign frames: {:?}", ran.trials));
            }
            ran.carried("ndr", name, 500.0)
        });
    }
}

/// IPv4 only: IPv6 routers say so instead.
#[test]
fn pieces_of_frames_are_counted_as_pieces() {
    let arguments = "--lab route --fault mtu=1400 --sizes 64,1518 --profile quick --trial 0.1 \
         --goal ndr --max-load 500pps --time-limit 0.5";
    until_counted("pieces", arguments, |ran| {
        for trial in &ran.trials {
            let one = &trial["directions"][0];
            let offered = one["offered_frames"].as_u64().unwrap();
            let (lost, pieces) = match trial["frame_bytes"].as_u64() {
                Some(64) => (0, 0),
                _ => (offered, 2 * offered),
            };
            if one["lost_frames"] != lost || one["fragment_frames"] != pieces {
                return Err(format!("{lost} lost, {pieces} pieces expected: {one}"));
            }
            assert_eq!(
                (&one["corrupt_frames"], &one["foreign_frames"]),
                (&0.into(), &0.into())
            );
        }
        let why = "frames of 1518 bytes: they arrive at port1 in fragments";
        // On a busy machine the tester's own receiver may lose the probe's frames, and says so instead.
        if !ran.said.contains(why) {
            return Err(ran.said.clone());
        }
        Ok(())
    });
}

fn directions(ran: &Ran) -> impl Iterator<Item = &Value> {
    ran.trials
        .iter()
        .flat_map(|trial| trial["directions"].as_array().unwrap())
}
