// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which system calls move the payload of a test: one set of names from the flag to the document.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

/// How one end sends or receives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IoMode {
    /// Only in requests: the end uses `mmsg` for UDP and `copy` for TCP.
    #[default]
    Auto,
    /// UDP: one system call per datagram.
    Plain,
    /// UDP: sendmmsg(2), recvmmsg(2).
    Mmsg,
    /// UDP: the kernel or the NIC cuts one large send into datagrams (`UDP_SEGMENT`, Linux 4.18).
    Gso,
    /// UDP: the kernel coalesces datagrams before it delivers them (`UDP_GRO`, Linux 5.0).
    Gro,
    /// TCP: write(2), read(2).
    Copy,
    /// TCP: pages are pinned instead of copied (`MSG_ZEROCOPY`, Linux 4.14).
    Zerocopy,
    /// TCP: sendfile(2) from memory, as iperf3's `-Z`.
    Sendfile,
    /// TCP: data is counted and discarded in the kernel (`MSG_TRUNC`).
    Trunc,
    /// TCP: only the acknowledgements of the receiver's kernel are known.
    Acknowledged,
    /// Not known to this version.
    #[serde(other)]
    Unknown,
}

impl IoMode {
    /// The name in flags and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Plain => "plain",
            Self::Mmsg => "mmsg",
            Self::Gso => "gso",
            Self::Gro => "gro",
            Self::Copy => "copy",
            Self::Zerocopy => "zerocopy",
            Self::Sendfile => "sendfile",
            Self::Trunc => "trunc",
            Self::Acknowledged => "acknowledged",
            Self::Unknown => "unknown",
        }
    }
}

/// How both ends moved the payload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Mode {
    /// Sender.
    pub tx: Option<IoMode>,
    /// Receiver.
    pub rx: Option<IoMode>,
    /// Datagrams of the declared burst.
    pub burst: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_document() {
        use IoMode::{Copy, Gro, Gso, Mmsg, Plain, Sendfile, Trunc, Zerocopy};
        for mode in [Plain, Mmsg, Gso, Gro, Copy, Zerocopy, Sendfile, Trunc] {
            let json = serde_json::to_value(mode).unwrap();
            assert_eq!(json, mode.name());
            assert_eq!(serde_json::from_value::<IoMode>(json).unwrap(), mode);
        }
    }

    #[test]
    fn a_mode_of_a_later_version_is_unknown() {
        let mode: Mode = serde_json::from_str(r#"{"tx":"io_uring","rx":null}"#).unwrap();
        assert_eq!((mode.tx, mode.rx), (Some(IoMode::Unknown), None));
    }
}
