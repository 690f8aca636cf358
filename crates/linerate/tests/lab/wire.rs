// SPDX-License-Identifier: MIT OR Apache-2.0
//! The wire does what was asked, and its log says so, datagram by datagram.

use std::collections::BTreeMap;
use std::time::Instant;

use linerate_lab::{Isolation, Lab, LabPlan, WireReport, WireSpec};
use linerate_linux::packet::PacketSender;
use serde_json::Value;

use super::Test;
use super::scratch::Scratch;
use super::traffic::{DEADLINE, counter, lab_with, open, parse, send_numbered, udp};
use super::verdict::{Outcome, Verdict, ensure};

pub(crate) const TESTS: &[Test] = &[
    ("log_equals_what_arrived", log_equals_what_arrived),
    ("loss_loses_singly", loss_loses_singly),
    ("burst_loss_loses_in_runs", burst_loss_loses_in_runs),
    ("reorder_lets_later_ones_pass", reorder_lets_later_ones_pass),
    ("duplicate_is_seen_twice", duplicate_is_seen_twice),
    ("corrupt_fails_the_checksum", corrupt_fails_the_checksum),
    ("delay_is_there_and_back", delay_is_there_and_back),
    ("rate_overflows_its_queue", rate_overflows_its_queue),
    ("overload_is_counted", overload_is_counted),
];

/// What the log says of A's datagrams: number to copies delivered intact.
type Fates = BTreeMap<u64, u64>;

/// Sends through a wire with these faults: what arrived, what the log says, and the report. A busy machine drops
/// frames in its backlog, before the wire: then all is sent again, through another one.
fn through(
    isolation: &Isolation,
    faults: &[&str],
    count: u64,
) -> Outcome<(Vec<u64>, Fates, WireReport)> {
    undisturbed(|| once_through(isolation, faults, count))
}

/// Repeats what a busy machine disturbed (`None`).
fn undisturbed<T>(attempt: impl Fn() -> Outcome<Option<T>>) -> Outcome<T> {
    for _ in 0..ATTEMPTS {
        if let Some(all) = attempt()? {
            return Ok(all);
        }
    }
    Err(Verdict::Failed(format!(
        "frames were lost before the wire in each of {ATTEMPTS} attempts"
    )))
}

/// Ends the lab; the wire's report if every frame of A came to the wire.
fn complete(lab: Lab) -> Outcome<Option<WireReport>> {
    let dropped = counter(&lab.hosts()[0], "tx_dropped")?;
    let report = lab
        .close()
        .ok_or_else(|| Verdict::Failed("no wire".to_owned()))?;
    let missed = report.directions.iter().map(|direction| direction.missed);
    Ok((dropped + missed.sum::<u64>() == 0).then_some(report))
}

/// `None` if frames were lost on their way to the wire.
fn once_through(
    isolation: &Isolation,
    faults: &[&str],
    count: u64,
) -> Outcome<Option<(Vec<u64>, Fates, WireReport)>> {
    let place = Scratch::new("wire")?;
    let log = place.join("log");
    let wire_log = Some(log.clone());
    let lab = open(
        isolation,
        &LabPlan {
            faults: parse(faults)?,
            wire_log,
            ..LabPlan::default()
        },
    )?;
    let arrived = send_numbered(&lab, count, 200)?;
    let Some(report) = complete(lab)? else {
        return Ok(None);
    };
    ensure(report.log_error.is_none(), || {
        format!("{:?}", report.log_error)
    })?;
    let fates = fates(&std::fs::read_to_string(&log)?)?;
    Ok(Some((arrived, fates, report)))
}

fn fates(log: &str) -> Outcome<Fates> {
    let mut fates = Fates::new();
    for line in log.lines() {
        let entry: Value = serde_json::from_str(line)?;
        let number = entry["head"].as_str().and_then(|head| head.get(16..32));
        let Some(number) = number.filter(|_| entry["dir"] == "a-b") else {
            continue;
        };
        let intact = entry["copies"]
            .as_u64()
            .filter(|_| entry["corrupted"] == false);
        fates.insert(u64::from_str_radix(number, 16)?, intact.unwrap_or(0));
    }
    Ok(fates)
}

fn log_equals_what_arrived(isolation: &Isolation) -> Outcome {
    let faults = [
        "loss=2%",
        "duplicate=3%",
        "reorder=3%:1ms",
        "corrupt=2%",
        "burst-loss=2%:5",
    ];
    let (arrived, fates, report) = through(isolation, &faults, 5000)?;
    ensure(fates.len() == 5000, || {
        format!("the log has {} datagrams", fates.len())
    })?;
    let mut seen = Fates::new();
    arrived
        .iter()
        .for_each(|number| *seen.entry(*number).or_default() += 1);
    let differ =
        |(number, copies): &(&u64, &u64)| seen.get(number).copied().unwrap_or(0) != **copies;
    let different: Vec<_> = fates.iter().filter(differ).collect();
    ensure(different.is_empty(), || format!("{different:?}; {report}"))?;
    let lost = fates.values().filter(|copies| **copies == 0).count();
    let twice = fates.values().filter(|copies| **copies == 2).count();
    ensure(
        (100..900).contains(&lost) && (50..400).contains(&twice),
        || format!("{lost} lost, {twice} twice"),
    )
}

fn loss_loses_singly(isolation: &Isolation) -> Outcome {
    let (arrived, fates, _) = through(isolation, &["loss=10%"], 2000)?;
    let lost = 2000 - arrived.len();
    ensure((120..300).contains(&lost), || {
        format!("{lost} of 2000 lost at 10 %")
    })?;
    ensure(mean_run(&fates) < 1.5, || {
        format!("in runs of {}", mean_run(&fates))
    })
}

fn burst_loss_loses_in_runs(isolation: &Isolation) -> Outcome {
    let (arrived, fates, _) = through(isolation, &["burst-loss=10%:10"], 5000)?;
    let lost = 5000 - arrived.len();
    ensure((150..1200).contains(&lost), || {
        format!("{lost} of 5000 lost at 10 %")
    })?;
    ensure(mean_run(&fates) > 4.0, || {
        format!("in runs of {}", mean_run(&fates))
    })
}

/// Lost datagrams for each run of them.
fn mean_run(fates: &Fates) -> f64 {
    let lost: Vec<bool> = fates.values().map(|copies| *copies == 0).collect();
    let all = lost.iter().filter(|lost| **lost).count();
    let starts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    all as f64 / starts.max(1) as f64
}

fn reorder_lets_later_ones_pass(isolation: &Isolation) -> Outcome {
    let (arrived, _, _) = through(isolation, &["reorder=2%:3ms"], 2000)?;
    ensure(arrived.len() == 2000, || {
        format!("{} arrived", arrived.len())
    })?;
    let late = arrived.windows(2).filter(|pair| pair[1] < pair[0]).count();
    ensure((10..100).contains(&late), || {
        format!("{late} came after a later one")
    })
}

fn duplicate_is_seen_twice(isolation: &Isolation) -> Outcome {
    let (arrived, _, report) = through(isolation, &["duplicate=10%"], 2000)?;
    let total = arrived.len();
    let missing: Vec<u64> = (1..=2000)
        .filter(|number| !arrived.contains(number))
        .collect();
    ensure(missing.is_empty(), || {
        format!("never came: {missing:?}; {report}")
    })?;
    ensure((120..300).contains(&(total - 2000)), || {
        format!("{total} of 2000 arrived")
    })?;
    let reported = report.directions[0].duplicated;
    ensure(reported >= (total - 2000) as u64, || {
        format!("{reported} duplicated, {total} arrived")
    })
}

fn corrupt_fails_the_checksum(isolation: &Isolation) -> Outcome {
    let (arrived, wrong) = undisturbed(|| {
        let lab = lab_with(isolation, &["corrupt=20%"])?;
        let arrived = send_numbered(&lab, 500, 200)?.len();
        let b = &lab.hosts()[1];
        let snmp = b.enter(|| std::fs::read_to_string("/proc/thread-self/net/snmp"))??;
        let wrong = udp_counter(&snmp, "InCsumErrors");
        Ok(complete(lab)?.map(|_| (arrived, wrong)))
    })?;
    ensure((40..200).contains(&(500 - arrived)), || {
        format!("{arrived} of 500 arrived intact")
    })?;
    // A bit of the ports or of the length sends it elsewhere: most, not all, are checksum errors.
    ensure(wrong.is_some_and(|wrong| wrong >= 30), || {
        format!("InCsumErrors {wrong:?}")
    })
}

pub(crate) fn udp_counter(snmp: &str, name: &str) -> Option<u64> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Udp: "));
    let position = lines.next()?.split(' ').position(|word| word == name)?;
    lines.next()?.split(' ').nth(position)?.parse().ok()
}

fn delay_is_there_and_back(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["delay=30ms"])?;
    let [a, b] = lab.hosts();
    let (near, far) = udp(a, b)?;
    near.set_read_timeout(Some(DEADLINE))?;
    far.set_read_timeout(Some(DEADLINE))?;
    let began = Instant::now();
    near.send(b"there")?;
    let (_, source) = far.recv_from(&mut [0; 16])?;
    far.send_to(b"back", source)?;
    near.recv(&mut [0; 16])?;
    let took_ms = began.elapsed().as_millis();
    ensure(took_ms >= 60, || format!("there and back in {took_ms} ms"))
}

fn rate_overflows_its_queue(isolation: &Isolation) -> Outcome {
    let (arrived, fates, report) = through(isolation, &["rate=1M:4K"], 500)?;
    let carried = fates.values().filter(|copies| **copies == 1).count();
    ensure(arrived.len() == carried, || {
        format!("{} arrived: {report}", arrived.len())
    })?;
    ensure((1..250).contains(&carried), || {
        format!("{carried} of 500 carried")
    })?;
    let dropped = report.directions[0].lost_at_queue;
    // Until ARP is through, the host keeps some to itself: what the wire saw counts.
    let seen = fates.len();
    ensure(seen > 100 && dropped as usize >= seen - carried, || {
        report.to_string()
    })
}

/// Whatever the wire cannot take is in its report: none of the frames is unaccounted for.
fn overload_is_counted(isolation: &Isolation) -> Outcome {
    let lab = open(
        isolation,
        &LabPlan {
            wire: Some(WireSpec::default()),
            ..LabPlan::default()
        },
    )?;
    let a = &lab.hosts()[0];
    let before = counter(a, "tx_packets")?;
    let socket = a.enter(|| PacketSender::open(a.interface))??;
    let mut frame = [0; 60];
    frame[..6].fill(0xff);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    let sent = (0..100_000).filter(|_| socket.send(&frame).is_ok()).count() as u64;
    let left = counter(a, "tx_packets")? - before;
    ensure(left >= sent, || {
        format!("{sent} sent, {left} left the host")
    })?;
    let report = lab
        .close()
        .ok_or_else(|| Verdict::Failed("no wire".to_owned()))?;
    let there = &report.directions[0];
    ensure(there.received + there.missed >= sent, || {
        format!("{sent} sent; {report}")
    })?;
    ensure(there.delivered + there.refused == there.received, || {
        report.to_string()
    })
}

const ATTEMPTS: u32 = 5;
