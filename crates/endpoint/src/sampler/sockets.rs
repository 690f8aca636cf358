// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was dropped at the test's UDP sockets (`/proc/net/udp`), as long as they are open.

use super::reading::Reading;
use linerate_linux::proc_kept::Kept;
use linerate_wire::proc::net_udp::{UdpSocket, parse};

/// Which sockets are the test's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UdpSockets {
    /// A client's: they are connected to this port.
    ConnectedTo(u16),
    /// A server's: they are connected, from this port.
    ServedFrom(u16),
}

impl UdpSockets {
    fn include(self, socket: &UdpSocket) -> bool {
        match self {
            Self::ConnectedTo(port) => socket.remote_port == port,
            Self::ServedFrom(port) => socket.local_port == port && socket.remote_port != 0,
        }
    }
}

#[derive(Debug)]
pub(super) struct SocketSource {
    sockets: UdpSockets,
    tables: Vec<Kept>,
}

impl SocketSource {
    pub(super) fn open(sockets: UdpSockets) -> Self {
        let tables = ["udp", "udp6"]
            .iter()
            .filter_map(|name| Kept::net(name).ok());
        let tables = tables.collect();
        Self { sockets, tables }
    }

    pub(super) fn read(&mut self) -> Reading {
        let mut drops: Option<u64> = None;
        for table in &mut self.tables {
            let Ok(text) = table.read() else {
                continue;
            };
            let own = parse(&text)
                .into_iter()
                .filter(|socket| self.sockets.include(socket));
            for count in own.filter_map(|socket| socket.drops) {
                drops = Some(drops.unwrap_or(0).saturating_add(count));
            }
        }
        let drops = drops.map(|drops| ("drops".to_owned(), drops));
        Reading::of_host("/proc/net/udp", drops.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket as Socket;

    #[test]
    fn only_the_test_s_sockets_count_and_only_while_they_are_open() {
        let server = Socket::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let mut client = SocketSource::open(UdpSockets::ConnectedTo(port));
        assert_eq!(client.read().counters, [], "no socket is connected yet");
        let socket = Socket::bind("127.0.0.1:0").unwrap();
        socket.connect(server.local_addr().unwrap()).unwrap();
        assert_eq!(client.read().counters, [("drops".to_owned(), 0)]);
        let mut served = SocketSource::open(UdpSockets::ServedFrom(port));
        assert_eq!(
            served.read().counters,
            [],
            "the listening socket belongs to no test"
        );
        server.connect(socket.local_addr().unwrap()).unwrap();
        assert_eq!(served.read().counters, [("drops".to_owned(), 0)]);
        drop(socket);
        assert_eq!(client.read().counters, []);
    }
}
