// SPDX-License-Identifier: MIT OR Apache-2.0
//! Impossible figures of a far end. A peer is not trusted: a figure beyond what the time, the
//! sender or any link allows is wrong, and no conclusion is drawn from the account that has it.

use super::Measured;
use crate::account::{RxAccount, SideAccount, StreamAccount, TxAccount};
use crate::account::{RxInterval, TxInterval};
use linerate_method::sequence::LossBurst;
use linerate_model::output::{Cpu, IoMode, Protocol, Quantiles, ThreadTime};

/// The first impossible figure of the far end's account, as a sentence.
pub(super) fn impossible(measured: &Measured<'_>) -> Option<String> {
    let remote = measured.remote?;
    let most = Most::of(measured);
    let of_stream = |stream: &StreamAccount| {
        let wrong = most.of_stream(stream, measured)?;
        Some(format!("stream {}: {wrong}", stream.id))
    };
    let of_cpu = || remote.cpu.filter(|cpu| !is_share(cpu));
    let streams = remote.streams.iter().find_map(of_stream);
    streams.or_else(|| of_cpu().map(|_| "a share of a processor beyond 0 to 1".to_owned()))
}

/// An account without figures, for this reason.
pub(super) fn nothing(account: &SideAccount, why: String) -> SideAccount {
    SideAccount {
        interface: account.interface.clone(),
        unasked_messages: account.unasked_messages,
        doubts: account.doubts.clone(),
        impossible: Some(why),
        ..SideAccount::default()
    }
}

/// Whether a stream can have sent this in this time.
pub(crate) const fn can_have_sent(packets: u64, bytes: u64, seconds: u64) -> bool {
    packets <= seconds.saturating_mul(PACKETS_PER_SECOND)
        && bytes <= seconds.saturating_mul(BYTES_PER_SECOND)
}

/// Whether an interval that a peer reports is possible.
pub(crate) fn can_send(interval: &TxInterval) -> bool {
    interval.start_ns <= interval.end_ns
        && interval.bytes <= INTERVAL_BYTES
        && interval.packets <= INTERVAL_PACKETS
        && interval.retransmits.unwrap_or(0) <= INTERVAL_PACKETS
        && interval.cwnd_bytes.unwrap_or(0) <= INTERVAL_BYTES
        && interval.rtt_ns.unwrap_or(0) <= RTT_NS_MAX
}

/// Likewise, of a receiver.
pub(crate) fn can_receive(interval: &RxInterval) -> bool {
    interval.start_ns <= interval.end_ns
        && interval.bytes <= INTERVAL_BYTES
        && interval.packets <= INTERVAL_PACKETS
        && interval.lost.unsigned_abs() <= INTERVAL_PACKETS
}

/// What one stream can have counted at most.
struct Most {
    span_ns: u64,
    packets: u64,
    bytes: u64,
}

impl Most {
    fn of(measured: &Measured<'_>) -> Self {
        let limit = &measured.config.limit;
        let requested_ns = limit.duration_ns.unwrap_or(0).saturating_add(limit.omit_ns);
        let span_ns = measured
            .elapsed_ns
            .max(requested_ns)
            .saturating_add(SLACK_NS)
            .min(SPAN_NS_MAX);
        let seconds = span_ns.div_ceil(1_000_000_000);
        Self {
            span_ns,
            packets: seconds.saturating_mul(PACKETS_PER_SECOND),
            bytes: seconds.saturating_mul(BYTES_PER_SECOND),
        }
    }

    fn of_stream(&self, far: &StreamAccount, measured: &Measured<'_>) -> Option<String> {
        let sent = far.tx.as_ref().and_then(|tx| self.of_sender(tx, measured));
        let received = || self.of_receiver(far.rx.as_ref()?, measured);
        sent.or_else(received)
            .or_else(|| self.of_thread(far.cpu?))
            .or_else(|| too_long(far, measured))
            .or_else(|| more_than_sent(far, measured))
    }

    /// A stock peer reports a whole process, which may have more threads than one.
    fn of_thread(&self, time: ThreadTime) -> Option<String> {
        let most_ns = self.span_ns.saturating_mul(PROCESSORS);
        let events = time.events.unwrap_or_default();
        let most = most_ns.saturating_mul(EVENTS_PER_NS);
        beyond(&[
            ("ns of CPU time", Some(time.ns()), most_ns),
            ("cycles", Some(events.cycles), most),
            ("instructions", Some(events.instructions), most),
            ("cache misses", Some(events.cache_misses), most),
        ])
    }

    fn of_sender(&self, tx: &TxAccount, measured: &Measured<'_>) -> Option<String> {
        let due = measured.config.bits_per_second.unwrap_or(0)
            / 8
            / u64::from(measured.config.payload_bytes.max(1));
        let unsent = self
            .packets
            .saturating_add(due.saturating_mul(self.span_ns / 1_000_000_000));
        let counts = [
            ("datagrams sent", Some(tx.packets), self.packets),
            ("bytes sent", Some(tx.bytes), self.bytes),
            ("datagrams omitted", Some(tx.omitted_packets), self.packets),
            ("datagrams refused", Some(tx.refused_packets), self.packets),
            ("datagrams not sent", Some(tx.unsent_packets), unsent),
            ("segments retransmitted", tx.retransmits, self.packets),
            (
                "segments retransmitted",
                Some(tx.omitted_retransmits),
                self.packets,
            ),
            ("ns of sending", Some(tx.duration_ns), self.span_ns),
            ("ns behind schedule", tx.behind_ns_max, self.span_ns),
            ("bytes/s of pacing", tx.pacing_bytes_per_second, PACING_MAX),
            ("ns busy", tx.busy_ns, self.span_ns),
            ("ns limited by the window", tx.rwnd_limited_ns, self.span_ns),
            (
                "ns limited by the buffer",
                tx.sndbuf_limited_ns,
                self.span_ns,
            ),
        ];
        beyond(&counts)
            .or_else(|| self.times("round-trip times", tx.rtt_ns))
            .or_else(|| (!tx.intervals.iter().all(can_send)).then(|| INTERVAL.to_owned()))
    }

    fn of_receiver(&self, rx: &RxAccount, measured: &Measured<'_>) -> Option<String> {
        let totals = rx.sequence.unwrap_or_default();
        let spacing = rx.spacing_histogram.iter().map(|(_, count)| *count).max();
        let of_bursts = |of: fn(&LossBurst) -> u64| rx.bursts.iter().map(of).max();
        let drift_ppb = rx.transit_drift_ppb.map(i64::unsigned_abs);
        let marked = rx.ecn.map(|ecn| {
            let [a, b, c] = [ecn.ect1_packets, ecn.ect0_packets, ecn.ce_packets];
            ecn.not_ect_packets.max(a).max(b).max(c)
        });
        let counts = [
            ("datagrams received", Some(rx.packets), self.packets),
            ("bytes received", Some(rx.bytes), self.bytes),
            ("datagrams omitted", Some(rx.omitted_packets), self.packets),
            ("datagrams omitted", Some(rx.omitted_lost), self.packets),
            ("datagrams sent", Some(totals.sent), self.packets),
            (
                "datagrams received",
                Some(totals.received_unique),
                self.packets,
            ),
            ("datagrams lost", Some(totals.lost), self.packets),
            ("duplicates", Some(totals.duplicates), self.packets),
            ("datagrams reordered", Some(totals.reordered), self.packets),
            (
                "reordering extent",
                Some(totals.reorder_extent_max),
                self.packets,
            ),
            ("datagrams late", Some(totals.late), self.packets),
            ("highest sequence", Some(totals.highest), self.packets),
            ("datagrams corrupt", Some(rx.corrupt_packets), self.packets),
            ("datagrams dropped", rx.socket_drops, self.packets),
            ("datagrams of an ECN codepoint", marked, self.packets),
            ("gaps of one length", spacing, self.packets),
            (
                "datagrams of a loss burst",
                of_bursts(|burst| burst.packets),
                self.packets,
            ),
            (
                "first sequence of a loss burst",
                of_bursts(|burst| burst.first_sequence),
                self.packets,
            ),
            (
                "ns to a loss burst",
                of_bursts(|burst| burst.at_ns),
                self.span_ns,
            ),
            ("ppb of drift", drift_ppb, DRIFT_PPB_MAX),
            (
                "ns of drift left",
                Some(rx.transit_drift_left_ns),
                self.span_ns,
            ),
            ("bytes in 1 ms", rx.window_bytes_max, self.bytes),
            ("bytes of buffer", rx.buffer_granted_bytes, INTERVAL_BYTES),
            ("ns of receiving", Some(rx.duration_ns), self.span_ns),
            ("ns of waiting", rx.run_delay_ns_max, self.span_ns),
            ("ns of CPU time", rx.cpu_ns, self.span_ns),
        ];
        beyond(&counts)
            .or_else(|| self.jitter(rx.jitter_ns?))
            .or_else(|| self.times("gaps between arrivals", rx.spacing_ns))
            .or_else(|| self.times("delays above the smallest", rx.transit_ns))
            .or_else(|| self.delay(rx, measured))
            .or_else(|| (!rx.intervals.iter().all(can_receive)).then(|| INTERVAL.to_owned()))
    }

    /// The smallest one-way delay, once the clocks' offset is known.
    fn delay(&self, rx: &RxAccount, measured: &Measured<'_>) -> Option<String> {
        let (clock, _) = measured.clock.as_ref().zip(rx.transit_ns)?;
        let delay_ns = rx.transit_base_ns.saturating_sub(clock.offset_ns);
        let is_possible = delay_ns.unsigned_abs() <= self.span_ns;
        (!is_possible).then(|| format!("{delay_ns} ns of smallest delay"))
    }

    fn jitter(&self, jitter_ns: f64) -> Option<String> {
        let can = (0.0..=self.span_ns as f64).contains(&jitter_ns);
        (!can).then(|| "a jitter longer than the test".to_owned())
    }

    fn times(&self, what: &str, known: Option<Quantiles>) -> Option<String> {
        let known = known?;
        let all = [known.min, known.p50, known.p99, known.p999, known.max];
        let can = |ns: &i64| u64::try_from(*ns).is_ok_and(|ns| ns <= self.span_ns);
        (!all.iter().all(can)).then(|| format!("{what} longer than the test"))
    }
}

/// The first count that is larger than it can be.
fn beyond(counts: &[(&str, Option<u64>, u64)]) -> Option<String> {
    let (what, value, _) = counts
        .iter()
        .find(|(_, value, most)| value.is_some_and(|value| value > *most))?;
    Some(format!("{} {what}", value.unwrap_or(0)))
}

/// Datagrams of a test have one length. (A stock peer's count of datagrams is a highest sequence.)
fn too_long(far: &StreamAccount, measured: &Measured<'_>) -> Option<String> {
    let sent = far.tx.as_ref().map(|tx| (tx.mode, tx.packets, tx.bytes));
    let received = far.rx.as_ref().map(|rx| (rx.mode, rx.packets, rx.bytes));
    let payload_bytes = u64::from(measured.config.payload_bytes);
    let is_too_long = |(mode, packets, bytes): &(Option<IoMode>, u64, u64)| {
        mode.is_some() && *bytes > packets.saturating_mul(payload_bytes)
    };
    let (_, packets, bytes) = [sent, received].into_iter().flatten().find(is_too_long)?;
    (measured.config.protocol == Protocol::Udp)
        .then(|| format!("{bytes} bytes in {packets} datagrams of {payload_bytes}"))
}

/// Nothing arrives that was not sent, whichever end is the far one. Its own datagrams and drops are counted one by one, a
/// stock receiver also counts copies that the network made.
fn more_than_sent(far: &StreamAccount, measured: &Measured<'_>) -> Option<String> {
    let of_own = |own: &&StreamAccount| own.id == far.id;
    let own = measured.local.streams.iter().find(of_own)?;
    let tx = own.tx.as_ref().or(far.tx.as_ref())?;
    let rx = own.rx.as_ref().or(far.rx.as_ref())?;
    // Its intermediate reports come late. Where its datagrams are too few, the receiver knows more ([`Pair::lost`]).
    let is_partial = far.tx.is_some() && measured.remote.is_some_and(|remote| remote.partial);
    if is_partial || rx.sequence.is_some_and(|totals| totals.contradicted) {
        return None;
    }
    let udp = measured.config.protocol == Protocol::Udp;
    let copies = if udp && rx.mode.is_none() { 2 } else { 1 };
    let most_bytes = tx.bytes.saturating_mul(copies);
    if rx.bytes > most_bytes.saturating_add(under_way(measured)) {
        return Some(format!("{} bytes received of {} sent", rx.bytes, tx.bytes));
    }
    let sent = tx.packets.saturating_add(tx.omitted_packets);
    let drops = rx.socket_drops.filter(|drops| {
        let most = sent.saturating_mul(2).saturating_add(STRAY_DROPS);
        udp && far.rx.is_some() && *drops > most
    })?;
    Some(format!("{drops} datagrams dropped of {sent} sent"))
}

/// What may have been on its way when the warm-up ended: it counts at the receiver alone.
fn under_way(measured: &Measured<'_>) -> u64 {
    match measured.config.limit.omit_ns {
        0 => 2 * u64::from(measured.config.payload_bytes),
        _ => UNDER_WAY_BYTES,
    }
}

fn is_share(cpu: &Cpu) -> bool {
    let mut shares = cpu.shares().into_iter();
    shares.all(|share| (0.0..=SHARE_MAX).contains(&share))
}

const INTERVAL: &str =
    "an interval that ends before it starts, or holds more than any link carries";
/// What clocks, drains and time-outs may add to a test.
const SLACK_NS: u64 = 120_000_000_000;
/// Ten years.
const SPAN_NS_MAX: u64 = 315_360_000_000_000_000;
/// Of one stream: ten times what the fastest kernel sends.
const PACKETS_PER_SECOND: u64 = 100_000_000;
/// Of one stream: 10 Tbit/s.
const BYTES_PER_SECOND: u64 = 1_250_000_000_000;
/// 17 TB: an interval at 1.4 Tbit/s may last 100 s.
const INTERVAL_BYTES: u64 = 1 << 44;
const INTERVAL_PACKETS: u64 = 1 << 40;
/// Both sockets' buffers and the path.
const UNDER_WAY_BYTES: u64 = 1 << 30;
/// The kernel counts in microseconds, in 32 bits.
const RTT_NS_MAX: u64 = u32::MAX as u64 * 1000;
/// A petabyte a second: a window of a loopback is large, its round trip short.
const PACING_MAX: u64 = 1 << 50;
/// A tenth: no clock runs that wrong.
const DRIFT_PPB_MAX: u64 = 100_000_000;
/// A stock peer of a version with threads has one per stream, at most 128, and one more.
const PROCESSORS: u64 = 129;
/// A processor of 10 GHz that ends ten instructions per cycle.
const EVENTS_PER_NS: u64 = 100;
/// Drops of datagrams that are not the test's.
const STRAY_DROPS: u64 = 1000;
/// Shares are differences of two readings of ticks.
const SHARE_MAX: f64 = 1.1;
