// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs one test: a [`TestPlan`] in, what was measured out.

mod plan;

pub use plan::{
    Direction, Family, IPERF2_PORT, PORT, Protocol, RxChoice, ServeOptions, TcpRxChoice,
    TcpTxChoice, TestPlan, TxChoice, UDP_DEFAULT_BITS_PER_SECOND,
};

/// Who answered at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// A linerate server, with its version.
    Linerate {
        /// Its version.
        version: String,
    },
    /// A stock iperf3 or iperf2 server: the far end's counters are unknown.
    Stock,
}
