// SPDX-License-Identifier: MIT OR Apache-2.0
//! Claim by claim: what each report says, measured or only told, is named; and what its numbers contradict is not.

use linerate_diagnose::explain::Explanation;

use crate::causes::{
    ANDROID, IMX6, IMX6_AFTER, IMX6_COMMENTS, IMX6_PAUSE, IMX6_REGISTERS, MPC8240, REPORTS,
    SOLARIS, TEN64, asks, causes, explanations, findings, fired, first, known, lost_by,
};

/// A claim, the rule that tells of it, the text that makes it.
type Claim = (&'static str, &'static str, &'static str);

const GIGABIT_BOARD: &[Claim] = &[
    ("reception waits in WAIT mode", "C20", IMX6),
    ("receive FIFO overruns", "F01", IMX6),
    ("pause is not resolved", "F02", IMX6),
    ("pause thresholds fire too late", "F03", IMX6_REGISTERS),
    ("flow control off, by registers", "F11", IMX6_REGISTERS),
    ("470 Mbit/s, the chip's ceiling", "F07", IMX6),
    ("ERR004512 is named", "W08", IMX6_COMMENTS),
    ("ERR005783 is named", "W07", IMX6_COMMENTS),
    ("the graphics unit takes memory", "W03", IMX6_COMMENTS),
    ("loss at a low rate, boot loader", "L05", IMX6),
    ("the same, told", "W02", IMX6_COMMENTS),
    ("a hub in half duplex", "W01", IMX6_COMMENTS),
    ("no link with some partners", "W05", IMX6_COMMENTS),
    ("no pause frames under Windows CE", "W06", IMX6_COMMENTS),
    ("PACKET_MMAP halves the rate", "W04", IMX6_COMMENTS),
    ("lines that contradict each other", "M12", IMX6),
    ("runs of two seconds", "M03", IMX6),
    ("a loss below nothing", "M02", IMX6_AFTER),
    ("refused, no acknowledgement", "M06", IMX6_COMMENTS),
    ("the generator is the limit", "M01", IMX6),
    ("two things changed at once", "M10", IMX6_AFTER),
    ("the same loss at every rate", "M04", IMX6_PAUSE),
    ("pause at work", "F12", IMX6_PAUSE),
    // B02: rates of the PCIe card, but neither width nor speed of its slot.
    ("a card behind PCIe is as slow, told", "W20", IMX6_COMMENTS),
    // F09: the remedy, but neither a count of over-long frames nor a line of the log.
    (
        "over-long frames behind FIFO errors, told",
        "W21",
        IMX6_COMMENTS,
    ),
    // L04: advice for the design of a board, no damaged frame.
    ("a PHY for RGMII and no other, told", "W23", IMX6_COMMENTS),
];

const ANDROID_BOARD: &[Claim] = &[
    ("overruns that nobody looked at", "F10", ANDROID),
    ("buffers beyond need", "S19", ANDROID),
    ("tcp_mem as the kernel sizes it", "S20", ANDROID),
    ("graphics off brings half as much again", "W03", ANDROID),
    ("scheduling by groups", "W12", ANDROID),
    ("settings only by DHCP", "W15", ANDROID),
    // S11: limits that follow the free memory (S20), but not what was free or short during the test.
    ("memory is short, told", "W24", ANDROID),
];

const ROUTER_WITH_TWO_DRIVERS: &[Claim] = &[
    ("packets, not bits", "P01", MPC8240),
    ("an interrupt for each packet", "W14", MPC8240),
    ("a fast path", "W13", MPC8240),
    ("the rate counts the gap too", "M07", MPC8240),
    // C04: two drivers, but no count of interrupts under either.
    ("another driver for the same chip, told", "W18", MPC8240),
    // C05: what the chip can do, but no setting; and 9700 interrupts a second are below what C05 asks for.
    ("several packets to an interrupt, told", "W19", MPC8240),
    // T08: sums of both directions in words, no load of the processor beside them.
    ("both directions are no more than one, told", "W17", MPC8240),
];

const TWO_DRIVERS_OF_A_CHIP: &[Claim] = &[
    ("short frames have wrong checksums", "W09", SOLARIS),
    ("checksums of zero", "W10", SOLARIS),
    ("a packet fills a processor", "C16", SOLARIS),
    ("packets, not bits", "P01", SOLARIS),
    ("one or two percent", "W16", SOLARIS),
    // B07: a guess at why tiny packets come in faster, no profile.
    ("copying or mapping tiny packets, told", "W22", SOLARIS),
];

const ROUTER_WITH_PORTALS: &[Claim] = &[
    ("flows share a processor", "H01b", TEN64),
    ("one flow is one processor", "H04b", TEN64),
    ("past the stack", "P12b", TEN64),
    ("translation by the IOMMU", "W11", TEN64),
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

/// What a text only says in words is worth knowing, no more.
#[test]
fn what_is_only_told_is_never_a_cause() {
    for finding in REPORTS.iter().flat_map(|text| findings(text)) {
        if finding.rule.starts_with('W') {
            assert!(
                finding.informational && finding.strength == "weak",
                "{}",
                finding.rule
            );
        }
    }
}

/// T01 has no told rule either: report 000 says in general that TCP slows down to what its path carries (M01), and no
/// report prints segments sent again beside a round-trip time.
#[test]
fn what_no_report_measured_is_not_named_as_measured() {
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
fn what_is_wrong_with_the_measurement_is_told_first() {
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
