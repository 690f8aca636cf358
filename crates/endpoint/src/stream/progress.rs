// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a running worker shows of itself, and the intervals cut from it.

use super::gauge::Gauge;
use crate::account::{RxInterval, TxInterval};
use linerate_linux::tcp::TcpInfo;
use linerate_model::output::ThreadTime;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

/// The running totals of one worker.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Payload bytes.
    pub(crate) bytes: Gauge,
    /// Datagrams (unique ones at a receiver).
    pub(crate) packets: Gauge,
    /// Receiver: datagrams missing so far.
    pub(crate) lost: Gauge,
    /// Receiver: the sender's final count; 0 while unknown.
    pub(crate) expected: Gauge,
    /// CPU time of its thread, when it has ended.
    pub(crate) used: OnceLock<ThreadTime>,
    /// It may not use the CPU that it was to run on.
    pub(crate) unpinned: AtomicBool,
}

/// Totals at one instant.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Reading {
    bytes: u64,
    packets: u64,
    lost: u64,
    retransmits: u64,
}

impl Progress {
    /// Publishes all totals.
    pub(crate) fn show(&self, bytes: u64, packets: u64, lost: u64) {
        self.bytes.set(bytes);
        self.packets.set(packets);
        self.lost.set(lost);
    }

    /// The totals now, with the retransmissions of `info`.
    pub(crate) fn read(&self, info: Option<&TcpInfo>) -> Reading {
        Reading {
            bytes: self.bytes.read(),
            packets: self.packets.read(),
            lost: self.lost.read(),
            retransmits: info.map_or(0, |info| u64::from(info.total_retrans)),
        }
    }
}

impl Reading {
    /// The sender's interval from `before` to this reading.
    pub(crate) fn sent_since(
        &self,
        before: &Self,
        start_ns: u64,
        end_ns: u64,
        info: Option<&TcpInfo>,
    ) -> TxInterval {
        TxInterval {
            start_ns,
            end_ns,
            bytes: self.bytes.saturating_sub(before.bytes),
            packets: self.packets.saturating_sub(before.packets),
            retransmits: info.map(|_| self.retransmits.saturating_sub(before.retransmits)),
            cwnd_bytes: info.map(|info| info.cwnd_bytes),
            rtt_ns: info.map(|info| info.rtt_ns),
        }
    }

    /// The receiver's interval from `before` to this reading.
    pub(crate) fn received_since(&self, before: &Self, start_ns: u64, end_ns: u64) -> RxInterval {
        RxInterval {
            start_ns,
            end_ns,
            bytes: self.bytes.saturating_sub(before.bytes),
            packets: self.packets.saturating_sub(before.packets),
            lost: self.lost.cast_signed() - before.lost.cast_signed(),
        }
    }
}
