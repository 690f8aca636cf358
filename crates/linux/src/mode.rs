// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversions between [`IoMode`] and the modes of sockets. A mode that a socket lacks becomes its default.

use linerate_model::output::IoMode;

use crate::{tcp, udp};

/// `SocketMode, Default: Mode = IoMode, …`.
macro_rules! modes {
    ($mode:ty, $default:ident: $($own:ident = $io:ident),+) => {
        impl From<IoMode> for $mode {
            fn from(mode: IoMode) -> Self {
                match mode {
                    $(IoMode::$io => Self::$own,)+
                    _ => Self::$default,
                }
            }
        }

        impl From<$mode> for IoMode {
            fn from(mode: $mode) -> Self {
                match mode {
                    $(<$mode>::$own => Self::$io,)+
                }
            }
        }
    };
}

modes!(udp::TxMode, Mmsg: Plain = Plain, Mmsg = Mmsg, Gso = Gso);
modes!(udp::RxMode, Mmsg: Plain = Plain, Mmsg = Mmsg, Gro = Gro);
modes!(tcp::TxMode, Copy: Copy = Copy, ZeroCopy = Zerocopy, SendFile = Sendfile);
modes!(tcp::RxMode, Copy: Copy = Copy, Trunc = Trunc);
