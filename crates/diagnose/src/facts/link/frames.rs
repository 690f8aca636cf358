// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames that arrived broken, collisions, and a link that went away.

use crate::evidence::Source;
use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage};
use linerate_knowledge::Group;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let mut add = |name, unit, counted| vantage.add_counted(facts, name, unit, counted);
    add(
        "rx_length_errors",
        "frames",
        link(vantage, "rx_length_errors"),
    );
    add(
        "align_errors",
        "frames",
        either(vantage, "rx_frame_errors", "AlignmentErrors"),
    );
    add(
        "late_collisions",
        "events",
        either(vantage, "tx_window_errors", "LateCollisions"),
    );
    add(
        "carrier_changes",
        "events",
        link(vantage, "carrier_changes").filter(|counted| !counted.since_boot),
    );
    let collisions =
        link(vantage, "collisions").or_else(|| vantage.of_interface(Source::ProcDev, "tx_colls"));
    add("collisions", "events", collisions);
    add("fec_uncorrected", "blocks", uncorrected(vantage));
    checks(vantage, facts);
    logged(vantage, facts);
}

fn checks(vantage: &Vantage<'_>, facts: &mut Facts) {
    let Some(wrong) = either(vantage, "rx_crc_errors", "FrameCheckSequenceErrors") else {
        return;
    };
    if let Some(right) = vantage.of_interface(Source::Link, "rx_packets") {
        let came = (wrong.value + right.value).max(1);
        vantage.add(
            facts,
            "crc_error_ratio",
            wrong.value as f64 / came as f64,
            "ratio",
            &wrong.source,
        );
    }
    vantage.add_counted(facts, "crc_errors", "frames", Some(wrong));
}

/// A link counter and the MAC's own of the same: the larger, since a packet shows in both.
fn either(vantage: &Vantage<'_>, of_link: &str, of_mac: &str) -> Option<Counted> {
    let all = [
        link(vantage, of_link),
        vantage.of_interface("eth-mac", of_mac),
    ];
    all.into_iter()
        .flatten()
        .max_by_key(|counted| counted.value)
}

/// A link counter, unless this driver never fills it.
fn link(vantage: &Vantage<'_>, name: &str) -> Option<Counted> {
    let blind = vantage
        .table()
        .is_some_and(|table| table.is_blind(Group::Link, name));
    vantage.of_interface(Source::Link, name).filter(|_| !blind)
}

fn uncorrected(vantage: &Vantage<'_>) -> Option<Counted> {
    let sources = [
        ("fec", "uncorrectable_blocks"),
        ("ethtool -I --show-fec", "uncorrectable_blocks"),
        ("ethtool -S", "fec_uncorrectable_blocks"),
        ("ethtool -S", "fec_uncorrectable_errors_phy"),
        ("ethtool -S", "rx_fec_uncorrectable_errors"),
    ];
    sources
        .into_iter()
        .find_map(|(source, name)| vantage.of_interface(source, name))
}

/// Once per host, not per interface: the log's lines are not assigned to interfaces here.
fn logged(vantage: &Vantage<'_>, facts: &mut Facts) {
    if vantage.test.is_some() || vantage.interface.is_some() {
        return;
    }
    let logs = vantage
        .record
        .run
        .settings
        .iter()
        .filter(|setting| setting.host == vantage.host && setting.source == "dmesg");
    let mut logs = logs.peekable();
    if logs.peek().is_none() {
        return;
    }
    let lines = logs
        .flat_map(|setting| setting.values.values())
        .map(|line| line.to_ascii_lowercase());
    let downs = lines
        .filter(|line| line.contains("link is down") || line.contains("link down"))
        .count();
    vantage.add(facts, "link_downs_logged", downs as f64, "events", "dmesg");
}
