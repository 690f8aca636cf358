// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stages of a frame's way through a device under test.

use linerate_knowledge::{Stage, words};

use crate::ledger::tally::PathStage;

/// Every stage on the way through a device, in its order.
pub const FORWARD_STAGES: &[&str] = DutStage::WORDS;

impl PathStage for DutStage {
    fn word(self) -> &'static str {
        Self::word(self)
    }
}

words! {
    /// Where on its way through a device a frame is.
    DutStage {
        /// From the tester's port to the device's.
        WireIn = "fwd-wire-in",
        /// The receiving MAC and its FIFO.
        RxMac = "fwd-rx-mac",
        /// Descriptors, buffers, DMA, inwards.
        RxRing = "fwd-rx-ring",
        /// NAPI and the backlog.
        Softnet = "fwd-softnet",
        /// The table of connections.
        Conntrack = "fwd-conntrack",
        /// Routing and filters.
        Ip = "fwd-ip",
        /// Addresses that were not resolved.
        Neighbour = "fwd-neighbour",
        /// Between two ports of a bridge.
        Bridge = "fwd-bridge",
        /// Traffic control.
        Qdisc = "fwd-qdisc",
        /// The driver and its descriptors, outwards.
        TxRing = "fwd-tx-ring",
        /// The sending MAC and its FIFO.
        TxMac = "fwd-tx-mac",
        /// From the device's port to the tester's.
        WireOut = "fwd-wire-out",
    }
}

impl DutStage {
    /// What a driver's table calls so.
    pub(super) const fn of(stage: Stage) -> Option<Self> {
        Some(match stage {
            Stage::Wire => Self::WireIn,
            Stage::RxMac => Self::RxMac,
            Stage::RxRing | Stage::RxXdp => Self::RxRing,
            Stage::RxSoftnet => Self::Softnet,
            Stage::RxIp | Stage::TxIp => Self::Ip,
            Stage::TxQdisc => Self::Qdisc,
            Stage::TxRing => Self::TxRing,
            Stage::TxMac => Self::TxMac,
            Stage::TxApp | Stage::TxSocket | Stage::RxSocket | Stage::RxApp => return None,
        })
    }
}
