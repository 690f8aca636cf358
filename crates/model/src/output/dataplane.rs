// SPDX-License-Identifier: MIT OR Apache-2.0
//! A way of forwarding that was set up, held and taken down (`dataplane`).

use serde::Serialize;

use crate::fields::Fields;

/// What forwarded between two interfaces, and what passed: `dataplane`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Dataplane {
    /// `bridge`, `route` or `xdp`.
    pub plane: String,
    /// How XDP forwarded: `bridge` or `route`.
    pub mode: Option<String>,
    /// The bridge that was made.
    pub bridge: Option<String>,
    /// Where the XDP programs ran: `native` or `generic`.
    pub attached: Option<String>,
    /// Why they did not run in the driver.
    pub generic_because: Option<String>,
    /// How long it forwarded, seconds.
    pub held_s: f64,
    /// The two interfaces.
    pub ports: Vec<DataplanePort>,
    /// What the XDP programs did with the frames of both interfaces.
    pub verdicts: Vec<DataplaneVerdict>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// One of the two interfaces: by how much its counters grew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct DataplanePort {
    /// Its name.
    pub interface: String,
    /// Received.
    pub rx_packets: Option<u64>,
    /// Sent.
    pub tx_packets: Option<u64>,
    /// Received and dropped.
    pub rx_dropped: Option<u64>,
    /// Dropped instead of sent.
    pub tx_dropped: Option<u64>,
}

/// A decision of the XDP programs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct DataplaneVerdict {
    /// Its name: `redirected`, `group` …
    pub verdict: String,
    /// Frames.
    pub frames: u64,
    /// Whether the kernel got them.
    pub to_kernel: bool,
}
