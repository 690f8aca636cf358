// SPDX-License-Identifier: MIT OR Apache-2.0
//! IP and what lies around it: neighbours and the qdisc on the way out, the backlog, filters and
//! reassembly on the way in.

use linerate_model::output::Protocol;

use super::claim::{Claims, Kind};
use super::path::Path;
use super::reasons::refused_below_ip;
use super::socket::{Counted, sum};
use super::span::Span;
use crate::evidence::{Moved, Source};
use linerate_knowledge::Stage;
use linerate_model::record::Side;

pub(super) fn collect(path: &Path<'_>, claims: &mut Claims) {
    neighbours(path, claims);
    qdisc(path, claims);
    backlog(path, claims);
    input(path, claims);
}

/// Packets that waited for an address in vain. What IP refused to send came back to the sender as an
/// error, so it is not among the sent, unless the sender does not look.
fn neighbours(path: &Path<'_>, claims: &mut Claims) {
    let side = Side::Sender;
    let source = if path.test.af == 6 {
        Source::NdiscCache
    } else {
        Source::ArpCache
    };
    let waited = Counted::of(path, side, source, "unresolved_discards");
    let refused = (!path.sender.exact).then(|| not_queued(path)).flatten();
    let Some((moved, evidence)) = sum([waited, refused].into_iter().flatten()) else {
        return;
    };
    let seen = pieces(path, moved, path.sender.joined);
    claims.add(path.sender.claim(Stage::TxIp, Kind::Shared, seen, evidence));
}

/// `OutDiscards` also counts what the qdisc dropped, which is booked there.
fn not_queued(path: &Path<'_>) -> Option<Counted> {
    let (source, name) = path.ip("OutDiscards");
    let mut all = Counted::of(path, Side::Sender, source, &name)?;
    let queued = path.counted(Side::Sender, Source::Qdisc, "drops");
    all.moved = all.moved.without(queued.unwrap_or(Moved::nothing()));
    Some(all)
}

/// A drop that a send call reported is not among the sent: as many as the socket counted errors.
fn qdisc(path: &Path<'_>, claims: &mut Claims) {
    let Some(Counted { moved, evidence }) = Counted::of(path, Side::Sender, Source::Qdisc, "drops")
    else {
        return;
    };
    let reported = if path.sender.exact { reported(path) } else { 0 };
    let moved = moved.less(reported).perhaps_without(sent_again(path));
    let seen = pieces(path, moved, path.sender.joined);
    claims.add(
        path.sender
            .claim_at_interface(Stage::TxQdisc, Kind::Shared, seen, vec![evidence]),
    );
}

/// What TCP retransmitted next to a UDP test.
fn sent_again(path: &Path<'_>) -> u64 {
    if path.test.protocol == Protocol::Tcp {
        return 0;
    }
    let again = path.counted(Side::Sender, Source::Snmp, "TcpRetransSegs");
    again.map_or(0, |again| again.grew.at_least)
}

/// How many drops became errors of a send call.
fn reported(path: &Path<'_>) -> u64 {
    if path.test.protocol == Protocol::Tcp {
        return 0;
    }
    let refused = refused_below_ip(path);
    let (source, name) = path.udp("SndbufErrors");
    let errors = path.counted(Side::Sender, source, &name);
    errors.map_or(refused, |errors| errors.grew.at_least)
}

/// The backlog of the processors, and what no protocol wanted.
fn backlog(path: &Path<'_>, claims: &mut Claims) {
    let side = Side::Receiver;
    let Some(Counted { moved, evidence }) = Counted::of(path, side, Source::Softnet, "dropped")
    else {
        return;
    };
    let seen = pieces(path, moved, path.receiver.joined);
    claims.add(
        path.receiver
            .claim(Stage::RxSoftnet, Kind::Shared, seen, vec![evidence]),
    );
}

/// What IP itself says that it dropped. What a filter dropped stands in no counter; the balance of
/// IP finds that, and these then only explain it.
fn input(path: &Path<'_>, claims: &mut Claims) {
    let side = Side::Receiver;
    let counted = input_names(path)
        .into_iter()
        .filter_map(|(source, name)| Counted::of(path, side, source, &name));
    let Some((moved, evidence)) = sum(counted) else {
        return;
    };
    let found_at_checksum = Counted::of(path, side, Source::Netstat, "IpExtInCsumErrors");
    let moved = match found_at_checksum {
        Some(bad) if path.test.af != 6 => moved.without(bad.moved),
        _ => moved,
    };
    let mut seen = pieces(path, moved, path.receiver.joined);
    if path.fragments > 1 {
        seen = seen.plus(not_whole(path));
    }
    claims.add(
        path.receiver
            .claim(Stage::RxIp, Kind::Shared, seen, evidence),
    );
}

/// A datagram that was never whole again may have lost its fragment anywhere.
fn not_whole(path: &Path<'_>) -> Span {
    let (source, name) = path.ip("ReasmFails");
    let fails = path.moved(Side::Receiver, source, &name);
    Span::new(0, fails.map_or(0, |fails| fails.seen(path.lost).hi))
}

/// `InHdrErrors` contains `IpExtInCsumErrors`, and no other contains another.
fn input_names(path: &Path<'_>) -> Vec<(Source, String)> {
    let mut names: Vec<_> = [
        "InHdrErrors",
        "InAddrErrors",
        "InDiscards",
        "InUnknownProtos",
    ]
    .map(|name| path.ip(name))
    .to_vec();
    if path.test.af == 6 {
        names.extend(["InNoRoutes", "InTruncatedPkts", "InTooBigErrors"].map(|n| path.ip(n)));
    } else {
        let extended = [
            "IpExtInNoRoutes",
            "IpExtInTruncatedPkts",
            "TcpExtIPReversePathFilter",
        ];
        names.extend(extended.map(|name| (Source::Netstat, name.to_owned())));
    }
    let conntrack = ["drop", "insert_failed"];
    names.extend(conntrack.map(|name| (Source::Conntrack, name.to_owned())));
    names
}

/// Frames of the stack as packets of the test.
pub(super) fn pieces(path: &Path<'_>, moved: Moved, joined: u64) -> Span {
    moved
        .seen(path.lost)
        .each_up_to(joined)
        .pieces_of(path.fragments)
}
