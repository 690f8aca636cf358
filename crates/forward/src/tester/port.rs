// SPDX-License-Identifier: MIT OR Apache-2.0
//! One port of the tester: a sender, and the handle of the thread that receives.

use std::io;
use std::net::IpAddr;
use std::sync::mpsc::{self, Receiver as Inbox, Sender as Outbox};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use linerate_linux::nic;
use linerate_linux::packet::PacketSender;
use linerate_linux::port::{self, Backend, Receiver, Wanted};
use linerate_model::failure::Failure;
use linerate_model::output::{LinkKind, Port};
use linerate_wire::frame::{Neighbours, Side};

use super::refused;
use super::rx_thread::{Order, RxThread};
use crate::account::{Account, Expected};

pub(crate) use super::rx_thread::Ended;

/// An open port.
#[derive(Debug)]
pub(crate) struct TesterPort {
    pub side: Side,
    pub interface: String,
    /// Sends test frames.
    pub sender: port::Sender,
    /// The hosts that the tester emulates on this port.
    pub neighbours: Neighbours,
    /// The port's record, with its backends.
    pub described: Port,
    /// A program on this machine, such as an emulator, takes the frames.
    pub is_tap: bool,
    /// The speed of the link, where the interface has a medium.
    pub line_bits_per_second: Option<u64>,
    control: PacketSender,
    orders: Option<Outbox<Order>>,
    neighbours_found: Inbox<(IpAddr, [u8; 6])>,
    thread: Option<JoinHandle<()>>,
}

impl TesterPort {
    /// Opens a link of the calling thread's network namespace.
    ///
    /// # Errors
    /// No link, no permission, no backend; each with what to try.
    pub(crate) fn open(
        side: Side,
        link: &nic::Link,
        neighbours: Neighbours,
        wanted: &Wanted,
    ) -> Result<Self, Failure> {
        let interface = link.name.as_str();
        let what = || format!("use {interface} as a port");
        if !link.carrier {
            let why = if link.up {
                "there is no link"
            } else {
                "it is down"
            };
            let hint = format!("ip link set {interface} up; then check cable and device");
            return Err(Failure::measuring(what(), why).hint(hint));
        }
        let (sender, receiver, chosen) = open(interface, wanted, link.link_kind)
            .map_err(|why| refused::failure(interface, &why))?;
        let socket = || {
            PacketSender::open(interface).map_err(|why: io::Error| Failure::measuring(what(), why))
        };
        let (control, answers) = (socket()?, socket()?);
        let (orders, inbox) = mpsc::channel();
        let (resolved, neighbours_found) = mpsc::channel();
        let rx_thread = RxThread {
            receiver,
            neighbours: neighbours.clone(),
            answers,
            resolved,
            kernel_drops: 0,
        };
        let thread = thread::Builder::new().name(format!("receive {interface}"));
        let thread = thread.spawn(move || rx_thread.run(&inbox));
        let described = nic::describe(interface).ok();
        Ok(Self {
            side,
            interface: interface.to_owned(),
            sender,
            neighbours,
            described: Port {
                interface: interface.to_owned(),
                send_backend: chosen.send.to_string(),
                receive_backend: chosen.receive.to_string(),
                not_used: chosen.refused.iter().map(ToString::to_string).collect(),
            },
            is_tap: link.link_kind == LinkKind::Tap,
            line_bits_per_second: described.and_then(|port| port.link_bits_per_second),
            control,
            orders: Some(orders),
            neighbours_found,
            thread: Some(thread.map_err(|why| Failure::measuring("start a thread", why))?),
        })
    }

    /// Sends a frame that is not a test frame.
    pub(crate) fn send_control(&self, frame: &[u8]) {
        // A request without an answer is repeated by its caller.
        let _full = self.control.send(frame);
    }

    /// Waits for the answer to an ARP or ND request for `address`.
    pub(crate) fn await_neighbour(&self, address: IpAddr, within: Duration) -> Option<[u8; 6]> {
        let end = Instant::now() + within;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            match self.neighbours_found.recv_timeout(left) {
                Ok((found, mac)) if found == address => return Some(mac),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
        None
    }

    /// Begins to count. Returns when the thread has the order, however late a busy machine runs it.
    pub(crate) fn begin(&self, expected: Expected) {
        let (ready, is_ready) = mpsc::channel();
        self.order(Order::Begin(Box::new(Account::new(expected)), ready));
        // `end` reports a thread that has ended.
        let _gone = is_ready.recv();
    }

    /// How many of the expected frames have arrived since [`TesterPort::begin`].
    pub(crate) fn arrived(&self) -> u64 {
        let (reply, answer) = mpsc::channel();
        self.order(Order::Count(reply));
        // `end` reports a thread that has ended.
        answer.recv().unwrap_or(0)
    }

    /// Ends counting; returns what arrived since [`TesterPort::begin`].
    ///
    /// # Errors
    /// The receiving thread has ended.
    pub(crate) fn end(&self) -> Result<Ended, Failure> {
        let (reply, answer) = mpsc::channel();
        self.order(Order::End(reply));
        answer.recv().map_err(|_| {
            let what = format!("count what arrived at {}", self.interface);
            Failure::measuring(what, "the receiving thread ended")
        })
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // `end` reports a thread that has ended.
            let _gone = orders.send(order);
        }
    }
}

impl Drop for TesterPort {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

/// A veth releases a ring's frame while its bytes are still being forwarded: the next frame would
/// overwrite it. So a ring sends there only on request.
///
/// A tap does the same, and refuses frames while its queue is full. AF_XDP in copy mode also sends when the receiving
/// thread calls poll(2), which does not report a refused frame: the frame would count as lost (`xsk_poll`).
fn open(
    interface: &str,
    wanted: &Wanted,
    kind: LinkKind,
) -> Result<(port::Sender, Receiver, port::Chosen), port::OpenError> {
    let copying = Wanted {
        backend: Some(Backend::AfPacketMmsg),
        ..wanted.clone()
    };
    if kind == LinkKind::Tap && wanted.backend.is_none() {
        return port::open(interface, &copying);
    }
    let opened = port::open(interface, wanted)?;
    let is_ring_of_a_veth = kind == LinkKind::Veth
        && opened.2.send == Backend::AfPacketRing
        && wanted.backend.is_none();
    if !is_ring_of_a_veth {
        return Ok(opened);
    }
    drop(opened);
    port::open(interface, &copying)
}
