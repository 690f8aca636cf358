// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs that differ in their labels: directions, tunnels, containers, inside and outside.

use super::row::Row;
use super::totals;
use crate::weigh::derived::Fact;

/// The faster direction over the slower one.
pub(super) fn directions(rows: &[Row<'_>]) -> Option<Fact> {
    let totals = totals(rows);
    let of = |back: bool| {
        let own = totals
            .iter()
            .filter(move |row| !row.is_udp && row.is_labelled(BACK, &[]) == back);
        own.max_by(|one, other| one.rate.total_cmp(&other.rate))
    };
    let (there, back) = (of(false)?, of(true)?);
    let (low, high) = (there.rate.min(back.rate), there.rate.max(back.rate));
    (low > 0.0).then(|| Fact::new("direction_ratio", high / low, back.line))
}

/// The highest rate under one label over that under another one.
pub(super) fn labelled(
    rows: &[Row<'_>],
    name: &'static str,
    one: &[&str],
    other: &[&str],
) -> Option<Fact> {
    let totals = totals(rows);
    let of = |marks: &[&str], not: &[&str]| {
        let own = totals.iter().filter(|row| row.is_labelled(marks, not));
        own.map(|row| (row.rate, row.line))
            .max_by(|one, other| one.0.total_cmp(&other.0))
    };
    let ((rate, line), (base, _)) = (of(one, other)?, of(other, &[])?);
    (base > 0.0).then(|| Fact::new(name, rate / base, line))
}

/// Fast inside the own network and slow outside; `false` where both are alike.
pub(super) fn inside(rows: &[Row<'_>]) -> Option<Fact> {
    let fact = labelled(rows, "inside_fast_outside_slow", OUTSIDE, INSIDE)?;
    let ratio: f64 = fact.value.parse().ok()?;
    (!(0.5..=0.8).contains(&ratio)).then(|| Fact {
        value: (ratio < 0.5).to_string(),
        ..fact
    })
}

/// Labels of the direction from the server.
const BACK: &[&str] = &[" -R", "-R ", "everse mode", "erver to client", "ownload"];
pub(super) const TUNNEL: &[&str] = &[
    "VPN", "vpn", "unnel", "ireguard", "ireGuard", "IPsec", "ipsec", " wg", "tun0",
];
pub(super) const PLAIN: &[&str] = &[
    "ithout",
    "irect",
    "plain",
    "no VPN",
    "no vpn",
    "bare",
    "underlay",
    "nencrypted",
];
pub(super) const CONTAINER: &[&str] = &["ontainer", "ocker", "podman", " pod", "pod:", "pod "];
pub(super) const HOST: &[&str] = &[
    "host:",
    "on the host",
    "host to host",
    "bare metal",
    "the host itself",
    "host network",
];
const INSIDE: &[&str] = &[
    "inside",
    "Inside",
    "LAN",
    " lan",
    "ocal network",
    "same switch",
];
const OUTSIDE: &[&str] = &["outside", "Outside", "WAN", "nternet", "public server"];
