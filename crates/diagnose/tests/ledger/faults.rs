// SPDX-License-Identifier: MIT OR Apache-2.0
//! Faults as the lab makes them, alone and in pairs, on hosts that show the counters of such faults: the causes that are
//! named are those that were set, and no two statements of one explanation contradict each other.

use std::collections::BTreeMap;

use linerate_diagnose::explain::{Explanation, explain};
use linerate_diagnose::rules;
use linerate_model::output::{Cpu, Direction, Finding, Knee, LossBurst, ReceiveBuffer, Role};
use linerate_model::record::Record;
use linerate_model::sample::{Phase, Sample};
use linerate_model::setting::Setting;

use crate::world::{LOAD_S, Losses, Nic, World};

/// A fault, what dies of it and where, and the cause that explains it.
struct Fault {
    name: &'static str,
    losses: Losses,
    /// How many datagrams are lost in a row, and how many arrive between two rows on average.
    rows: (u64, u64),
    cause: &'static str,
}

const NONE: Losses = Losses {
    neighbour: 0,
    qdisc: 0,
    tx_ring: 0,
    silent_wire: 0,
    crc: 0,
    checksum: 0,
    mac_fifo: 0,
    rx_ring: 0,
    backlog: 0,
    filter: 0,
    address: 0,
    socket: 0,
    corrupt: 0,
};

const FAULTS: &[Fault] = &[
    Fault {
        name: RCVBUF,
        losses: Losses {
            socket: 4000,
            ..NONE
        },
        rows: (4, 300),
        cause: "udp-receive-buffer-too-small",
    },
    Fault {
        name: CONTENTION,
        losses: Losses {
            socket: 3000,
            ..NONE
        },
        rows: (200, 4000),
        cause: "receiver-had-no-processor",
    },
    Fault {
        name: "paused-reader",
        losses: Losses {
            socket: 20_000,
            ..NONE
        },
        rows: (10_000, 20_000),
        cause: "receiver-paused",
    },
    Fault {
        name: "nft-drop",
        losses: Losses {
            filter: 3000,
            ..NONE
        },
        rows: (1, 99),
        cause: "packet-filter-drops",
    },
    Fault {
        name: "loss",
        losses: Losses {
            silent_wire: 3000,
            ..NONE
        },
        rows: (1, 99),
        cause: "loss-on-the-path",
    },
    Fault {
        name: "burst-loss",
        losses: Losses {
            silent_wire: 3000,
            ..NONE
        },
        rows: (10, 990),
        cause: "loss-on-the-path-in-bursts",
    },
    Fault {
        name: "corrupt",
        losses: Losses {
            checksum: 3000,
            ..NONE
        },
        rows: (1, 99),
        cause: "corruption-on-the-path",
    },
    Fault {
        name: "qdisc-limit",
        losses: Losses {
            qdisc: 4000,
            ..NONE
        },
        rows: (3, 90),
        cause: "own-queue-drops",
    },
];

const RCVBUF: &str = "rcvbuf";
const CONTENTION: &str = "cpu-contention";
const SENT: u64 = 400_000;
const REQUESTED: u64 = 4 << 20;

fn sum(one: Losses, other: Losses) -> Losses {
    Losses {
        qdisc: one.qdisc + other.qdisc,
        silent_wire: one.silent_wire + other.silent_wire,
        checksum: one.checksum + other.checksum,
        filter: one.filter + other.filter,
        socket: one.socket + other.socket,
        ..NONE
    }
}

impl Fault {
    /// Losses in rows and single ones of two faults look like either: the rows of both are one list. Of a filter that
    /// dropped the smaller part only the stage is certain.
    fn explains(&self, cause: &str, faults: &[&Self]) -> bool {
        let on_the_path = [
            "loss-on-the-path",
            "loss-on-the-path-in-bursts",
            "lost-between-the-ends",
        ];
        let mixed = faults.iter().any(|other| other.rows.0 != self.rows.0);
        let at_the_stage = self.losses.filter > 0 && cause == "receive-ip-drops";
        self.cause == cause
            || at_the_stage
            || (mixed && on_the_path.contains(&self.cause) && on_the_path.contains(&cause))
    }
}

/// Rows of lost datagrams, at random distances.
fn rows(fault: &Fault, from: u64) -> Vec<LossBurst> {
    let (row, apart) = fault.rows;
    let mut at = from;
    let mut random = 1_u64;
    let count = fault.losses.all() / row;
    let next = (0..count).map(|_| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let uniform = ((random >> 33) + 1) as f64 / (1_u64 << 31) as f64;
        at += row + (-(uniform.min(1.0)).ln() * apart as f64) as u64;
        LossBurst {
            first_sequence: at,
            at_s: at as f64 / (SENT / LOAD_S) as f64,
            packets: row,
            ..LossBurst::default()
        }
    });
    next.collect()
}

/// One test between two hosts of the lab with these faults.
fn record(faults: &[&Fault]) -> Record {
    let losses = faults
        .iter()
        .fold(NONE, |all, fault| sum(all, fault.losses));
    let world = World {
        sent: SENT,
        ..World::new(Nic::Veth, losses)
    };
    let mut record = world.record();
    let has = |name: &str| faults.iter().any(|fault| fault.name == name);
    for host in &mut record.run.hosts {
        host.boot_id = Some("the lab's".to_owned());
        host.interfaces[0].link_bits_per_second = None;
    }
    let busy = if has(CONTENTION) { 1.0 } else { 0.3 };
    let cpu = Some(Cpu {
        busiest_cpu: busy,
        ..Cpu::default()
    });
    let test = &mut record.run.tests[0];
    test.duration_s = LOAD_S as f64;
    test.streams = 1;
    test.direction = Direction::Up;
    let bits = |packets: u64| Some((packets * 1448 * 8 / LOAD_S) as f64);
    test.requested_bits_per_second = bits(world.sent);
    test.offered_bits_per_second = bits(world.sent);
    test.delivered_bits_per_second = bits(world.sent - losses.all());
    test.loss_ratio = Some(losses.all() as f64 / world.sent as f64);
    (test.cpu.local, test.cpu.remote) = (cpu, cpu);
    test.receive_buffer_bytes = Some(ReceiveBuffer {
        asked: Some(REQUESTED),
        granted: Some(if has(RCVBUF) { 16_384 } else { REQUESTED }),
    });
    let halves = faults.iter().zip([1, 200_000]);
    test.loss_bursts = halves.flat_map(|(fault, from)| rows(fault, from)).collect();
    record.run.knees = vec![Knee {
        direction: Direction::Up,
        payload_bytes: 1448,
        lossy_bits_per_second: bits(world.sent),
        test_ids: vec!["t".to_owned()],
        ..Knee::default()
    }];
    let of_qdisc = |sample: &&mut Sample| sample.source == "tc -s qdisc";
    for sample in record.samples.iter_mut().filter(of_qdisc) {
        let load = (sample.t_ns / 1_000_000_000).saturating_sub(1);
        sample
            .counters
            .extend([("packets".to_owned(), load * SENT / LOAD_S)]);
    }
    record.samples.extend(processor(busy));
    record.run.settings.push(Setting {
        host: Role::Local,
        source: "sysctl".to_owned(),
        values: BTreeMap::from([("net.core.rmem_max".to_owned(), REQUESTED.to_string())]),
        ..Setting::default()
    });
    record
}

/// The receiver's processor in the idle interval.
fn processor(busy: f64) -> [Sample; 2] {
    [0, 1].map(|second: u64| Sample {
        host: Role::Remote,
        t_ns: second * 1_000_000_000,
        source: "/proc/stat".to_owned(),
        group: Some("g".to_owned()),
        phase: Some(Phase::Idle),
        counters: [
            ("cpu0.user".to_owned(), second * (1000.0 * busy) as u64),
            (
                "cpu0.idle".to_owned(),
                second * (1000.0 * (1.0 - busy)) as u64,
            ),
        ]
        .into(),
        ..Sample::default()
    })
}

fn causes(all: &Explanation) -> Vec<&Finding> {
    let causes = all.findings.iter().filter(|finding| !finding.informational);
    causes.collect()
}

/// What is said in one place is not denied in another.
fn agree(faults: &[&Fault], all: &Explanation) {
    let names: Vec<&str> = faults.iter().map(|fault| fault.name).collect();
    let lost: u64 = all.ledger.iter().map(|entry| entry.lost_packets).sum();
    let explained: u64 = causes(all)
        .iter()
        .filter_map(|finding| finding.explains.lost_packets)
        .sum();
    assert!(explained <= lost, "{names:?}: {explained} of {lost}");
    for finding in causes(all) {
        let set = faults
            .iter()
            .any(|fault| fault.explains(&finding.cause, faults));
        assert!(set, "{names:?}: {} {}", finding.rule, finding.title);
        let commands = finding.change.iter().flat_map(|change| &change.commands);
        for command in commands {
            assert!(
                !command.contains("-w net.core.rmem_max"),
                "{names:?}: {command}"
            );
        }
        for text in [&finding.title, &finding.why, &finding.verify] {
            assert!(!text.contains(['{', '}']), "{names:?}: {text}");
        }
        let explains = &finding.explains;
        let alternative = explains.lost_packets == Some(0) && explains.shared_packets > Some(0);
        assert!(
            !(alternative && finding.strength == "proven"),
            "{names:?}: {}",
            finding.rule
        );
    }
    let of_processor = |finding: &Finding| finding.cause == "receiver-had-no-processor";
    let processor_full = causes(all).iter().any(|finding| of_processor(finding));
    for knee in &all.knees {
        let said = format!("{} {}", knee.why, knee.try_);
        let excluded = knee.why.contains("not the processors");
        assert!(!(excluded && processor_full), "{names:?}: {said}");
        let granted = !names.contains(&RCVBUF);
        assert!(
            !(granted && said.contains("larger net.core.rmem_max")),
            "{names:?}: {said}"
        );
    }
}

#[test]
fn each_fault_is_the_cause_that_is_named_first() {
    for fault in FAULTS {
        let all = explain(&record(&[fault]), rules::embedded());
        agree(&[fault], &all);
        let first = causes(&all).first().map(|finding| finding.cause.clone());
        assert_eq!(
            first.as_deref(),
            Some(fault.cause),
            "{}: {:?}",
            fault.name,
            all.ledger
        );
    }
}

#[test]
fn two_faults_have_their_two_causes_and_no_third() {
    for (index, one) in FAULTS.iter().enumerate() {
        for other in &FAULTS[index + 1..] {
            let faults = [one, other];
            let all = explain(&record(&faults), rules::embedded());
            agree(&faults, &all);
            let first = causes(&all).first().map(|finding| finding.cause.clone());
            let of = |first: &String| faults.iter().any(|fault| fault.explains(first, &faults));
            let named = first.as_ref().is_some_and(of);
            assert!(named, "{} and {}: {:?}", one.name, other.name, first);
        }
    }
}
