// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sending datagrams of one size from prepared slots: one a call, many a call, or segmented by the kernel.
//!
//! Hot path: [`Sender::send`] does not allocate, lock or log.
//!
//! What counts as sent: a datagram that the kernel took. With `IP_RECVERR` set, one that the local queue
//! discipline dropped is refused with `ENOBUFS` and not counted (net/ipv4/udp.c, `udp_send_skb`). An ICMP
//! error waits in the socket and is returned by the *next* send, which then does not send its datagram; the
//! same slot is sent again, so that such an error neither loses nor doubles a datagram.
//! Until the next hop's neighbour entry is resolved, the kernel accepts datagrams into a queue whose losses are
//! not reported (net/core/neighbour.c): exchange a datagram before counting.
//! In [`TxMode::Gso`] a queue discipline that splits the segments itself can drop some of them unseen.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use libc::c_int;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::message::{ReceiveBuffers, SendBatch};
use crate::sockopt;

/// How datagrams are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxMode {
    /// One system call per datagram.
    Plain,
    /// `sendmmsg`: one system call per batch (Linux 3.0).
    Mmsg,
    /// `UDP_SEGMENT`: one pass through the stack for up to 64 datagrams (Linux 4.18).
    Gso,
}

/// Why a batch stopped before its end. The slot after the accepted ones was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The send buffer stayed full for the whole wait: the device or its queue is blocked.
    SendBufferFull,
    /// The local queue discipline dropped it (`ENOBUFS`).
    QueueFull,
    /// A local firewall rule refused it (`EPERM`).
    Filtered,
    /// Longer than the path MTU (`EMSGSIZE`).
    TooBig,
    /// The peer repeatedly reports a closed port (`ECONNREFUSED`).
    Refused,
    /// No route, interface down, host unreachable: the errno.
    Unreachable(i32),
    /// A signal arrived while waiting for room.
    Interrupted,
    /// Any other errno.
    Other(i32),
}

/// The result of one [`Sender::send`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The number of datagrams sent, from the start of the range; the others may be sent again.
    pub accepted: usize,
    /// ICMP errors that were pending in the socket; they cost no datagram.
    pub pending_errors: u32,
    /// Why not all were accepted.
    pub fault: Option<Fault>,
}

/// Sends batches of equally long datagrams on a connected socket.
pub struct Sender {
    fd: OwnedFd,
    payload_bytes: usize,
    slots: usize,
    segments: usize,
    mode: TxMode,
    batch: SendBatch,
    errors: ReceiveBuffers,
}

impl Sender {
    /// Prepares at most `max_batch` zeroed slots of `payload_bytes` on a connected UDP socket; in GSO mode whole messages.
    ///
    /// A kernel without the mode asked for falls back (GSO → mmsg → plain), now or at the first send: see [`Self::mode`].
    /// In GSO mode the option stays set on the socket: nothing longer than `payload_bytes` can be sent on it otherwise.
    pub fn new(
        fd: OwnedFd,
        payload_bytes: usize,
        max_batch: usize,
        mode: TxMode,
    ) -> io::Result<Self> {
        let largest = LARGEST_SUPER_BYTES;
        if payload_bytes == 0 || payload_bytes > LARGEST_PAYLOAD_BYTES {
            return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
        }
        let slots = max_batch.clamp(1, LARGEST_BATCH);
        let segments = (largest / payload_bytes)
            .clamp(1, LARGEST_SEGMENTS)
            .min(slots);
        // Whole messages only: a short one costs as much as a full one.
        let slots = if mode == TxMode::Gso {
            slots - slots % segments
        } else {
            slots
        };
        let mode = if mode == TxMode::Gso && !enable_segmentation(&fd, payload_bytes) {
            TxMode::Mmsg
        } else {
            mode
        };
        let batch = SendBatch::new(slots * payload_bytes, slots);
        Ok(Self {
            fd,
            payload_bytes,
            slots,
            segments,
            mode,
            batch,
            errors: ReceiveBuffers::new(1, 1, false),
        })
    }

    /// The mode in use now.
    #[must_use]
    pub fn mode(&self) -> TxMode {
        self.mode
    }

    /// How many slots there are.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Bytes of each datagram.
    #[must_use]
    pub fn payload_bytes(&self) -> usize {
        self.payload_bytes
    }

    /// How many datagrams one trip through the stack takes: the burst that leaves back to back.
    #[must_use]
    pub fn segments(&self) -> usize {
        if self.mode == TxMode::Gso {
            self.segments
        } else {
            1
        }
    }

    /// The payload of slot `index`, to write headers (or once, a pattern) into.
    ///
    /// # Panics
    /// If `index` is not below [`Self::slots`].
    pub fn slot(&mut self, index: usize) -> &mut [u8] {
        let start = index * self.payload_bytes;
        &mut self.batch.payload_mut()[start..start + self.payload_bytes]
    }

    /// Sends the slots of `range` in order, waiting for room in the send buffer if need be.
    ///
    /// # Panics
    /// If the range ends after [`Self::slots`].
    pub fn send(&mut self, range: Range<usize>) -> Sent {
        let mut sent = Sent {
            accepted: 0,
            pending_errors: 0,
            fault: None,
        };
        let mut retries = 0;
        while range.start + sent.accepted < range.end {
            match self.offer(range.start + sent.accepted..range.end) {
                Ok(taken) => {
                    sent.accepted += taken;
                    sent.pending_errors += retries;
                    retries = 0;
                }
                Err(error) => match self.judge(&error, &mut retries) {
                    None => {}
                    fault => {
                        sent.fault = fault;
                        break;
                    }
                },
            }
        }
        sent
    }

    /// One system call; how many datagrams it took (at least one).
    fn offer(&mut self, slots: Range<usize>) -> io::Result<usize> {
        let bytes = slots.start * self.payload_bytes..slots.end * self.payload_bytes;
        match self.mode {
            TxMode::Plain => {
                let one = &self.batch.payload()[bytes][..self.payload_bytes];
                rustix::net::send(&self.fd, one, rustix::net::SendFlags::DONTWAIT)?;
                Ok(1)
            }
            TxMode::Mmsg => self.batch.send_many(
                self.fd.as_fd(),
                bytes,
                self.payload_bytes,
                libc::MSG_DONTWAIT,
            ),
            TxMode::Gso => {
                let message_bytes = self.segments * self.payload_bytes;
                let messages = self.batch.send_many(
                    self.fd.as_fd(),
                    bytes,
                    message_bytes,
                    libc::MSG_DONTWAIT,
                )?;
                Ok((messages * self.segments).min(slots.len()))
            }
        }
    }

    /// Decides after an error: `None` to offer the same slot again, else the fault to report.
    fn judge(&mut self, error: &io::Error, retries: &mut u32) -> Option<Fault> {
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        if errno == libc::EAGAIN {
            return self.wait_for_room();
        }
        if errno == libc::EINTR || self.fall_back(errno) {
            return None;
        }
        *retries += 1;
        if is_pending_error(errno) && *retries <= RETRIES {
            self.drain_errors();
            return None;
        }
        Some(fault(errno))
    }

    /// Empties the socket's error queue (`IP_RECVERR`): unread entries are charged to its receive buffer.
    fn drain_errors(&mut self) {
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        for _ in 0..LONGEST_QUEUE {
            if self.errors.receive_first(self.fd.as_fd(), flags).is_err() {
                return;
            }
        }
    }

    fn wait_for_room(&self) -> Option<Fault> {
        let timeout = Timespec::try_from(STALL).ok();
        let mut fds = [PollFd::new(&self.fd, PollFlags::OUT)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(0) => Some(Fault::SendBufferFull),
            Ok(_) => None,
            Err(rustix::io::Errno::INTR) => Some(Fault::Interrupted),
            Err(other) => Some(Fault::Other(other.raw_os_error())),
        }
    }

    /// Steps down a mode that this kernel, device or packet size does not support; whether it did.
    fn fall_back(&mut self, errno: c_int) -> bool {
        let missing = matches!(errno, libc::ENOSYS | libc::EOPNOTSUPP | libc::ENOPROTOOPT);
        // EINVAL, EMSGSIZE: a segment longer than the MTU; EIO: a device without transmit checksums (net/ipv4/udp.c).
        let unsegmentable = matches!(errno, libc::EINVAL | libc::EMSGSIZE | libc::EIO);
        self.mode = match self.mode {
            TxMode::Gso if missing || unsegmentable => {
                disable_segmentation(self.fd.as_fd());
                TxMode::Mmsg
            }
            TxMode::Mmsg if missing => TxMode::Plain,
            _ => return false,
        };
        true
    }
}

impl AsFd for Sender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender")
            .field("fd", &self.fd.as_raw_fd())
            .field("payload_bytes", &self.payload_bytes)
            .field("slots", &self.slots)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

fn is_pending_error(errno: c_int) -> bool {
    // What icmp_err_convert (net/ipv4/icmp.c) and icmpv6_err_convert put into a socket.
    matches!(
        errno,
        libc::ECONNREFUSED
            | libc::EHOSTUNREACH
            | libc::ENETUNREACH
            | libc::EHOSTDOWN
            | libc::ENONET
            | libc::EACCES
            | libc::EPROTO
            | libc::ENOPROTOOPT
            | libc::EOPNOTSUPP
            | libc::EMSGSIZE
    )
}

fn fault(errno: c_int) -> Fault {
    match errno {
        libc::ENOBUFS => Fault::QueueFull,
        libc::EPERM => Fault::Filtered,
        libc::EMSGSIZE => Fault::TooBig,
        libc::ECONNREFUSED => Fault::Refused,
        libc::ENETUNREACH
        | libc::EHOSTUNREACH
        | libc::ENETDOWN
        | libc::EHOSTDOWN
        | libc::EADDRNOTAVAIL
        | libc::ENODEV
        | libc::ENXIO => Fault::Unreachable(errno),
        other => Fault::Other(other),
    }
}

/// Has the kernel or the interface cut what is sent on this socket into datagrams of this payload (`UDP_SEGMENT`).
///
/// # Errors
/// ENOPROTOOPT before Linux 4.18, EINVAL beyond the largest datagram.
pub fn cut(socket: impl AsFd, payload_bytes: u16) -> io::Result<()> {
    sockopt::set_int(socket, SOL_UDP, UDP_SEGMENT, payload_bytes.into())
}

fn enable_segmentation(fd: &OwnedFd, payload_bytes: usize) -> bool {
    c_int::try_from(payload_bytes)
        .is_ok_and(|size| sockopt::set_int(fd, SOL_UDP, UDP_SEGMENT, size).is_ok())
}

fn disable_segmentation(fd: BorrowedFd<'_>) {
    // It was accepted before; 0 always is.
    let _ = sockopt::set_int(fd, SOL_UDP, UDP_SEGMENT, 0);
}

/// include/uapi/linux/udp.h
const SOL_UDP: c_int = 17;
const UDP_SEGMENT: c_int = 103;
/// `UDP_MAX_SEGMENTS` of the oldest kernels that have segmentation.
const LARGEST_SEGMENTS: usize = 64;
/// The longest UDP payload over IPv4.
const LARGEST_PAYLOAD_BYTES: usize = 65_507;
/// A segmented send is one IP packet to the stack: 65535 − 40 − 8, good for both families.
const LARGEST_SUPER_BYTES: usize = 65_487;
const LARGEST_BATCH: usize = 1024;
/// The longest wait for room in the send buffer before [`Fault::SendBufferFull`].
const STALL: Duration = Duration::from_millis(20);
/// A queued error answers one send; more in a row are not queued ones.
const RETRIES: u32 = 4;
const LONGEST_QUEUE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(mode: TxMode) -> (Sender, std::net::UdpSocket) {
        let far = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let near = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        near.connect(far.local_addr().unwrap()).unwrap();
        (Sender::new(near.into(), 100, 4, mode).unwrap(), far)
    }

    #[test]
    fn a_missing_facility_steps_down_and_still_sends() {
        let (mut sender, _far) = sender(TxMode::Gso);
        for mode in [TxMode::Mmsg, TxMode::Plain] {
            assert!(sender.fall_back(libc::ENOSYS));
            assert_eq!(sender.mode(), mode);
            assert_eq!(sender.send(0..4).accepted, 4);
        }
        assert!(!sender.fall_back(libc::ENOSYS));
    }

    #[test]
    fn a_segmenting_sender_has_room_for_whole_messages() {
        let slots = |payload_bytes, most| {
            let near = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            let sender = Sender::new(near.into(), payload_bytes, most, TxMode::Gso).unwrap();
            sender.slots()
        };
        assert_eq!((slots(1448, 64), slots(1448, 100)), (45, 90));
        assert_eq!(
            (slots(64, 64), slots(64, 20), slots(65_000, 3)),
            (64, 20, 3)
        );
    }

    #[test]
    fn an_error_that_comes_back_each_time_is_a_fault() {
        let (mut sender, _far) = sender(TxMode::Mmsg);
        let mut retries = 0;
        let refused = io::Error::from_raw_os_error(libc::ECONNREFUSED);
        for _ in 0..RETRIES {
            assert_eq!(sender.judge(&refused, &mut retries), None);
        }
        assert_eq!(sender.judge(&refused, &mut retries), Some(Fault::Refused));
        let dropped = io::Error::from_raw_os_error(libc::ENOBUFS);
        assert_eq!(sender.judge(&dropped, &mut retries), Some(Fault::QueueFull));
        let filtered = io::Error::from_raw_os_error(libc::EPERM);
        assert_eq!(sender.judge(&filtered, &mut retries), Some(Fault::Filtered));
    }
}
