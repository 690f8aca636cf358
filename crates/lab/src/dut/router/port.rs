// SPDX-License-Identifier: MIT OR Apache-2.0
//! One port of the router: answers ARP and ND requests, forwards what is for the other side.
//!
//! Hot path: one system call per frame sent, no allocation.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use linerate_linux::clock;
use linerate_linux::packet::{PacketReceiver, PacketSender};
use linerate_wire::ether::Frame;
use linerate_wire::frame::{self, AddressRange, Arrived, Family, Neighbours, Side};

use super::faults::{Fate, RouterFaults};
use super::icmp::time_exceeded;
use super::next_hops::NextHops;
use super::packet::{self, Packet};

/// The senders and addresses of a port.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) side: Side,
    /// Sends out of this port.
    pub(super) tx_here: PacketSender,
    /// Sends out of the other port.
    pub(super) tx_there: PacketSender,
    /// The router on this side.
    pub(super) here: Neighbours,
    /// The router on the other side.
    pub(super) there: Neighbours,
    pub(super) hops: NextHops,
    pub(super) faults: RouterFaults,
}

impl Port {
    /// Routes what arrives until `stop`.
    pub(super) fn spawn(
        self,
        from: PacketReceiver,
        stop: Arc<AtomicBool>,
    ) -> io::Result<JoinHandle<()>> {
        let worker = Worker {
            port: self,
            bytes: Vec::new(),
            held: Vec::new(),
            held_since: Instant::now(),
        };
        Builder::new()
            .name("router".to_owned())
            .spawn(move || worker.run(from, &stop))
    }
}

struct Worker {
    port: Port,
    /// The frame being rewritten.
    bytes: Vec<u8>,
    /// A frame that waits for the next one; empty: none.
    held: Vec<u8>,
    held_since: Instant,
}

impl Worker {
    fn run(mut self, mut from: PacketReceiver, stop: &AtomicBool) {
        clock::precise_sleep();
        while !stop.load(Ordering::Relaxed) {
            let taken = from.receive(BATCH, |bytes| self.take(bytes));
            if taken == 0 {
                if self.held_since.elapsed() > HELD_AT_MOST {
                    self.release();
                }
                let _interrupted = from.wait(CHECK_STOP_NS);
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let arrived = frame::read(bytes);
        if matches!(arrived, Arrived::Arp(_) | Arrived::Neighbour(_)) {
            self.answer(bytes, &arrived);
            return;
        }
        let Some(frame) = Frame::parse(bytes) else {
            return;
        };
        let is_ours =
            frame.destination == self.port.here.mac && frame.vlans == [self.port.here.vlan, None];
        let packet = Packet::of(bytes, &frame).filter(|_| is_ours);
        if let Some(packet) = packet.filter(|packet| self.port.leads_onward(packet)) {
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
            let fate = match arrived {
                Arrived::Ours(ours) => self.port.faults.fate(ours.signature.sequence),
                _ => Fate::Forwarded,
            };
            self.route(&packet, frame.source, fate);
        }
    }

    fn answer(&self, bytes: &[u8], arrived: &Arrived) {
        let of_ours =
            Frame::parse(bytes).is_some_and(|frame| frame.vlans == [self.port.here.vlan, None]);
        if of_ours {
            self.port.hops.learn(arrived, Instant::now());
        }
        if let Some(answer) = self.port.here.answer(bytes) {
            send(&self.port.tx_here, &answer);
        }
    }

    fn route(&mut self, packet: &Packet, sender_mac: [u8; 6], fate: Fate) {
        if packet.ttl <= self.port.faults.hops {
            let own = self.port.side.device(Family::of(packet.source));
            let quoted = &self.bytes[packet.at..];
            let message = time_exceeded(&self.port.here, sender_mac, (own, packet.source), quoted);
            return send(&self.port.tx_here, &message);
        }
        let Some(next_hop) = self.port.next_hop(packet) else {
            return;
        };
        let (to, from) = match fate {
            Fate::SentBack => (sender_mac, self.port.here.mac),
            _ => (next_hop, self.port.there.mac),
        };
        packet.forward(&mut self.bytes, to, from, self.port.faults.hops);
        self.transmit(fate);
    }

    fn transmit(&mut self, fate: Fate) {
        let untagged = self.port.faults.untagged && self.port.here.vlan.is_some();
        if fate == Fate::Corrupted
            && let Some(last) = self.bytes.last_mut()
        {
            *last ^= 1;
        }
        let bytes = if untagged {
            packet::without_tag(&mut self.bytes)
        } else {
            &self.bytes
        };
        match fate {
            Fate::Lost => return,
            Fate::SentBack => return send(&self.port.tx_here, bytes),
            Fate::Reordered if self.held.is_empty() => {
                self.held.extend_from_slice(bytes);
                self.held_since = Instant::now();
                return;
            }
            _ => send(&self.port.tx_there, bytes),
        }
        match fate {
            Fate::Duplicated => send(&self.port.tx_there, bytes),
            Fate::Chatter => send(&self.port.tx_there, &LLDP),
            _ => {}
        }
        self.release();
    }

    fn release(&mut self) {
        if !self.held.is_empty() {
            send(&self.port.tx_there, &self.held);
            self.held.clear();
        }
    }
}

impl Port {
    fn leads_onward(&self, packet: &Packet) -> bool {
        let (network, prefix_bits) = self.side.opposite().half(Family::of(packet.destination));
        AddressRange::network(network, prefix_bits).contains(packet.destination)
    }

    /// The tester is the next hop to all networks of its side; sends a request for it when it is time to.
    fn next_hop(&self, packet: &Packet) -> Option<[u8; 6]> {
        let (family, other) = (Family::of(packet.destination), self.side.opposite());
        let hop = self.hops.find(other.tester(family), Instant::now());
        if hop.ask
            && let Some(question) = self
                .there
                .request(other.device(family), other.tester(family))
        {
            send(&self.tx_there, &question);
        }
        hop.mac
    }
}

fn send(to: &PacketSender, bytes: &[u8]) {
    // Like any router, it drops when the queue is full.
    let _full = to.send(bytes);
}

/// An empty LLDP announcement, which no bridge forwards.
const LLDP: [u8; 60] = {
    let mut bytes = [0; 60];
    let header = [1, 0x80, 0xC2, 0, 0, 0x0E, 2, 0, 0, 0, 0, 1, 0x88, 0xCC];
    let mut at = 0;
    while at < header.len() {
        bytes[at] = header[at];
        at += 1;
    }
    bytes
};
const BATCH: usize = 32;
const CHECK_STOP_NS: u64 = 10_000_000;
/// Shorter than any wait for residual frames.
const HELD_AT_MOST: Duration = Duration::from_millis(50);
