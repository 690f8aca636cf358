// SPDX-License-Identifier: MIT OR Apache-2.0
//! A netlink socket: one request, and the parts of its answer in one kept buffer.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use linerate_wire::netlink::generic;
use linerate_wire::netlink::message::{Turn, command, messages, request};
use linerate_wire::netlink::order::Order;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketType};

use crate::sockopt;

/// A socket in the network namespace of the thread that opened it.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Netlink {
    /// Asks about links, addresses and queueing disciplines (rtnetlink(7)).
    ///
    /// # Errors
    /// Those of socket(2).
    pub(crate) fn route() -> io::Result<Self> {
        Self::open(None, Some(PATIENCE))
    }

    /// Gives orders about the same, and waits for as long as the kernel takes to carry them out.
    ///
    /// # Errors
    /// Those of socket(2).
    pub(crate) fn route_orders() -> io::Result<Self> {
        Self::open(None, None)
    }

    /// Gives orders to the packet filter.
    ///
    /// # Errors
    /// As [`Netlink::generic`].
    pub(crate) fn filter_orders() -> io::Result<Self> {
        Self::open(Some(netlink::NETFILTER), None)
    }

    /// Asks the families that have names.
    ///
    /// # Errors
    /// Those of socket(2): `EPROTONOSUPPORT` where the kernel, or a sandbox, has none.
    pub(crate) fn generic() -> io::Result<Self> {
        Self::open(Some(netlink::GENERIC), Some(PATIENCE))
    }

    /// Protocol 0 is that of routing.
    fn open(protocol: Option<Protocol>, patience: Option<Duration>) -> io::Result<Self> {
        let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, protocol)?;
        set_socket_timeout(&socket, Timeout::Recv, patience)?;
        rustix::net::connect(&socket, &SocketAddrNetlink::new(0, 0))?;
        Ok(Self {
            socket,
            sequence: 0,
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    /// Sends a request of this kind and hands out each part of the answer; `dump` asks for all there is.
    ///
    /// # Errors
    /// What the kernel refused it with; those of the socket, `WouldBlock` where no answer came.
    pub(crate) fn ask(
        &mut self,
        kind: u16,
        dump: bool,
        payload: &[u8],
        part: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        self.send(&request(kind, dump, self.sequence, payload))?;
        self.answer(self.sequence, part)
    }

    /// Has an order carried out.
    ///
    /// # Errors
    /// What the kernel refused it with; those of the socket.
    pub(crate) fn order(&mut self, order: &Order) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        self.send(&command(order, self.sequence))?;
        self.answer(self.sequence, |_| {})
    }

    /// Sends messages as they are.
    ///
    /// # Errors
    /// Those of the socket.
    pub(crate) fn send(&self, messages: &[u8]) -> io::Result<()> {
        rustix::net::send(&self.socket, messages, SendFlags::empty())?;
        Ok(())
    }

    /// Waits for the end of the answer to what was sent with this number.
    ///
    /// # Errors
    /// As [`Netlink::ask`].
    pub(crate) fn answer(&mut self, sequence: u32, mut part: impl FnMut(&[u8])) -> io::Result<()> {
        loop {
            let (length, _) =
                rustix::net::recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
            let answer = self.buffer.get(..length).unwrap_or(&[]);
            // An answer to a question that was given up may still come.
            for message in messages(answer).filter(|message| message.sequence == sequence) {
                match message.turn() {
                    Turn::Part(payload) => part(payload),
                    Turn::Done => return Ok(()),
                    Turn::Refused(errno) => return Err(io::Error::from_raw_os_error(errno)),
                }
            }
        }
    }

    /// The number of the generic family called `name`.
    ///
    /// # Errors
    /// `NotFound` where the kernel does not have it; as [`Netlink::ask`].
    pub(crate) fn family(&mut self, name: &str) -> io::Result<u16> {
        self.of_family(name, generic::family)
    }

    /// Has the notifications of a group of the family called `name` sent here.
    ///
    /// # Errors
    /// As [`Netlink::family`]; those of setsockopt(2).
    pub(crate) fn join(&mut self, name: &str, group: &str) -> io::Result<()> {
        let group = self.of_family(name, |answer| generic::group(answer, group))?;
        sockopt::set(
            &self.socket,
            libc::SOL_NETLINK,
            libc::NETLINK_ADD_MEMBERSHIP,
            &group,
        )
    }

    /// Hands out the notifications that come, until one is the wanted.
    ///
    /// # Errors
    /// `WouldBlock` where none came within the patience of the socket.
    pub(crate) fn listen(&mut self, wanted: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
        loop {
            let (length, _) =
                rustix::net::recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
            let all = self.buffer.get(..length).unwrap_or(&[]);
            if messages(all).any(|message| wanted(message.payload)) {
                return Ok(());
            }
        }
    }

    fn of_family<T>(&mut self, name: &str, read: impl Fn(&[u8]) -> Option<T>) -> io::Result<T> {
        let mut found = None;
        let request = generic::family_request(name);
        self.ask(generic::CONTROLLER, false, &request, |answer| {
            found = found.take().or_else(|| read(answer));
        })?;
        found.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// The kernel fills a datagram of a dump up to 32 KiB.
const BUFFER_BYTES: usize = 64 << 10;
/// The kernel answers at once, or after its driver has.
const PATIENCE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::netlink::{link, qdisc};

    #[test]
    fn the_loopback_answers_by_its_number() {
        let mut counters = Vec::new();
        Netlink::route()
            .unwrap()
            .ask(link::GET, false, &link::request(1), |answer| {
                counters = link::counters(answer)
            })
            .unwrap();
        assert!(counters.iter().any(|(name, _)| *name == "rx_packets"));
    }

    #[test]
    fn a_refusal_is_an_error_and_the_socket_goes_on() {
        let mut socket = Netlink::route().unwrap();
        let refused = socket.ask(link::GET, false, &link::request(u32::MAX >> 1), |_| {});
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::ENODEV));
        let mut roots = 0;
        let each = |answer: &[u8]| {
            roots += usize::from(qdisc::parse(answer).is_some_and(|one| one.is_root()))
        };
        socket
            .ask(qdisc::GET, true, &qdisc::request(), each)
            .unwrap();
        assert!(roots > 0, "the loopback has noqueue");
    }

    #[test]
    fn a_family_that_no_kernel_has_is_not_found() {
        match Netlink::generic() {
            Ok(mut socket) => {
                let kind = socket.family("no-such-family").unwrap_err().kind();
                assert_eq!(kind, io::ErrorKind::NotFound);
            }
            Err(error) => println!("skipped: no generic netlink here: {error}"),
        }
    }
}
