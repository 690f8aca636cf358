// SPDX-License-Identifier: MIT OR Apache-2.0
//! The well-known UDP port of a server: receives the first datagram of each peer, and opens a connected socket on the
//! same port for each accepted peer.
//!
//! A twin exists unconnected between bind and connect, and in that instant takes datagrams of other peers;
//! [`Acceptor::connected_twin`] hands those back, so that no greeting is lost to another peer's set-up.

use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use super::{
    Opened, Options, Receiver, ReceiverConfig, RxMode, bind, bind_wildcard, connect,
    connect_mapped, set_packet_info,
};

/// A bound, unconnected socket that shares its port with its twins.
#[derive(Debug)]
pub struct Acceptor {
    receiver: Receiver,
    port: u16,
}

/// A datagram of a peer that has no connected socket yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// The payload, at most its first 2048 bytes.
    pub bytes: Vec<u8>,
    /// The payload's real length in bytes.
    pub length: usize,
    /// The sender; an IPv4 peer of a dual-stack socket as plain IPv4.
    pub source: SocketAddr,
    /// The address of this host that it was sent to.
    pub local: IpAddr,
    /// Wall-clock nanoseconds of its arrival, if the kernel says.
    pub kernel_ns: Option<u64>,
}

/// How much a twin receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// The data of a test.
    Heavy,
    /// Now and then a datagram.
    Light,
}

impl Acceptor {
    /// Binds `port` (0: any) on `address`, or on all addresses of both families (IPv4 alone without IPv6).
    ///
    /// # Errors
    /// `AddrInUse` if a socket that does not share has the port.
    pub fn bind(address: Option<IpAddr>, port: u16, options: &Options) -> io::Result<Self> {
        let options = Options {
            share_port: true,
            packet_info: true,
            recv_err: false,
            ..options.clone()
        };
        let opened = match address {
            Some(address) => bind((address, port).into(), &options)?,
            None => bind_wildcard(port, &options)?,
        };
        let port = opened.socket.local_addr()?.port();
        Ok(Self {
            receiver: Receiver::new(opened.socket.into(), first_datagrams())?,
            port,
        })
    }

    /// The port in use.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The next greeting; `None` after `timeout` (rounded up to a kernel tick) or a signal.
    ///
    /// # Errors
    /// Those of a dead socket; ICMP errors are not reported here.
    pub fn receive(&mut self, timeout: Duration) -> io::Result<Option<Greeting>> {
        next(&mut self.receiver, timeout)
    }

    /// Opens a socket on the same port, connected from `local` to `peer`, and returns what landed in it from
    /// others (or from the peer) before it was connected, to be handled as if this acceptor had received it.
    ///
    /// `options` are those of the data socket; its buffer is granted before the peer can send to it.
    ///
    /// The kernel spares the route look-up of each datagram for one socket of an address and port, the first of its chain
    /// (net/ipv4/udp.c, `__udp4_lib_demux_lookup`). IPv6 sockets that share a port enter the chain at its end
    /// (`udp_lib_get_port`): a light twin of an IPv4 peer is one of these, to leave the first place to the data.
    ///
    /// # Errors
    /// `AddrNotAvailable` if `local` is not an address of this host; those of bind(2) and connect(2).
    pub fn connected_twin(
        &self,
        local: IpAddr,
        peer: SocketAddr,
        options: &Options,
        load: Load,
    ) -> io::Result<(Opened, Vec<Greeting>)> {
        let options = Options {
            share_port: true,
            packet_info: true,
            ..options.clone()
        };
        let local = with_scope(local, self.port, peer);
        let opened = match load {
            Load::Light if peer.is_ipv4() => connect_mapped(peer, local, &options)
                .or_else(|_| connect(peer, Some(local), &options)),
            _ => connect(peer, Some(local), &options),
        }?;
        let mut drain = Receiver::new(opened.socket.try_clone()?.into(), first_datagrams())?;
        let mut strays = Vec::new();
        // A peer that sends faster than this reads would never let it end.
        while strays.len() < MOST_STRAYS
            && let Some(greeting) = next(&mut drain, Duration::ZERO)?
        {
            strays.push(greeting);
        }
        // All that follow are addressed to `local`: the control message would cost each of them.
        set_packet_info(&opened.socket, false)?;
        Ok((opened, strays))
    }
}

impl AsFd for Acceptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}

/// One datagram; what has no source or destination address is skipped.
fn next(receiver: &mut Receiver, timeout: Duration) -> io::Result<Option<Greeting>> {
    let batch = match receiver.receive(timeout) {
        Ok(batch) => batch,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(batch.iter().find_map(|datagram| {
        let source = datagram.source?;
        Some(Greeting {
            bytes: datagram.bytes.to_vec(),
            length: datagram.length,
            source: plain(source),
            local: datagram.local?,
            kernel_ns: datagram.kernel_ns,
        })
    }))
}

fn first_datagrams() -> ReceiverConfig {
    ReceiverConfig {
        addresses: true,
        ..ReceiverConfig::new(CAPTURE_BYTES, 1, RxMode::Plain)
    }
}

/// An IPv4-mapped address as the IPv4 address it is; a scope is kept.
#[must_use]
pub fn plain(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(v4) => (v4, address.port()).into(),
        IpAddr::V6(_) => address,
    }
}

/// A link-local address is only complete with the interface that the peer came by.
fn with_scope(local: IpAddr, port: u16, peer: SocketAddr) -> SocketAddr {
    match (local, peer) {
        (IpAddr::V6(v6), SocketAddr::V6(peer)) if v6.is_unicast_link_local() => {
            SocketAddrV6::new(v6, port, 0, peer.scope_id()).into()
        }
        _ => (local, port).into(),
    }
}

const CAPTURE_BYTES: usize = 2048;
/// Far more than other peers send between bind and connect.
const MOST_STRAYS: usize = 1024;
