// SPDX-License-Identifier: MIT OR Apache-2.0
//! Echo requests (RFC 792, RFC 4443): the latency to a peer without linerate.
//!
//! An unprivileged ping socket first (icmp(7), the sysctl `net.ipv4.ping_group_range`), else a raw one
//! (`CAP_NET_RAW`). The round trip ends when the kernel took the reply from the device, not when this thread woke.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use linerate_wire::checksum::Checksum;
use rustix::net::SendFlags;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::clock::{monotonic_ns, wall_ns};
use crate::udp::{Receiver, ReceiverConfig, RxMode};

/// Why no echo request can be sent.
#[derive(Debug, thiserror::Error)]
pub enum IcmpError {
    /// Neither kind of socket is allowed to this user.
    #[error("not permitted to send ICMP echo requests")]
    NotPermitted,
    /// Anything else: no route, no IPv6, no such interface.
    #[error("ICMP socket toward {peer}: {source}")]
    Socket {
        /// The peer asked for.
        peer: IpAddr,
        /// The kernel's answer.
        source: io::Error,
    },
}

/// One answered request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// The request's number.
    pub sequence: u16,
    /// Round-trip time, ns.
    pub rtt_ns: u64,
    /// When the reply was read ([`monotonic_ns`]).
    pub at_ns: u64,
}

/// Sends numbered requests to one peer and takes its replies.
#[derive(Debug)]
pub struct Pinger {
    receiver: Receiver,
    ipv6: bool,
    raw: bool,
    identifier: u16,
}

impl Pinger {
    /// Opens a socket toward `peer`, through `bind_device` if given.
    ///
    /// # Errors
    /// [`IcmpError`].
    pub fn open(peer: IpAddr, bind_device: Option<&str>) -> Result<Self, IcmpError> {
        let peer = peer.to_canonical();
        match Self::of_type(peer, bind_device, Type::DGRAM) {
            Err(error) if is_refused(&error) => Self::of_type(peer, bind_device, Type::RAW),
            other => other,
        }
        .map_err(|source| {
            if is_refused(&source) {
                IcmpError::NotPermitted
            } else {
                IcmpError::Socket { peer, source }
            }
        })
    }

    /// Sends request `sequence`, its 8-byte payload the time of sending.
    ///
    /// # Errors
    /// Those of send(2), among them an ICMP error that an earlier request brought back.
    pub fn send(&self, sequence: u16) -> io::Result<()> {
        let request = self.request(sequence, monotonic_ns());
        rustix::net::send(&self.receiver, &request, SendFlags::DONTWAIT)?;
        Ok(())
    }

    /// The next reply to a request of this pinger, within `timeout`.
    ///
    /// # Errors
    /// ICMP errors (`HostUnreachable`) and those of a dead socket.
    pub fn receive(&mut self, timeout: Duration) -> io::Result<Option<Reply>> {
        let deadline = monotonic_ns().saturating_add(timeout.as_nanos() as u64);
        loop {
            let left = Duration::from_nanos(deadline.saturating_sub(monotonic_ns()));
            let (ipv6, raw, identifier) = (self.ipv6, self.raw, self.identifier);
            // The socket's own time-out would end at a timer tick.
            if !crate::udp::readable_within(&self.receiver, left)? {
                if left.is_zero() {
                    return Ok(None);
                }
                continue;
            }
            let batch = self.receiver.receive(Duration::ZERO)?;
            let (now, wall) = (monotonic_ns(), wall_ns());
            for datagram in batch.iter() {
                let known = payload(datagram.bytes, ipv6, raw);
                let Some((sequence, sent_ns)) =
                    known.and_then(|echo| answer(echo, ipv6, raw.then_some(identifier)))
                else {
                    continue;
                };
                // How long ago the kernel took it; ignored if the wall clock was stepped.
                let ago = datagram
                    .kernel_ns
                    .and_then(|at| wall.checked_sub(at))
                    .unwrap_or(0);
                let rtt_ns = now.saturating_sub(sent_ns);
                let rtt_ns = rtt_ns.checked_sub(ago).unwrap_or(rtt_ns);
                return Ok(Some(Reply {
                    sequence,
                    rtt_ns,
                    at_ns: now,
                }));
            }
            if left.is_zero() {
                return Ok(None);
            }
        }
    }

    /// Whether a raw socket is in use.
    #[must_use]
    pub fn is_raw(&self) -> bool {
        self.raw
    }

    fn of_type(peer: IpAddr, bind_device: Option<&str>, kind: Type) -> io::Result<Self> {
        let ipv6 = peer.is_ipv6();
        let (domain, protocol) = if ipv6 {
            (Domain::IPV6, Protocol::ICMPV6)
        } else {
            (Domain::IPV4, Protocol::ICMPV4)
        };
        let socket = Socket::new(domain, kind, Some(protocol))?;
        if let Some(device) = bind_device {
            socket.bind_device(Some(device.as_bytes()))?;
        }
        socket.connect(&SockAddr::from(SocketAddr::new(peer, 0)))?;
        let mut identifier = [0; 2];
        crate::random::fill(&mut identifier)?;
        let receiver = Receiver::new(socket.into(), ReceiverConfig::new(256, 1, RxMode::Plain))?;
        Ok(Self {
            receiver,
            ipv6,
            raw: kind == Type::RAW,
            identifier: u16::from_be_bytes(identifier),
        })
    }

    /// Type, code, checksum, identifier (a ping socket sets its own), sequence, time.
    fn request(&self, sequence: u16, now_ns: u64) -> [u8; 16] {
        let mut request = [0; 16];
        request[0] = if self.ipv6 { 128 } else { 8 };
        request[4..6].copy_from_slice(&self.identifier.to_be_bytes());
        request[6..8].copy_from_slice(&sequence.to_be_bytes());
        request[8..].copy_from_slice(&now_ns.to_be_bytes());
        if !self.ipv6 {
            let sum = Checksum::new().with(&request).finish();
            request[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        request
    }
}

impl AsFd for Pinger {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}

fn is_refused(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EACCES | libc::EPERM | libc::EPROTONOSUPPORT)
    )
}

/// The ICMP message: a raw IPv4 socket gives the IP header too.
fn payload(bytes: &[u8], ipv6: bool, raw: bool) -> Option<&[u8]> {
    if ipv6 || !raw {
        return Some(bytes);
    }
    bytes.get(usize::from(bytes.first()? & 15) * 4..)
}

/// Sequence and time of sending of an echo reply; `identifier` is checked where the kernel does not.
fn answer(message: &[u8], ipv6: bool, identifier: Option<u16>) -> Option<(u16, u64)> {
    let reply = if ipv6 { 129 } else { 0 };
    let word = |at: usize| {
        Some(u16::from_be_bytes(
            message.get(at..at + 2)?.try_into().ok()?,
        ))
    };
    if *message.first()? != reply || identifier.is_some_and(|ours| word(4) != Some(ours)) {
        return None;
    }
    let sent_ns = u64::from_be_bytes(message.get(8..16)?.try_into().ok()?);
    Some((word(6)?, sent_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_answers() {
        for (peer, kind) in [
            ("127.0.0.1", Type::DGRAM),
            ("::1", Type::DGRAM),
            ("127.0.0.1", Type::RAW),
            ("::1", Type::RAW),
        ] {
            let mut pinger = match Pinger::of_type(peer.parse().unwrap(), None, kind) {
                Ok(pinger) => pinger,
                Err(error) if is_refused(&error) => {
                    println!("skipped: {kind:?} ICMP socket: {error}");
                    continue;
                }
                Err(error) => panic!("{peer} {kind:?}: {error}"),
            };
            for sequence in [1, 65_535] {
                let before = monotonic_ns();
                pinger.send(sequence).unwrap();
                let reply = pinger.receive(Duration::from_secs(10)).unwrap().unwrap();
                assert_eq!(reply.sequence, sequence);
                assert!(
                    reply.rtt_ns > 0 && reply.rtt_ns <= reply.at_ns - before,
                    "{reply:?}"
                );
            }
            assert_eq!(pinger.receive(Duration::ZERO).unwrap(), None);
        }
    }

    #[test]
    fn only_our_own_replies_count() {
        let mut message = [0; 16];
        message[4..8].copy_from_slice(&[0, 7, 0, 9]);
        assert_eq!(answer(&message, false, Some(7)), Some((9, 0)));
        assert_eq!(answer(&message, false, Some(8)), None);
        assert_eq!(answer(&message, true, None), None);
        assert_eq!(answer(&message[..15], false, None), None);
    }
}
