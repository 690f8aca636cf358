// SPDX-License-Identifier: MIT OR Apache-2.0
//! UDP sockets for measuring: opened with every option set and its grant reported, then driven in batches
//! by a [`Sender`] or a [`Receiver`].
//!
//! ```no_run
//! use linerate_linux::udp;
//! let peer = "192.0.2.1:5201".parse().unwrap();
//! let udp::Opened { socket, .. } = udp::connect(peer, None, &udp::Options::default())?;
//! let mut sender = udp::Sender::new(socket.into(), 1448, 16, udp::TxMode::Mmsg)?;
//! sender.slot(0)[..4].copy_from_slice(b"LRPB");
//! let sent = sender.send(0..1);
//! # std::io::Result::Ok(())
//! ```

mod acceptor;
mod density;
mod receiver;
mod reply;
mod sender;
mod sharing;
mod socket_memory;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use libc::c_int;
use rustix::event::PollFlags;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

pub use acceptor::{Acceptor, Greeting, Load, plain};
pub use receiver::{
    Batch, Datagram, JOINED_BYTES, Joined, Payloads, Receiver, ReceiverConfig, RxMode, join,
};
pub use reply::send_from;
pub use sender::{Fault, Sender, Sent, TxMode, cut};
pub use sharing::misdelivers;
pub use socket_memory::{drops_so_far, queued_bytes};

use crate::socket_buffer::{self, SocketBuffer};
use crate::sockopt;

/// Whether a datagram or an error is there within `timeout`, to the nanosecond: a socket's own time-out ends at the
/// second timer tick after it.
///
/// # Errors
/// Those of poll(2) but an interruption, after which nothing is there yet.
pub fn readable_within(socket: impl AsFd, timeout: Duration) -> io::Result<bool> {
    crate::tcp::wait(socket, PollFlags::IN, timeout)
}

/// What a socket is asked for before its first datagram.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Receive buffer; `None` leaves the system's default.
    pub recv_buffer_bytes: Option<usize>,
    /// Send buffer; `None` leaves the system's default.
    pub send_buffer_bytes: Option<usize>,
    /// The whole TOS / traffic class byte (DSCP << 2).
    pub tos: Option<u8>,
    /// Set DF and never fragment (`IP_PMTUDISC_DO`): too long a datagram is [`Fault::TooBig`].
    pub dont_fragment: bool,
    /// `SO_BINDTODEVICE`: interface name, at most 15 bytes.
    pub bind_device: Option<String>,
    /// Several sockets of this user on one port (`SO_REUSEPORT`, on old kernels `SO_REUSEADDR`).
    pub share_port: bool,
    /// `IP_RECVERR`: local queue drops and ICMP errors are reported to the sender. A receive-only socket leaves it off.
    pub recv_err: bool,
    /// Report where each datagram was addressed to (`IP_PKTINFO`), see [`Datagram::local`].
    pub packet_info: bool,
    /// `SO_MAX_PACING_RATE`, bytes per second (effective under the fq qdisc).
    pub max_pacing_bytes_per_second: Option<u32>,
}

/// An open socket and what the kernel granted of the options.
#[derive(Debug)]
pub struct Opened {
    /// The socket, blocking.
    pub socket: UdpSocket,
    /// The receive buffer asked and granted.
    pub recv_buffer: SocketBuffer,
    /// The send buffer asked and granted.
    pub send_buffer: SocketBuffer,
    /// Datagrams that it had dropped when it was bound or connected: not of this peer.
    pub drops_before: u32,
}

/// Opens a socket bound to `local` (port 0: any). An IPv6 wildcard takes IPv4 as well.
pub fn bind(local: SocketAddr, options: &Options) -> io::Result<Opened> {
    let opening = open(local.is_ipv6(), options)?;
    let socket = &opening.socket;
    if local.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        socket.set_only_v6(false)?;
    }
    socket.bind(&SockAddr::from(local))?;
    Ok(opening.done())
}

/// Opens a socket connected to `peer`, from `local` if given (address, port or both: `--bind`, `--cport`).
pub fn connect(
    peer: SocketAddr,
    local: Option<SocketAddr>,
    options: &Options,
) -> io::Result<Opened> {
    let opening = open(peer.is_ipv6(), options)?;
    if let Some(local) = local {
        opening.socket.bind(&SockAddr::from(local))?;
    }
    opening.socket.connect(&SockAddr::from(peer))?;
    Ok(opening.done())
}

/// Opens an IPv6 socket connected to an IPv4 peer by mapped addresses (RFC 4291 §2.5.5.2).
fn connect_mapped(peer: SocketAddr, local: SocketAddr, options: &Options) -> io::Result<Opened> {
    let opening = open(true, options)?;
    opening.socket.set_only_v6(false)?;
    opening.socket.bind(&SockAddr::from(mapped(local)))?;
    opening.socket.connect(&SockAddr::from(mapped(peer)))?;
    Ok(opening.done())
}

fn mapped(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(v4) => (v4.to_ipv6_mapped(), address.port()).into(),
        IpAddr::V6(_) => address,
    }
}

/// Binds the wildcard address: dual-stack where IPv6 exists, else IPv4.
pub fn bind_wildcard(port: u16, options: &Options) -> io::Result<Opened> {
    bind((Ipv6Addr::UNSPECIFIED, port).into(), options).or_else(|error| {
        match error.raw_os_error() {
            Some(libc::EAFNOSUPPORT | libc::EADDRNOTAVAIL | libc::EPROTONOSUPPORT) => {
                bind((Ipv4Addr::UNSPECIFIED, port).into(), options)
            }
            _ => Err(error),
        }
    })
}

pub(crate) fn is_ipv6(fd: impl AsFd) -> io::Result<bool> {
    Ok(socket2::SockRef::from(&fd.as_fd()).domain()? == Domain::IPV6)
}

/// A socket not yet bound: its buffers are granted before the first datagram can arrive.
struct Opening {
    socket: Socket,
    recv_buffer: SocketBuffer,
    send_buffer: SocketBuffer,
}

impl Opening {
    fn done(self) -> Opened {
        Opened {
            drops_before: drops_so_far(&self.socket).unwrap_or(0),
            socket: self.socket.into(),
            recv_buffer: self.recv_buffer,
            send_buffer: self.send_buffer,
        }
    }
}

fn open(ipv6: bool, options: &Options) -> io::Result<Opening> {
    let domain = if ipv6 { Domain::IPV6 } else { Domain::IPV4 };
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    if options.share_port {
        sharing::share(&socket)?;
    }
    if let Some(device) = &options.bind_device {
        socket.bind_device(Some(device.as_bytes()))?;
    }
    if let Some(tos) = options.tos {
        set_both(
            &socket,
            ipv6,
            (libc::IP_TOS, libc::IPV6_TCLASS),
            c_int::from(tos),
        )?;
    }
    if options.dont_fragment {
        let names = (libc::IP_MTU_DISCOVER, libc::IPV6_MTU_DISCOVER);
        set_both(&socket, ipv6, names, libc::IP_PMTUDISC_DO)?;
    }
    if options.recv_err {
        set_both(&socket, ipv6, (libc::IP_RECVERR, libc::IPV6_RECVERR), 1)?;
    }
    if options.packet_info {
        set_packet_info(&socket, true)?;
    }
    if let Some(rate) = options.max_pacing_bytes_per_second {
        sockopt::set(&socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &rate)?;
    }
    let recv_buffer = socket_buffer::receive(&socket, options.recv_buffer_bytes)?;
    let send_buffer = socket_buffer::send(&socket, options.send_buffer_bytes)?;
    Ok(Opening {
        socket,
        recv_buffer,
        send_buffer,
    })
}

/// Whether each datagram reports where it was addressed to.
fn set_packet_info(socket: impl AsFd, wanted: bool) -> io::Result<()> {
    let names = (libc::IP_PKTINFO, libc::IPV6_RECVPKTINFO);
    let ipv6 = is_ipv6(socket.as_fd())?;
    set_both(socket, ipv6, names, c_int::from(wanted))
}

/// Sets an IPv4 option, and on an IPv6 socket its twin too: IPv4-mapped peers obey the IPv4 one.
pub(crate) fn set_both(
    fd: impl AsFd,
    ipv6: bool,
    (v4_name, v6_name): (c_int, c_int),
    value: c_int,
) -> io::Result<()> {
    let v4 = sockopt::set_int(fd.as_fd(), libc::IPPROTO_IP, v4_name, value);
    if !ipv6 {
        return v4;
    }
    sockopt::set_int(fd.as_fd(), libc::IPPROTO_IPV6, v6_name, value)
}
