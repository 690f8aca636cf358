// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receives by a ring of blocks shared with the kernel (PACKET_RX_RING, TPACKET_V3), which fills one after the other.
//!
//! A block is shown when it is full or [`BLOCK_AGE_MS`] old. Hot path: [`RingReceiver::receive`] makes a system call only when no
//! block is ready, and neither allocates nor locks.
#![expect(unsafe_code, reason = "a ring shared with the kernel")]

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::net::sockopt;

use super::block;
use super::socket::{EVERYTHING, PacketSocket};
use crate::clock::Wall;
use crate::port::link;
use crate::port::memory::Memory;

/// Bound to one interface, which it makes promiscuous as long as it lives.
#[derive(Debug)]
pub(in crate::port) struct RingReceiver {
    ring: Ring,
    socket: PacketSocket,
    /// The block that the kernel fills next.
    next: usize,
    drops: u64,
    /// Frames that the kernel put into the ring, and those that were taken out, shown or not; the difference is exact.
    entered: u64,
    taken: u64,
    /// How often the kernel continued with another block than the next.
    astray: u64,
}

impl RingReceiver {
    /// A ring of about `bytes`; blocks are long enough for any frame of `frame_bytes_max`.
    ///
    /// # Errors
    /// EPERM without CAP_NET_RAW, ENODEV for an unknown interface, ENOMEM, NetworkDown.
    pub(in crate::port) fn open(
        interface: &str,
        frame_bytes_max: usize,
        bytes: usize,
    ) -> io::Result<Self> {
        let socket = PacketSocket::open(interface)?;
        // An old kernel shows what this machine sends, too: `block::walk` leaves it out.
        let _shown = socket.set(libc::PACKET_IGNORE_OUTGOING, &1_i32);
        socket.set(libc::PACKET_VERSION, &TPACKET_V3)?;
        socket.set(libc::PACKET_RESERVE, &VLAN_TAG_BYTES)?;
        let ring = Ring::map(&socket, frame_bytes_max, bytes)?;
        socket.bind(EVERYTHING)?;
        socket.join_promiscuous()?;
        Ok(Self {
            ring,
            socket,
            next: 0,
            drops: 0,
            entered: 0,
            taken: 0,
            astray: 0,
        })
    }

    /// Shows the frames of the next block, for which it waits `timeout` at most; returns how many.
    ///
    /// # Errors
    /// NetworkDown when the interface went down or is gone.
    pub(in crate::port) fn receive(
        &mut self,
        timeout: Duration,
        each: impl FnMut(&[u8], u64),
    ) -> io::Result<usize> {
        if !self.is_ready() {
            self.wait(timeout)?;
            self.find_oldest();
        }
        Ok(self.show(each))
    }

    /// As [`Self::receive`], without waiting.
    pub(in crate::port) fn show(&mut self, mut each: impl FnMut(&[u8], u64)) -> usize {
        let Some(mut filled) = self.ring.filled(self.next) else {
            return 0;
        };
        let wall = Wall::start();
        self.taken += block::count(filled.bytes());
        let shown = block::walk(filled.bytes(), |frame, wall_ns| {
            each(frame, wall.monotonic_of(wall_ns))
        });
        drop(filled);
        self.next = (self.next + 1) % self.ring.blocks;
        shown
    }

    /// Linux 6.18 may go on with another block than the next: the kernel's numbers say which one is the oldest.
    pub(in crate::port) fn find_oldest(&mut self) {
        if self.is_ready() {
            return;
        }
        let ready = (0..self.ring.blocks).filter(|number| self.ring.is_ready(*number));
        let oldest = ready.min_by_key(|number| self.ring.sequence(*number));
        // Checked again: both may have been filled since.
        if let Some(oldest) = oldest.filter(|_| !self.is_ready()) {
            self.next = oldest;
            self.astray += 1;
        }
    }

    fn is_ready(&self) -> bool {
        self.ring.is_ready(self.next)
    }

    fn wait(&self, timeout: Duration) -> io::Result<()> {
        let mut sockets = [PollFd::new(&self.socket, PollFlags::IN)];
        link::wait(&mut sockets, timeout)?;
        if link::in_trouble(&sockets[0]) {
            self.trouble()
        } else {
            Ok(())
        }
    }

    /// What poll(2) saw pending on the socket.
    ///
    /// # Errors
    /// That; NetworkDown when the interface went down or is gone.
    pub(in crate::port) fn trouble(&self) -> io::Result<()> {
        let pending = sockopt::socket_error(&self.socket)?;
        pending.map_err(|errno| self.socket.explain(errno.into()))
    }

    /// How often the kernel continued with another block than the next.
    pub(in crate::port) fn astray(&self) -> u64 {
        self.astray
    }

    /// Frames lost since the start because no block was free, or in a block that was given up.
    pub(in crate::port) fn drops(&mut self) -> u64 {
        self.ask();
        self.drops
    }

    /// Frames in the ring that were not taken out yet, those of the block that is being filled included.
    pub(in crate::port) fn unread(&mut self) -> u64 {
        self.ask();
        self.entered.saturating_sub(self.taken)
    }

    /// Counts what is unread as lost: Linux 6.18 sometimes continues without ever showing a block that it was filling.
    pub(in crate::port) fn give_up(&mut self) {
        self.drops += self.unread();
        self.taken = self.entered;
    }

    fn ask(&mut self) {
        // Reading resets the counters; it cannot fail.
        if let Ok([all, dropped, _frozen]) = self.socket.take_statistics() {
            self.drops += u64::from(dropped);
            self.entered += u64::from(all.saturating_sub(dropped));
        }
    }
}

impl AsFd for RingReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Equal blocks, used in turn.
#[derive(Debug)]
struct Ring {
    memory: Memory,
    block_bytes: usize,
    blocks: usize,
}

impl Ring {
    fn map(socket: &PacketSocket, frame_bytes_max: usize, bytes: usize) -> io::Result<Self> {
        let block_bytes = (frame_bytes_max + OVERHEAD_BYTES)
            .next_power_of_two()
            .max(BLOCK_BYTES);
        let blocks = (bytes / block_bytes).max(LEAST_BLOCKS);
        let request = libc::tpacket_req3 {
            tp_block_size: block_bytes as u32,
            tp_block_nr: blocks as u32,
            // Frames follow each other as they fit; this is only checked to divide the block.
            tp_frame_size: SMALLEST_FRAME_BYTES,
            tp_frame_nr: (blocks * block_bytes) as u32 / SMALLEST_FRAME_BYTES,
            tp_retire_blk_tov: BLOCK_AGE_MS,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        socket.set(libc::PACKET_RX_RING, &request)?;
        let memory = Memory::of(socket.as_fd(), 0, blocks * block_bytes)?;
        Ok(Self {
            memory,
            block_bytes,
            blocks,
        })
    }

    /// The block if the kernel has filled it and left it to us.
    fn filled(&mut self, number: usize) -> Option<Filled<'_>> {
        self.is_ready(number)
            .then_some(Filled { ring: self, number })
    }

    fn is_ready(&self, number: usize) -> bool {
        self.status(number).load(Ordering::Acquire) & USER != 0
    }

    /// The number of the block since the start.
    fn sequence(&self, number: usize) -> u64 {
        let [first, second] = [0, 4].map(|half| {
            let word = self.word(number, block::SEQUENCE_OF_BLOCK_AT + half);
            word.load(Ordering::Relaxed).to_ne_bytes()
        });
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&first);
        bytes[4..].copy_from_slice(&second);
        u64::from_ne_bytes(bytes)
    }

    fn status(&self, number: usize) -> &AtomicU32 {
        self.word(number, block::STATUS_OF_BLOCK_AT)
    }

    fn word(&self, number: usize, at: usize) -> &AtomicU32 {
        let start = self.memory.start().as_ptr();
        let offset = number * self.block_bytes + at;
        // SAFETY: blocks are inside the mapping, and longer than their header.
        let word = unsafe { start.add(offset) };
        // SAFETY: blocks are aligned to pages; both sides access this word only whole.
        unsafe { AtomicU32::from_ptr(word.cast()) }
    }
}

/// A block that is ours; the kernel's again when dropped.
struct Filled<'a> {
    ring: &'a mut Ring,
    number: usize,
}

impl Filled<'_> {
    fn bytes(&mut self) -> &mut [u8] {
        let start = self.ring.memory.start().as_ptr();
        // SAFETY: blocks are inside the mapping.
        let first = unsafe { start.add(self.number * self.ring.block_bytes) };
        // SAFETY: inside the mapping; the kernel writes to a block only while it is the kernel's, and `ring` is borrowed.
        unsafe { slice::from_raw_parts_mut(first, self.ring.block_bytes) }
    }
}

impl Drop for Filled<'_> {
    fn drop(&mut self) {
        self.ring
            .status(self.number)
            .store(KERNEL, Ordering::Release);
    }
}

/// `enum tpacket_versions`.
const TPACKET_V3: i32 = 2;
const KERNEL: u32 = 0;
const USER: u32 = 1;
const VLAN_TAG_BYTES: u32 = 4;
/// A whole number of pages of any size.
const BLOCK_BYTES: usize = 65_536;
const LEAST_BLOCKS: usize = 4;
/// More than the headers of a block and of a frame, with alignment.
const OVERHEAD_BYTES: usize = 256;
const SMALLEST_FRAME_BYTES: u32 = 2048;
/// After this time an incomplete block is delivered as well. At a low rate it determines how long the ring lasts when nobody
/// takes blocks out: 256 of them four seconds.
const BLOCK_AGE_MS: u32 = 16;
