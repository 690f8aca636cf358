// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verdict of a direction: what was reached, what the link allows, and who held it back.
//!
//! Only facts decide. Where two ends share one machine (equal boot ids) a full processor is
//! nobody's fault in particular, and the limit is unknown.

use linerate_method::line_rate::{Family, Framing, Transport};
use linerate_model::output::{
    Cpu, Direction, Host, Interface, Knee, Limit, LinkKind, Output, Protocol, Role, Test, Verdict,
};

/// One verdict for each direction in which anything was measured.
pub(super) fn verdicts(output: &Output) -> Vec<Verdict> {
    [Direction::Up, Direction::Down]
        .into_iter()
        .filter_map(|direction| verdict(output, direction))
        .collect()
}

/// The speed of the slower of the two interfaces; `None` unless both that are known are wires.
pub(super) fn link_bits_per_second(output: &Output) -> Option<u64> {
    let speeds = interfaces(output).map(|interface| match interface.link_kind {
        Some(LinkKind::Wire) => interface.link_bits_per_second,
        _ => None,
    });
    // One interface of unknown speed makes the whole unknown; none at all too.
    speeds.collect::<Option<Vec<u64>>>()?.into_iter().min()
}

fn verdict(output: &Output, direction: Direction) -> Option<Verdict> {
    let best = best(output, direction)?;
    let achieved = best.delivered_bits_per_second?;
    let line_rate = line_rate(output, best);
    Some(Verdict {
        direction,
        achieved_bits_per_second: achieved,
        line_rate_bits_per_second: line_rate,
        limit: limit(output, direction, best, achieved, line_rate),
    })
}

/// The fastest valid test alone in its direction; of lossy UDP trials none.
fn best(output: &Output, direction: Direction) -> Option<&Test> {
    let clean = |test: &&Test| test.valid && test.lost_packets.unwrap_or(0) == 0;
    let tests = output
        .tests
        .iter()
        .filter(|test| test.direction == direction);
    tests
        .filter(clean)
        .filter(|test| test.delivered_bits_per_second.is_some())
        .max_by(|a, b| {
            a.delivered_bits_per_second
                .unwrap_or(0.0)
                .total_cmp(&b.delivered_bits_per_second.unwrap_or(0.0))
        })
}

fn line_rate(output: &Output, test: &Test) -> Option<f64> {
    let framing = Framing {
        link_bits_per_second: link_bits_per_second(output)?,
        mtu_bytes: interfaces(output)
            .filter_map(|interface| interface.mtu)
            .min()?,
        transport: match test.protocol {
            Protocol::Tcp => Transport::Tcp { timestamps: true },
            Protocol::Udp => Transport::Udp,
        },
        family: if test.af == 6 { Family::V6 } else { Family::V4 },
    };
    match test.protocol {
        Protocol::Tcp => framing.goodput_bits_per_second(),
        Protocol::Udp => framing
            .line_rate(test.payload_bytes)
            .map(|rate| rate.l4_bits_per_second),
    }
}

fn limit(
    output: &Output,
    direction: Direction,
    best: &Test,
    achieved: f64,
    line_rate: Option<f64>,
) -> Limit {
    if line_rate.is_some_and(|line_rate| achieved >= line_rate * AT_LINE_RATE) {
        return Limit::Link;
    }
    let knee = full_size_knee(output, direction);
    // One lossy trial proves nothing: the search must have confirmed it.
    let lossy = knee
        .filter(|knee| knee.lossy_bits_per_second.is_some())
        .and_then(|knee| lossy_trial(output, knee));
    if !one_machine(output) {
        if [Some(best), lossy]
            .into_iter()
            .flatten()
            .any(|test| full(receiver(test)))
        {
            return Limit::ReceiverCpu;
        }
        if full(sender(best)) {
            return Limit::Sender;
        }
    }
    match (knee, lossy) {
        (_, Some(lossy)) if socket_dropped(lossy) => Limit::ReceiverSocket,
        (_, Some(lossy)) if full(receiver(lossy)) => Limit::Unknown,
        // Without the receiver's own counters its socket cannot be ruled out.
        (_, Some(lossy)) if lossy.socket_drops.is_some() => Limit::Path,
        (Some(knee), None) if knee.limited_by == "sender" && !one_machine(output) => Limit::Sender,
        _ => Limit::Unknown,
    }
}

fn full_size_knee(output: &Output, direction: Direction) -> Option<&Knee> {
    let knees = output
        .knees
        .iter()
        .filter(|knee| knee.direction == direction);
    knees.max_by_key(|knee| knee.payload_bytes)
}

/// The trial of the knee that lost the most.
fn lossy_trial<'a>(output: &'a Output, knee: &Knee) -> Option<&'a Test> {
    let trials = output
        .tests
        .iter()
        .filter(|test| knee.test_ids.contains(&test.id));
    trials
        .filter(|test| test.lost_packets.is_some_and(|lost| lost > 0))
        .max_by_key(|test| test.lost_packets)
}

fn receiver(test: &Test) -> Option<Cpu> {
    match test.direction {
        Direction::Up => test.cpu.remote,
        Direction::Down => test.cpu.local,
    }
}

fn sender(test: &Test) -> Option<Cpu> {
    match test.direction {
        Direction::Up => test.cpu.local,
        Direction::Down => test.cpu.remote,
    }
}

/// Is a processor of this end full?
fn full(cpu: Option<Cpu>) -> bool {
    cpu.is_some_and(|cpu| cpu.busiest_cpu >= FULL_CPU)
}

/// Did the socket's buffer drop the greater part of what was lost?
/// The kernel counts damaged datagrams among the socket's drops (net/ipv4/udp.c, `csum_error`):
/// those are not the buffer's.
fn socket_dropped(test: &Test) -> bool {
    match (test.socket_drops, test.lost_packets) {
        (Some(drops), Some(lost)) => {
            let full = drops.saturating_sub(damaged(test));
            full > 0 && full * 2 >= lost
        }
        _ => false,
    }
}

fn damaged(test: &Test) -> u64 {
    let receiver = match test.direction {
        Direction::Up => Role::Remote,
        Direction::Down => Role::Local,
    };
    let checksums = ["UdpInCsumErrors", "Udp6InCsumErrors"];
    let of_receiver = test
        .counters
        .iter()
        .filter(|counter| counter.host == receiver && checksums.contains(&counter.name.as_str()));
    of_receiver.map(|counter| counter.delta).sum()
}

fn one_machine(output: &Output) -> bool {
    let boot_id = |role: Role| {
        let host = output.hosts.iter().find(|host| host.role == role)?;
        host.boot_id.clone()
    };
    boot_id(Role::Local).is_some_and(|local| Some(local) == boot_id(Role::Remote))
}

fn interfaces(output: &Output) -> impl Iterator<Item = &Interface> {
    let ends = |host: &&Host| host.role != Role::Device;
    output
        .hosts
        .iter()
        .filter(ends)
        .flat_map(|host| &host.interfaces)
}

/// Within 3 % of the ceiling nothing is left to find.
const AT_LINE_RATE: f64 = 0.97;
/// A processor this busy has nothing to spare.
const FULL_CPU: f64 = 0.95;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::CpuPair;

    fn host(role: Role, boot_id: &str, kind: LinkKind, speed: Option<u64>) -> Host {
        Host {
            role,
            boot_id: Some(boot_id.to_owned()),
            interfaces: vec![Interface {
                name: "eth0".to_owned(),
                link_bits_per_second: speed,
                mtu: Some(1500),
                link_kind: Some(kind),
                ..Interface::default()
            }],
            ..Host::default()
        }
    }

    fn wire(speed: u64) -> Output {
        Output {
            hosts: vec![
                host(Role::Local, "one", LinkKind::Wire, Some(10_000_000_000)),
                host(Role::Remote, "two", LinkKind::Wire, Some(speed)),
            ],
            ..Output::default()
        }
    }

    fn tcp(rate: f64) -> Test {
        Test {
            id: "tcp-up".to_owned(),
            delivered_bits_per_second: Some(rate),
            af: 4,
            valid: true,
            ..Test::default()
        }
    }

    fn with_knee(mut output: Output, lossy: Test, limited_by: &str) -> Output {
        output.knees.push(Knee {
            test_ids: vec![lossy.id.clone()],
            payload_bytes: 1472,
            lossy_bits_per_second: (limited_by == "loss").then_some(600e6),
            limited_by: limited_by.to_owned(),
            ..Knee::default()
        });
        output.tests.push(lossy);
        output
    }

    fn lossy(drops: Option<u64>, remote_busiest: f64) -> Test {
        Test {
            id: "udp-up".to_owned(),
            protocol: Protocol::Udp,
            lost_packets: Some(100),
            socket_drops: drops,
            valid: true,
            cpu: CpuPair {
                local: None,
                remote: Some(Cpu {
                    busiest_cpu: remote_busiest,
                    ..Cpu::default()
                }),
            },
            ..Test::default()
        }
    }

    fn limit_of(output: &Output) -> Limit {
        verdicts(output)[0].limit
    }

    #[test]
    fn gigabit_at_line_rate_is_limited_by_the_link() {
        let mut output = wire(1_000_000_000);
        output.tests = vec![tcp(941.4e6)];
        let verdict = &verdicts(&output)[0];
        // 1448 of 1538 bytes.
        assert!((verdict.line_rate_bits_per_second.unwrap() - 941.48e6).abs() < 0.1e6);
        assert_eq!(verdict.limit, Limit::Link);
    }

    #[test]
    fn a_virtual_link_has_no_line_rate() {
        let mut output = wire(1_000_000_000);
        output.hosts[1] = host(Role::Remote, "two", LinkKind::Veth, Some(10_000_000_000));
        output.tests = vec![tcp(941e6)];
        let verdict = &verdicts(&output)[0];
        assert_eq!(
            (verdict.line_rate_bits_per_second, verdict.limit),
            (None, Limit::Unknown)
        );
    }

    #[test]
    fn who_held_it_back() {
        for (drops, busiest, limit) in [
            (Some(90), 0.5, Limit::ReceiverSocket),
            (Some(90), 0.99, Limit::ReceiverCpu),
            (Some(0), 0.5, Limit::Path),
            (None, 0.5, Limit::Unknown),
        ] {
            let mut output = wire(1_000_000_000);
            output.tests = vec![tcp(500e6)];
            let output = with_knee(output, lossy(drops, busiest), "loss");
            assert_eq!(limit_of(&output), limit, "{drops:?} {busiest}");
        }
    }

    #[test]
    fn one_unconfirmed_loss_accuses_nobody() {
        let mut output = wire(1_000_000_000);
        output.tests = vec![tcp(500e6)];
        let output = with_knee(output, lossy(Some(90), 0.5), "trials");
        assert_eq!(limit_of(&output), Limit::Unknown);
    }

    #[test]
    fn a_full_processor_at_the_sender_limits_it() {
        let mut output = wire(10_000_000_000);
        let mut best = tcp(3e9);
        best.cpu.local = Some(Cpu {
            busiest_cpu: 0.99,
            ..Cpu::default()
        });
        output.tests = vec![best];
        assert_eq!(limit_of(&output), Limit::Sender);
    }

    #[test]
    fn a_sender_that_cannot_do_more_says_so() {
        let mut output = wire(10_000_000_000);
        output.tests = vec![tcp(3e9)];
        let mut trial = lossy(Some(0), 0.2);
        trial.lost_packets = Some(0);
        assert_eq!(limit_of(&with_knee(output, trial, "sender")), Limit::Sender);
    }

    #[test]
    fn on_one_machine_a_full_processor_is_nobodys_fault() {
        let mut output = wire(1_000_000_000);
        output.hosts[1].boot_id = Some("one".to_owned());
        output.tests = vec![tcp(500e6)];
        assert_eq!(
            limit_of(&with_knee(output, lossy(Some(0), 0.99), "loss")),
            Limit::Unknown
        );
    }

    #[test]
    fn nothing_measured_nothing_said() {
        assert!(verdicts(&wire(1_000_000_000)).is_empty());
    }
}
