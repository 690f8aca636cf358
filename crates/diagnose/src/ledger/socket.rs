// SPDX-License-Identifier: MIT OR Apache-2.0
//! Both ends' sockets, and wrong checksums, which are found there.
//!
//! A checksum that is wrong at the socket was right at the sender, and each link's own check sum
//! (IEEE 802.3 FCS) passed: the packet was changed between the two. So it is booked at `wire`.

use linerate_model::output::{Evidence, Protocol};

use super::account::of_test;
use super::claim::{Claims, Kind, evidence};
use super::path::Path;
use super::span::Span;
use crate::evidence::{Moved, Source};
use linerate_knowledge::Stage;
use linerate_model::record::Side;

pub(super) fn collect(path: &Path<'_>, claims: &mut Claims) {
    match path.test.protocol {
        Protocol::Udp => {
            wrong_checksums(path, claims);
            datagrams(path, claims);
            if !path.sender.exact {
                send_buffer(path, claims);
            }
        }
        Protocol::Tcp => segments(path, claims),
    }
}

/// A UDP counter of one side.
fn udp(path: &Path<'_>, side: Side, name: &str) -> Option<Counted> {
    let (source, name) = path.udp(name);
    Counted::of(path, side, source, &name)
}

/// A counter that can be read.
pub(super) struct Counted {
    pub(super) moved: Moved,
    pub(super) evidence: Evidence,
}

impl Counted {
    pub(super) fn of(path: &Path<'_>, side: Side, source: Source, name: &str) -> Option<Self> {
        let moved = path.moved(side, source, name)?;
        let grew = moved.grew.at_least;
        Some(Self {
            moved,
            evidence: evidence(name, grew, "packets", source.text()),
        })
    }
}

/// Adds up the counters that can be read; `None` if none can.
pub(super) fn sum(counted: impl IntoIterator<Item = Counted>) -> Option<(Moved, Vec<Evidence>)> {
    let both = |(moved, mut evidence): (Moved, Vec<Evidence>), one: Counted| {
        evidence.push(one.evidence);
        (moved.plus(one.moved), evidence)
    };
    let mut counted = counted.into_iter();
    let first = counted.next()?;
    Some(counted.fold((first.moved, vec![first.evidence]), both))
}

/// Of the header (IPv4) and of the datagram.
fn wrong_checksums(path: &Path<'_>, claims: &mut Claims) {
    let of_header = (path.test.af != 6)
        .then(|| Counted::of(path, Side::Receiver, Source::Netstat, "IpExtInCsumErrors"))
        .flatten();
    let of_datagram = udp(path, Side::Receiver, "InCsumErrors");
    let Some((moved, evidence)) = sum([of_datagram, of_header].into_iter().flatten()) else {
        return;
    };
    let seen = moved.seen(path.lost).each_up_to(path.receiver.joined);
    let receiver = &path.receiver;
    claims.add(receiver.claim_at_interface(Stage::Wire, Kind::Shared, seen, evidence));
}

/// The receiving socket: its own count where there is one, else the host's.
fn datagrams(path: &Path<'_>, claims: &mut Claims) {
    let side = Side::Receiver;
    let parts = ["RcvbufErrors", "MemErrors"].map(|name| udp(path, side, name));
    let of_host = sum(parts.into_iter().flatten());
    let csum = udp(path, side, "InCsumErrors");
    let (kind, seen, evidence) = match path.test.socket_drops {
        Some(drops) => {
            let bad = csum.map_or(Span::default(), |csum| csum.moved.seen(path.lost));
            let mut evidence = vec![of_test("socket_drops", drops)];
            evidence.extend(of_host.into_iter().flat_map(|(_, evidence)| evidence));
            (Kind::Exact, own_drops(path, drops).without(bad), evidence)
        }
        None => {
            let Some((moved, evidence)) = of_host else {
                return;
            };
            let seen = moved.seen(path.lost).each_up_to(path.receiver.joined);
            (Kind::Shared, seen, evidence)
        }
    };
    let claim = path.receiver.claim(Stage::RxSocket, kind, seen, evidence);
    if kind == Kind::Exact {
        claims.complete(claim);
    } else {
        claims.add(claim);
        remainder(path, claims);
    }
}

/// The kernel counts joined datagrams as one drop, and copies of what arrived as well.
fn own_drops(path: &Path<'_>, drops: u64) -> Span {
    let test = path.test;
    let copies = test.duplicate_packets.unwrap_or(0);
    let arrived = test.received_packets.unwrap_or(0).saturating_add(copies);
    let of_copies = u128::from(drops) * 2 * u128::from(copies);
    let of_copies = u64::try_from(of_copies.div_ceil(u128::from(arrived.max(1)))).unwrap_or(drops);
    let most = if !test.socket_drops_at_least {
        drops
    } else {
        let joined = path.joined_packets();
        joined.map_or(path.lost.max(drops), |more| drops.saturating_add(more))
    };
    Span::new(drops.saturating_sub(of_copies), most)
}

/// What a socket refused for other reasons, and what came to no socket. `InErrors` contains its parts.
fn remainder(path: &Path<'_>, claims: &mut Claims) {
    let side = Side::Receiver;
    let Some(all) = udp(path, side, "InErrors") else {
        return;
    };
    let parts = ["RcvbufErrors", "MemErrors", "InCsumErrors"].map(|name| udp(path, side, name));
    let known = sum(parts.into_iter().flatten()).map_or(Moved::nothing(), |(moved, _)| moved);
    let seen = all.moved.without(known).seen(path.lost);
    claims.add(
        path.receiver
            .claim(Stage::RxSocket, Kind::Shared, seen, vec![all.evidence]),
    );
}

/// `SndbufErrors` also counts what the qdisc dropped, which is booked there.
fn send_buffer(path: &Path<'_>, claims: &mut Claims) {
    let Some(all) = udp(path, Side::Sender, "SndbufErrors") else {
        return;
    };
    let queued = path
        .counted(Side::Sender, Source::Qdisc, "drops")
        .unwrap_or(Moved::nothing());
    let seen = all.moved.without(queued).seen(path.lost);
    claims.add(
        path.sender
            .claim(Stage::TxSocket, Kind::Shared, seen, vec![all.evidence]),
    );
}

/// What TCP's receiving sockets threw away.
fn segments(path: &Path<'_>, claims: &mut Claims) {
    let names = [
        "TcpExtTCPRcvQDrop",
        "TcpExtTCPBacklogDrop",
        "TcpExtTCPOFODrop",
        "TcpExtTCPZeroWindowDrop",
    ];
    let side = Side::Receiver;
    let counted = names.map(|name| Counted::of(path, side, Source::Netstat, name));
    let Some((moved, evidence)) = sum(counted.into_iter().flatten()) else {
        return;
    };
    let seen = moved.seen(path.lost).each_up_to(path.receiver.joined);
    claims.add(
        path.receiver
            .claim(Stage::RxSocket, Kind::Shared, seen, evidence),
    );
}
