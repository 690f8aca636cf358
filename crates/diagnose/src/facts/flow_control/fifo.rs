// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames that died in a MAC's FIFO: overflow on the way in, underrun on the way out.

use super::registers::{RECEIVE_OVERFLOW, counted_by_register};
use crate::facts::Facts;
use crate::facts::vantage::{Counted, Meaning, Vantage};
use linerate_knowledge::{Group, Stage};
use linerate_model::record::Side;

pub(super) fn collect(place: &Vantage<'_>, facts: &mut Facts) {
    let overflow = overflow(place);
    ratio(place, overflow.as_ref(), facts);
    lost(place, overflow.as_ref(), facts);
    between(place, overflow.as_ref(), facts);
    place.add_counted(facts, "rx_mac_drops", "frames", overflow);
    let underrun = underrun(place);
    if let (Some(underrun), Some(sent)) = (&underrun, packets(place, "tx_packets")) {
        let ratio = underrun.value as f64 / (underrun.value + sent.value) as f64;
        let source = format!("{}, {}", underrun.source, sent.source);
        place.add(facts, "tx_underrun_ratio", ratio, "ratio", &source);
    }
    place.add_counted(facts, "tx_underruns", "frames", underrun);
}

/// Of the driver's counters and of the MAC's register the one that saw more.
fn overflow(place: &Vantage<'_>) -> Option<Counted> {
    let register = counted_by_register(place, RECEIVE_OVERFLOW);
    let counters = place.overflow().into_iter();
    counters.chain(register).max_by_key(|counted| counted.value)
}

fn underrun(place: &Vantage<'_>) -> Option<Counted> {
    let counted = place.meaning(Meaning::Underrun);
    let blind = place
        .table()
        .is_some_and(|table| table.is_blind(Group::Link, "tx_fifo_errors"));
    let link = || {
        place
            .of_interface("rtnl_link_stats64", "tx_fifo_errors")
            .filter(|_| !blind)
    };
    counted
        .or_else(link)
        .or_else(|| place.of_interface("/proc/net/dev", "tx_fifo"))
}

fn ratio(place: &Vantage<'_>, overflow: Option<&Counted>, facts: &mut Facts) {
    let received = || packets(place, "rx_packets").or_else(|| passed(place));
    if let (Some(overflow), Some(received)) = (
        overflow,
        overflow.and_then(|overflow| received().or_else(|| sent(place, overflow))),
    ) {
        let came = overflow.value + received.value;
        let ratio = overflow.value as f64 / came as f64;
        let source = format!("{}, {}", overflow.source, received.source);
        place.add(facts, "rx_mac_drop_ratio", ratio, "ratio", &source);
    }
}

/// Of a text: frames that died between two readings, whatever else is known of that time; none if it has but one.
fn between(place: &Vantage<'_>, overflow: Option<&Counted>, facts: &mut Facts) {
    let Some(overflow) = overflow else { return };
    let watched = place.record.pasted && !overflow.since_boot;
    let count = if watched { overflow.value } else { 0 };
    place.add(
        facts,
        "rx_mac_drops_between",
        count as f64,
        "frames",
        &overflow.source,
    );
}

/// What came through, by the driver's own names.
fn passed(place: &Vantage<'_>) -> Option<Counted> {
    let counted = place
        .meaning(Meaning::Passed(Stage::RxMac))
        .filter(|counted| counted.value > 0);
    counted.or_else(|| place.of_interface("ethtool -S", "rx_packets"))
}

/// A text that shows two readings of the overflow and no packets: around the test of which it tells, whose packets they
/// can at most be of.
fn sent(place: &Vantage<'_>, overflow: &Counted) -> Option<Counted> {
    let watched = place.record.pasted && !overflow.since_boot;
    let tests = place.record.run.tests.iter().filter(|_| watched);
    Some(Counted {
        value: tests.filter_map(|test| test.sent_packets).max()?,
        since_boot: false,
        source: "the test's account".to_owned(),
    })
}

fn packets(place: &Vantage<'_>, name: &str) -> Option<Counted> {
    place
        .of_interface("rtnl_link_stats64", name)
        .or_else(|| place.of_interface("/proc/net/dev", name))
}

/// A test cannot have lost more in the FIFO than it lost.
fn lost(place: &Vantage<'_>, overflow: Option<&Counted>, facts: &mut Facts) {
    let Some(overflow) = overflow else { return };
    let lost = place
        .test
        .filter(|_| place.side == Some(Side::Receiver))
        .and_then(|test| test.lost_packets);
    let at_most = overflow.value.min(lost.unwrap_or(u64::MAX)) as f64;
    place.add(facts, "rx_mac_lost", at_most, "packets", &overflow.source);
}
