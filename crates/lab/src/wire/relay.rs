// SPDX-License-Identifier: MIT OR Apache-2.0
//! One direction of the wire.
//!
//! Hot path: one clock reading and one system call a frame that is delivered, no
//! allocation but a log chunk every few thousand frames.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use linerate_linux::clock;
use linerate_linux::packet::PacketReceiver;
use linerate_method::impair::{DropReason, Fate, Wire};

use super::counters::Published;
use super::ecn::{EcnChange, Marker};
use super::log::{DirectionLog, Entry};
use super::nic::{Reception, Transmission};
use super::report::DirectionReport;
use super::senders::Senders;
use super::store::Store;

pub(super) struct Relay {
    pub name: &'static str,
    pub from: PacketReceiver,
    pub to: Senders,
    pub began: Instant,
    pub impairment: Wire,
    /// The sender's card, where it is one that carries out offloads.
    pub transmission: Option<Transmission>,
    /// The receiver's card, where it has a fault.
    pub reception: Option<Reception>,
    pub ecn: EcnChange,
    pub frame_bytes_max: usize,
    pub log: Option<DirectionLog>,
    pub stop: Arc<AtomicBool>,
    pub enabled: Arc<AtomicBool>,
    pub published: Arc<Published>,
}

impl Relay {
    pub(super) fn spawn(self) -> io::Result<JoinHandle<DirectionReport>> {
        Builder::new()
            .name(format!("wire-{}", self.name))
            .spawn(move || self.run())
    }

    fn run(mut self) -> DirectionReport {
        clock::precise_sleep();
        let slots = (STORE_BYTES / self.frame_bytes_max).clamp(64, SLOTS_MAX) as u32;
        let mut egress = Egress {
            to: Outlet {
                senders: self.to,
                card: self.reception,
            },
            store: Store::new(slots, self.frame_bytes_max),
            scratch: vec![0; self.frame_bytes_max],
            marker: Marker::new(self.ecn),
            report: DirectionReport {
                name: self.name,
                ..DirectionReport::default()
            },
        };
        let (mut impairment, mut log) = (self.impairment, self.log);
        let mut card = self.transmission;
        let began = self.began;
        let now_ns = || began.elapsed().as_nanos() as u64;
        let mut publish_at_ns = 0;
        loop {
            let stop = self.stop.load(Ordering::Relaxed);
            let enabled = self.enabled.load(Ordering::Relaxed);
            let taken = self.from.receive_offloaded(BATCH, |packet, request| {
                if !enabled {
                    return;
                }
                let mut carry = |frame: &[u8]| {
                    let now = now_ns();
                    // Frames that became due while a busy machine delayed the wire leave first.
                    egress.deliver_due(now);
                    let fate = decide(&mut impairment, now, frame);
                    let entry = egress.carry(frame, now, fate);
                    if let Some(log) = &mut log {
                        log.note(now, frame, entry);
                    }
                };
                match &mut card {
                    None => carry(packet),
                    Some(card) => {
                        let done = card.carry_out(packet, request, carry);
                        egress.report.missed += u64::from(!done);
                    }
                }
            });
            let now = now_ns();
            egress.deliver_due(now);
            if now >= publish_at_ns {
                publish_at_ns = now + PUBLISH_NS;
                egress.report.missed += self.from.take_losses().unwrap_or(0);
                self.published.publish(&egress.report);
            }
            if taken == 0 && stop {
                break;
            }
            if taken == 0 {
                let due = egress.due(now).saturating_sub(now_ns());
                let _interrupted = self.from.wait(due.min(CHECK_STOP_NS));
            }
        }
        egress.report.in_flight = egress.store.len() as u64;
        egress.report.missed += self.from.take_losses().unwrap_or(0);
        self.published.publish_last(&egress.report);
        egress.report
    }
}

/// Frames other than IP meet only rate and delay: a lost or corrupt ARP message would disconnect the hosts for much
/// longer than a frame.
fn decide(impairment: &mut Wire, now_ns: u64, frame: &[u8]) -> Fate {
    match frame.get(12..14) {
        Some([0x08, 0x00] | [0x86, 0xdd]) => impairment.admit(now_ns, frame.len()),
        _ => impairment.admit_spared(now_ns, frame.len()),
    }
}

/// The far side of a direction.
struct Egress {
    to: Outlet,
    store: Store,
    /// The frame as it leaves, if that differs from how it came.
    scratch: Vec<u8>,
    marker: Marker,
    report: DirectionReport,
}

impl Egress {
    /// Applies the fate of a frame; returns its log entry.
    fn carry(&mut self, frame: &[u8], now_ns: u64, fate: Fate) -> Entry {
        self.report.received += 1;
        let (at_ns, copies, corrupt_bit) = match fate {
            Fate::Drop(reason) => return self.lose(reason),
            Fate::Pass {
                at_ns,
                copies,
                corrupt_bit,
            } => (at_ns, copies, corrupt_bit),
        };
        let marked = !self.marker.is_idle() && self.change_ecn(frame);
        let flipped = corrupt_bit.is_some_and(|bit| self.corrupt(frame, bit, marked));
        let mut accepted = 0;
        for _ in 0..copies {
            accepted += u8::from(self.hand_over(frame, flipped || marked, at_ns, now_ns));
        }
        self.report.duplicated += u64::from(accepted > 1);
        self.report.corrupted += u64::from(flipped);
        match accepted {
            0 => Entry::lost("ceiling"),
            copies => Entry {
                copies,
                corrupt_bit: corrupt_bit.filter(|_| flipped),
                why: "",
                delay_ns: at_ns - now_ns,
            },
        }
    }

    fn lose(&mut self, reason: DropReason) -> Entry {
        let (count, why) = match reason {
            DropReason::TooLong => (&mut self.report.too_long, "too-long"),
            DropReason::Loss => (&mut self.report.lost, "loss"),
            DropReason::BurstLoss => (&mut self.report.lost_in_bursts, "burst"),
            DropReason::Fifo => (&mut self.report.lost_at_queue, "queue"),
        };
        *count += 1;
        Entry::lost(why)
    }

    /// Copies the frame into `scratch` with another ECN field.
    fn change_ecn(&mut self, frame: &[u8]) -> bool {
        let copy = self.scratch.get_mut(..frame.len());
        copy.is_some_and(|copy| {
            copy.copy_from_slice(frame);
            self.marker.change(copy)
        })
    }

    /// Copies the frame into `scratch` with that bit flipped, unless it `is_copied` already.
    fn corrupt(&mut self, frame: &[u8], bit: u64, is_copied: bool) -> bool {
        let byte = (bit / 8) as usize;
        if byte >= frame.len() || frame.len() > self.scratch.len() {
            return false;
        }
        if !is_copied {
            self.scratch[..frame.len()].copy_from_slice(frame);
        }
        self.scratch[byte] ^= 1 << (bit % 8);
        true
    }

    fn hand_over(&mut self, frame: &[u8], is_changed: bool, at_ns: u64, now_ns: u64) -> bool {
        let frame = if is_changed {
            &self.scratch[..frame.len()]
        } else {
            frame
        };
        if at_ns <= now_ns {
            return self.to.send(frame, now_ns, &mut self.report);
        }
        let kept = self.store.put(at_ns, frame);
        self.report.no_room += u64::from(!kept);
        kept
    }

    fn deliver_due(&mut self, now_ns: u64) {
        let Self {
            to, store, report, ..
        } = self;
        while store.take(now_ns, |at_ns, frame| {
            report.late_max_ns = report.late_max_ns.max(now_ns - at_ns);
            to.send(frame, now_ns, report);
        }) {}
    }

    /// When the next frame is to be delivered.
    fn due(&mut self, now_ns: u64) -> u64 {
        let next = [
            self.store.next_ns(),
            self.to.flush(now_ns, &mut self.report),
        ];
        next.into_iter().flatten().min().unwrap_or(u64::MAX)
    }
}

/// The receiver's side, with its card if that has a fault.
struct Outlet {
    senders: Senders,
    card: Option<Reception>,
}

impl Outlet {
    fn send(&mut self, frame: &[u8], now_ns: u64, report: &mut DirectionReport) -> bool {
        let Some(card) = &mut self.card else {
            return send(&mut self.senders, frame, report);
        };
        let to = &mut self.senders;
        let passed = card.take(frame, now_ns, |frame| send(to, frame, report));
        report.lost_in_card += u64::from(!passed);
        true
    }

    fn flush(&mut self, now_ns: u64, report: &mut DirectionReport) -> Option<u64> {
        let card = self.card.as_mut()?;
        let to = &mut self.senders;
        card.flush(now_ns, |frame| send(to, frame, report))
    }
}

fn send(to: &mut Senders, frame: &[u8], report: &mut DirectionReport) -> bool {
    let sent = to.send(frame).is_ok();
    report.delivered += u64::from(sent);
    report.refused += u64::from(!sent);
    sent
}

const BATCH: usize = 32;
/// Memory for frames in flight, in each direction; the kernel allocates it page by page.
const STORE_BYTES: usize = 64 << 20;
const SLOTS_MAX: usize = 65_536;
const CHECK_STOP_NS: u64 = 20_000_000;
const PUBLISH_NS: u64 = 10_000_000;

#[cfg(test)]
mod tests {
    use linerate_method::impair::Impairment;

    use super::*;

    #[test]
    fn a_wire_that_loses_all_datagrams_passes_arp() {
        let all_lost = Impairment {
            loss_ratio: 1.0,
            ..Impairment::default()
        };
        let mut wire = Wire::new(all_lost, 1);
        let mut is_lost = |ether_type: [u8; 2]| {
            let mut frame = [0; 60];
            frame[12..14].copy_from_slice(&ether_type);
            matches!(decide(&mut wire, 0, &frame), Fate::Drop(_))
        };
        assert_eq!([[8, 0], [0x86, 0xdd]].map(&mut is_lost), [true; 2]);
        assert!(!is_lost([8, 6]));
    }
}
