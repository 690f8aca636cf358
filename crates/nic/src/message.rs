// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one end asks of the other, as lines of JSON.

use std::collections::BTreeMap;
use std::net::IpAddr;

use linerate_model::output::Host;
use serde::{Deserialize, Serialize};

/// A request to a station.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ask {
    /// Its interface toward `peer`, or the one of this name: answered with [`Met`].
    Meet {
        interface: Option<String>,
        peer: IpAddr,
    },
    /// Show the frames between its interface and this address of the link from now on, without those of connections
    /// between these ports; also those of other VLANs, if its interface is to take every frame.
    Watch {
        peer: String,
        #[serde(default)]
        talks: Vec<[u16; 2]>,
        #[serde(default)]
        is_promiscuous: bool,
    },
    /// The frames since the last call; waits this long for the first.
    Frames { wait_ms: u64 },
    /// Send these frames.
    Send { frames: Vec<String> },
    /// Take the datagrams of a socket at this address: answered with its port.
    Datagrams { address: IpAddr },
    /// The payloads since the last call; waits this long for the first.
    Payloads { wait_ms: u64 },
    /// Accept connections of `peer` at this address: answered with the port. See [`crate::services`].
    Serve { address: IpAddr, peer: IpAddr },
    /// The counters of interface and protocols, of its driver too on request; and what the station saw itself.
    Counters { driver: bool },
}

/// What a station answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Answer {
    pub error: Option<String>,
    pub met: Option<Box<Met>>,
    pub port: u16,
    pub frames: Vec<Seen>,
    /// Frames that came too fast to be shown.
    pub missed: u64,
    pub payloads: Vec<String>,
    pub counters: BTreeMap<String, u64>,
}

/// A host and its interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Met {
    pub host: Host,
    pub interface: String,
    pub index: u32,
    /// Its address on the link, hexadecimal.
    pub link_address: String,
    pub mtu_bytes: u32,
    pub is_veth: bool,
    /// With the length of the prefix.
    pub addresses: Vec<(IpAddr, u8)>,
    /// `ethtool -k`, as far as it matters.
    pub features: BTreeMap<String, String>,
}

/// A frame as it was seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Seen {
    /// Hexadecimal, at most as long as the MTU allows.
    pub bytes: String,
    pub length: u32,
    pub is_outgoing: bool,
    pub is_unfinished: bool,
    pub is_merged: bool,
    pub wall_ns: u64,
}
