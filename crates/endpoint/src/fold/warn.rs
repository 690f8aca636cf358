// SPDX-License-Identifier: MIT OR Apache-2.0
//! Warnings about numbers that can mislead, and whether a test is valid.

use super::unsent::{cause, unsent_of_due};
use super::{Fold, Pair};
use linerate_model::output::{Direction, IoMode, LinkKind, Test, Warning};

/// Adds the warnings and the validity.
pub(super) fn judge(test: &mut Test, fold: &Fold<'_>) {
    let found = [
        buffer_not_granted(test, fold),
        drops_at_least(test),
        other_mode(test, fold),
        sender_limited(test, fold),
        stream_failed(test, fold),
        not_pinned(fold),
        virtual_link(test),
        clock_offset_unknown(test, fold),
        one_machine(fold),
        ended_early(fold),
        far_end_excess(fold),
        fold.measured.remote.and_then(|far| far.doubts.warning()),
        token_not_shared(fold),
    ];
    test.warnings.extend(found.into_iter().flatten());
    if let Some(reason) = invalid(test, fold) {
        test.valid = false;
        test.invalid_reason = Some(reason);
    }
}

fn invalid(test: &Test, fold: &Fold<'_>) -> Option<String> {
    if let Some(why) = fold.measured.remote.and_then(|far| far.impossible.as_ref()) {
        return Some(format!("the far end reports impossible figures: {why}"));
    }
    if fold.measured.remote.is_none_or(|remote| remote.partial) {
        return Some("the far end's counters did not arrive".to_owned());
    }
    if fold
        .rx()
        .any(|rx| rx.sequence.is_some_and(|totals| totals.contradicted))
    {
        return Some("more datagrams arrived than the sender reports as sent".to_owned());
    }
    let (sent, received) = (
        test.sent_packets.unwrap_or(0),
        test.received_packets.unwrap_or(0),
    );
    if received > sent {
        return Some(format!(
            "{received} unique datagrams received of {sent} sent"
        ));
    }
    if let Some(reason) = more_bytes_than_sent(fold) {
        return Some(reason);
    }
    if fold.udp() && sent == 0 {
        return Some(format!("no datagram was sent: {}", cause(test, fold).why));
    }
    let failed = fold.tx().find_map(|tx| tx.failure.clone());
    failed
        .or_else(|| fold.rx().find_map(|rx| rx.failure.clone()))
        .map(|reason| format!("a stream ended early: {reason}"))
        .or_else(|| not_at_that_rate(test, fold))
}

/// A stock receiver counts the copies that the network made: its rate is not that of the test. (Where a warm-up ends, the
/// two ends differ a little.)
fn more_bytes_than_sent(fold: &Fold<'_>) -> Option<String> {
    let config = fold.measured.config;
    let sent: u64 = fold.tx().map(|tx| tx.bytes).sum();
    let received: u64 = fold.rx().map(|rx| rx.bytes).sum();
    let edges = 2 * u64::from(config.payload_bytes) * fold.pairs.len() as u64;
    let is_exact = fold.udp() && config.limit.omit_ns == 0 && fold.tx().next().is_some();
    (is_exact && received > sent.saturating_add(edges))
        .then(|| format!("{received} bytes received of {sent} sent: the receiver counts copies"))
}

/// The test ran at another rate than requested. A search exceeds the sender's rate on purpose.
fn not_at_that_rate(test: &Test, fold: &Fold<'_>) -> Option<String> {
    let (unsent, due) = unsent_of_due(test)?;
    let short = unsent.saturating_sub(EDGE_PACKETS) as f64 > due as f64 * MOST_UNSENT_RATIO;
    (short && !fold.measured.plan.trial).then(|| {
        let why = cause(test, fold).why;
        format!(
            "{unsent} of {due} datagrams were not sent, so the requested rate was not tested: {why}"
        )
    })
}

fn buffer_not_granted(test: &Test, fold: &Fold<'_>) -> Option<Warning> {
    match test.direction {
        Direction::Up => buffer_cut(fold).or_else(|| buffer_refused(test)),
        Direction::Down => buffer_refused(test).or_else(|| buffer_cut(fold)),
    }
}

/// The server limits the buffers of its clients.
fn buffer_cut(fold: &Fold<'_>) -> Option<Warning> {
    let asked = fold.measured.config.window_bytes?;
    let most = fold.measured.remote?.buffer_cut_to_bytes?;
    Some(Warning {
        id: "buffer-not-granted".to_owned(),
        text: format!(
            "the server grants socket buffers of {most} bytes of the requested {asked}: the streams of a test get an eighth of its memory in total"
        ),
        try_: format!("-w {most}, or fewer streams"),
    })
}

/// The receiver's kernel granted less.
fn buffer_refused(test: &Test) -> Option<Warning> {
    let buffer = test.receive_buffer_bytes?;
    let (asked, granted) = (buffer.asked?, buffer.granted?);
    (granted < asked).then(|| Warning {
        id: "buffer-not-granted".to_owned(),
        text: format!("the receiver requested a buffer of {asked} bytes and got {granted}"),
        try_: format!("sysctl -w net.core.rmem_max={asked}   on the receiving host, or run it with CAP_NET_ADMIN"),
    })
}

/// Drops of a socket that counts coalesced datagrams as one.
fn drops_at_least(test: &Test) -> Option<Warning> {
    let drops = test.socket_drops.filter(|&drops| drops > 0)?;
    test.socket_drops_at_least.then(|| Warning {
        id: "drops-at-least".to_owned(),
        text: format!(
            "the receiving socket dropped at least {drops} datagrams: its kernel counts coalesced (GRO) datagrams as one"
        ),
        try_: "--mode mmsg, whose drops are counted one by one".to_owned(),
    })
}

/// A requested mode that the kernel of its end does not have.
fn other_mode(test: &Test, fold: &Fold<'_>) -> Option<Warning> {
    let plan = &fold.measured.plan;
    let missed = |way: &str, asked: IoMode, used: Option<IoMode>| {
        let used = used.filter(|used| *used != asked && asked != IoMode::Auto)?;
        let (used, name) = (used.name(), asked.name());
        let text = format!("{way}: {used} was used; {name} is not available there");
        Some((text, what_it_takes(way, asked)))
    };
    let sent = missed("sending", plan.tx_mode, test.mode.tx);
    let received = missed("receiving", plan.rx_mode, test.mode.rx);
    let (texts, needs): (Vec<_>, Vec<_>) = [sent, received].into_iter().flatten().unzip();
    (!texts.is_empty()).then(|| Warning {
        id: "mode-not-available".to_owned(),
        text: texts.join("; "),
        try_: format!(
            "nothing if the rate suffices; else use a kernel with {} there, without a seccomp filter",
            needs.join(" and ")
        ),
    })
}

/// The kernel feature that a mode needs.
fn what_it_takes(way: &str, mode: IoMode) -> &'static str {
    match (way, mode) {
        (_, IoMode::Gso) => "UDP_SEGMENT (Linux 4.18)",
        (_, IoMode::Gro) => "UDP_GRO (Linux 5.0)",
        ("sending", IoMode::Mmsg) => "sendmmsg (Linux 3.0)",
        (_, IoMode::Mmsg) => "recvmmsg (Linux 2.6.33)",
        (_, IoMode::Zerocopy) => "MSG_ZEROCOPY (Linux 4.14)",
        (_, mode) => mode.name(),
    }
}

/// Unsent datagrams of a failed stream say nothing about the sender's speed.
fn sender_limited(test: &Test, fold: &Fold<'_>) -> Option<Warning> {
    if fold.tx().any(|tx| tx.failure.is_some()) {
        return None;
    }
    let (unsent, due) = unsent_of_due(test)?;
    let cause = cause(test, fold);
    (unsent as f64 > due as f64 * UNSENT_RATIO).then(|| Warning {
        id: "sender-limited".to_owned(),
        text: format!("{unsent} of {due} datagrams were not sent: not a loss, but the requested rate was not reached; {}", cause.why),
        try_: cause.try_.to_owned(),
    })
}

/// The kernel ended a sender.
fn stream_failed(test: &Test, fold: &Fold<'_>) -> Option<Warning> {
    let failed = fold.tx().any(|tx| tx.failure.is_some());
    let cause = cause(test, fold);
    failed.then(|| Warning {
        id: "stream-failed".to_owned(),
        text: format!("a sender stopped early: {}", cause.why),
        try_: cause.try_.to_owned(),
    })
}

/// A worker that could not be pinned continued unpinned.
fn not_pinned(fold: &Fold<'_>) -> Option<Warning> {
    let (own, far) = fold.measured.plan.affinity?;
    let free = |side: fn(&Pair<'_>) -> Option<bool>| {
        fold.pairs.iter().any(|pair| side(pair) == Some(true))
    };
    let (end, cpu) = if free(|pair| Some(pair.remote?.unpinned)) {
        ("the far end", far?)
    } else if free(|pair| Some(pair.local?.unpinned)) {
        ("this end", own)
    } else {
        return None;
    };
    Some(Warning {
        id: "not-pinned".to_owned(),
        text: format!("{end} is not allowed to use CPU {cpu}: its streams were not pinned"),
        try_: "-A with a processor that `taskset -cp PID` of that end names".to_owned(),
    })
}

fn virtual_link(test: &Test) -> Option<Warning> {
    let kind = match test.link_kind? {
        LinkKind::Wire => return None,
        LinkKind::Veth => "a veth pair",
        LinkKind::Tap => "a TAP device",
        LinkKind::Loopback => "the loopback",
    };
    Some(Warning {
        id: "not-a-wire".to_owned(),
        text: format!("measured over {kind}: this is the machine's speed, not that of a wire"),
        try_: "two hosts with a cable between them".to_owned(),
    })
}

fn clock_offset_unknown(test: &Test, fold: &Fold<'_>) -> Option<Warning> {
    let no_offset = fold.udp()
        && fold.measured.plan.probe
        && fold.measured.clock.is_none()
        && test.delay_ns.is_none();
    (no_offset && fold.measured.hosts.get(1).is_some_and(|host| host.agent)).then(|| Warning {
        id: "no-probe-answer".to_owned(),
        text: "no latency probe was answered: one-way delay and latency under load are unknown"
            .to_owned(),
        try_: "allow UDP in both directions between the hosts".to_owned(),
    })
}

fn one_machine(fold: &Fold<'_>) -> Option<Warning> {
    let [local, remote, ..] = fold.measured.hosts else {
        return None;
    };
    local.is_same_machine(remote).then(|| Warning {
        id: "one-machine".to_owned(),
        text: "both ends run on one machine and share its CPUs".to_owned(),
        try_: "run client and server on two machines to measure a link".to_owned(),
    })
}

fn ended_early(fold: &Fold<'_>) -> Option<Warning> {
    let asked_ns = fold.measured.config.limit.duration_ns?;
    fold.ended_early().then(|| Warning {
        id: "ended-early".to_owned(),
        text: format!(
            "ended after {:.1} s of {:.1} s",
            fold.duration_ns() as f64 / 1e9,
            asked_ns as f64 / 1e9
        ),
        try_: "a complete run".to_owned(),
    })
}

/// An unauthenticated server may send anything.
fn far_end_excess(fold: &Fold<'_>) -> Option<Warning> {
    let unasked = fold.measured.remote?.unasked_messages;
    (unasked > 0).then(|| Warning {
        id: "far-end-excess".to_owned(),
        text: format!("the far end sent {unasked} unexpected messages; they were discarded"),
        try_: "check that a `linerate serve` runs there, and its version".to_owned(),
    })
}

/// A token was given, and the server does not know it.
fn token_not_shared(fold: &Fold<'_>) -> Option<Warning> {
    let server = fold.measured.hosts.get(1)?;
    let withheld = server
        .withheld
        .filter(|_| fold.measured.plan.token.is_some())?;
    Some(Warning {
        id: "token-not-shared".to_owned(),
        text: format!("far end: {}", withheld.text()),
        try_: "the same --token-file at both ends".to_owned(),
    })
}

/// A smaller share of unsent datagrams is not reported.
const UNSENT_RATIO: f64 = 0.001;
/// With more than a tenth unsent, the requested rate was not tested.
const MOST_UNSENT_RATIO: f64 = 0.1;
/// Datagrams due at the very end of a test are not counted as unsent.
const EDGE_PACKETS: u64 = 2;

#[cfg(test)]
mod tests;
