// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thread that receives, accounts, and answers for the emulated hosts as long as the port is open.
//!
//! Hot path: the thread looks for an order once per batch; frames neither allocate nor lock.

use std::net::IpAddr;
use std::sync::mpsc::{self, Receiver as Inbox, Sender as Outbox};
use std::thread;
use std::time::{Duration, Instant};

use linerate_linux::cpu;
use linerate_linux::packet::PacketSender;
use linerate_linux::port::Receiver;
use linerate_wire::frame::{self, Arrived, Neighbours};

use crate::account::Account;

pub(super) enum Order {
    Begin(Box<Account>, Outbox<()>),
    /// How many of the expected frames have arrived.
    Count(Outbox<u64>),
    End(Outbox<Ended>),
}

/// What a port received in a trial.
#[derive(Debug)]
pub(crate) struct Ended {
    pub account: Box<Account>,
    /// Frames that the tester's own kernel dropped.
    pub kernel_drops: u64,
}

/// The state of the receiving thread.
pub(super) struct RxThread {
    pub receiver: Receiver,
    pub neighbours: Neighbours,
    /// Sends answers to ARP and ND requests.
    pub answers: PacketSender,
    /// Takes the answers to the tester's own requests.
    pub resolved: Outbox<(IpAddr, [u8; 6])>,
    /// Frames that the kernel dropped until the end of the last trial.
    pub kernel_drops: u64,
}

impl RxThread {
    /// Receives until the port is closed.
    pub(super) fn run(mut self, inbox: &Inbox<Order>) {
        cpu::set_short_timeslice();
        let mut account = None;
        loop {
            match inbox.try_recv() {
                Ok(Order::Begin(fresh, ready)) => {
                    account = Some(fresh);
                    let _gone = ready.send(());
                }
                Ok(Order::Count(reply)) => {
                    let arrived = account.as_ref().map_or(0, |one| one.latency.len());
                    let _gone = reply.send(arrived);
                }
                Ok(Order::End(reply)) => {
                    self.drain(&mut account);
                    if let Some(account) = account.take() {
                        let total = self.receiver.kernel_drops();
                        let before = std::mem::replace(&mut self.kernel_drops, total);
                        let kernel_drops = total.saturating_sub(before);
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

    /// Frames that the kernel holds belong to this trial, even if a busy machine shows them late. Frames that it
    /// never shows were lost by the tester, not by the device.
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

    /// Returns the number of frames received.
    fn receive(&mut self, account: &mut Option<Box<Account>>, wait: Duration) -> usize {
        let Self {
            receiver,
            neighbours,
            answers,
            resolved,
            ..
        } = self;
        let done = receiver.receive(wait, |bytes, received_ns| {
            let arrived = frame::read(bytes);
            if matches!(arrived, Arrived::Arp(_) | Arrived::Neighbour(_)) {
                answer(bytes, neighbours, answers, resolved);
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

/// Not in the data path: answers an ARP or ND request, passes an answer on.
fn answer(
    bytes: &[u8],
    neighbours: &Neighbours,
    answers: &PacketSender,
    resolved: &Outbox<(IpAddr, [u8; 6])>,
) {
    if let Some(answer) = neighbours.answer(bytes) {
        // The device repeats a request that is not answered.
        let _full = answers.send(&answer);
    }
    if let Some(found) = frame::resolved(bytes) {
        let _gone = resolved.send(found);
    }
}

/// Kernel timers are not later than this.
const SHOWN_WITHIN: Duration = Duration::from_secs(2);
/// The longest time that an order waits.
const PATIENCE: Duration = Duration::from_millis(2);
