// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flow control: what both ends offer, what is in force, and how often it was used.

use super::registers::{self, PAUSE_SENT, counted_by_register};
use crate::calc::pause::{ability_of_words, time_s};
use crate::evidence::Source;
use crate::facts::Facts;
use crate::facts::vantage::{Meaning, Vantage};
use linerate_registers::{Ability, Pause};

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if vantage.interface.is_some() && vantage.test.is_none() {
        vantage.add(facts, "pause_settable", is_settable(vantage), "ethtool -a");
        offers(vantage, facts);
        agreement(vantage, facts);
        longest(vantage, facts);
    }
    frames(vantage, facts);
}

/// Not where the settings were read and the driver has none of flow control. A text need not show all.
fn is_settable(vantage: &Vantage<'_>) -> bool {
    let was_read = !vantage.record.pasted && vantage.set_up("ethtool -i", "driver").is_some();
    !was_read || vantage.set_up("ethtool -a", "Autonegotiate").is_some()
}

fn agreement(vantage: &Vantage<'_>, facts: &mut Facts) {
    let in_force = in_force(vantage);
    vantage.add(facts, "pause_known", in_force.is_some(), "ethtool -a");
    let Some((in_force, source)) = in_force else {
        return;
    };
    vantage.add(facts, "pause_tx", word(in_force.tx), source);
    vantage.add(facts, "pause_rx", word(in_force.rx), source);
    let because = missing_because(vantage).filter(|_| !in_force.tx);
    vantage.add(facts, "pause_missing_because", because, "ethtool");
}

fn offers(vantage: &Vantage<'_>, facts: &mut Facts) {
    let offered = vantage.set_up("ethtool", OFFERED);
    vantage.add(facts, "pause_offered", offered, "ethtool");
    let offered = vantage.set_up("ethtool", PARTNER_OFFERED);
    vantage.add(facts, "pause_offered_by_partner", offered, "ethtool");
}

/// What holds: what was set by force; else what `ethtool -a` calls negotiated; else what follows from
/// both offers, or from ours alone where we offer nothing; else the MAC's own register; else what was asked for.
fn in_force(vantage: &Vantage<'_>) -> Option<(Pause, &'static str)> {
    let set = |tx, rx| {
        let on = |key| vantage.set_up("ethtool -a", key).map(|word| word == "on");
        Some(Pause {
            tx: on(tx)?,
            rx: on(rx)?,
        })
    };
    let asked = set("TX", "RX");
    if vantage.set_up("ethtool -a", "Autonegotiate") == Some("off") {
        return Some((asked?, "ethtool -a"));
    }
    let negotiated = set("TX negotiated", "RX negotiated").map(|found| (found, "ethtool -a"));
    let agreed = || Some((agreed(vantage)?, "ethtool, linkmode_resolve_pause"));
    let register =
        || registers::pause(vantage).map(|on| (Pause { tx: on, rx: on }, "registers RCR"));
    let asked = || Some((asked?, "ethtool -a"));
    negotiated.or_else(agreed).or_else(register).or_else(asked)
}

/// Whether a driver's list of modes has pause at all. Some leave it out, and only `ethtool -a` shows what is on; a virtual
/// card has neither modes nor pause.
fn modes_tell_pause(vantage: &Vantage<'_>) -> bool {
    let leaves_out = vantage
        .driver_name()
        .is_some_and(|driver| LEAVE_OUT.contains(&driver));
    // The PHY of an old chip offers what its driver does not support.
    let only_phy = vantage.set_up("ethtool", SUPPORTED) == Some("No")
        && vantage.set_up("ethtool", OFFERED) != Some("No");
    let negotiates = vantage.set_up("ethtool", NEGOTIATES) != Some("No") && !only_phy;
    let is_set = vantage.set_up("ethtool -a", "TX").is_some();
    !leaves_out && (negotiates || is_set)
}

fn agreed(vantage: &Vantage<'_>) -> Option<Pause> {
    if !modes_tell_pause(vantage) {
        return None;
    }
    let offer = |key| ability_of_words(vantage.set_up("ethtool", key)?);
    let nothing = Ability::default();
    let ours = offer(OFFERED)?;
    let theirs = if ours == nothing {
        nothing
    } else {
        offer(PARTNER_OFFERED)?
    };
    Some(ours.with(theirs))
}

fn missing_because(vantage: &Vantage<'_>) -> Option<&'static str> {
    let negotiates = |source, key| vantage.set_up(source, key) != Some("off");
    if !negotiates("ethtool", "Auto-negotiation") || !negotiates("ethtool -a", "Autonegotiate") {
        return Some("no-negotiation");
    }
    if !modes_tell_pause(vantage) {
        return None;
    }
    match (
        vantage.set_up("ethtool", OFFERED)?,
        vantage.set_up("ethtool", PARTNER_OFFERED),
    ) {
        ("No", _) => Some("this-end"),
        (_, Some("No")) => Some("partner"),
        (_, Some(_)) => Some("no-match"),
        (_, None) => None,
    }
}

fn frames(vantage: &Vantage<'_>, facts: &mut Facts) {
    let counted = |asked, name| {
        let described = vantage.meaning(asked).into_iter();
        let all = described.chain(vantage.of_interface(Source::Pause, name));
        all.max_by_key(|counted| counted.value)
    };
    let sent = counted(Meaning::PauseSent, "tx_pause_frames")
        .or_else(|| counted_by_register(vantage, PAUSE_SENT));
    let received = counted(Meaning::PauseReceived, "rx_pause_frames");
    let duration = vantage.test.map(|test| test.duration_s);
    let span = duration
        .or_else(|| between(vantage))
        .filter(|span| *span > 0.0);
    if let Some((received, span)) = received.as_ref().zip(span) {
        let rate = received.value as f64 / span;
        vantage.add(facts, "rx_pause_frames_per_second", rate, &received.source);
    }
    vantage.add_counted(facts, "tx_pause_frames", sent);
    vantage.add_counted(facts, "rx_pause_frames", received);
}

/// How far two readings outside of any test are apart, seconds.
fn between(vantage: &Vantage<'_>) -> Option<f64> {
    let outside = vantage.without_test().counters();
    let mut sources = ["ethtool -S", "ethtool -I -a"].into_iter();
    sources.find_map(|source| outside.span_s(source))
}

fn longest(vantage: &Vantage<'_>, facts: &mut Facts) {
    let speed = vantage.link_bits_per_second();
    let longest = speed.map(|speed| time_s(u16::MAX, speed) * 1e3);
    vantage.add(facts, "pause_longest_ms", longest, "IEEE 802.3 annex 31B");
}

const fn word(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Drivers that negotiate pause and list none (e1000_get_link_ksettings of both, drivers/net/ethernet/intel).
const LEAVE_OUT: [&str; 2] = ["e1000", "e1000e"];
const NEGOTIATES: &str = "Supports auto-negotiation";
const SUPPORTED: &str = "Supported pause frame use";
const OFFERED: &str = "Advertised pause frame use";
const PARTNER_OFFERED: &str = "Link partner advertised pause frame use";
