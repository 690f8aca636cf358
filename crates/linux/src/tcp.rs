// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP for measuring: connecting with a time-out, listening on both families, every option, `TCP_INFO`, and the
//! byte movers of a stream ([`Mover`]).

mod arrived;
mod info;
mod mover;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

use libc::c_int;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, TcpKeepalive, Type};

pub use arrived::arrived_tos;
pub use info::{OPTION_ECN, OPTION_ECN_SEEN, TcpInfo, all as all_info, field_name, info};
pub use mover::{Mover, RxMode, TxMode, set_wait};

use crate::clock::monotonic_ns;
use crate::socket_buffer::{self, SocketBuffer};
use crate::sockopt;

/// What a socket is asked for before it connects or listens.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Local address, port or both (`--bind`, `--cport`).
    pub local: Option<SocketAddr>,
    /// `SO_BINDTODEVICE`: interface name, at most 15 bytes.
    pub bind_device: Option<String>,
    /// Send and receive buffer; `None` leaves the kernel's autotuning on.
    pub window_bytes: Option<usize>,
    /// `TCP_NODELAY`.
    pub nodelay: bool,
    /// `TCP_MAXSEG`, bytes.
    pub mss_bytes: Option<u32>,
    /// Congestion control by name, such as `cubic`.
    pub congestion: Option<String>,
    /// The whole TOS / traffic class byte (DSCP << 2).
    pub tos: Option<u8>,
    /// Keep-alive probes and `TCP_USER_TIMEOUT`: a vanished peer is an error after about this time.
    pub dead_peer_timeout: Option<Duration>,
    /// `SO_MAX_PACING_RATE`, bytes per second: TCP paces itself, with or without fq (Linux 4.13).
    pub max_pacing_bytes_per_second: Option<u32>,
    /// Allow [`TxMode::ZeroCopy`] (`SO_ZEROCOPY`, Linux 4.14).
    pub zerocopy: bool,
}

/// A connected stream, blocking, and its buffers.
#[derive(Debug)]
pub struct Connected {
    /// The stream.
    pub stream: TcpStream,
    /// Asked and granted receive buffer.
    pub recv_buffer: SocketBuffer,
    /// Asked and granted send buffer.
    pub send_buffer: SocketBuffer,
}

/// Connects within `timeout`; `interrupted` is asked every 100 ms and ends the wait with `Interrupted`.
///
/// Errors are the kernel's (`ConnectionRefused`, `NetworkUnreachable`…), `TimedOut` or `Interrupted`.
pub fn connect(
    peer: SocketAddr,
    options: &Options,
    timeout: Duration,
    interrupted: impl Fn() -> bool,
) -> io::Result<Connected> {
    let socket = open(peer.is_ipv6(), options)?;
    let recv_buffer = socket_buffer::receive(&socket, options.window_bytes)?;
    let send_buffer = socket_buffer::send(&socket, options.window_bytes)?;
    if let Some(local) = options.local {
        socket.set_reuse_address(true)?;
        socket.bind(&SockAddr::from(local))?;
    }
    socket.set_nonblocking(true)?;
    match socket.connect(&SockAddr::from(peer)) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {
            wait_connected(&socket, timeout, interrupted)?;
        }
        Err(error) => return Err(error),
    }
    socket.set_nonblocking(false)?;
    Ok(Connected {
        stream: socket.into(),
        recv_buffer,
        send_buffer,
    })
}

/// Listens on `address`, or where `None` on both families (IPv4 alone if IPv6 is absent).
///
/// Options such as the window and MSS are set on the listener and inherited by what it accepts.
pub fn listen(address: Option<IpAddr>, port: u16, options: &Options) -> io::Result<TcpListener> {
    let any_v4 = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let Some(address) = address else {
        return listen_on(Ipv6Addr::UNSPECIFIED.into(), port, options).or_else(|error| match error
            .raw_os_error()
        {
            Some(libc::EAFNOSUPPORT | libc::EADDRNOTAVAIL | libc::EPROTONOSUPPORT) => {
                listen_on(any_v4, port, options)
            }
            _ => Err(error),
        });
    };
    listen_on(address, port, options)
}

/// Waits until a connection can be accepted; `false` after `timeout` or a signal.
pub fn wait_acceptable(listener: &TcpListener, timeout: Duration) -> io::Result<bool> {
    wait(listener, PollFlags::IN, timeout)
}

/// Waits until the listener, if there is one, can accept, or a stream is ready: to write, or else to read. Returns after
/// `timeout` or a signal, too.
pub fn wait_any(
    listener: Option<&TcpListener>,
    streams: &[(&TcpStream, bool)],
    timeout: Duration,
) -> io::Result<()> {
    let timeout = Timespec::try_from(timeout).ok();
    let listening = listener.map(|listener| PollFd::new(listener, PollFlags::IN));
    let streams = streams.iter().map(|(stream, writes)| {
        let events = if *writes {
            PollFlags::OUT
        } else {
            PollFlags::IN
        };
        PollFd::new(*stream, events)
    });
    let mut fds: Vec<_> = listening.into_iter().chain(streams).collect();
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Sets the options of a connected or accepted stream that need no reconnection; returns the buffers.
pub fn adjust(stream: &TcpStream, options: &Options) -> io::Result<(SocketBuffer, SocketBuffer)> {
    let socket = SockRef::from(stream);
    set(&socket, socket.domain()? == Domain::IPV6, options)?;
    let recv = socket_buffer::receive(stream, options.window_bytes)?;
    let send = socket_buffer::send(stream, options.window_bytes)?;
    Ok((recv, send))
}

/// Whether this kernel has a congestion control of that name at hand. Asked for by root, another one would be
/// loaded as a module: that is for the user of a host to ask, never for its peer.
pub fn has_congestion(name: &str) -> bool {
    let known = crate::proc::sysctl("net.ipv4.tcp_available_congestion_control");
    known.is_ok_and(|known| known.split_ascii_whitespace().any(|one| one == name))
}

/// The congestion control in use.
pub fn congestion(stream: impl AsFd) -> io::Result<String> {
    let mut name = [0; 16];
    let length = sockopt::get_bytes(stream, libc::IPPROTO_TCP, libc::TCP_CONGESTION, &mut name)?;
    let end = name[..length]
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(length);
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

/// The maximum segment size in use, bytes of payload.
pub fn mss_bytes(stream: impl AsFd) -> io::Result<u32> {
    let mss = sockopt::get_int(stream, libc::IPPROTO_TCP, libc::TCP_MAXSEG)?;
    Ok(u32::try_from(mss).unwrap_or(0))
}

/// Ends both directions: threads blocked in this stream's reads and writes (of any clone) return at once.
pub fn shutdown(stream: &TcpStream) {
    // Fails only when the connection is gone already, which is what is wanted.
    let _ = stream.shutdown(Shutdown::Both);
}

/// Drops the connection with a reset when the last clone closes, discarding what is queued.
pub fn abort(stream: &TcpStream) {
    // As above: nothing to abort if the socket is gone.
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
    let _ = stream.shutdown(Shutdown::Both);
}

fn open(ipv6: bool, options: &Options) -> io::Result<Socket> {
    let domain = if ipv6 { Domain::IPV6 } else { Domain::IPV4 };
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    if let Some(device) = &options.bind_device {
        socket.bind_device(Some(device.as_bytes()))?;
    }
    set(&socket, ipv6, options)?;
    Ok(socket)
}

fn set(socket: &Socket, ipv6: bool, options: &Options) -> io::Result<()> {
    if options.nodelay {
        socket.set_tcp_nodelay(true)?;
    }
    if let Some(mss) = options.mss_bytes {
        socket.set_tcp_mss(mss)?;
    }
    if let Some(name) = &options.congestion {
        socket.set_tcp_congestion(name.as_bytes())?;
    }
    if let Some(tos) = options.tos {
        crate::udp::set_both(
            socket,
            ipv6,
            (libc::IP_TOS, libc::IPV6_TCLASS),
            c_int::from(tos),
        )?;
    }
    if let Some(timeout) = options.dead_peer_timeout {
        // Without them a vanished peer is noticed by the engine's own time-outs, only later.
        let _ = notice_dead_peer(socket, timeout);
    }
    if let Some(rate) = options.max_pacing_bytes_per_second {
        sockopt::set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &rate)?;
    }
    if options.zerocopy {
        // Refused by old kernels: the mover then copies and says so.
        let _ = sockopt::set_int(socket, libc::SOL_SOCKET, mover::SO_ZEROCOPY, 1);
    }
    Ok(())
}

/// Keep-alive finds a silent peer that owes nothing, the user time-out one that does not acknowledge.
fn notice_dead_peer(socket: &Socket, timeout: Duration) -> io::Result<()> {
    let interval = (timeout / 4).max(Duration::from_secs(1));
    let probes = TcpKeepalive::new()
        .with_time(interval)
        .with_interval(interval)
        .with_retries(3);
    socket.set_tcp_keepalive(&probes)?;
    socket.set_tcp_user_timeout(Some(timeout))
}

fn listen_on(address: IpAddr, port: u16, options: &Options) -> io::Result<TcpListener> {
    let socket = open(address.is_ipv6(), options)?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.is_unspecified())?;
    }
    socket.set_reuse_address(true)?;
    socket_buffer::receive(&socket, options.window_bytes)?;
    socket_buffer::send(&socket, options.window_bytes)?;
    socket.bind(&SockAddr::from(SocketAddr::new(address, port)))?;
    socket.listen(LISTEN_BACKLOG)?;
    Ok(socket.into())
}

fn wait_connected(
    socket: &Socket,
    timeout: Duration,
    interrupted: impl Fn() -> bool,
) -> io::Result<()> {
    let deadline =
        monotonic_ns().saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
    loop {
        let left = Duration::from_nanos(deadline.saturating_sub(monotonic_ns()));
        if interrupted() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if wait(socket, PollFlags::OUT, left.min(INTERRUPT_EVERY))? {
            return socket.take_error()?.map_or(Ok(()), Err);
        }
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
}

/// Polls one descriptor; `false` after the time-out or a signal.
pub(crate) fn wait(fd: impl AsFd, events: PollFlags, timeout: Duration) -> io::Result<bool> {
    let timeout = Timespec::try_from(timeout).ok();
    let mut fds = [PollFd::from_borrowed_fd(fd.as_fd(), events)];
    match poll(&mut fds, timeout.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

const LISTEN_BACKLOG: c_int = 1024;
const INTERRUPT_EVERY: Duration = Duration::from_millis(100);
