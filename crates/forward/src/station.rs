// SPDX-License-Identifier: MIT OR Apache-2.0
//! One port of the tester: what sends, and a thread that receives, accounts and answers for the
//! addresses behind the port as long as the port is open.
//!
//! Hot path: the thread looks for an order once a batch; frames neither allocate nor lock.

use std::io;
use std::net::IpAddr;
use std::sync::mpsc::{self, Receiver as Inbox, Sender as Outbox};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use linerate_linux::cpu;
use linerate_linux::nic;
use linerate_linux::packet::PacketSender;
use linerate_linux::port::{self, Backend, Receiver, Wanted};
use linerate_model::output::Port;
use linerate_wire::frame::{self, Arrived, Neighbours, Side};

use super::account::{Account, Expected};
use super::refused;
use linerate_model::failure::Failure;

/// A port that is open.
#[derive(Debug)]
pub(super) struct Station {
    pub side: Side,
    pub interface: String,
    /// What sends test frames.
    pub sender: port::Sender,
    /// Everyone that the tester plays behind this port.
    pub neighbours: Neighbours,
    /// How it moves frames.
    pub described: Port,
    /// Whether the interface is a device with a medium, and how fast.
    pub line_bits_per_second: Option<u64>,
    control: PacketSender,
    orders: Option<Outbox<Order>>,
    found: Inbox<(IpAddr, [u8; 6])>,
    thread: Option<JoinHandle<()>>,
}

enum Order {
    Begin(Box<Account>, Outbox<()>),
    End(Outbox<Ended>),
}

/// A trial as the receiver saw it.
#[derive(Debug)]
pub(super) struct Ended {
    pub account: Box<Account>,
    /// Frames that the tester's own kernel dropped since the port was opened.
    pub kernel_drops: u64,
}

impl Station {
    /// Opens an interface of the calling thread's network namespace.
    ///
    /// # Errors
    /// No link, no permission, no backend; each with what to try.
    pub(super) fn open(
        side: Side,
        interface: &str,
        neighbours: Neighbours,
        wanted: &Wanted,
    ) -> Result<Self, Failure> {
        let what = || format!("use {interface} as a port");
        let link = nic::link(interface).map_err(|why| {
            Failure::measuring(what(), why).hint("`linerate inspect` lists the interfaces")
        })?;
        if !link.carrier {
            let why = if link.up {
                "there is no link"
            } else {
                "it is down"
            };
            let hint = format!("ip link set {interface} up; then cable and device");
            return Err(Failure::measuring(what(), why).hint(hint));
        }
        let is_veth = link.link_kind == nic::LinkKind::Veth;
        let (sender, receiver, chosen) =
            open(interface, wanted, is_veth).map_err(|why| refused::failure(interface, &why))?;
        let sockets = || {
            Ok((
                PacketSender::open(interface)?,
                PacketSender::open(interface)?,
            ))
        };
        let (control, answers) =
            sockets().map_err(|why: io::Error| Failure::measuring(what(), why))?;
        let (orders, inbox) = mpsc::channel();
        let (teller, found) = mpsc::channel();
        let desk = Desk {
            receiver,
            neighbours: neighbours.clone(),
            answers,
            teller,
        };
        let thread = thread::Builder::new().name(format!("receive {interface}"));
        let thread = thread.spawn(move || desk.work(&inbox));
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
            line_bits_per_second: described.and_then(|port| port.link_bits_per_second),
            control,
            orders: Some(orders),
            found,
            thread: Some(thread.map_err(|why| Failure::measuring("start a thread", why))?),
        })
    }

    /// Sends a frame that is not of the test.
    pub(super) fn say(&self, frame: &[u8]) {
        // Nobody waits for this one frame: what needs an answer asks again.
        let _full = self.control.send(frame);
    }

    /// Waits until someone behind the device's side tells where `address` is.
    pub(super) fn await_neighbour(&self, address: IpAddr, within: Duration) -> Option<[u8; 6]> {
        let end = Instant::now() + within;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            match self.found.recv_timeout(left) {
                Ok((found, mac)) if found == address => return Some(mac),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
        None
    }

    /// Frames are counted from its return on: the thread has the order, however late a busy machine ran it.
    pub(super) fn begin(&self, expected: Expected) {
        let (ready, is_ready) = mpsc::channel();
        self.order(Order::Begin(Box::new(Account::new(expected)), ready));
        // A thread that is gone is found out by `end`.
        let _gone = is_ready.recv();
    }

    /// What was counted since [`Station::begin`].
    ///
    /// # Errors
    /// The receiving thread is gone.
    pub(super) fn end(&self) -> Result<Ended, Failure> {
        let (reply, answer) = mpsc::channel();
        self.order(Order::End(reply));
        answer.recv().map_err(|_| {
            let what = format!("count what arrived at {}", self.interface);
            Failure::measuring(what, "the receiving thread ended")
        })
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // A thread that is gone is found out by `end`.
            let _gone = orders.send(order);
        }
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

/// A veth tells the ring that a frame has left while its bytes are still being forwarded: the next
/// frame would be written over it. So nothing is sent from a ring there unless that is asked for.
fn open(
    interface: &str,
    wanted: &Wanted,
    is_veth: bool,
) -> Result<(port::Sender, Receiver, port::Chosen), port::OpenError> {
    let opened = port::open(interface, wanted)?;
    if !is_veth || wanted.backend.is_some() || opened.2.send != Backend::AfPacketRing {
        return Ok(opened);
    }
    drop(opened);
    let copying = Wanted {
        backend: Some(Backend::AfPacketMmsg),
        ..wanted.clone()
    };
    port::open(interface, &copying)
}

/// The receiving thread's own things.
struct Desk {
    receiver: Receiver,
    neighbours: Neighbours,
    answers: PacketSender,
    teller: Outbox<(IpAddr, [u8; 6])>,
}

impl Desk {
    fn work(mut self, inbox: &Inbox<Order>) {
        cpu::short_turns();
        let mut account = None;
        loop {
            match inbox.try_recv() {
                Ok(Order::Begin(fresh, ready)) => {
                    account = Some(fresh);
                    let _gone = ready.send(());
                }
                Ok(Order::End(reply)) => {
                    self.drain(&mut account);
                    if let Some(account) = account.take() {
                        let kernel_drops = self.receiver.kernel_drops();
                        let _gone = reply.send(Ended {
                            account,
                            kernel_drops,
                        });
                    }
                }
                Err(mpsc::TryRecvError::Empty) => {}
                Err(mpsc::TryRecvError::Disconnected) => return,
            }
            self.receive(&mut account, PATIENCE);
        }
    }

    /// What the kernel holds belongs to this trial, although on a busy machine it may show it late. What it never
    /// shows the tester lost, and not the device.
    fn drain(&mut self, account: &mut Option<Box<Account>>) {
        while self.receive(account, Duration::ZERO) > 0 {}
        let deadline = Instant::now() + SHOWN_WITHIN;
        let mut left = self.receiver.unread();
        while left > 0 && Instant::now() < deadline {
            let shown = self.receive(account, PATIENCE) as u64;
            left = left.saturating_sub(shown).min(self.receiver.unread());
        }
        if left > 0 {
            self.receiver.give_up();
        }
    }

    /// How many arrived.
    fn receive(&mut self, account: &mut Option<Box<Account>>, wait: Duration) -> usize {
        let Self {
            receiver,
            neighbours,
            answers,
            teller,
        } = self;
        let done = receiver.receive(wait, |bytes, received_ns| {
            let arrived = frame::read(bytes);
            if matches!(arrived, Arrived::Arp(_) | Arrived::Neighbour(_)) {
                attend(bytes, neighbours, answers, teller);
            }
            if let Some(account) = account {
                account.take(&arrived, received_ns);
            }
        });
        match done {
            Ok(received) => received,
            Err(error) => {
                if let Some(account) = account {
                    account.failure.get_or_insert_with(|| error.to_string());
                }
                thread::sleep(wait);
                0
            }
        }
    }
}

/// Now and then only: a question is answered, an answer passed on.
fn attend(
    bytes: &[u8],
    neighbours: &Neighbours,
    answers: &PacketSender,
    teller: &Outbox<(IpAddr, [u8; 6])>,
) {
    if let Some(answer) = neighbours.answer(bytes) {
        // The device asks again if it did not get out.
        let _full = answers.send(&answer);
    }
    if let Some(found) = frame::resolved(bytes) {
        let _gone = teller.send(found);
    }
}

/// The kernel's timers are not later than this.
const SHOWN_WITHIN: Duration = Duration::from_secs(2);
/// An order waits this long at most.
const PATIENCE: Duration = Duration::from_millis(2);
