// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames that died in a MAC's FIFO: overflow on the way in, underrun on the way out.

use super::registers::{RECEIVE_OVERFLOW, counted_by_register};
use crate::evidence::Source;
use crate::facts::Facts;
use crate::facts::vantage::{Counted, Meaning, Vantage};
use linerate_knowledge::Stage;
use linerate_model::record::Side;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if let Some(overflow) = overflow(vantage) {
        let source = &overflow.source;
        ratio(vantage, &overflow, facts);
        vantage.add(facts, "rx_mac_lost", lost(vantage, &overflow), source);
        let between = between(vantage, &overflow);
        vantage.add(facts, "rx_mac_drops_between", between, source);
        vantage.add_counted(facts, "rx_mac_drops", Some(overflow));
    }
    let underrun = underrun(vantage);
    if let (Some(underrun), Some(sent)) = (&underrun, packets(vantage, "tx_packets")) {
        let ratio = underrun.value as f64 / (underrun.value + sent.value) as f64;
        let source = format!("{}, {}", underrun.source, sent.source);
        vantage.add(facts, "tx_underrun_ratio", ratio, &source);
    }
    vantage.add_counted(facts, "tx_underruns", underrun);
}

/// Of the driver's counters and of the MAC's register the one that saw more.
fn overflow(vantage: &Vantage<'_>) -> Option<Counted> {
    let register = counted_by_register(vantage, RECEIVE_OVERFLOW);
    let counters = vantage.overflow().into_iter();
    counters.chain(register).max_by_key(|counted| counted.value)
}

fn underrun(vantage: &Vantage<'_>) -> Option<Counted> {
    let counted = vantage.meaning(Meaning::Underrun);
    let link = || vantage.of_link("tx_fifo_errors");
    let proc = || vantage.of_interface(Source::ProcDev, "tx_fifo");
    counted.or_else(link).or_else(proc)
}

fn ratio(vantage: &Vantage<'_>, overflow: &Counted, facts: &mut Facts) {
    let received = packets(vantage, "rx_packets").or_else(|| passed(vantage));
    if let Some(received) = received.or_else(|| sent(vantage, overflow)) {
        let came = overflow.value + received.value;
        let ratio = overflow.value as f64 / came as f64;
        let source = format!("{}, {}", overflow.source, received.source);
        vantage.add(facts, "rx_mac_drop_ratio", ratio, &source);
    }
}

/// Of a text: frames that died between two readings, whatever else is known of that time; none if it has but one.
fn between(vantage: &Vantage<'_>, overflow: &Counted) -> f64 {
    let watched = vantage.record.pasted && !overflow.since_boot;
    if watched { overflow.value as f64 } else { 0.0 }
}

/// What came through, by the driver's own names.
fn passed(vantage: &Vantage<'_>) -> Option<Counted> {
    let counted = vantage
        .meaning(Meaning::Passed(Stage::RxMac))
        .filter(|counted| counted.value > 0);
    counted.or_else(|| vantage.of_interface(Source::Ethtool, "rx_packets"))
}

/// A text that shows two readings of the overflow and no packets: around the test of which it tells, whose packets they
/// can at most be of.
fn sent(vantage: &Vantage<'_>, overflow: &Counted) -> Option<Counted> {
    if !vantage.record.pasted || overflow.since_boot {
        return None;
    }
    let tests = vantage.record.tests();
    Some(Counted {
        value: tests.filter_map(|test| test.sent_packets).max()?,
        since_boot: false,
        source: "the test's account".to_owned(),
    })
}

fn packets(vantage: &Vantage<'_>, name: &str) -> Option<Counted> {
    vantage
        .of_interface(Source::Link, name)
        .or_else(|| vantage.of_interface(Source::ProcDev, name))
}

/// A test cannot have lost more in the FIFO than it lost.
fn lost(vantage: &Vantage<'_>, overflow: &Counted) -> f64 {
    let received = vantage
        .test
        .filter(|_| vantage.side == Some(Side::Receiver));
    let lost = received.and_then(|test| test.lost_packets);
    overflow.value.min(lost.unwrap_or(u64::MAX)) as f64
}
