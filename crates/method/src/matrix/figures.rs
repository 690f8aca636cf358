// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one run of a cell gives, and what its figures mean.

use std::collections::BTreeMap;

use linerate_model::output::{Cell, Cpu, Host, Output, Role, Test};

/// The figures of a run by name, base units; empty where a test is not valid, or there is none. Those of two directions at
/// once are the sums of both; the loss is that of all packets.
pub fn values(run: &Output) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    let tests = run.tests.as_slice();
    if let Some(test) = tests
        .first()
        .filter(|_| tests.iter().all(|test| test.valid))
    {
        let sum = |of: fn(&Test) -> Option<f64>| tests.iter().map(of).sum::<Option<f64>>();
        let mut learn = |name: &str, value: Option<f64>| {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                values.insert(name.to_owned(), value);
            }
        };
        learn(RATE, sum(|test| test.delivered_bits_per_second));
        learn(PACKETS, sum(packets_per_second));
        learn(LOSS, loss(tests));
        learn(RETRANSMITS, sum(|test| Some(test.retransmits? as f64)));
        let is_shared = share_a_machine(&run.hosts);
        for (names, share) in [(CPU, busy as fn(Cpu) -> f64), (SYSTEM, kernel)] {
            let [local, remote] = [test.cpu.local, test.cpu.remote].map(|cpu| cpu.map(share));
            match is_shared {
                true => learn(names.machine, local.or(remote)),
                false => {
                    learn(names.local, local);
                    learn(names.remote, remote);
                }
            }
        }
    }
    values
}

/// The packets that all runs of a cell received; 0 where they were not counted. `duration_s` is that of a test.
pub fn packets(cell: &Cell, duration_s: f64) -> f64 {
    let mut rates = cell.figures.iter().filter(|figure| figure.name == PACKETS);
    let per_second = rates.next().map_or(0.0, |rate| rate.values.iter().sum());
    per_second * duration_s
}

/// Unit of a figure, and whether more is better.
pub(super) fn meaning(name: &str) -> (&'static str, bool) {
    match name {
        RATE => ("bit/s", true),
        PACKETS => ("packet/s", true),
        RETRANSMITS => ("segments", false),
        _ => ("ratio", false),
    }
}

/// In the order in which they are shown; others follow.
pub(super) const ORDER: [&str; 10] = [
    RATE,
    PACKETS,
    LOSS,
    RETRANSMITS,
    CPU.machine,
    CPU.local,
    CPU.remote,
    SYSTEM.machine,
    SYSTEM.local,
    SYSTEM.remote,
];

/// A figure of each host, or of the machine that is both.
struct OfHosts {
    machine: &'static str,
    local: &'static str,
    remote: &'static str,
}

/// Of what all tests sent.
fn loss(tests: &[Test]) -> Option<f64> {
    if let [test] = tests {
        return test.loss_ratio;
    }
    let of = |test: &Test| {
        let sent = test.sent_packets? as f64;
        Some([sent * test.loss_ratio?, sent])
    };
    let all: Option<Vec<[f64; 2]>> = tests.iter().map(of).collect();
    let sum = |at: usize| all.iter().flatten().map(|one| one[at]).sum::<f64>();
    (all.is_some() && sum(1) > 0.0).then(|| sum(0) / sum(1))
}

fn packets_per_second(test: &Test) -> Option<f64> {
    let received = test.received_packets? as f64;
    (test.duration_s > 0.0).then(|| received / test.duration_s)
}

/// The share of all processors' time that was spent. Time that a hypervisor took is not.
fn busy(cpu: Cpu) -> f64 {
    cpu.user + kernel(cpu)
}

/// The share that the kernel spent.
fn kernel(cpu: Cpu) -> f64 {
    cpu.system + cpu.softirq + cpu.irq
}

/// Both ends of a lab are one machine: neither has a load of its own.
fn share_a_machine(hosts: &[Host]) -> bool {
    let boot = |role| {
        let host = hosts.iter().find(|host| host.role == role)?;
        host.boot_id.as_ref()
    };
    boot(Role::Local).is_some_and(|local| boot(Role::Remote) == Some(local))
}

const RATE: &str = "delivered_bits_per_second";
const PACKETS: &str = "packets_per_second";
const LOSS: &str = "loss_ratio";
const RETRANSMITS: &str = "retransmits";
const CPU: OfHosts = OfHosts {
    machine: "cpu_machine",
    local: "cpu_local",
    remote: "cpu_remote",
};
const SYSTEM: OfHosts = OfHosts {
    machine: "system_machine",
    local: "system_local",
    remote: "system_remote",
};

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::CpuPair;

    fn run(boot: [&str; 2]) -> Output {
        let cpu = Cpu {
            user: 0.01,
            system: 0.2,
            softirq: 0.1,
            steal: 0.5,
            ..Cpu::default()
        };
        let host = |role, boot: &str| Host {
            role,
            boot_id: Some(boot.to_owned()),
            ..Host::default()
        };
        let test = Test {
            delivered_bits_per_second: Some(17.4e6),
            received_packets: Some(300),
            duration_s: 2.0,
            loss_ratio: Some(0.0),
            cpu: CpuPair {
                local: Some(cpu),
                remote: Some(Cpu::default()),
            },
            valid: true,
            ..Test::default()
        };
        Output {
            hosts: vec![host(Role::Local, boot[0]), host(Role::Remote, boot[1])],
            tests: vec![test],
            ..Output::default()
        }
    }

    #[test]
    fn a_run_gives_what_its_test_counted() {
        let values = values(&run(["a", "b"]));
        assert_eq!(values[RATE], 17.4e6);
        assert_eq!(values[PACKETS], 150.0);
        assert_eq!(values[LOSS], 0.0);
        assert!((values[CPU.local] - 0.31).abs() < 1e-12);
        assert!((values[SYSTEM.local] - 0.3).abs() < 1e-12);
        assert_eq!(values[CPU.remote], 0.0);
        assert!(!values.contains_key(RETRANSMITS) && !values.contains_key(CPU.machine));
        assert!(values.keys().all(|name| ORDER.contains(&name.as_str())));
    }

    #[test]
    fn two_ends_on_one_machine_have_one_load() {
        let values = values(&run(["a", "a"]));
        assert!(values.contains_key(CPU.machine) && !values.contains_key(CPU.remote));
    }

    /// By hand: 1 % of 100 and 3 % of 300 packets are 10 of 400.
    #[test]
    fn two_directions_at_once_are_added() {
        let mut run = run(["a", "b"]);
        let other = run.tests[0].clone();
        run.tests.push(other);
        for (test, (sent, loss)) in run.tests.iter_mut().zip([(100, 0.01), (300, 0.03)]) {
            (test.sent_packets, test.loss_ratio) = (Some(sent), Some(loss));
        }
        let both = values(&run);
        assert_eq!((both[RATE], both[PACKETS]), (34.8e6, 300.0));
        assert!((both[LOSS] - 0.025).abs() < 1e-12, "{both:?}");
        assert!((both[CPU.local] - 0.31).abs() < 1e-12, "one machine, once");
        run.tests[0].sent_packets = None;
        assert!(!values(&run).contains_key(LOSS), "of an unknown number");
        run.tests[1].valid = false;
        assert!(values(&run).is_empty());
    }

    #[test]
    fn an_invalid_test_gives_nothing() {
        let mut run = run(["a", "b"]);
        run.tests[0].valid = false;
        assert!(values(&run).is_empty());
    }
}
