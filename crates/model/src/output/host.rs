// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machines and the interfaces that carry the tests.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

/// The role of a host.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Where the command ran.
    #[default]
    Local,
    /// The peer.
    Remote,
    /// A device under test.
    Device,
}

/// A host as it describes itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Host {
    /// The role.
    pub role: Role,
    /// `uname -n`.
    pub hostname: Option<String>,
    /// `/proc/sys/kernel/random/boot_id`: equal on both ends means one machine. A server sends unauthenticated clients a hash
    /// of it.
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
    /// Whether linerate runs there (else a stock peer).
    pub agent: bool,
    /// Why it reported only what a test needs; `null` if it reported everything.
    pub withheld: Option<Withheld>,
}

impl Host {
    /// Whether both descriptions are of one machine since one boot; false if either is unknown.
    #[must_use]
    pub fn is_same_machine(&self, other: &Self) -> bool {
        self.boot_id.is_some() && self.boot_id == other.boot_id
    }
}

/// Why a remote host does not report its name, kernel, processor and settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Withheld {
    /// Its server has a token, but none was given here.
    NeedsToken,
    /// Its server has no token.
    HasNoToken,
    /// Its server has another token.
    OtherToken,
    /// It claimed to know the token, but could not prove it: it is not authenticated.
    Unproven,
}

impl Withheld {
    /// A sentence about that host's server.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::NeedsToken => {
                "reported only what a test needs; with --token-file FILE it reports more"
            }
            Self::HasNoToken => {
                "reported only what a test needs: its server has no token (for more, --token-file FILE at both ends)"
            }
            Self::OtherToken => "reported only what a test needs: its server has another token",
            Self::Unproven => "this server does not know the token: its report is not trusted",
        }
    }
}

/// One network interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its driver.
    pub driver: Option<String>,
    /// Negotiated speed; `null` for virtual links.
    pub link_bits_per_second: Option<u64>,
    /// MTU.
    pub mtu: Option<u32>,
    /// Wire or virtual.
    pub link_kind: Option<LinkKind>,
}

/// The kind of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// A physical interface.
    Wire,
    /// A virtual Ethernet pair.
    Veth,
    /// A TUN/TAP device.
    Tap,
    /// The loopback.
    Loopback,
}
