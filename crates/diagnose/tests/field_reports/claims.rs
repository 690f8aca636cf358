// SPDX-License-Identifier: MIT OR Apache-2.0
//! Claim by claim: what each report measured is named; what its numbers contradict or it only says in prose is not.

use linerate_diagnose::explain::Explanation;

use crate::causes::{
    ANDROID, IMX6, IMX6_AFTER, IMX6_COMMENTS, IMX6_PAUSE, IMX6_REGISTERS, MPC8240, REPORTS,
    SOLARIS, TEN64, asks, causes, explanations, findings, fired, first, known, lost_by,
};

/// A claim, the rule that reports it, the text that makes it.
type Claim = (&'static str, &'static str, &'static str);

const GIGABIT_BOARD: &[Claim] = &[
    ("reception waits in WAIT mode", "C20", IMX6),
    ("receive FIFO overruns", "F01", IMX6),
    ("pause is not resolved", "F02", IMX6),
    ("pause thresholds fire too late", "F03", IMX6_REGISTERS),
    ("flow control off, by registers", "F11", IMX6_REGISTERS),
    ("470 Mbit/s, the chip's ceiling", "F07", IMX6),
    ("loss at a low rate, boot loader", "L05", IMX6),
    ("lines that contradict each other", "M12", IMX6),
    ("runs of two seconds", "M03", IMX6),
    ("a loss below nothing", "M02", IMX6_AFTER),
    ("refused, no acknowledgement", "M06", IMX6_COMMENTS),
    ("the generator is the limit", "M01", IMX6),
    ("two things changed at once", "M10", IMX6_AFTER),
    ("the same loss at every rate", "M04", IMX6_PAUSE),
    ("pause at work", "F12", IMX6_PAUSE),
];

const ANDROID_BOARD: &[Claim] = &[
    ("overruns that nobody looked at", "F10", ANDROID),
    ("buffers beyond need", "S19", ANDROID),
    ("tcp_mem as the kernel sizes it", "S20", ANDROID),
];

const ROUTER_WITH_TWO_DRIVERS: &[Claim] = &[
    ("packets, not bits", "P01", MPC8240),
    ("the rate counts the gap too", "M07", MPC8240),
];

const TWO_DRIVERS_OF_A_CHIP: &[Claim] = &[
    ("a packet fills a processor", "C16", SOLARIS),
    ("packets, not bits", "P01", SOLARIS),
];

const ROUTER_WITH_PORTALS: &[Claim] = &[
    ("flows share a processor", "H01b", TEN64),
    ("one flow is one processor", "H04b", TEN64),
    ("past the stack", "P12b", TEN64),
    ("one portal", "C02", TEN64),
    ("routing costs more than bridging", "P13", TEN64),
    ("a total that does not add up", "M02", TEN64),
];

fn each_is_named(claims: &[Claim]) {
    for (claim, rule, text) in claims {
        let fired = fired(text);
        assert!(
            fired.contains(*rule),
            "{claim}: {rule} is not among {fired:?}"
        );
    }
}

#[test]
fn the_claims_of_the_gigabit_board() {
    each_is_named(GIGABIT_BOARD);
}

#[test]
fn the_claims_of_the_board_with_android() {
    each_is_named(ANDROID_BOARD);
}

#[test]
fn the_claims_of_the_router_with_two_drivers() {
    each_is_named(ROUTER_WITH_TWO_DRIVERS);
}

#[test]
fn the_claims_of_two_drivers_of_a_chip() {
    each_is_named(TWO_DRIVERS_OF_A_CHIP);
}

#[test]
fn the_claims_of_the_router_with_portals() {
    each_is_named(ROUTER_WITH_PORTALS);
}

/// The reports name these causes in prose only. Missing: B02 width and speed of the slot; B07 a profile; C04 and C05 counts
/// of interrupts and settings; F09 over-long frames or a line of the log; L04 a damaged frame; S11 the memory in use;
/// T01 retransmissions next to a round-trip time; T08 the load of the processor in both directions.
#[test]
fn what_no_report_measured_is_not_named() {
    for rule in [
        "B02", "B07", "C04", "C05", "F09", "L04", "S11", "T01", "T08",
    ] {
        let named = REPORTS.iter().any(|text| fired(text).contains(rule));
        assert!(!named, "{rule}");
    }
    let asks = asks(IMX6, "F09");
    assert!(asks.contains(&"dmesg".to_owned()), "{asks:?}");
}

#[test]
fn a_board_without_flow_control_overruns_its_fifo() {
    let first = first(IMX6);
    assert_eq!(first.cause, "receive-fifo-overrun-without-pause");
    assert_eq!(
        first.explains.lost_packets,
        Some(782_502),
        "one set of frames, not three"
    );
}

/// The text itself blames tcp_mem; its own counters say otherwise, and what would tell is named.
#[test]
fn overruns_come_before_the_memory_that_the_text_blames() {
    let first = first(ANDROID);
    let found = (first.cause.as_str(), first.explains.lost_packets);
    assert_eq!(found, ("receive-fifo-overrun", Some(71_828)));
    assert!(
        !causes(ANDROID).contains("tcp-memory-pressure"),
        "its size alone is no pressure"
    );
    assert!(
        known(ANDROID).contains("tcp-buffers-large-enough"),
        "more of them would not help"
    );
    let asks = asks(ANDROID, "S04");
    assert!(
        asks.iter().any(|command| command.contains("sockstat")),
        "{asks:?}"
    );
}

/// The report says that pause frames end the loss; at three rates the same number is lost all the same.
#[test]
fn with_pause_frames_sent_the_fifo_is_no_cause() {
    let causes = causes(IMX6_PAUSE);
    assert!(
        !causes.iter().any(|cause| cause.contains("fifo")),
        "{causes:?}"
    );
    assert!(causes.contains("lost-at-the-start"));
}

/// What is wrong with the measurement comes before what is wrong with the link.
#[test]
fn what_is_wrong_with_the_measurement_comes_first() {
    assert_eq!(findings(IMX6)[0].cause, "sender-limited");
}

/// Of two kernels in one text the later state has the later one, and is not blamed for the earlier.
#[test]
fn the_state_behind_the_change_is_not_blamed() {
    let explained = explanations(IMX6_AFTER);
    let waits = |index: usize| {
        let explained: Option<&Explanation> = explained.get(index);
        explained.is_some_and(|one| one.findings.iter().any(|finding| finding.rule == "C20"))
    };
    let wait_modes: Vec<String> = explained
        .iter()
        .flat_map(|one| one.facts.iter().filter(|fact| fact.name == "wait_mode"))
        .map(|fact| fact.value.to_string())
        .collect();
    assert!(waits(0) && !waits(1));
    assert_eq!(wait_modes.first().map(String::as_str), Some("on"));
    assert!(
        wait_modes[1..].iter().all(|mode| mode == "off"),
        "{wait_modes:?}"
    );
}

/// With graphics at work the board lost as a sender: no overrun of its own can be the cause.
#[test]
fn losses_of_a_sender_are_no_overrun() {
    assert_eq!(lost_by(IMX6_COMMENTS, "receive-fifo-overrun"), None);
}

/// The two drivers are two states: the line rate that one reaches is not the other's price of a packet.
#[test]
fn two_drivers_are_not_mixed() {
    let titles: Vec<String> = findings(MPC8240)
        .into_iter()
        .map(|finding| finding.title)
        .collect();
    assert!(
        titles.iter().any(|title| title.contains("103.1 µs")),
        "{titles:?}"
    );
}
