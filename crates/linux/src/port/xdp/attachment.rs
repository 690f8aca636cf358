// SPDX-License-Identifier: MIT OR Apache-2.0
//! The redirect program on an interface. It is detached when this is dropped or the process ends, even by `kill -9`: what holds it
//! is a BPF link (Linux 5.9), which lives as long as its descriptor.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use super::program::redirect_udp;
use crate::bpf::{Map, MapKind, Program, ProgramKind};

/// An attached program and the sockets that it redirects to.
#[derive(Debug)]
pub(super) struct Attachment {
    sockets: Map<4, 4>,
    _link: OwnedFd,
}

impl Attachment {
    /// Attaches it in the driver, else, only if it `may_be_slow`, in generic mode, after the kernel has allocated an skb.
    ///
    /// # Errors
    /// With what failed: EPERM without CAP_BPF and CAP_NET_ADMIN in the initial user namespace, EBUSY where a program is attached already,
    /// EINVAL before Linux 5.9.
    pub(super) fn new(
        interface_index: u32,
        queues: u32,
        may_be_slow: bool,
    ) -> Result<Self, (&'static str, io::Error)> {
        let failed = |op| move |source: io::Error| (op, source);
        let sockets: Map<4, 4> =
            Map::create(MapKind::Sockets, NAME, queues).map_err(failed("create map"))?;
        let code = redirect_udp(sockets.number())
            .ok_or(("assemble program", io::ErrorKind::Other.into()))?;
        let program = Program::load(ProgramKind::Xdp, NAME, &code)
            .map_err(|error| ("load program", io::Error::new(error.source.kind(), error)))?;
        let link = match program.attach_to_interface(interface_index, IN_DRIVER) {
            Err(_) if may_be_slow => program.attach_to_interface(interface_index, GENERIC),
            other => other,
        };
        let link = link.map_err(failed("attach program"))?;
        Ok(Self {
            sockets,
            _link: link,
        })
    }

    /// Redirects a queue's frames to this socket from now on.
    ///
    /// # Errors
    /// Those of bpf(2).
    pub(super) fn redirect(&self, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        let socket = socket.as_raw_fd() as u32;
        self.sockets
            .insert(&queue.to_ne_bytes(), &socket.to_ne_bytes())
    }
}

/// `XDP_FLAGS_DRV_MODE` and `XDP_FLAGS_SKB_MODE`.
const IN_DRIVER: u32 = 1 << 2;
const GENERIC: u32 = 1 << 1;
const NAME: &str = "linerate_port";
