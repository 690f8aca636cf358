// SPDX-License-Identifier: MIT OR Apache-2.0
//! Both sides' accounts folded into the document's tests: a pure function.

mod claims;
mod ecn;
mod intervals;
mod unsent;
mod warn;

use super::account::{RxAccount, SideAccount, StreamAccount, TxAccount};
use super::quantiles::shifted;
use super::stream_config::StreamConfig;
use super::{Protocol, TestPlan};
pub(crate) use claims::{can_have_sent, can_receive, can_send};
use intervals::both_ends;
pub(crate) use intervals::{Halves, live, live_at_both_ends, live_by_stream};
use linerate_method::bound::loss_upper95;
use linerate_method::clock_offset::{ClockOffset, Drift};
use linerate_model::order;
use linerate_model::output::{
    CpuPair, Direction, Dscp, Flow, Host, Interval, LossBurst, Mode, Quantiles, ReceiveBuffer,
    Spacing, StreamCpu, Test, ThreadTime,
};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// Everything that is known about one test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured<'a> {
    /// The request.
    pub(crate) plan: &'a TestPlan,
    /// The negotiated streams.
    pub(crate) config: &'a StreamConfig,
    /// The server's address.
    pub(crate) server: SocketAddr,
    /// This end of the first connection.
    pub(crate) own_address: Option<IpAddr>,
    /// This side.
    pub(crate) local: &'a SideAccount,
    /// The far side; `None` when the test broke before the results.
    pub(crate) remote: Option<&'a SideAccount>,
    /// The far clock against ours.
    pub(crate) clock: Option<ClockOffset>,
    /// Local first.
    pub(crate) hosts: &'a [Host],
    /// Since the start signal.
    pub(crate) elapsed_ns: u64,
}

/// One entry a direction.
pub(crate) fn tests(measured: &Measured<'_>) -> Vec<Test> {
    let wrong = claims::impossible(measured);
    let without = wrong.and_then(|why| Some(claims::nothing(measured.remote?, why)));
    let measured = &Measured {
        remote: without.as_ref().or(measured.remote),
        ..*measured
    };
    let both = measured.config.direction == super::Direction::Both;
    let up = (both || measured.config.direction == super::Direction::Up).then_some(Direction::Up);
    let down =
        (both || measured.config.direction == super::Direction::Down).then_some(Direction::Down);
    up.into_iter()
        .chain(down)
        .map(|direction| Fold::new(measured, direction).test())
        .collect()
}

/// One direction's streams, sender and receiver side by side.
struct Fold<'a> {
    measured: &'a Measured<'a>,
    direction: Direction,
    pairs: Vec<Pair<'a>>,
}

struct Pair<'a> {
    id: u32,
    local: Option<&'a StreamAccount>,
    remote: Option<&'a StreamAccount>,
    tx: Option<&'a TxAccount>,
    rx: Option<&'a RxAccount>,
    far_is_partial: bool,
}

impl<'a> Fold<'a> {
    fn new(measured: &'a Measured<'a>, direction: Direction) -> Self {
        let config = measured.config;
        let of_direction =
            |index: &u32| config.client_sends(*index) == (direction == Direction::Up);
        let pairs = (0..config.streams_total())
            .filter(of_direction)
            .map(|index| Pair::find(measured, StreamConfig::id(index)));
        Self {
            measured,
            direction,
            pairs: pairs.collect(),
        }
    }

    fn test(&self) -> Test {
        let Measured { plan, config, .. } = self.measured;
        let mut test = Test {
            id: self.id(),
            name: plan.name.clone(),
            group: plan.group.clone(),
            protocol: plan.protocol,
            af: if self.measured.server.ip().to_canonical().is_ipv4() {
                4
            } else {
                6
            },
            direction: self.direction,
            streams: config.streams,
            payload_bytes: config.payload_bytes,
            duration_s: self.duration_ns() as f64 / 1e9,
            requested_bits_per_second: config
                .bits_per_second
                .map(|rate| (rate * u64::from(config.streams)) as f64),
            offered_bits_per_second: self.offered(),
            delivered_bits_per_second: self.delivered(),
            sent_bytes: total(self.pairs.iter().map(|pair| Some(pair.tx?.bytes))),
            received_bytes: total(self.pairs.iter().map(|pair| Some(pair.rx?.bytes))),
            local_address: self.measured.own_address.map(text),
            remote_address: Some(text(self.measured.server.ip())),
            mode: self.mode(),
            cpu: CpuPair {
                local: self.measured.local.cpu,
                remote: self.measured.remote.and_then(|remote| remote.cpu),
            },
            stream_cpu: StreamCpu {
                tx: self.threads(Direction::Up),
                rx: self.threads(Direction::Down),
            },
            flows: self.pairs.iter().map(|pair| self.flow(pair)).collect(),
            intervals: self.intervals(),
            local_interface: self.measured.local.interface.clone(),
            remote_interface: self
                .measured
                .remote
                .and_then(|remote| remote.interface.clone()),
            link_kind: self
                .measured
                .hosts
                .first()
                .and_then(|host| host.interfaces.first()?.link_kind),
            dscp: plan.tos_byte().map(|tos| Dscp {
                requested: Some(tos >> 2),
                seen: self.rx().find_map(|rx| rx.dscp_seen),
            }),
            ecn: self.ecn(),
            stalled_mss_bytes: plan.path.stalled_mss_bytes(),
            valid: true,
            ..Test::default()
        };
        if self.udp() {
            self.fill_udp(&mut test);
        } else {
            self.fill_tcp(&mut test);
        }
        warn::judge(&mut test, self);
        test
    }

    /// CPU time of the threads that sent (up), or received (down); `None` unless all of that end are known.
    fn threads(&self, sent: Direction) -> Option<ThreadTime> {
        let is_local = sent == self.direction;
        let of = |pair: &Pair<'_>| (if is_local { pair.local } else { pair.remote })?.cpu;
        let times = self.pairs.iter().map(of);
        times.reduce(|sum, one| Some(sum?.plus(&one?)))?
    }

    fn id(&self) -> String {
        let way = if self.direction == Direction::Up {
            "up"
        } else {
            "down"
        };
        format!("{}-{way}", self.measured.plan.name)
    }

    fn udp(&self) -> bool {
        self.measured.config.protocol == Protocol::Udp
    }

    fn tx(&self) -> impl Iterator<Item = &'a TxAccount> {
        self.pairs.iter().filter_map(|pair| pair.tx)
    }

    fn rx(&self) -> impl Iterator<Item = &'a RxAccount> {
        self.pairs.iter().filter_map(|pair| pair.rx)
    }

    /// The measured time: the requested, or the elapsed.
    fn duration_ns(&self) -> u64 {
        let limit = &self.measured.config.limit;
        let took_ns = self.measured.elapsed_ns.saturating_sub(limit.omit_ns);
        let sent_ns = self
            .tx()
            .map(|tx| tx.duration_ns.saturating_sub(limit.omit_ns))
            .max();
        let received_ns = self.rx().map(|rx| rx.duration_ns).max();
        match limit.duration_ns {
            Some(asked_ns) if took_ns >= asked_ns => asked_ns,
            Some(_) => took_ns,
            None => sent_ns
                .into_iter()
                .chain(received_ns)
                .max()
                .filter(|&ns| ns > 0)
                .unwrap_or(took_ns),
        }
    }

    fn offered(&self) -> Option<f64> {
        self.pairs.iter().map(|pair| self.offered_of(pair)).sum()
    }

    fn offered_of(&self, pair: &Pair<'_>) -> Option<f64> {
        let tx = pair.tx?;
        let own_ns = tx
            .duration_ns
            .saturating_sub(self.measured.config.limit.omit_ns);
        Some(rate(tx.bytes, self.until(own_ns)))
    }

    /// The time in which an end counted. Where the far end vanished, this one noticed it later: then each end's own `own_ns`.
    fn until(&self, own_ns: u64) -> u64 {
        let took_ns = self.duration_ns();
        match self.far_end_vanished() && own_ns > 0 {
            true => own_ns.min(took_ns),
            false => took_ns,
        }
    }

    fn far_end_vanished(&self) -> bool {
        self.ended_early() && self.measured.remote.is_none_or(|remote| remote.partial)
    }

    fn ended_early(&self) -> bool {
        let asked_ns = self.measured.config.limit.duration_ns;
        asked_ns.is_some_and(|asked| self.duration_ns() < asked)
    }

    /// The receiver's rate.
    fn delivered(&self) -> Option<f64> {
        self.pairs.iter().map(|pair| self.delivered_of(pair)).sum()
    }

    /// Over the time that the offered rate has. A queue may have filled by the end: what it delivers then takes longer,
    /// and so does TCP's last window.
    fn delivered_of(&self, pair: &Pair<'_>) -> Option<f64> {
        let rx = pair.rx?;
        let is_complete = self.udp() && pair.lost() == Some(0) && !self.left_a_queue(rx);
        // A stock receiver reports the test's length.
        let has_own_time = !self.udp() || rx.mode.is_some();
        let longer_ns = match has_own_time && !is_complete {
            true => rx.duration_ns,
            false => 0,
        };
        Some(rate(rx.bytes, self.until(rx.duration_ns).max(longer_ns)))
    }

    /// Whether what was sent arrived over a longer time without a pause: a queue on the path filled. A pause of the
    /// receiver or of the path also delays the end, and leaves a gap of its length.
    fn left_a_queue(&self, rx: &RxAccount) -> bool {
        let sent_ns = self.duration_ns();
        let gap_ns = rx.spacing_ns.and_then(|gaps| u64::try_from(gaps.max).ok());
        let explained_ns =
            gap_ns.map(|gap| (sent_ns + sent_ns / 100).saturating_add(gap.saturating_mul(2)));
        explained_ns.is_some_and(|explained| rx.duration_ns > explained)
    }

    fn mode(&self) -> Mode {
        Mode {
            tx: self.tx().find_map(|tx| tx.mode),
            rx: self.rx().find_map(|rx| rx.mode),
            burst: self.tx().find_map(|tx| tx.burst_packets),
        }
    }

    fn fill_udp(&self, test: &mut Test) {
        let sent: Option<u64> = self.pairs.iter().map(Pair::sent).sum();
        let received: Option<u64> = self.pairs.iter().map(Pair::received).sum();
        let totals = || self.rx().filter_map(|rx| rx.sequence);
        let exact = self.rx().all(|rx| rx.mode.is_some());
        let counted = |value: u64| (exact && self.rx().next().is_some()).then_some(value);
        test.sent_packets = sent;
        test.received_packets = received;
        test.lost_packets = self.pairs.iter().map(Pair::lost).sum();
        test.loss_ratio = test
            .lost_packets
            .zip(sent)
            .filter(|&(_, sent)| sent > 0)
            .map(|(lost, sent)| lost as f64 / sent as f64);
        test.loss_ratio_upper95 = test
            .lost_packets
            .zip(sent)
            .and_then(|(lost, sent)| loss_upper95(lost, sent));
        test.duplicate_packets = counted(totals().map(|t| t.duplicates).sum());
        test.reordered_packets = counted(totals().map(|t| t.reordered).sum());
        test.reorder_extent_max =
            counted(totals().map(|t| t.reorder_extent_max).max().unwrap_or(0));
        test.late_packets = counted(totals().map(|t| t.late).sum());
        test.corrupt_packets = counted(self.rx().map(|rx| rx.corrupt_packets).sum());
        test.jitter_ns = self
            .rx()
            .filter_map(|rx| rx.jitter_ns)
            .max_by(f64::total_cmp);
        test.socket_drops = self
            .rx()
            .map(|rx| rx.socket_drops)
            .sum::<Option<u64>>()
            .filter(|_| exact && self.rx().next().is_some());
        test.socket_drops_at_least =
            test.socket_drops.is_some() && self.rx().any(|rx| rx.socket_drops_at_least);
        test.receiver_run_delay_ns_max = self.rx().filter_map(|rx| rx.run_delay_ns_max).max();
        let share = |rx: &RxAccount| Some(rx.cpu_ns? as f64 / rx.duration_ns.max(1) as f64);
        let shares = self.rx().filter_map(share);
        test.receiver_cpu_ratio_max = shares.map(|share| share.min(1.0)).max_by(f64::total_cmp);
        test.unsent_packets =
            Some(self.tx().map(|tx| tx.unsent_packets).sum()).filter(|_| self.knows_sender());
        test.refused_packets =
            Some(self.tx().map(|tx| tx.refused_packets).sum()).filter(|_| self.knows_sender());
        test.sender_behind_ns_max = self.tx().filter_map(|tx| tx.behind_ns_max).max();
        test.receive_buffer_bytes =
            self.rx()
                .find(|rx| rx.buffer_granted_bytes.is_some())
                .map(|rx| ReceiveBuffer {
                    asked: rx.buffer_asked_bytes,
                    granted: rx.buffer_granted_bytes,
                });
        self.fill_timing(test);
    }

    fn fill_timing(&self, test: &mut Test) {
        test.spacing_ns = self
            .rx()
            .filter_map(|rx| rx.spacing_ns)
            .max_by_key(|known| known.max)
            .map(|known| Spacing {
                p50: known.p50.unsigned_abs(),
                p99: known.p99.unsigned_abs(),
                max: known.max.unsigned_abs(),
            });
        let mut histogram = BTreeMap::new();
        self.rx()
            .flat_map(|rx| &rx.spacing_histogram)
            .for_each(|&(upper, count)| *histogram.entry(upper).or_insert(0) += count);
        test.spacing_histogram = histogram.into_iter().collect();
        test.window_bytes_max = self.rx().filter_map(|rx| rx.window_bytes_max).max();
        if let Some(clock) = &self.measured.clock {
            self.fill_delay(test, clock);
        }
        test.loss_bursts = self.pairs.iter().flat_map(Pair::bursts).collect();
        order::by(&mut test.loss_bursts, |a, b| a.at_s.total_cmp(&b.at_s));
    }

    /// The delay of the stream with the largest 99th percentile, corrected for the clocks' offset.
    fn fill_delay(&self, test: &mut Test, clock: &ClockOffset) {
        // The far clock's lead makes transit up longer and down shorter.
        let (correction_ns, drift) = if self.direction == Direction::Up {
            (clock.offset_ns.saturating_neg(), clock.drift_there())
        } else {
            (clock.offset_ns, clock.drift_here())
        };
        let absolute = |rx: &RxAccount| {
            let by_ns = rx.transit_base_ns.saturating_add(correction_ns);
            Some((
                shifted(rx.transit_ns?, by_ns),
                self.drift_left_ns(rx, drift),
            ))
        };
        let worst = self.rx().filter_map(absolute);
        let Some((delay, left_ns)) = worst.max_by_key(|(delay, _)| delay.p99) else {
            return;
        };
        test.delay_ns = Some(delay);
        test.delay_error_ns = Some(clock.error_ns.saturating_add(left_ns));
        test.clock_drift_ppm = Some(clock.ppb as f64 / 1e3);
    }

    /// How much of `drift` is still in the receiver's transit times: an earlier version removes none of it.
    fn drift_left_ns(&self, rx: &RxAccount, drift: Drift) -> u64 {
        match rx.transit_drift_ppb {
            Some(ppb) if ppb == drift.ppb => rx.transit_drift_left_ns,
            _ => drift.over_ns(self.duration_ns()),
        }
    }

    fn fill_tcp(&self, test: &mut Test) {
        let retransmits: Option<u64> = self.tx().map(|tx| tx.retransmits).sum();
        test.retransmits = retransmits.filter(|_| self.tx().next().is_some());
        test.rtt_ns = self
            .tx()
            .filter_map(|tx| tx.rtt_ns)
            .max_by_key(|known: &Quantiles| known.p99);
        test.congestion = self.tx().find_map(|tx| tx.congestion.clone());
        test.mss_bytes = self.tx().find_map(|tx| tx.mss_bytes);
        let time_us = |of: fn(&TxAccount) -> Option<u64>| {
            let times: Vec<u64> = self.tx().filter_map(of).collect();
            (!times.is_empty()).then(|| times.iter().sum::<u64>() / 1000)
        };
        let paced = |tx: &TxAccount| Some(tx.pacing_bytes_per_second? as f64 * 8.0);
        let paced: Option<f64> = self.tx().map(paced).sum();
        test.pacing_bits_per_second = paced.filter(|_| self.tx().next().is_some());
        test.busy_time_us = time_us(|tx| tx.busy_ns);
        test.rwnd_limited_us = time_us(|tx| tx.rwnd_limited_ns);
        test.sndbuf_limited_us = time_us(|tx| tx.sndbuf_limited_ns);
    }

    /// Whether the sender is a linerate: a stock one does not report its lateness.
    fn knows_sender(&self) -> bool {
        self.tx().next().is_some() && self.tx().all(|tx| tx.mode.is_some())
    }

    fn flow(&self, pair: &Pair<'_>) -> Flow {
        Flow {
            id: pair.id,
            local_port: pair.local.and_then(|stream| stream.port),
            remote_port: Some(self.measured.server.port()).filter(|_| pair.remote.is_some()),
            offered_bits_per_second: self.offered_of(pair),
            delivered_bits_per_second: self.delivered_of(pair),
            sent_bytes: pair.tx.map(|tx| tx.bytes),
            received_bytes: pair.rx.map(|rx| rx.bytes),
            sent_packets: pair.sent().filter(|_| self.udp()),
            lost_packets: pair.lost().filter(|_| self.udp()),
            retransmits: pair.tx.and_then(|tx| tx.retransmits),
            sender_tcp_info: pair.tcp_info(|stream| stream.tx.is_some()),
            receiver_tcp_info: pair.tcp_info(|stream| stream.rx.is_some()),
        }
    }

    /// Sender's and receiver's intervals, each on its own clock from its own start signal.
    fn intervals(&self) -> Vec<Interval> {
        let longest = self
            .pairs
            .iter()
            .map(Pair::interval_count)
            .max()
            .unwrap_or(0);
        (0..longest).map(|index| self.interval(index)).collect()
    }

    fn interval(&self, index: usize) -> Interval {
        let sent: Vec<_> = self.tx().filter_map(|tx| tx.intervals.get(index)).collect();
        let received: Vec<_> = self.rx().filter_map(|rx| rx.intervals.get(index)).collect();
        both_ends(&sent, &received, self.udp()).unwrap_or_default()
    }
}

impl<'a> Pair<'a> {
    fn find(measured: &'a Measured<'_>, id: u32) -> Self {
        let of = |side: &'a SideAccount| side.streams.iter().find(|stream| stream.id == id);
        let (local, remote) = (of(measured.local), measured.remote.and_then(of));
        let tx = local
            .and_then(|stream| stream.tx.as_ref())
            .or_else(|| remote.and_then(|stream| stream.tx.as_ref()));
        let rx = local
            .and_then(|stream| stream.rx.as_ref())
            .or_else(|| remote.and_then(|stream| stream.rx.as_ref()));
        Self {
            id,
            local,
            remote,
            tx,
            rx,
            far_is_partial: measured.remote.is_some_and(|remote| remote.partial),
        }
    }

    /// The sender's final count; if it reported none, the receiver's highest sequence. A warm-up that is not
    /// marked in the datagrams ends where the receiver reports it, for both ends.
    fn sent(&self) -> Option<u64> {
        let known = |stream: &StreamAccount| stream.tx.is_some();
        let is_final = !self.far_is_partial || self.local.is_some_and(known);
        let border = self.rx.map_or(0, |rx| rx.omitted_packets);
        let after_border = |tx: &TxAccount| match border {
            0 => tx.packets,
            border => (tx.packets + tx.omitted_packets).saturating_sub(border),
        };
        let reported = self.tx.filter(|_| is_final).map(after_border);
        reported.or_else(|| Some(self.rx?.sequence?.sent))
    }

    /// The receiver's final count; intermediate counts say nothing about loss.
    fn received(&self) -> Option<u64> {
        let known = |stream: &StreamAccount| stream.rx.is_some();
        let is_final = !self.far_is_partial || self.local.is_some_and(known);
        self.rx.filter(|_| is_final).map(|rx| rx.packets)
    }

    /// Sent less received. Where the sender reports fewer than arrived, the gaps in the receiver's sequence.
    fn lost(&self) -> Option<u64> {
        let (sent, received) = (self.sent()?, self.received()?);
        let totals = self.rx.and_then(|rx| rx.sequence);
        let contradicted = totals.filter(|totals| totals.contradicted);
        Some(contradicted.map_or(sent.saturating_sub(received), |totals| totals.lost))
    }

    fn interval_count(&self) -> usize {
        let tx = self.tx.map_or(0, |tx| tx.intervals.len());
        tx.max(self.rx.map_or(0, |rx| rx.intervals.len()))
    }

    fn bursts(&self) -> Vec<LossBurst> {
        let dated = |burst: &linerate_method::sequence::LossBurst| LossBurst {
            flow: self.id,
            at_s: burst.at_ns as f64 / 1e9,
            first_sequence: burst.first_sequence,
            packets: burst.packets,
        };
        self.rx
            .map_or_else(Vec::new, |rx| rx.bursts.iter().map(dated).collect())
    }
}

/// The sum of known counts; a far end may claim any.
fn total(mut counts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    counts.try_fold(0_u64, |sum, count| Some(sum.saturating_add(count?)))
}

/// Without the prefix that an IPv6 socket gives to an IPv4 address.
fn text(address: IpAddr) -> String {
    address.to_canonical().to_string()
}

fn rate(bytes: u64, duration_ns: u64) -> f64 {
    bytes as f64 * 8e9 / duration_ns.max(1) as f64
}

#[cfg(test)]
mod tests;
