// SPDX-License-Identifier: MIT OR Apache-2.0
//! The request for a port, and its result.

use std::fmt;
use std::io;

/// How frames pass to and from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// AF_XDP; the device reads and writes our memory itself.
    AfXdpZeroCopy,
    /// AF_XDP; the kernel copies.
    AfXdpCopy,
    /// AF_PACKET with a ring of shared memory.
    AfPacketRing,
    /// AF_PACKET with `sendmmsg`; it receives as [`Self::AfPacketRing`] does.
    AfPacketMmsg,
}

impl Backend {
    /// In the order in which they are tried.
    pub const ALL: [Self; 4] = [
        Self::AfXdpZeroCopy,
        Self::AfXdpCopy,
        Self::AfPacketRing,
        Self::AfPacketMmsg,
    ];

    pub const fn is_xdp(self) -> bool {
        matches!(self, Self::AfXdpZeroCopy | Self::AfXdpCopy)
    }

    /// As records and options name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AfXdpZeroCopy => "af_xdp_zero_copy",
            Self::AfXdpCopy => "af_xdp_copy",
            Self::AfPacketRing => "af_packet_ring",
            Self::AfPacketMmsg => "af_packet_mmsg",
        }
    }

    /// The backend of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The request for a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Only this backend; `None`: the first of [`Backend::ALL`] that works, for each direction.
    pub backend: Option<Backend>,
    /// The longest frame, without FCS, in bytes.
    pub frame_bytes_max: usize,
    /// The number of frames in flight for sending.
    pub send_frames: usize,
    /// How much memory holds frames that have arrived, in bytes. `None`: 64 MiB, on small machines a 32nd of what they have.
    pub receive_bytes: Option<usize>,
    /// Frames carry a VLAN tag that must be seen: AF_XDP does not receive where the interface strips tags.
    pub tagged: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            backend: None,
            frame_bytes_max: 1522,
            send_frames: 1024,
            receive_bytes: None,
            tagged: false,
        }
    }
}

impl Wanted {
    pub(super) fn receive_bytes(&self) -> usize {
        self.receive_bytes.unwrap_or_else(|| {
            let machine = rustix::system::sysinfo();
            let memory = (machine.totalram as u64).saturating_mul(machine.mem_unit.into());
            usize::try_from(memory / 32).map_or(MOST_RECEIVE_BYTES, |part| {
                part.clamp(LEAST_RECEIVE_BYTES, MOST_RECEIVE_BYTES)
            })
        })
    }
}

/// The backends in use.
#[derive(Debug)]
pub struct Chosen {
    /// The backend that sends.
    pub send: Backend,
    /// The backend that receives.
    pub receive: Backend,
    /// The backends tried before, in that order.
    pub refused: Vec<Refused>,
}

/// A backend that did not work.
#[derive(Debug, thiserror::Error)]
#[error("{backend} {}: {op}: {source}", if *receiving { "receiving" } else { "sending" })]
pub struct Refused {
    /// What was tried.
    pub backend: Backend,
    /// To receive, else to send.
    pub receiving: bool,
    /// What failed.
    pub op: &'static str,
    /// Why.
    pub source: io::Error,
}

/// No requested backend works.
#[derive(Debug, thiserror::Error)]
#[error("{interface}: {}", refused.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct OpenError {
    /// The interface.
    pub interface: String,
    /// All that was tried, in that order.
    pub refused: Vec<Refused>,
}

const MOST_RECEIVE_BYTES: usize = 64 << 20;
const LEAST_RECEIVE_BYTES: usize = 1 << 20;
