// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures of a far end that cannot be. A peer is not trusted: a figure beyond what the time, the
//! sender or any link allows is a wrong one, and no conclusion is drawn from the account that has it.

use super::Measured;
use crate::account::{RxAccount, SideAccount, StreamAccount, TxAccount};
use crate::account::{RxInterval, TxInterval};
use linerate_model::output::{Cpu, Protocol, Quantiles};

/// The first figure of the far end's account that cannot be, as a sentence.
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

/// Whether an interval that a peer reports can be.
pub(crate) fn can_send(interval: &TxInterval) -> bool {
    interval.start_ns <= interval.end_ns
        && interval.bytes <= INTERVAL_BYTES
        && interval.packets <= INTERVAL_PACKETS
        && interval.retransmits.unwrap_or(0) <= INTERVAL_PACKETS
        && interval.cwnd_bytes.unwrap_or(0) <= INTERVAL_BYTES
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
        let asked_ns = limit.duration_ns.unwrap_or(0).saturating_add(limit.omit_ns);
        let span_ns = measured
            .elapsed_ns
            .max(asked_ns)
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
        let received = || {
            let rx = far.rx.as_ref()?;
            self.of_receiver(rx)
                .or_else(|| more_than_sent(far.id, rx, measured))
        };
        sent.or_else(received)
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

    fn of_receiver(&self, rx: &RxAccount) -> Option<String> {
        let totals = rx.sequence.unwrap_or_default();
        let spacing = rx.spacing_histogram.iter().map(|(_, count)| *count).max();
        let burst = rx.bursts.iter().map(|burst| burst.packets).max();
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
            ("gaps of one length", spacing, self.packets),
            ("datagrams of a loss burst", burst, self.packets),
            ("bytes in 1 ms", rx.window_bytes_max, self.bytes),
            ("bytes of buffer", rx.buffer_granted_bytes, INTERVAL_BYTES),
            ("ns of receiving", Some(rx.duration_ns), self.span_ns),
        ];
        beyond(&counts)
            .or_else(|| self.jitter(rx.jitter_ns?))
            .or_else(|| self.times("gaps between arrivals", rx.spacing_ns))
            .or_else(|| (!rx.intervals.iter().all(can_receive)).then(|| INTERVAL.to_owned()))
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

/// TCP delivers no byte that was not written. (The network may copy datagrams.)
fn more_than_sent(id: u32, rx: &RxAccount, measured: &Measured<'_>) -> Option<String> {
    let config = measured.config;
    let streams = &measured.local.streams;
    let own = streams.iter().find(|stream| stream.id == id)?;
    let sent = own.tx.as_ref()?.bytes;
    // What was on its way when the warm-up ended counts at the receiver alone.
    let under_way = match config.limit.omit_ns {
        0 => 2 * u64::from(config.payload_bytes),
        _ => UNDER_WAY_BYTES,
    };
    let more = config.protocol == Protocol::Tcp && rx.bytes > sent.saturating_add(under_way);
    more.then(|| format!("{} bytes received of {sent} sent", rx.bytes))
}

fn is_share(cpu: &Cpu) -> bool {
    let all = [
        cpu.user,
        cpu.system,
        cpu.softirq,
        cpu.irq,
        cpu.steal,
        cpu.busiest_cpu,
    ];
    all.iter().all(|share| (0.0..=SHARE_MAX).contains(share))
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
/// Shares are differences of two readings of ticks.
const SHARE_MAX: f64 = 1.1;
