// SPDX-License-Identifier: MIT OR Apache-2.0
//! No rule waits for evidence that cannot be given: what a catalogue's command prints is read, or the reason why it
//! cannot be stands here.

use std::collections::BTreeSet;

use linerate_diagnose::explain::explain;
use linerate_diagnose::{facts, rules};
use linerate_paste as paste;

/// What people paste: each file a host and its tests.
const TEXTS: &[&str] = &[
    include_str!("server.txt"),
    include_str!("board.txt"),
    include_str!("router.txt"),
    include_str!("paced.txt"),
    include_str!("twice.txt"),
    include_str!("optics.txt"),
    include_str!("../field_reports/android.txt"),
    include_str!("../field_reports/imx6-after.txt"),
    include_str!("../field_reports/imx6-comments.txt"),
    include_str!("../field_reports/imx6-pause.txt"),
    include_str!("../field_reports/imx6-registers.txt"),
    include_str!("../field_reports/imx6.txt"),
    include_str!("../field_reports/mpc8240.txt"),
    include_str!("../field_reports/solaris.txt"),
    include_str!("../field_reports/ten64.txt"),
    include_str!("../field_reports/posts/bond.txt"),
    include_str!("../field_reports/posts/dpaa2.txt"),
    include_str!("../field_reports/posts/duplex.txt"),
    include_str!("../field_reports/posts/german.txt"),
    include_str!("../field_reports/posts/healthy.txt"),
    include_str!("../field_reports/posts/igb-nobuf.txt"),
    include_str!("../field_reports/posts/lan78xx.txt"),
    include_str!("../field_reports/posts/mvneta.txt"),
    include_str!("../field_reports/posts/r8169-eee.txt"),
    include_str!("../field_reports/posts/spanish.txt"),
    include_str!("../field_reports/posts/stmmac.txt"),
    include_str!("../field_reports/posts/windows.txt"),
];

/// Every fact that a rule asks for, of this end or of the other.
fn asked() -> BTreeSet<&'static str> {
    let names = rules::embedded().iter().flat_map(rules::Rule::asks);
    names
        .map(|name| name.strip_prefix(facts::PEER).unwrap_or(name))
        .collect()
}

/// Every fact that the texts give.
fn given() -> BTreeSet<String> {
    let records = TEXTS.iter().flat_map(|text| paste::read(text).records);
    let facts = records.flat_map(|record| explain(&record, rules::embedded()).facts);
    facts.map(|fact| fact.name).collect()
}

#[test]
fn what_a_command_tells_is_read_from_its_text() {
    let given = given();
    let nobody: Vec<String> = asked()
        .into_iter()
        .filter(|name| {
            !given.contains(*name)
                && !MEASURED.iter().any(|(measured, _)| measured == name)
                && !OF_A_TEST.iter().any(|prefix| name.starts_with(prefix))
        })
        .map(|name| {
            format!(
                "{name}: {}",
                facts::known(name).map_or("", |known| known.tells)
            )
        })
        .collect();
    assert!(nobody.is_empty(), "no text gives:\n{}", nobody.join("\n"));
}

/// An exception that is none any more has to go.
#[test]
fn what_only_a_measurement_tells_is_not_read_from_texts() {
    let (given, asked) = (given(), asked());
    let no_more = MEASURED
        .iter()
        .filter(|(name, _)| given.contains(*name) || !asked.contains(name));
    let no_more: Vec<_> = no_more.collect();
    assert!(
        no_more.is_empty(),
        "pasted after all, or asked for by no rule: {no_more:?}"
    );
}

/// How facts begin that only the trials of a device under test give, or the ledger of a test of ours.
const OF_A_TEST: &[&str] = &["device_", "forward_", "least_lost_at_", "tester_limited"];

/// What no text of another tool tells, and who tells it.
const MEASURED: &[(&str, &str)] = &[
    (
        "ecn_bleached_ratio",
        "how the datagrams of a test arrived: our receiver's account",
    ),
    (
        "ecn_ce_ratio",
        "how the datagrams of a test arrived: our receiver's account",
    ),
    (
        "fec_symbols_most",
        "the histogram as ethtool prints it has no reader",
    ),
    (
        "fec_symbols_worst",
        "the histogram as ethtool prints it has no reader",
    ),
    (
        "neighbour_address",
        "needs the tables of both ends of a test",
    ),
    (
        "neighbour_answers_from",
        "needs the tables of both ends of a test",
    ),
    (
        "neighbour_is_foreign",
        "needs the tables of both ends of a test",
    ),
    (
        "neighbour_is_other_interface",
        "needs the tables of both ends of a test",
    ),
    (
        "alone_ratio",
        "needs a test both ways and one each way: check",
    ),
    (
        "buffer_absorbs_ratio",
        "which datagrams were lost: our receiver's account",
    ),
    ("csum_error_ratio", "counted around one test"),
    (
        "csum_errors_short_only",
        "counted around tests of several sizes",
    ),
    (
        "duplicate_ratio",
        "which datagrams were lost: our receiver's account",
    ),
    (
        "frequency_change_ratio",
        "compares two readings of one run; two states of a text are two records",
    ),
    (
        "idle_busiest_cpu",
        "read in the idle interval before our test",
    ),
    ("ip_layer_missing", "counted around one test"),
    ("link_kind", "reported by a peer that runs this program"),
    (
        "listen_overflows",
        "counted while our server accepts the streams of a test",
    ),
    ("loaded_rtt_ms", "our probe beside a load"),
    (
        "loss_burst_packets",
        "which datagrams were lost: our receiver's account",
    ),
    (
        "loss_run_longest_ms",
        "which datagrams were lost: our receiver's account",
    ),
    (
        "loss_run_mean",
        "which datagrams were lost: our receiver's account",
    ),
    (
        "path_ceiling_bits_per_second",
        "what was lost on the wire and what after it: the ledger of our own tests",
    ),
    (
        "path_ceiling_packets_per_second",
        "what was lost on the wire and what after it: the ledger of our own tests",
    ),
    (
        "path_ceiling_unit",
        "what was lost on the wire and what after it: the ledger of our own tests",
    ),
    (
        "receiver_cpu_ratio",
        "the reading threads' own account: our receiver",
    ),
    (
        "receiver_run_delay_ms_max",
        "the reading threads' own account: our receiver",
    ),
    (
        "loss_spacing_variation",
        "which datagrams were lost: our receiver's account",
    ),
    (
        "sender_behind_ms",
        "what our sender was late by: its own account",
    ),
    (
        "stalled_mss_bytes",
        "a second control connection, which only our client makes",
    ),
    (
        "lost_at_rx_mac",
        "the ledger of a test of ours: counters around it, at both ends",
    ),
    (
        "lost_at_rx_ring",
        "the ledger of a test of ours: counters around it, at both ends",
    ),
    (
        "lost_at_rx_socket",
        "the ledger of a test of ours: counters around it, at both ends",
    ),
    (
        "lost_at_wire",
        "the ledger of a test of ours: counters around it, at both ends",
    ),
    (
        "nothing_received",
        "which datagrams were lost: our receiver's account",
    ),
    (
        "most_buffer_absorbs_ratio",
        "which datagrams were lost: our receiver's account",
    ),
    ("one_machine", "reported by a peer that runs this program"),
    (
        "output_filter_drops",
        "which packets of the test a filter refused: our sender's account and the kernel's reasons",
    ),
    (
        "packet_bound_up_to_bytes",
        "needs the highest rates of four sizes: sweep",
    ),
    (
        "receive_buffer_asked_bytes",
        "reported by a peer that runs this program",
    ),
    (
        "receive_buffer_cut_by",
        "what was asked for and what was granted: our own socket",
    ),
    (
        "path_ceiling",
        "the ledger of a test of ours: counters around it, at both ends",
    ),
    (
        "probe_ends_busy",
        "read in the idle interval before our test",
    ),
    (
        "probe_stall_ms",
        "our probe beside TCP, phase by phase: check",
    ),
    ("refused_packets", "our sender's account"),
    (
        "run_delay_ratio",
        "a rate: a text does not say how long the counter grew",
    ),
    ("rx_bytes_per_packet", "counted around one test"),
    (
        "speed_ratio",
        "the interface of each end of a test: reported by a peer that runs this program",
    ),
    (
        "start_loss_share",
        "which datagrams were lost: our receiver's account",
    ),
    ("timeout_share", "counted around one test"),
];
