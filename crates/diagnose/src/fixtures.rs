// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small records for tests, made line by line: a test, what was counted, how a host is set up.

pub(crate) mod device;

use linerate_model::output::{
    Cpu, Direction, Finding, Host, Interface, LedgerEntry, LinkKind, Protocol, Role, Stage, Test,
};
use linerate_model::sample::{Phase, Sample};
use linerate_model::setting::Setting;

use crate::evidence::Evidence;
use crate::explain::{Explanation, explain};
use crate::facts::Facts;
use crate::rules;
use linerate_model::record::Record;

/// A UDP test of ten seconds towards the peer: `eth0` here, `eth1` there.
pub(crate) fn udp(id: &str, sent: u64, lost: u64) -> Test {
    let bits = |packets: u64| Some(packets as f64 * 1470.0 * 8.0 / 10.0);
    Test {
        id: id.to_owned(),
        group: id.to_owned(),
        protocol: Protocol::Udp,
        direction: Direction::Up,
        streams: 1,
        payload_bytes: 1470,
        duration_s: 10.0,
        requested_bits_per_second: bits(sent),
        offered_bits_per_second: bits(sent),
        delivered_bits_per_second: bits(sent - lost),
        sent_packets: Some(sent),
        received_packets: Some(sent - lost),
        lost_packets: Some(lost),
        loss_ratio: Some(lost as f64 / sent as f64),
        duplicate_packets: Some(0),
        reordered_packets: Some(0),
        corrupt_packets: Some(0),
        valid: true,
        ..ends()
    }
}

/// A TCP test of ten seconds towards the peer.
pub(crate) fn tcp(id: &str, delivered_bits_per_second: f64) -> Test {
    Test {
        id: id.to_owned(),
        group: id.to_owned(),
        protocol: Protocol::Tcp,
        streams: 1,
        payload_bytes: 131_072,
        duration_s: 10.0,
        offered_bits_per_second: Some(delivered_bits_per_second),
        delivered_bits_per_second: Some(delivered_bits_per_second),
        retransmits: Some(0),
        mss_bytes: Some(1448),
        valid: true,
        ..ends()
    }
}

fn ends() -> Test {
    Test {
        local_interface: Some("eth0".to_owned()),
        remote_interface: Some("eth1".to_owned()),
        link_kind: Some(LinkKind::Wire),
        ..Test::default()
    }
}

/// A processor load with this much of the busiest one.
pub(crate) fn load(busiest_cpu: f64) -> Option<Cpu> {
    Some(Cpu {
        busiest_cpu,
        system: busiest_cpu / 4.0,
        ..Cpu::default()
    })
}

/// A record of these tests, between a host with `eth0` and one with `eth1`, both a gigabit.
pub(crate) fn run(tests: Vec<Test>) -> Record {
    let mut record = Record::default();
    record.run.kind = "udp".to_owned();
    record.run.tests = tests;
    record.run.hosts = vec![host(Role::Local, "eth0"), host(Role::Remote, "eth1")];
    record
}

/// A record of a pasted text: nothing yet.
pub(crate) fn pasted() -> Record {
    Record {
        pasted: true,
        ..Record::default()
    }
}

fn host(role: Role, interface: &str) -> Host {
    Host {
        role,
        boot_id: Some(format!("boot of {interface}")),
        cpus: Some(4),
        interfaces: vec![Interface {
            name: interface.to_owned(),
            link_bits_per_second: Some(1_000_000_000),
            mtu: Some(1500),
            link_kind: Some(LinkKind::Wire),
            ..Interface::default()
        }],
        agent: true,
        withheld: None,
        ..Host::default()
    }
}

/// Builds a record line by line and explains it.
pub(crate) trait Fixture: Sized {
    /// Counters that stood at 0 before the load of test `id`, and at these values after.
    fn counted(self, id: &str, role: Role, source: &str, values: &[(&str, u64)]) -> Self;

    /// How busy the busiest processor of an end was in the idle interval before test `id`.
    fn idle_busy(self, id: &str, role: Role, busy: f64) -> Self;

    /// The rules that fire where the ledger puts this many of test `id` at this stage and none is blind.
    fn findings_with(&self, id: &str, stage: &str, lost: u64) -> Vec<String>;

    /// The rules that fire, and what is known, where the ledger puts all losses of every test at this stage for certain.
    fn judged_at(&self, stage: &str) -> (Vec<String>, Facts);

    /// The rules that cannot tell there.
    fn undecided_at(&self, stage: &str) -> Vec<String>;

    /// One reading that belongs to no test.
    fn read(self, role: Role, source: &str, values: &[(&str, u64)]) -> Self;

    /// A setting.
    fn set(self, role: Role, source: &str, values: &[(&str, &str)]) -> Self;

    /// What the embedded rules say.
    fn explained(&self) -> Explanation;

    /// The rules that fired, in their order; those only worth knowing are in brackets.
    fn findings(&self) -> Vec<String>;
}

impl Fixture for Record {
    fn counted(mut self, id: &str, role: Role, source: &str, values: &[(&str, u64)]) -> Self {
        let zeros: Vec<(&str, u64)> = values.iter().map(|(name, _)| (*name, 0)).collect();
        for (t_ns, values) in [(0, zeros.as_slice()), (10_000_000_000, values)] {
            self.samples.push(Sample {
                group: Some(id.to_owned()),
                phase: Some(Phase::Load),
                ..reading(t_ns, role, source, values)
            });
        }
        self
    }

    fn idle_busy(mut self, id: &str, role: Role, busy: f64) -> Self {
        let ticks = [("cpu0.idle", 0), ("cpu0.user", 0)];
        let after = [
            ("cpu0.idle", (1000.0 * (1.0 - busy)) as u64),
            ("cpu0.user", (1000.0 * busy) as u64),
        ];
        for (t_ns, values) in [(0, ticks), (1_000_000_000, after)] {
            self.samples.push(Sample {
                group: Some(id.to_owned()),
                phase: Some(Phase::Idle),
                ..reading(t_ns, role, "/proc/stat", &values)
            });
        }
        self
    }

    fn findings_with(&self, id: &str, stage: &str, lost: u64) -> Vec<String> {
        let entry = LedgerEntry {
            test_id: id.to_owned(),
            lost_packets: lost,
            stages: vec![Stage {
                stage: stage.to_owned(),
                hi: lost,
                ..Stage::default()
            }],
            ..LedgerEntry::default()
        };
        let ledger = [entry];
        let facts = Facts::of(&Evidence::of(self), &ledger);
        let judged = rules::judge(rules::embedded(), self, &ledger, &facts);
        names(judged.findings)
    }

    fn judged_at(&self, stage: &str) -> (Vec<String>, Facts) {
        let (judged, facts) = all_lost_at(self, stage);
        (names(judged.findings), facts)
    }

    fn undecided_at(&self, stage: &str) -> Vec<String> {
        let (judged, _) = all_lost_at(self, stage);
        judged
            .cannot_tell
            .into_iter()
            .map(|rule| rule.rule)
            .collect()
    }

    fn read(mut self, role: Role, source: &str, values: &[(&str, u64)]) -> Self {
        let t_ns = self.samples.len() as u64 * 1_000_000_000;
        self.samples.push(reading(t_ns, role, source, values));
        self
    }

    fn set(mut self, role: Role, source: &str, values: &[(&str, &str)]) -> Self {
        let values = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.run.settings.push(Setting {
            host: role,
            source: source.to_owned(),
            interface: interface(role, source),
            values: values.collect(),
        });
        self
    }

    fn explained(&self) -> Explanation {
        explain(self, rules::embedded())
    }

    fn findings(&self) -> Vec<String> {
        names(self.explained().findings)
    }
}

fn all_lost_at(record: &Record, stage: &str) -> (rules::Judged, Facts) {
    let entry = |test: &Test| {
        let lost = test.lost_packets.filter(|lost| *lost > 0)?;
        Some(LedgerEntry {
            test_id: test.id.clone(),
            lost_packets: lost,
            stages: vec![Stage {
                stage: stage.to_owned(),
                lo: lost,
                hi: lost,
                ..Stage::default()
            }],
            ..LedgerEntry::default()
        })
    };
    let ledger: Vec<LedgerEntry> = record.run.tests.iter().filter_map(entry).collect();
    let facts = Facts::of(&Evidence::of(record), &ledger);
    let judged = rules::judge(rules::embedded(), record, &ledger, &facts);
    (judged, facts)
}

fn names(findings: Vec<Finding>) -> Vec<String> {
    let names = findings.into_iter().map(|finding| {
        if finding.informational {
            format!("({})", finding.rule)
        } else {
            finding.rule
        }
    });
    names.collect()
}

fn reading(t_ns: u64, role: Role, source: &str, values: &[(&str, u64)]) -> Sample {
    Sample {
        host: role,
        t_ns,
        source: source.to_owned(),
        interface: interface(role, source),
        counters: values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect(),
        ..Sample::default()
    }
}

/// What is of an interface is of `eth0` here and of `eth1` there.
fn interface(role: Role, source: &str) -> Option<String> {
    let of_host =
        source.starts_with("/proc") && source != "/proc/net/dev" && source != "/proc/net/packet"
            || source.starts_with("/sys/devices")
            || matches!(
                source,
                "sysctl"
                    | "dmesg"
                    | "lab wire"
                    | "machine"
                    | "registers"
                    | "perf top"
                    | "nft list ruleset"
            )
            || source.starts_with("skb:");
    let name = if role == Role::Local { "eth0" } else { "eth1" };
    (!of_host).then(|| name.to_owned())
}
