// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our accounts as iperf3's results, and a stock peer's results as accounts.

use super::Direction;
use super::account::{RxAccount, SideAccount, StreamAccount, TxAccount};
use super::stream_config::StreamConfig;
use linerate_method::sequence::SequenceTotals;
use linerate_model::output::{Protocol, ThreadTime};
use linerate_wire::iperf3::results::{Results, StreamResult};
use linerate_wire::json::Raw;
use std::collections::HashMap;

/// The results of this end. `own_peer` adds our exact account.
pub(super) fn results(
    account: &SideAccount,
    config: &StreamConfig,
    cpu: (f64, f64, f64),
    own_peer: bool,
) -> Results {
    let sends = account.streams.iter().any(|stream| stream.tx.is_some());
    let tcp = config.protocol == Protocol::Tcp;
    Results {
        cpu_total_percent: cpu.0,
        cpu_user_percent: cpu.1,
        cpu_system_percent: cpu.2,
        sender_has_retransmits: if sends { i64::from(tcp) } else { -1 },
        congestion_used: account
            .streams
            .iter()
            .find_map(|stream| stream.tx.as_ref()?.congestion.clone()),
        streams: account
            .streams
            .iter()
            .map(|stream| stream_result(stream, config))
            .collect(),
        linerate: if own_peer {
            Raw::of(&fitting(account)).ok()
        } else {
            None
        },
        ..Results::default()
    }
}

/// The account as the results may carry it: the lists of each stream are cut to its part of [`MOST_STREAM_BYTES`].
fn fitting(account: &SideAccount) -> SideAccount {
    let mut account = account.clone();
    let streams = u64::try_from(account.streams.len()).unwrap_or(1).max(1);
    let bytes = usize::try_from(STREAM_BYTES.min(MOST_STREAM_BYTES / streams)).unwrap_or(0);
    for rx in account.streams.iter_mut().filter_map(|one| one.rx.as_mut()) {
        let most = bytes / 8 * 5 / BURST_BYTES;
        rx.bursts_dropped += rx.bursts.len().saturating_sub(most) as u64;
        rx.bursts.truncate(most);
        while rx.spacing_histogram.len() > bytes / 4 / BUCKET_BYTES {
            rx.spacing_histogram = coarser(&rx.spacing_histogram);
        }
    }
    account
}

/// Joins each two neighbouring buckets (upper bound, count).
fn coarser(buckets: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let sum = |pair: &[(u64, u64)]| pair.iter().map(|(_, count)| count).sum();
    let join = |pair: &[(u64, u64)]| Some((pair.last()?.0, sum(pair)));
    buckets.chunks(2).filter_map(join).collect()
}

/// The final counts of a stock client's UDP senders, by stream id.
pub(super) fn sent_counts(results: &Results, config: &StreamConfig) -> HashMap<u32, u64> {
    let sent_by_client = |id: u32| {
        (0..config.streams_total())
            .any(|index| StreamConfig::id(index) == id && config.client_sends(index))
    };
    let count = |stream: &StreamResult| {
        let id = u32::try_from(stream.id)
            .ok()
            .filter(|&id| sent_by_client(id))?;
        Some((id, u64::try_from(stream.packets).ok()?))
    };
    results.streams.iter().filter_map(count).collect()
}

/// Returns a stock server's results as our account. The duration falls back to `duration_ns`; a server
/// before 3.14 does not report its warm-up, so ours is used.
pub(super) fn account(
    results: &Results,
    config: &StreamConfig,
    own: &SideAccount,
    duration_ns: u64,
) -> SideAccount {
    let process = process_time(results, config, duration_ns);
    let stream = |result: &StreamResult| {
        let id = u32::try_from(result.id).ok()?;
        let index = (0..config.streams_total()).find(|&index| StreamConfig::id(index) == id)?;
        let stock = Stock {
            result,
            config,
            omitted_here: omitted_here(own, id),
            duration_ns: reported_ns(result).unwrap_or(duration_ns),
        };
        let sends = !config.client_sends(index);
        Some(StreamAccount {
            id,
            tx: sends.then(|| stock.tx()),
            rx: (!sends).then(|| stock.rx()),
            cpu: process.map(|all| {
                if index == 0 {
                    all
                } else {
                    ThreadTime::default()
                }
            }),
            ..StreamAccount::default()
        })
    };
    SideAccount {
        streams: results.streams.iter().filter_map(stream).collect(),
        ..SideAccount::default()
    }
}

/// The CPU time of a stock peer's process, from its percentages of the test's time, for the account of its first stream.
/// `None` if it reports none, or where it both sends and receives.
fn process_time(results: &Results, config: &StreamConfig, duration_ns: u64) -> Option<ThreadTime> {
    let measured_ns = results.streams.first().and_then(reported_ns);
    let all_ns = measured_ns.unwrap_or(duration_ns) as f64;
    let time = |percent: f64| (percent.max(0.0) / 100.0 * all_ns) as u64;
    let known = results.cpu_total_percent > 0.0 && config.direction != Direction::Both;
    known.then(|| ThreadTime {
        user_ns: time(results.cpu_user_percent),
        system_ns: time(results.cpu_system_percent),
        ..ThreadTime::default()
    })
}

fn omitted_here(own: &SideAccount, id: u32) -> u64 {
    let stream = own.streams.iter().find(|stream| stream.id == id);
    let tx = stream.and_then(|stream| stream.tx.as_ref());
    tx.map_or(0, |tx| tx.omitted_packets)
}

fn reported_ns(result: &StreamResult) -> Option<u64> {
    let end_s = result.end_time_s.filter(|&end| end > 0.0)?;
    Some((end_s * 1e9) as u64)
}

/// One stream of a stock server. Its counts include the warm-up, which is also counted separately.
struct Stock<'a> {
    result: &'a StreamResult,
    config: &'a StreamConfig,
    omitted_here: u64,
    duration_ns: u64,
}

impl Stock<'_> {
    fn tx(&self) -> TxAccount {
        let omitted_packets = self.result.omitted_packets.map_or(0, count);
        TxAccount {
            packets: count(self.result.packets).saturating_sub(omitted_packets),
            omitted_packets,
            bytes: self.result.bytes,
            duration_ns: self.duration_ns,
            retransmits: u64::try_from(self.result.retransmits).ok(),
            ..TxAccount::default()
        }
    }

    fn rx(&self) -> RxAccount {
        let omitted_packets = self.result.omitted_packets.map_or(self.omitted_here, count);
        let omitted_lost = self.result.omitted_errors.map_or(0, count);
        let totals = self.totals(omitted_packets, omitted_lost);
        let udp = self.config.protocol == Protocol::Udp;
        RxAccount {
            bytes: self.result.bytes,
            packets: totals.received_unique,
            omitted_packets,
            omitted_lost,
            duration_ns: self.duration_ns,
            sequence: udp.then_some(totals),
            jitter_ns: udp.then_some(self.result.jitter_s * 1e9),
            ..RxAccount::default()
        }
    }

    fn totals(&self, omitted_packets: u64, omitted_lost: u64) -> SequenceTotals {
        let packets = count(self.result.packets).saturating_sub(omitted_packets);
        let errors = count(self.result.errors).saturating_sub(omitted_lost);
        SequenceTotals {
            sent: packets,
            received_unique: packets.saturating_sub(errors),
            lost: errors.min(packets),
            highest: packets,
            ..SequenceTotals::default()
        }
    }
}

fn count(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn stream_result(stream: &StreamAccount, config: &StreamConfig) -> StreamResult {
    let id = i64::from(stream.id);
    let seconds = |ns: u64| Some(ns as f64 / 1e9);
    let base = StreamResult {
        id,
        retransmits: -1,
        start_time_s: Some(0.0),
        omitted_errors: Some(0),
        omitted_packets: Some(0),
        ..StreamResult::default()
    };
    if let Some(tx) = &stream.tx {
        let packets = if config.protocol == Protocol::Udp {
            tx.packets + tx.omitted_packets
        } else {
            0
        };
        return StreamResult {
            bytes: tx.bytes,
            retransmits: tx
                .retransmits
                .filter(|_| config.protocol == Protocol::Tcp)
                .map_or(-1, signed),
            packets: signed(packets),
            omitted_packets: Some(signed(tx.omitted_packets)),
            end_time_s: seconds(tx.duration_ns.saturating_sub(config.limit.omit_ns)),
            ..base
        };
    }
    let Some(rx) = &stream.rx else { return base };
    let totals = rx.sequence.unwrap_or_default();
    StreamResult {
        bytes: rx.bytes,
        jitter_s: rx.jitter_ns.unwrap_or(0.0) / 1e9,
        errors: signed(totals.lost + rx.omitted_lost),
        packets: signed(totals.sent + rx.omitted_packets),
        omitted_errors: Some(signed(rx.omitted_lost)),
        omitted_packets: Some(signed(rx.omitted_packets)),
        end_time_s: seconds(rx.duration_ns),
        ..base
    }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The most that a stream takes in the results: in iperf3's keys some 220 bytes, and its account.
pub(super) const STREAM_BYTES: u64 = 512 << 10;
/// Of all streams together.
pub(super) const MOST_STREAM_BYTES: u64 = 8 << 20;
/// A loss burst, as JSON.
const BURST_BYTES: usize = 80;
/// A bucket of a histogram, as JSON.
const BUCKET_BYTES: usize = 32;
