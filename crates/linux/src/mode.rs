// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversions between [`IoMode`] and the modes of sockets. A mode that a socket lacks becomes its default.

use linerate_model::output::IoMode;

use crate::{tcp, udp};

impl From<IoMode> for udp::TxMode {
    fn from(mode: IoMode) -> Self {
        match mode {
            IoMode::Plain => Self::Plain,
            IoMode::Gso => Self::Gso,
            _ => Self::Mmsg,
        }
    }
}

impl From<IoMode> for udp::RxMode {
    fn from(mode: IoMode) -> Self {
        match mode {
            IoMode::Plain => Self::Plain,
            IoMode::Gro => Self::Gro,
            _ => Self::Mmsg,
        }
    }
}

impl From<IoMode> for tcp::TxMode {
    fn from(mode: IoMode) -> Self {
        match mode {
            IoMode::Zerocopy => Self::ZeroCopy,
            IoMode::Sendfile => Self::SendFile,
            _ => Self::Copy,
        }
    }
}

impl From<IoMode> for tcp::RxMode {
    fn from(mode: IoMode) -> Self {
        match mode {
            IoMode::Trunc => Self::Trunc,
            _ => Self::Copy,
        }
    }
}

impl From<udp::TxMode> for IoMode {
    fn from(mode: udp::TxMode) -> Self {
        match mode {
            udp::TxMode::Plain => Self::Plain,
            udp::TxMode::Mmsg => Self::Mmsg,
            udp::TxMode::Gso => Self::Gso,
        }
    }
}

impl From<udp::RxMode> for IoMode {
    fn from(mode: udp::RxMode) -> Self {
        match mode {
            udp::RxMode::Plain => Self::Plain,
            udp::RxMode::Mmsg => Self::Mmsg,
            udp::RxMode::Gro => Self::Gro,
        }
    }
}

impl From<tcp::TxMode> for IoMode {
    fn from(mode: tcp::TxMode) -> Self {
        match mode {
            tcp::TxMode::Copy => Self::Copy,
            tcp::TxMode::ZeroCopy => Self::Zerocopy,
            tcp::TxMode::SendFile => Self::Sendfile,
        }
    }
}

impl From<tcp::RxMode> for IoMode {
    fn from(mode: tcp::RxMode) -> Self {
        match mode {
            tcp::RxMode::Copy => Self::Copy,
            tcp::RxMode::Trunc => Self::Trunc,
        }
    }
}
