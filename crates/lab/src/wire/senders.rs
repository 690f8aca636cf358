// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packet sockets by which frames leave the wire at one end: one, or several in turn.

use std::io;

use linerate_linux::packet::PacketSender;

/// The sockets of one end.
#[derive(Debug)]
pub(crate) struct Senders {
    sockets: Vec<PacketSender>,
    /// Which sends the next frame.
    next: usize,
}

impl Senders {
    pub(crate) fn one(socket: PacketSender) -> Self {
        let sockets = vec![socket];
        Self { sockets, next: 0 }
    }

    /// The kernel spreads flows over the queues of the interface.
    pub(crate) fn by_flow(interface: &str) -> io::Result<Self> {
        PacketSender::open_queued(interface).map(Self::one)
    }

    /// Successive frames go to any of the queues, also those of one flow.
    pub(crate) fn in_turn(interface: &str) -> io::Result<Self> {
        let open = |number| PacketSender::open_queued_as(interface, number);
        let sockets = UNUSED.map(open).collect::<io::Result<_>>()?;
        Ok(Self { sockets, next: 0 })
    }

    pub(super) fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let socket = self.sockets.get(self.next);
        let sent = socket.map_or(Ok(()), |socket| socket.send(frame));
        self.next = (self.next + 1) % self.sockets.len().max(1);
        sent
    }
}

/// Ethertypes that no protocol has: they are lengths (IEEE 802.3 section 3.2.6), and none of if_ether.h's. That the kernel
/// hashes all of them to one of four queues is as likely as 1 to 10⁹.
const UNUSED: std::ops::Range<u16> = 0x0300..0x0310;
