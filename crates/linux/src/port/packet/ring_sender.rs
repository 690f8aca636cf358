// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sends from a ring of slots shared with the kernel (PACKET_TX_RING, TPACKET_V2), past the queueing discipline.
//!
//! One system call hands over all slots that were filled; the kernel does not copy a frame but for its Ethernet header, and
//! gives the slot back when the device has let go of it. What it refuses is taken out of the ring again, so that nothing is sent
//! later than it was meant to be. Hot path: [`RingSender::send`] neither allocates nor locks.
#![expect(unsafe_code, reason = "a ring shared with the kernel")]

use std::io;
use std::os::fd::AsFd;
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::net::SendFlags;

use super::socket::{NOTHING, PacketSocket};
use crate::port::memory::Memory;

/// Bound to one interface.
#[derive(Debug)]
pub(in crate::port) struct RingSender {
    ring: Ring,
    socket: PacketSocket,
    /// The slot that is filled next, and where the kernel continues to read.
    next: usize,
}

impl RingSender {
    /// A ring of `frames` slots, each for a frame of `frame_bytes_max`.
    ///
    /// # Errors
    /// EPERM without CAP_NET_RAW, ENODEV for an unknown interface, ENOMEM, NetworkDown.
    pub(in crate::port) fn open(
        interface: &str,
        frame_bytes_max: usize,
        frames: usize,
    ) -> io::Result<Self> {
        let socket = PacketSocket::open_to_send(interface)?;
        socket.set(libc::PACKET_VERSION, &TPACKET_V2)?;
        let ring = Ring::map(&socket, frame_bytes_max, frames)?;
        socket.bind(NOTHING)?;
        Ok(Self {
            ring,
            socket,
            next: 0,
        })
    }

    /// Sends up to `count` frames, each of its `length` in bytes; `fill` writes each, given its number. Returns how many the device took.
    ///
    /// # Errors
    /// If it took none: NetworkDown when the interface is down, without carrier or gone; EMSGSIZE beyond its MTU.
    pub(in crate::port) fn send(
        &mut self,
        count: usize,
        length: impl Fn(usize) -> usize,
        mut fill: impl FnMut(usize, &mut [u8]),
    ) -> io::Result<usize> {
        let mut sent = 0;
        while sent < count {
            let most = (count - sent).min(MOST_PER_CALL);
            let length = |number| length(sent + number);
            let filled = self.fill(most, length, |number, frame| fill(sent + number, frame))?;
            let bytes = (0..filled).map(length).sum();
            let (taken, refusal) = self.hand_over(filled, bytes);
            sent += taken;
            match refusal {
                _ if taken == filled && filled > 0 => {}
                Some(error) if sent == 0 => return self.socket.none_sent(error),
                _ => break,
            }
        }
        Ok(sent)
    }

    /// Fills free slots in turn until one is still the device's.
    fn fill(
        &self,
        most: usize,
        length: impl Fn(usize) -> usize,
        mut fill: impl FnMut(usize, &mut [u8]),
    ) -> io::Result<usize> {
        for number in 0..most {
            let mut slot = self.ring.slot(self.next + number);
            if slot.status() != AVAILABLE {
                return Ok(number);
            }
            let length = length(number);
            let frame = slot.frame(length).ok_or(io::ErrorKind::InvalidInput)?;
            fill(number, frame);
            slot.offer(length);
        }
        Ok(most)
    }

    /// Returns the number of filled slots, of this many bytes, that were sent, and why not all.
    fn hand_over(&mut self, filled: usize, all_bytes: usize) -> (usize, Option<io::Error>) {
        let done = rustix::net::send(&self.socket, &[], SendFlags::DONTWAIT);
        let taken = match done {
            Ok(bytes) if bytes == all_bytes => filled,
            _ => self.take_back(filled),
        };
        self.next = self.ring.wrap(self.next + taken);
        (taken, done.err().map(io::Error::from))
    }

    /// Empties the slots that the kernel has not taken; returns how many it has.
    fn take_back(&self, filled: usize) -> usize {
        let refused = |number: &usize| self.ring.slot(self.next + number).status() & NOT_TAKEN != 0;
        let taken = (0..filled).find(refused).unwrap_or(filled);
        for number in taken..filled {
            self.ring.slot(self.next + number).withdraw();
        }
        taken
    }
}

/// Equal slots, used in turn.
#[derive(Debug)]
struct Ring {
    memory: Memory,
    slot_bytes: usize,
    slots: usize,
}

impl Ring {
    fn map(socket: &PacketSocket, frame_bytes_max: usize, frames: usize) -> io::Result<Self> {
        // Powers of two, so that slots fill blocks, and blocks are whole pages of any size.
        let slot_bytes = (frame_bytes_max + FRAME_AT).next_power_of_two();
        let block_bytes = slot_bytes.max(LARGEST_PAGE_BYTES);
        let blocks = (frames * slot_bytes).div_ceil(block_bytes).max(1);
        let slots = blocks * block_bytes / slot_bytes;
        let request = libc::tpacket_req {
            tp_block_size: block_bytes as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: slot_bytes as u32,
            tp_frame_nr: slots as u32,
        };
        socket.set(libc::PACKET_TX_RING, &request)?;
        let memory = Memory::of(socket.as_fd(), 0, blocks * block_bytes)?;
        Ok(Self {
            memory,
            slot_bytes,
            slots,
        })
    }

    fn wrap(&self, number: usize) -> usize {
        number % self.slots
    }

    fn slot(&self, number: usize) -> Slot<'_> {
        let start = self.wrap(number) * self.slot_bytes;
        Slot { ring: self, start }
    }
}

/// `struct tpacket2_hdr`, then the frame.
struct Slot<'a> {
    ring: &'a Ring,
    start: usize,
}

impl Slot<'_> {
    fn status(&self) -> u32 {
        self.word(0).load(Ordering::Acquire)
    }

    /// Where the frame is written; `None` if it is longer than a slot. Only of a slot that is ours.
    fn frame(&mut self, length: usize) -> Option<&mut [u8]> {
        if length > self.ring.slot_bytes - FRAME_AT {
            return None;
        }
        let first = self.ring.memory.at(self.start + FRAME_AT, length)?;
        // SAFETY: within the mapping; the caller has seen that the slot is ours, and the one `&mut self` borrows it.
        Some(unsafe { slice::from_raw_parts_mut(first.as_ptr(), length) })
    }

    fn offer(&self, length: usize) {
        self.word(4).store(length as u32, Ordering::Relaxed);
        self.word(0).store(SEND_REQUEST, Ordering::Release);
    }

    fn withdraw(&self) {
        self.word(0).store(AVAILABLE, Ordering::Release);
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        let start = self.ring.memory.start().as_ptr();
        // SAFETY: slots are inside the mapping, and longer than their header.
        let word = unsafe { start.add(self.start + offset) };
        // SAFETY: slots are aligned to at least 16; both sides access the header's words only whole.
        unsafe { AtomicU32::from_ptr(word.cast()) }
    }
}

/// `enum tpacket_versions`.
const TPACKET_V2: i32 = 1;
/// `TP_STATUS_…` of sending.
const AVAILABLE: u32 = 0;
const SEND_REQUEST: u32 = 1;
const WRONG_FORMAT: u32 = 4;
const NOT_TAKEN: u32 = SEND_REQUEST | WRONG_FORMAT;
/// `TPACKET2_HDRLEN - sizeof(struct sockaddr_ll)`: where the kernel looks for the frame (`tpacket_parse_header`).
const FRAME_AT: usize = 32;
const LARGEST_PAGE_BYTES: usize = 65_536;
/// Enough to make the system call cheap, few enough that the stamps of the first frames are not old when they leave.
const MOST_PER_CALL: usize = 64;
