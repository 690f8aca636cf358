// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receiving datagrams in batches with kernel time stamps, TOS, real lengths and the socket's exact drop count.
//!
//! Hot path: [`Receiver::receive`] and iterating its batch do not allocate, lock or log.
//!
//! Drops: [`Receiver::drops`] asks the socket itself (`SO_MEMINFO`, Linux 4.12) and is exact at any time: received +
//! drops = arrived at the socket. Where that is missing, the kernel writes its count of datagrams that found no room
//! into each *later* datagram (`SO_RXQ_OVFL`), so that one after the last received is in none.
//! In [`RxMode::Gro`] the kernel counts one drop for a whole message of up to 64 datagrams (128 since 6.9): there
//! the count is a lower bound, see [`Receiver::counts_datagrams`].

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use libc::c_int;
use rustix::thread::{ClockId, clock_nanosleep_relative};
use rustix::time::Timespec;

use super::density::{Density, Waiting};
use super::set_both;
use super::socket_memory::{drops_of_socket, drops_so_far};
use crate::clock::monotonic_ns;
use crate::message::{Message, ReceiveBuffers};
use crate::sockopt;

/// How datagrams are received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RxMode {
    /// One system call per datagram, repeated while there are any.
    Plain,
    /// `recvmmsg`: one system call for all waiting datagrams (Linux 2.6.33).
    Mmsg,
    /// `UDP_GRO`: neighbours of equal length arrive as one message (Linux 5.0).
    Gro,
}

/// Settings of a receiver.
#[derive(Debug, Clone, Copy)]
pub struct ReceiverConfig {
    /// Bytes kept of each datagram; the rest is not copied, its length is still known. Ignored by GRO.
    pub capture_bytes: usize,
    /// Messages taken in one system call.
    pub batch: usize,
    /// The mode asked for.
    pub mode: RxMode,
    /// Ask for kernel time stamps.
    pub timestamps: bool,
    /// Ask for the TOS / traffic class of each datagram.
    pub tos: bool,
    /// Report each datagram's source address.
    pub addresses: bool,
    /// While datagrams arrive densely, sleep this long before each batch: fewer wake-ups, which on one machine also
    /// cost the sender's CPU. The socket's buffer must hold what arrives meanwhile; kernel timestamps are not
    /// affected. Zero: receive each datagram at once.
    pub linger: Duration,
    /// The socket's buffer. A flow that fills it within a few milliseconds is received without sleeping, because a
    /// processor may take as long to wake. Zero: always sleep while nothing is there.
    pub buffer_bytes: usize,
}

impl ReceiverConfig {
    /// Time stamps on; TOS and addresses off; no lingering; sleeps while nothing is there.
    #[must_use]
    pub fn new(capture_bytes: usize, batch: usize, mode: RxMode) -> Self {
        Self {
            capture_bytes,
            batch,
            mode,
            timestamps: true,
            tos: false,
            addresses: false,
            linger: Duration::ZERO,
            buffer_bytes: 0,
        }
    }
}

/// Receives batches on a bound or connected UDP socket.
pub struct Receiver {
    fd: OwnedFd,
    mode: RxMode,
    one_a_call: bool,
    buffers: ReceiveBuffers,
    timestamps: bool,
    overflow: bool,
    announced_drops: u32,
    timeout: Option<Duration>,
    density: Density,
}

impl Receiver {
    /// Prepares the socket and all buffers. A kernel without GRO or batches falls back: see [`Self::mode`].
    pub fn new(fd: OwnedFd, config: ReceiverConfig) -> io::Result<Self> {
        let gro = config.mode == RxMode::Gro && join(&fd).is_ok();
        let mode = if config.mode == RxMode::Gro && !gro {
            RxMode::Mmsg
        } else {
            config.mode
        };
        let bytes = if gro {
            LARGEST_MESSAGE_BYTES
        } else {
            config.capture_bytes.clamp(1, LARGEST_MESSAGE_BYTES)
        };
        let timestamps = config.timestamps && enable_timestamps(&fd);
        let overflow = drops_of_socket(fd.as_fd()).is_none()
            && sockopt::set_int(&fd, libc::SOL_SOCKET, libc::SO_RXQ_OVFL, 1).is_ok();
        if config.tos {
            let ipv6 = super::is_ipv6(&fd)?;
            set_both(&fd, ipv6, (libc::IP_RECVTOS, libc::IPV6_RECVTCLASS), 1)?;
        }
        let buffers = ReceiveBuffers::new(config.batch, bytes, config.addresses);
        let one_a_call = mode == RxMode::Plain;
        Ok(Self {
            fd,
            mode,
            one_a_call,
            buffers,
            timestamps,
            overflow,
            announced_drops: 0,
            timeout: None,
            density: Density::new(config.linger, config.buffer_bytes),
        })
    }

    /// The mode in use now.
    #[must_use]
    pub fn mode(&self) -> RxMode {
        if self.one_a_call && self.mode == RxMode::Mmsg {
            RxMode::Plain
        } else {
            self.mode
        }
    }

    /// Whether datagrams carry kernel time stamps.
    #[must_use]
    pub fn has_timestamps(&self) -> bool {
        self.timestamps
    }

    /// Takes what is there, waiting up to `timeout` (rounded up to a kernel tick) for the first datagram.
    ///
    /// An empty batch: nothing came in time, or a signal arrived, or the socket was woken. A zero timeout does not wait.
    /// Errors: an ICMP error waiting on a connected socket (`ECONNREFUSED`…; the next call goes on), or a dead socket.
    pub fn receive(&mut self, timeout: Duration) -> io::Result<Batch<'_>> {
        let waiting = self.density.waiting();
        if let Waiting::Gather(time) = waiting {
            gather_for(time);
        }
        let flags = match timeout.is_zero() || waiting == Waiting::Look {
            true => libc::MSG_DONTWAIT,
            false => self.wait_at_most(timeout)?,
        };
        let count = match self.take(flags | libc::MSG_TRUNC) {
            Ok(count) => count,
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN | libc::EINTR) => 0,
                _ => return Err(error),
            },
        };
        if count == 0 && waiting == Waiting::Look {
            self.let_others_run();
        }
        self.note_drops(count);
        self.note_density(count);
        Ok(Batch {
            buffers: &self.buffers,
            count,
        })
    }

    /// Datagrams that found no room in the socket since it was opened, exactly; wraps at 2³². `None`: unknown.
    ///
    /// Not for the hot path (one system call; on a kernel before 4.12 it reads `/proc/self/net/udp`).
    #[must_use]
    pub fn drops(&self) -> Option<u32> {
        let announced = || self.overflow.then_some(self.announced_drops);
        drops_so_far(&self.fd).or_else(announced)
    }

    /// Whether [`Self::drops`] counts datagrams; with GRO it counts messages of one or more.
    #[must_use]
    pub fn counts_datagrams(&self) -> bool {
        self.mode != RxMode::Gro
    }

    fn take(&mut self, flags: c_int) -> io::Result<usize> {
        if self.one_a_call {
            return self.buffers.receive_singly(self.fd.as_fd(), flags);
        }
        match self
            .buffers
            .receive_many(self.fd.as_fd(), flags | libc::MSG_WAITFORONE)
        {
            Err(error) if sockopt::is_missing(&error) => {
                self.one_a_call = true;
                self.buffers.receive_singly(self.fd.as_fd(), flags)
            }
            taken => taken,
        }
    }

    fn wait_at_most(&mut self, timeout: Duration) -> io::Result<c_int> {
        if self.timeout != Some(timeout) {
            // Less than a microsecond would become 0 in a timeval: wait for ever.
            let wait = timeout.max(Duration::from_micros(1));
            socket2::SockRef::from(&self.fd).set_read_timeout(Some(wait))?;
            self.timeout = Some(timeout);
        }
        Ok(0)
    }

    fn note_density(&mut self, count: usize) {
        if self.density.is_wanted() {
            let lengths = (0..count).map(|index| self.buffers.message(index).length);
            let bytes = lengths.sum();
            let is_all = !self.buffers.filled();
            self.density.note(monotonic_ns(), bytes, is_all);
        }
    }

    /// Among them the sender, if it shares this processor.
    fn let_others_run(&mut self) {
        let begin_ns = monotonic_ns();
        rustix::thread::sched_yield();
        let end_ns = monotonic_ns();
        self.density
            .yielded(end_ns, end_ns.saturating_sub(begin_ns));
    }

    fn note_drops(&mut self, count: usize) {
        let Some(last) = count.checked_sub(1) else {
            return;
        };
        if let Some(drops) = Marks::read(&self.buffers.message(last)).drops {
            self.announced_drops = drops;
        }
    }
}

impl AsFd for Receiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receiver")
            .field("fd", &self.fd.as_raw_fd())
            .field("mode", &self.mode)
            .field("batch", &self.buffers.capacity())
            .finish_non_exhaustive()
    }
}

/// The datagrams of one receive.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    buffers: &'a ReceiveBuffers,
    count: usize,
}

impl<'a> Batch<'a> {
    /// Whether nothing came.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The messages in order of arrival.
    pub fn messages(&self) -> impl Iterator<Item = Joined<'a>> + use<'a> {
        let buffers = self.buffers;
        (0..self.count).map(move |index| Joined::read(&buffers.message(index)))
    }

    /// The datagrams in order of arrival, GRO messages split again.
    pub fn iter(&self) -> impl Iterator<Item = Datagram<'a>> + use<'a> {
        self.messages().flat_map(Joined::datagrams)
    }
}

/// One datagram as it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The payload, up to the captured length.
    pub bytes: &'a [u8],
    /// The payload's real length in bytes.
    pub length: usize,
    /// Wall-clock nanoseconds when the kernel took it from the device; shared by the segments of a GRO message.
    pub kernel_ns: Option<u64>,
    /// TOS or traffic class byte.
    pub tos: Option<u8>,
    /// Where it was addressed to, if [`super::Options::packet_info`] is set.
    pub local: Option<IpAddr>,
    /// The sender, if [`ReceiverConfig::addresses`] is set.
    pub source: Option<SocketAddr>,
}

/// A message: one datagram, or several that GRO joined, which share all but their payloads.
#[derive(Debug, Clone, Copy)]
pub struct Joined<'a> {
    /// All payloads as one, and what they share.
    pub whole: Datagram<'a>,
    /// Length of each payload but the last; `None`: there is one.
    pub segment_bytes: Option<usize>,
}

impl<'a> Joined<'a> {
    fn read(message: &Message<'a>) -> Self {
        let marks = Marks::read(message);
        Self {
            whole: Datagram {
                bytes: message.bytes,
                length: message.length,
                kernel_ns: marks.kernel_ns,
                tos: marks.tos,
                local: marks.local,
                source: source(message.name),
            },
            segment_bytes: marks.segment_bytes,
        }
    }

    /// The payloads in order, each with its real length.
    #[must_use]
    pub fn payloads(&self) -> Payloads<'a> {
        let Datagram { bytes, length, .. } = self.whole;
        let segment = self.segment_bytes.unwrap_or(0);
        let joined = segment > 0 && segment < bytes.len();
        Payloads {
            single: (!joined).then_some((bytes, length)),
            joined: if joined { bytes } else { &[] },
            segment_bytes: segment,
        }
    }

    fn datagrams(self) -> impl Iterator<Item = Datagram<'a>> {
        let part = move |(bytes, length)| Datagram {
            bytes,
            length,
            ..self.whole
        };
        self.payloads().map(part)
    }
}

/// The payloads of a message that are still to be taken.
#[derive(Debug, Clone)]
pub struct Payloads<'a> {
    single: Option<(&'a [u8], usize)>,
    joined: &'a [u8],
    segment_bytes: usize,
}

impl<'a> Payloads<'a> {
    /// Those that GRO joined, as one, and the length of each but the last.
    #[must_use]
    pub fn joined(&self) -> (&'a [u8], usize) {
        (self.joined, self.segment_bytes)
    }

    /// Leaves out this many of those that GRO joined.
    pub fn leave_out(&mut self, count: usize) {
        let bytes = count.saturating_mul(self.segment_bytes);
        self.joined = self.joined.get(bytes..).unwrap_or(&[]);
    }
}

impl<'a> Iterator for Payloads<'a> {
    type Item = (&'a [u8], usize);

    fn next(&mut self) -> Option<Self::Item> {
        let length = self.segment_bytes.min(self.joined.len());
        let (first, rest) = self.joined.split_at(length);
        self.joined = rest;
        let joined = (length > 0).then_some((first, length));
        self.single.take().or(joined)
    }
}

impl<'a> From<Datagram<'a>> for Joined<'a> {
    fn from(whole: Datagram<'a>) -> Self {
        Self {
            whole,
            segment_bytes: None,
        }
    }
}

/// The control messages that this program asks for.
#[derive(Default)]
struct Marks {
    kernel_ns: Option<u64>,
    drops: Option<u32>,
    tos: Option<u8>,
    segment_bytes: Option<usize>,
    local: Option<IpAddr>,
}

impl Marks {
    fn read(message: &Message<'_>) -> Self {
        let mut marks = Self::default();
        for (level, kind, data) in message.controls() {
            match (level, kind) {
                (libc::SOL_SOCKET, SO_TIMESTAMPNS_OLD | SO_TIMESTAMPNS_NEW) => {
                    marks.kernel_ns = timestamp_ns(data)
                }
                (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => marks.drops = word(data),
                (libc::IPPROTO_IP, libc::IP_TOS) => marks.tos = data.first().copied(),
                (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                    marks.tos = word(data).map(|class| class as u8)
                }
                (SOL_UDP, UDP_GRO) => marks.segment_bytes = segment_bytes(data),
                (libc::IPPROTO_IP, libc::IP_PKTINFO) => marks.local = local_v4(data),
                (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => marks.local = local_v6(data),
                _ => {}
            }
        }
        marks
    }
}

fn gather_for(time: Duration) {
    if let Ok(time) = Timespec::try_from(time) {
        // Interrupted or not, the queue is looked at next.
        let _ = clock_nanosleep_relative(ClockId::Monotonic, &time);
    }
}

/// Has neighbours of equal length arrive on this socket as one message (`UDP_GRO`).
///
/// # Errors
/// ENOPROTOOPT before Linux 5.0.
pub fn join(socket: impl AsFd) -> io::Result<()> {
    sockopt::set_int(socket, SOL_UDP, UDP_GRO, 1)
}

fn enable_timestamps(fd: &OwnedFd) -> bool {
    sockopt::set_int(fd, libc::SOL_SOCKET, SO_TIMESTAMPNS_NEW, 1)
        .or_else(|_| sockopt::set_int(fd, libc::SOL_SOCKET, SO_TIMESTAMPNS_OLD, 1))
        .is_ok()
}

/// Two 64-bit words (`SO_TIMESTAMPNS_NEW`, and the old one on 64-bit machines) or two 32-bit ones.
fn timestamp_ns(data: &[u8]) -> Option<u64> {
    let (seconds, ns) = if data.len() >= 16 {
        let half = |at: usize| Some(i64::from_ne_bytes(data.get(at..at + 8)?.try_into().ok()?));
        (half(0)?, half(8)?)
    } else {
        let half = |at: usize| Some(i32::from_ne_bytes(data.get(at..at + 4)?.try_into().ok()?));
        (half(0)?.into(), half(4)?.into())
    };
    u64::try_from(seconds)
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(u64::try_from(ns).ok()?)
}

pub(super) fn word(data: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(data.get(..4)?.try_into().ok()?))
}

fn segment_bytes(data: &[u8]) -> Option<usize> {
    // An int; the first kernels wrote 16 bits.
    match data.len() {
        2 | 3 => Some(usize::from(u16::from_ne_bytes(
            data.get(..2)?.try_into().ok()?,
        ))),
        _ => usize::try_from(word(data)?).ok(),
    }
}

/// `struct in_pktinfo`: interface, address to answer from, address in the header.
fn local_v4(data: &[u8]) -> Option<IpAddr> {
    Some(Ipv4Addr::from(<[u8; 4]>::try_from(data.get(8..12)?).ok()?).into())
}

fn local_v6(data: &[u8]) -> Option<IpAddr> {
    Some(Ipv6Addr::from(<[u8; 16]>::try_from(data.get(..16)?).ok()?).to_canonical())
}

/// `struct sockaddr_in` or `sockaddr_in6`; IPv4-mapped addresses stay as the socket gave them.
fn source(name: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(name.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(name.get(2..4)?.try_into().ok()?);
    match c_int::from(family) {
        libc::AF_INET => Some(
            (
                Ipv4Addr::from(<[u8; 4]>::try_from(name.get(4..8)?).ok()?),
                port,
            )
                .into(),
        ),
        libc::AF_INET6 => {
            let address = Ipv6Addr::from(<[u8; 16]>::try_from(name.get(8..24)?).ok()?);
            let scope = u32::from_ne_bytes(name.get(24..28)?.try_into().ok()?);
            Some(SocketAddrV6::new(address, port, 0, scope).into())
        }
        _ => None,
    }
}

/// include/uapi/linux/udp.h
const SOL_UDP: c_int = 17;
const UDP_GRO: c_int = 104;
/// include/uapi/asm-generic/socket.h; the same on mips.
const SO_TIMESTAMPNS_OLD: c_int = 35;
const SO_TIMESTAMPNS_NEW: c_int = 64;
/// What one message of [`RxMode::Gro`] takes in memory.
pub const JOINED_BYTES: usize = LARGEST_MESSAGE_BYTES;
const LARGEST_MESSAGE_BYTES: usize = 65_535;

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(bytes: &[u8], length: usize, segment_bytes: Option<usize>) -> Vec<(usize, usize)> {
        let whole = Datagram {
            bytes,
            length,
            kernel_ns: None,
            tos: None,
            local: None,
            source: None,
        };
        let message = Joined {
            whole,
            segment_bytes,
        };
        let of = |(bytes, length): (&[u8], usize)| (bytes.len(), length);
        message.payloads().map(of).collect()
    }

    #[test]
    fn a_message_is_split_where_the_kernel_joined_it() {
        let bytes = [0; 300];
        assert_eq!(lengths(&bytes, 300, Some(100)), [(100, 100); 3]);
        assert_eq!(
            lengths(&bytes[..250], 250, Some(100)),
            [(100, 100), (100, 100), (50, 50)]
        );
    }

    #[test]
    fn one_datagram_keeps_its_real_length() {
        assert_eq!(lengths(&[0; 64], 1448, None), [(64, 1448)]);
        assert_eq!(lengths(&[0; 64], 64, Some(64)), [(64, 64)]);
        assert_eq!(lengths(&[], 0, None), [(0, 0)], "an empty one is one");
        assert_eq!(lengths(&[0; 9], 9, Some(0)), [(9, 9)]);
    }
}
