// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::Detail;
use crate::term::{Style, render};
use linerate_model::output::{CostBasis, CostProcessor, Mode};

fn cost(host: Role, direction: CostDirection, payload_bytes: u32, ns: f64) -> Cost {
    Cost {
        host,
        direction,
        protocol: Protocol::Udp,
        af: 4,
        payload_bytes,
        mode: Mode {
            tx: Some(IoMode::Mmsg),
            rx: Some(IoMode::Mmsg),
            burst: Some(8),
        },
        requested_pps: Some(41_000.0),
        packets: 1000,
        basis: CostBasis::Machine,
        cpu_ns_per_packet: ns,
        cpu_ns_per_kib: ns * 1024.0 / f64::from(payload_bytes),
        user_ns: ns * 100.0,
        system_ns: ns * 600.0,
        softirq_ns: Some(ns * 250.0),
        irq_ns: Some(ns * 50.0),
        machine_ns_per_packet: Some(ns),
        resolution_ns: Some(20.0),
        background_ratio: Some(0.02),
        processors: vec![CostProcessor::default()],
        ..Cost::default()
    }
}

fn fit(host: Role, direction: CostDirection, a: f64, bound: Bound) -> CostFit {
    let near = |value: f64| Estimate {
        value,
        ci95: [value * 0.9, value * 1.1],
    };
    CostFit {
        host,
        direction,
        protocol: Protocol::Udp,
        af: 4,
        basis: CostBasis::default(),
        tests: 10,
        ns_per_packet: near(a),
        ns_per_byte: near(0.104),
        residual_ratio: 0.021,
        largest_payload_bytes: 1472,
        packet_share: near(0.9),
        bound,
    }
}

fn output() -> Output {
    use CostDirection::{Rx, Tx};
    let costs = [64, 1472].into_iter().flat_map(|bytes| {
        let ns = 1900.0 + 0.1 * f64::from(bytes);
        [
            cost(Role::Local, Tx, bytes, ns),
            cost(Role::Remote, Rx, bytes, ns + 400.0),
        ]
    });
    Output {
        costs: costs.collect(),
        cost_fits: vec![
            fit(Role::Local, Tx, 1900.0, Bound::Packets),
            fit(Role::Remote, Rx, 2300.0, Bound::Packets),
        ],
        ..Output::new("cost", "0.0.0")
    }
}

fn shown(output: &Output) -> String {
    shown_at(80, output)
}

fn shown_at(width: usize, output: &Output) -> String {
    let style = Style {
        width,
        ascii: false,
        detail: Detail::Answer,
        ..Style::default()
    };
    render(output, &style).into_string()
}

#[test]
fn the_answer_is_a_sentence_and_the_table_has_both_ends_of_each_size() {
    let text = shown(&output());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let answer = "UDP over IPv4 up: a datagram costs 1.900 us at the sender and 2.300 us at the receiver, and each byte 0.104 ns at the sender and 0.104 ns at the receiver: packet-bound";
    assert!(words.contains(answer), "{text}");
    assert!(words.contains("UDP over IPv4, at 41.00 kpps, mode mmsg/mmsg"));
    assert!(words.contains("64 up 1906 2306"), "{text}");
    assert!(words.contains("10/60/25/5"), "{text}");
    assert!(words.contains("1900 ± 190 0.104 ± 0.010"), "{text}");
    assert!(words.contains("whole machine without its background"));
    assert!(!words.contains("warning"), "{text}");
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}: {text}");
}

#[test]
fn ends_that_are_bound_differently_are_named() {
    let mut output = output();
    output.cost_fits[1].bound = Bound::Bytes;
    let line = &answers(&output)[0].text;
    assert!(
        line.ends_with("packet-bound at the sender and byte-bound at the receiver"),
        "{line}"
    );
}

#[test]
fn no_bound_is_named_where_half_is_possible_or_no_line_fits() {
    let mut output = output();
    for fit in &mut output.cost_fits {
        fit.bound = Bound::Neither;
        fit.packet_share.ci95 = [0.4, 0.6];
    }
    let line = answers(&output)[0].text.clone();
    assert!(line.ends_with("bound by neither alone"), "{line}");
    output.cost_fits[1].packet_share.ci95 = [0.0, 0.1];
    let line = answers(&output)[0].text.clone();
    let unknown = "bound by neither alone at the sender and of unknown bound (the times are too far from a line: repeat it with -t 5) at the receiver";
    assert!(line.ends_with(unknown), "{line}");
}

#[test]
fn a_time_that_may_be_nothing_is_a_bound() {
    let mut output = output();
    output.cost_fits[0].ns_per_byte.ci95 = [-0.2, 0.4];
    let text = &answers(&output)[0].text;
    let words = "each byte at most 0.400 ns at the sender and 0.104 ns at the receiver";
    assert!(text.contains(words), "{text}");
    output.cost_fits[0].ns_per_byte.ci95 = [-0.4, -0.2];
    let text = &answers(&output)[0].text;
    let words = "each byte nothing that is measurable at the sender";
    assert!(text.contains(words), "{text}");
}

#[test]
fn what_one_machine_shares_and_a_busy_one_hides_is_said() {
    let mut output = output();
    for cost in &mut output.costs {
        cost.shared_host = true;
        cost.basis = CostBasis::Streams;
        cost.background_ratio = Some(0.41);
        cost.shared_ns_per_packet = Some(123.0);
    }
    let text = shown(&output);
    assert!(text.contains("shared") && text.contains("123.0"), "{text}");
    assert!(text.contains("both ends are this machine"), "{text}");
    assert!(text.contains("41 % busy"), "{text}");
    assert!(
        text.contains("14/86"),
        "softirqs of both ends are of neither: {text}"
    );
}

#[test]
fn time_that_a_hypervisor_took_is_a_warning() {
    let mut output = output();
    let mut shown_with = |ratio| {
        output.costs[0].stolen_ratio = Some(ratio);
        shown(&output)
    };
    let text = shown_with(0.04);
    assert!(text.contains("hypervisor took up to 4"), "{text}");
    let text = shown_with(0.005);
    assert!(!text.contains("hypervisor"), "{text}");
}

#[test]
fn hardware_events_are_shown_per_packet_or_their_absence_is_explained() {
    let mut output = output();
    for cost in &mut output.costs {
        cost.cycles_per_packet = Some(4321.0);
        cost.instructions_per_packet = Some(6543.0);
        cost.cache_misses_per_packet = Some(4.5);
    }
    let counted = shown_at(160, &output);
    for wanted in ["cycles", "4321", "instr.", "6543", "misses", "4.500"] {
        assert!(counted.contains(wanted), "no {wanted} in {counted}");
    }
    assert!(!counted.contains("not possible"), "{counted}");
    for cost in &mut output.costs {
        cost.cycles_per_packet = None;
        cost.instructions_per_packet = None;
        cost.cache_misses_per_packet = None;
        cost.events_missing = Some(EventsMissing::NotAllowed);
    }
    let text = shown(&output);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let why =
        "cycles, instructions and cache misses per packet: not possible: not allowed; as root";
    assert!(words.contains(why), "{text}");
    assert!(!words.contains("instr."), "{text}");
}

#[test]
fn nothing_measured_shows_nothing() {
    assert_eq!(blocks(&Output::new("cost", "0.0.0")), []);
}
