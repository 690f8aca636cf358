// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machines and the interfaces that carry the tests.

use serde::{Deserialize, Serialize};

/// Which end of a test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Where the command ran.
    #[default]
    Local,
    /// The peer.
    Remote,
    /// A device between two ports.
    Device,
}

/// A machine as it described itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// Which end.
    pub role: Role,
    /// `uname -n`.
    pub hostname: Option<String>,
    /// `/proc/sys/kernel/random/boot_id`: equal on both ends means one machine.
    pub boot_id: Option<String>,
    /// `uname -r`.
    pub kernel: Option<String>,
    /// `uname -m`.
    pub arch: Option<String>,
    /// `/proc/cpuinfo`.
    pub cpu_model: Option<String>,
    /// Processors online.
    pub cpus: Option<u32>,
    /// The interfaces that carry the tests.
    pub interfaces: Vec<Interface>,
    /// Whether a linerate ran there (else a stock peer).
    pub agent: bool,
}

/// One network interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its driver.
    pub driver: Option<String>,
    /// Negotiated speed; `null` for virtual links.
    pub link_bits_per_second: Option<u64>,
    /// MTU.
    pub mtu: Option<u32>,
    /// A wire, or something that only looks like one.
    pub link_kind: Option<LinkKind>,
}

/// What carries the frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// A real interface.
    Wire,
    /// A virtual Ethernet pair.
    Veth,
    /// A TUN/TAP device.
    Tap,
    /// The loopback.
    Loopback,
}
