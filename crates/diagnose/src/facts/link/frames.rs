// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames that arrived broken, collisions, and a link that went away.

use crate::evidence::Source;
use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage};

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let mut add = |name, counted| vantage.add_counted(facts, name, counted);
    add("rx_length_errors", vantage.of_link("rx_length_errors"));
    let unaligned = either(vantage, "rx_frame_errors", "AlignmentErrors");
    add("align_errors", unaligned);
    let late = either(vantage, "tx_window_errors", "LateCollisions");
    add("late_collisions", late);
    let changes = vantage.of_link("carrier_changes");
    add(
        "carrier_changes",
        changes.filter(|counted| !counted.since_boot),
    );
    let of_proc = || vantage.of_interface(Source::ProcDev, "tx_colls");
    add("collisions", vantage.of_link("collisions").or_else(of_proc));
    let uncorrected = uncorrected(vantage);
    let since_boot = uncorrected.as_ref().map(|counted| counted.since_boot);
    add("fec_uncorrected", uncorrected);
    vantage.add(facts, "fec_since_boot", since_boot, Source::Fec.text());
    checks(vantage, facts);
    logged(vantage, facts);
}

fn checks(vantage: &Vantage<'_>, facts: &mut Facts) {
    let Some(wrong) = either(vantage, "rx_crc_errors", "FrameCheckSequenceErrors") else {
        return;
    };
    if let Some(right) = vantage.of_interface(Source::Link, "rx_packets") {
        let came = (wrong.value + right.value).max(1);
        let ratio = wrong.value as f64 / came as f64;
        vantage.add(facts, "crc_error_ratio", ratio, &wrong.source);
    }
    vantage.add_counted(facts, "crc_errors", Some(wrong));
}

/// A link counter and the MAC's own of the same: the larger, since a packet shows in both.
fn either(vantage: &Vantage<'_>, of_link: &str, of_mac: &str) -> Option<Counted> {
    let of_mac = vantage.of_interface("eth-mac", of_mac);
    let all = vantage.of_link(of_link).into_iter().chain(of_mac);
    all.max_by_key(|counted| counted.value)
}

fn uncorrected(vantage: &Vantage<'_>) -> Option<Counted> {
    let sources = [
        ("fec", "uncorrectable_blocks"),
        (Source::Fec.text(), "uncorrectable_blocks"),
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
    if vantage.is_host_alone() {
        let downs = vantage.logged(|line| {
            let line = line.to_ascii_lowercase();
            line.contains("link is down") || line.contains("link down")
        });
        let downs = downs.map(|lines| lines as f64);
        vantage.add(facts, "link_downs_logged", downs, "dmesg");
    }
}
