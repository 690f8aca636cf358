// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the reader of a field report wants to be told, from texts of our own with such figures. And the
//! findings follow the numbers: with the fault taken out of the text they are gone.

use std::collections::BTreeSet;

use linerate_diagnose::explain::explain;
use linerate_diagnose::paste;
use linerate_diagnose::rules;
use linerate_model::output::Finding;

const IMX6: &str = include_str!("field_reports/imx6.txt");
const IMX6_PAUSE: &str = include_str!("field_reports/imx6-pause.txt");
const SOLARIS: &str = include_str!("field_reports/solaris.txt");
const TEN64: &str = include_str!("field_reports/ten64.txt");
const ANDROID: &str = include_str!("field_reports/android.txt");

fn findings(text: &str) -> Vec<Finding> {
    let records = paste::read("-", text).records;
    let all = records
        .iter()
        .flat_map(|record| explain(record, rules::embedded()).findings);
    all.collect()
}

/// The first cause behind what is said of the measurement itself.
fn first(text: &str) -> Finding {
    let validity = |finding: &Finding| {
        let mut rules = rules::embedded().iter();
        rules.any(|rule| rule.id == finding.rule && rule.validity)
    };
    let mut causes = findings(text)
        .into_iter()
        .filter(|finding| !validity(finding));
    causes.next().unwrap_or_default()
}

/// The causes that are not only worth knowing.
fn causes(text: &str) -> BTreeSet<String> {
    let findings = findings(text).into_iter();
    findings
        .filter(|finding| !finding.informational)
        .map(|finding| finding.cause)
        .collect()
}

fn known(text: &str) -> BTreeSet<String> {
    findings(text)
        .into_iter()
        .map(|finding| finding.cause)
        .collect()
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
    assert!(causes(IMX6).contains("flow-control-not-agreed"));
}

/// Scaled numbers scale the finding; no overruns, no finding.
#[test]
fn the_overruns_are_those_of_the_text() {
    let half = IMX6.replace("782502", "391251");
    assert_eq!(first(&half).explains.lost_packets, Some(391_251));
    let none = IMX6.replace("782502", "0");
    assert!(
        !causes(&none)
            .iter()
            .any(|cause| cause.starts_with("receive-fifo-overrun")),
        "{:?}",
        causes(&none)
    );
}

/// What the board offers stays at one rate whatever is asked of it; two seconds are no result.
#[test]
fn what_is_wrong_with_the_measurement_is_told_first() {
    let causes: Vec<String> = findings(IMX6)
        .into_iter()
        .map(|finding| finding.cause)
        .collect();
    assert_eq!(causes[0], "sender-limited");
    assert!(causes.contains(&"too-short-to-believe".to_owned()));
}

/// Reception gets slower with what is offered, and hardly goes at all over TCP until WAIT is off.
#[test]
fn a_board_that_waits_receives_little() {
    assert!(causes(IMX6).contains("wait-mode-holds-up-reception"));
    let off = IMX6.replace("console=ttymxc1", "enable_wait_mode=off console=ttymxc1");
    assert!(!causes(&off).contains("wait-mode-holds-up-reception"));
    let fast = IMX6
        .replace("8.47 Mbits", "426 Mbits")
        .replace("8.72 Mbits", "427 Mbits");
    assert!(!causes(&fast).contains("wait-mode-holds-up-reception"));
}

#[test]
fn a_rate_that_falls_with_the_offer_is_a_livelock() {
    let collapsing = IMX6.replace("71.2 MBytes   311 Mbits/sec", "0.09 MBytes  3.18 Mbits/sec");
    assert!(causes(&collapsing).contains("receive-livelock"));
    assert!(!causes(IMX6_PAUSE).contains("receive-livelock"));
}

/// Nearly the same number is lost at every rate while the FIFO never overflows: a start, not a rate.
#[test]
fn a_constant_loss_belongs_to_the_start() {
    assert!(causes(IMX6_PAUSE).contains("lost-at-the-start"));
}

#[test]
fn small_packets_cost_as_much_as_larger_ones() {
    assert!(causes(SOLARIS).contains("cost-of-a-packet-fills-a-processor"));
    let scaled = SOLARIS
        .replace("17.4 Mbps", "8.7 Mbps")
        .replace("14.8 Mbps", "7.4 Mbps");
    assert!(
        !causes(&scaled).contains("cost-of-a-packet-fills-a-processor"),
        "half the packets at half the size"
    );
}

#[test]
fn one_portal_takes_all_packets() {
    assert!(causes(TEN64).contains("one-portal-for-all-ports"));
    let spread = TEN64
        .replace("125:          0          0", "125:          0     961301")
        .replace(
            "126:          0          0          0",
            "126:          0          0     348047",
        );
    assert!(!causes(&spread).contains("one-portal-for-all-ports"));
}

#[test]
fn with_pause_frames_sent_the_fifo_is_no_cause() {
    assert!(known(IMX6_PAUSE).contains("flow-control-at-work"));
    assert!(
        !causes(IMX6_PAUSE)
            .iter()
            .any(|cause| cause.contains("fifo")),
        "{:?}",
        causes(IMX6_PAUSE)
    );
}

/// The text itself blames tcp_mem; its own counters say otherwise.
#[test]
fn overruns_come_before_the_memory_that_the_text_blames() {
    let first = first(ANDROID);
    assert_eq!(
        (first.cause.as_str(), first.explains.lost_packets),
        ("receive-fifo-overrun", Some(71_828))
    );
    assert!(
        !causes(ANDROID).contains("tcp-memory-pressure"),
        "its size alone is no pressure"
    );
    assert!(
        known(ANDROID).contains("tcp-buffers-large-enough"),
        "more of them would not help"
    );
    assert!(known(ANDROID).contains("tcp-memory-sized-by-kernel"));
}

#[test]
fn quoting_and_cut_lines_do_not_change_what_is_found() {
    let quoted: String = ANDROID.lines().map(|line| format!("> {line}\n")).collect();
    assert_eq!(causes(&quoted), causes(ANDROID));
    let cut: String = ANDROID
        .lines()
        .filter(|line| !line.contains("txqueuelen"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(causes(&cut), causes(ANDROID));
}

/// Two hosts in one text stay two: nothing of one explains the other.
#[test]
fn two_reports_in_one_text_keep_their_own_findings() {
    let both = format!("{IMX6}\n\n----------\n\n{ANDROID}");
    let lost: BTreeSet<_> = findings(&both)
        .iter()
        .filter_map(|finding| finding.explains.lost_packets)
        .collect();
    assert!(
        lost.contains(&782_502) && lost.contains(&71_828),
        "{lost:?}"
    );
    let swapped = format!("{ANDROID}\n\n----------\n\n{IMX6}");
    // Rates without a host's name belong to whoever spoke last; what was counted has its host.
    let counted = |text: &str| -> BTreeSet<String> {
        let findings = findings(text).into_iter();
        let counted = findings.filter(|finding| finding.explains.lost_packets.is_some());
        counted.map(|finding| finding.cause).collect()
    };
    assert_eq!(counted(&swapped), counted(&both));
}
