// SPDX-License-Identifier: MIT OR Apache-2.0
//! A UDP receiver: one thread, one socket, every datagram accounted.
//!
//! Data path: no allocation, no lock, no log. Arrival times are the kernel's where it stamps.

mod counters;
mod timing;

use super::waits::Waits;
use super::{Limit, Progress, Stamp, StartLine};
use crate::account::RxAccount;
use crate::quantiles::{buckets, quantiles, shifted};
use counters::{Closed, RxCounters};
use linerate_linux::udp::Receiver;
use linerate_linux::{clock, cpu};
use linerate_method::clock_offset::Drift;
use linerate_method::sequence::LossBurst;
use linerate_model::output::IoMode;
use std::time::Duration;

/// All that one receiver needs.
#[derive(Debug)]
pub(crate) struct UdpRx {
    /// The connected socket.
    pub(crate) receiver: Receiver,
    /// The header's form.
    pub(crate) stamp: Stamp,
    /// The warm-up, which is not counted, and the measured time.
    pub(crate) limit: Limit,
    /// Receive buffer requested and granted, bytes.
    pub(crate) buffer_bytes: (Option<u64>, u64),
    /// Drops that the socket counted before the test (strays).
    pub(crate) drops_before: u32,
}

/// A receiver that has left its socket; its account is still open for the sender's count.
#[derive(Debug)]
pub(crate) struct UdpReceived {
    counters: RxCounters,
    start_ns: u64,
    test_ns: u64,
    mode: IoMode,
    buffer_bytes: (Option<u64>, u64),
    socket_drops: Option<u64>,
    socket_drops_at_least: bool,
    run_delay_ns_max: Option<u64>,
    cpu_ns: u64,
    failure: Option<String>,
}

impl UdpRx {
    /// Receives from now on until the drain is over; `None` when the test never started.
    pub(crate) fn run(mut self, line: &StartLine, progress: &Progress) -> Option<UdpReceived> {
        cpu::set_short_timeslice();
        clock::precise_sleep();
        let mut counters = RxCounters::new(self.stamp, self.limit.omit_ns);
        let mut waits = Waits::of_this_thread(counters.now_ns);
        let cpu_before_ns = cpu::thread_ns();
        let mut failure = None;
        while counters.go_on(line, progress) {
            match self.receiver.receive(WAIT) {
                Ok(batch) => {
                    counters.now_ns = clock::monotonic_ns();
                    waits.look(counters.now_ns);
                    counters.learn_start(line);
                    counters.socket_is_empty = true;
                    counters.take(batch.messages());
                    counters.publish(progress);
                }
                // ICMP: the peer has closed its socket. The control connection ends the test, not this.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                    counters.now_ns = clock::monotonic_ns();
                }
                Err(error) => {
                    failure = Some(error.to_string());
                    break;
                }
            }
        }
        let start_ns = line.started_ns()?;
        let received = self.close(counters, start_ns, failure);
        Some(UdpReceived {
            run_delay_ns_max: waits.most_ns(),
            cpu_ns: cpu::thread_ns().saturating_sub(cpu_before_ns),
            ..received
        })
    }

    fn close(self, counters: RxCounters, start_ns: u64, failure: Option<String>) -> UdpReceived {
        let drops = self
            .receiver
            .drops()
            .map(|drops| u64::from(drops.wrapping_sub(self.drops_before)));
        UdpReceived {
            counters,
            start_ns,
            test_ns: self.limit.duration_ns.unwrap_or(0),
            mode: self.receiver.mode().into(),
            buffer_bytes: self.buffer_bytes,
            socket_drops: drops,
            socket_drops_at_least: !self.receiver.counts_datagrams(),
            run_delay_ns_max: None,
            cpu_ns: 0,
            failure,
        }
    }
}

impl UdpReceived {
    /// Closes the account with the sender's final count, if it is known, and without the `drift` of the clocks.
    pub(crate) fn account(mut self, sent: Option<u64>, drift: Drift) -> RxAccount {
        let closed = self.counters.close(sent);
        let Closed {
            totals, omitted, ..
        } = closed;
        let counters = &self.counters;
        let timing = &counters.timing;
        let transit_ns = timing.transits.quantiles(drift);
        let base_ns = transit_ns.map_or(0, |known| known.min);
        RxAccount {
            bytes: closed.bytes,
            packets: totals.received_unique,
            omitted_packets: omitted.0,
            omitted_lost: omitted.1,
            duration_ns: counters.duration_ns(&closed, self.test_ns),
            sequence: Some(totals),
            jitter_ns: timing.jitter.jitter_ns(),
            spacing_ns: quantiles(timing.spacing.between()),
            spacing_histogram: buckets(timing.spacing.between()),
            window_bytes_max: Some(timing.spacing.max_bytes_in_1ms()),
            transit_ns: transit_ns.map(|known| shifted(known, base_ns.saturating_neg())),
            transit_base_ns: base_ns,
            transit_drift_ppb: Some(drift.ppb),
            transit_drift_left_ns: timing.transits.left_ns(drift),
            corrupt_packets: counters.damaged + totals.wild,
            socket_drops: self.socket_drops,
            socket_drops_at_least: self.socket_drops_at_least,
            run_delay_ns_max: self.run_delay_ns_max,
            cpu_ns: Some(self.cpu_ns),
            buffer_asked_bytes: self.buffer_bytes.0,
            buffer_granted_bytes: Some(self.buffer_bytes.1),
            mode: Some(self.mode),
            dscp_seen: counters.tos.map(|tos| tos >> 2),
            ecn: counters.ecn(),
            bursts: self.bursts(omitted.0),
            bursts_dropped: counters.account.bursts_dropped(),
            failure: self.failure,
            ..RxAccount::default()
        }
    }

    /// The losses after the warm-up, which ended with the sequence `omitted`.
    fn bursts(&self, omitted: u64) -> Vec<LossBurst> {
        // The first datagrams may be here before this side has heard that the test began.
        let first_ns = self
            .counters
            .first
            .map_or(self.start_ns, |(_, at_ns)| at_ns);
        let start_ns = self.start_ns.min(first_ns);
        let dated = |burst: &LossBurst| LossBurst {
            at_ns: burst.at_ns.saturating_sub(start_ns),
            ..*burst
        };
        let measured = |burst: &&LossBurst| burst.first_sequence > omitted;
        let bursts = self.counters.account.bursts().iter().filter(measured);
        bursts.map(dated).collect()
    }
}

/// The stop flag is checked this often.
const WAIT: Duration = Duration::from_millis(50);
