// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole Ethernet frames from and to one interface (AF_PACKET, packet(7)).
//!
//! Frames arrive in a ring of memory shared with the kernel (TPACKET_V2), whose size no
//! setting of the machine limits. Hot path: [`PacketReceiver::receive`] makes no system call,
//! [`PacketSender::send`] makes one; neither allocates nor locks.
#![expect(unsafe_code, reason = "a ring shared with the kernel")]

use std::io;
use std::os::fd::AsFd;
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use linerate_wire::offload::Request;
use rustix::event::{PollFd, PollFlags};
use rustix::net::SendFlags;

use crate::port::{EVERYTHING, Memory, NOTHING, PacketSocket, wait};

/// Sends frames out of one interface.
#[derive(Debug)]
pub struct PacketSender {
    socket: PacketSocket,
}

impl PacketSender {
    /// Binds to an interface of the calling thread's namespace. Frames pass its queueing discipline by.
    ///
    /// # Errors
    /// EPERM without CAP_NET_RAW, ENODEV for an unknown interface.
    pub fn open(interface: &str) -> io::Result<Self> {
        Self::bound(PacketSocket::open_to_send(interface)?)
    }

    /// As [`Self::open`], but through the queueing discipline: the kernel spreads flows over the interface's queues.
    ///
    /// # Errors
    /// As there.
    pub fn open_queued(interface: &str) -> io::Result<Self> {
        Self::bound(PacketSocket::open(interface)?)
    }

    /// As [`Self::open_queued`], but the kernel chooses the queue by a hash of this number, and not of the flow: it looks for
    /// the flow of a frame where a packet with this Ethertype has it (net/core/flow_dissector.c). The frame itself is not
    /// changed. No protocol may have the number.
    ///
    /// # Errors
    /// As there.
    pub fn open_queued_as(interface: &str, ethertype: u16) -> io::Result<Self> {
        let socket = PacketSocket::open(interface)?;
        socket.bind_down(ethertype)?;
        Ok(Self { socket })
    }

    /// As [`Self::open_queued`]. Each frame begins with [`Request::encode`], which the interface carries out, or the kernel
    /// if the interface has that offload off.
    ///
    /// # Errors
    /// As there.
    pub fn open_offloading(interface: &str) -> io::Result<Self> {
        let socket = PacketSocket::open(interface)?;
        socket.set(PACKET_VNET_HDR, &1_i32)?;
        Self::bound(socket)
    }

    fn bound(socket: PacketSocket) -> io::Result<Self> {
        socket.bind_down(NOTHING)?;
        Ok(Self { socket })
    }

    /// Sends one frame.
    ///
    /// # Errors
    /// ENOBUFS or EAGAIN when the device has no room, EMSGSIZE beyond its MTU.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        rustix::net::send(&self.socket, frame, SendFlags::DONTWAIT)?;
        Ok(())
    }
}

/// Receives every frame that arrives at one interface, for any address.
#[derive(Debug)]
pub struct PacketReceiver {
    ring: Ring,
    socket: PacketSocket,
    /// The slot that the kernel fills next.
    next: usize,
    truncated: u64,
    /// Whether a request precedes each frame.
    offloaded: bool,
}

impl PacketReceiver {
    /// Binds to an interface of the calling thread's namespace, with room for `ring_bytes` of
    /// frames of at most `frame_bytes_max`.
    ///
    /// # Errors
    /// EPERM without CAP_NET_RAW, ENODEV for an unknown interface, ENOMEM.
    pub fn open(interface: &str, frame_bytes_max: usize, ring_bytes: usize) -> io::Result<Self> {
        let socket = PacketSocket::open(interface)?;
        Self::with_ring(socket, frame_bytes_max, ring_bytes, false)
    }

    /// As [`Self::open`], for the far end of an interface that leaves offloads to it: for [`Self::receive_offloaded`].
    ///
    /// # Errors
    /// As there.
    pub fn open_offloaded(
        interface: &str,
        frame_bytes_max: usize,
        ring_bytes: usize,
    ) -> io::Result<Self> {
        let socket = PacketSocket::open(interface)?;
        socket.set(PACKET_VNET_HDR, &1_i32)?;
        Self::with_ring(socket, frame_bytes_max, ring_bytes, true)
    }

    fn with_ring(
        socket: PacketSocket,
        frame_bytes_max: usize,
        ring_bytes: usize,
        offloaded: bool,
    ) -> io::Result<Self> {
        // An old kernel shows what this machine sends, too: `receive` leaves it out.
        let _shown = socket.set(PACKET_IGNORE_OUTGOING, &1i32);
        let receiver = Self::over(socket, frame_bytes_max, ring_bytes)?;
        receiver.socket.join_promiscuous()?;
        Ok(Self {
            offloaded,
            ..receiver
        })
    }

    /// As [`Self::open`], to look on with [`Self::observe`]: what the interface itself takes, and what is sent there, too.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn observer(
        interface: &str,
        frame_bytes_max: usize,
        ring_bytes: usize,
    ) -> io::Result<Self> {
        Self::over(PacketSocket::open(interface)?, frame_bytes_max, ring_bytes)
    }

    /// Makes the interface take what is for other stations and VLANs too, as long as this lives.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn join_promiscuous(&self) -> io::Result<()> {
        self.socket.join_promiscuous()
    }

    fn over(socket: PacketSocket, frame_bytes_max: usize, ring_bytes: usize) -> io::Result<Self> {
        socket.set(libc::PACKET_VERSION, &TPACKET_V2)?;
        socket.set(libc::PACKET_RESERVE, &(TAG_BYTES as u32))?;
        let ring = Ring::map(&socket, frame_bytes_max, ring_bytes)?;
        socket.bind_down(EVERYTHING)?;
        Ok(Self {
            ring,
            socket,
            next: 0,
            truncated: 0,
            offloaded: false,
        })
    }

    /// Shows the frames that have arrived, at most `most`, to `each`, with the VLAN tags that they came with; returns how many.
    pub fn receive(&mut self, most: usize, mut each: impl FnMut(&[u8])) -> usize {
        self.receive_offloaded(most, |frame, _| each(frame))
    }

    /// As [`Self::receive`], each with what the sender leaves to the interface; nothing, unless opened so.
    #[inline]
    pub fn receive_offloaded(
        &mut self,
        most: usize,
        mut each: impl FnMut(&[u8], &Request),
    ) -> usize {
        let mut shown = 0;
        while shown < most {
            let Some(slot) = self.ring.filled(self.next) else {
                break;
            };
            let request = match self.offloaded {
                true => slot.request(),
                false => Some(Request::default()),
            };
            match request.zip(slot.frame()) {
                Some((request, frame)) if !slot.is_outgoing() => {
                    each(frame, &request);
                    shown += 1;
                }
                Some(_) => {}
                None => self.truncated += 1,
            }
            slot.give_back();
            self.next = (self.next + 1) % self.ring.slots;
        }
        shown
    }

    /// As [`Self::receive`], with what the kernel notes of each frame, also of those that this machine sends. A frame that is
    /// longer than a slot is shown as far as it fits.
    pub fn observe(&mut self, most: usize, mut each: impl FnMut(&[u8], Sight)) -> usize {
        let mut shown = 0;
        while shown < most {
            let Some(slot) = self.ring.filled(self.next) else {
                break;
            };
            each(
                slot.frame().unwrap_or_else(|| slot.beginning()),
                slot.sight(),
            );
            shown += 1;
            slot.give_back();
            self.next = (self.next + 1) % self.ring.slots;
        }
        shown
    }

    /// Waits until a frame has arrived or `timeout_ns` are over.
    ///
    /// # Errors
    /// Those of poll(2) but an interruption.
    pub fn wait(&self, timeout_ns: u64) -> io::Result<()> {
        let mut sockets = [PollFd::new(&self.socket, PollFlags::IN)];
        wait(&mut sockets, Duration::from_nanos(timeout_ns))
    }

    /// Frames lost since the last call: the ring was full, or they were longer than a slot.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn take_losses(&mut self) -> io::Result<u64> {
        let [_all, dropped, ..] = self.socket.take_statistics()?;
        Ok(u64::from(dropped) + std::mem::take(&mut self.truncated))
    }
}

/// What the kernel notes of a frame (linux/if_packet.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// This machine sends it.
    pub is_outgoing: bool,
    /// Its checksum is still to be computed: these bytes were on no wire.
    pub is_unfinished: bool,
    /// A TCP segment that is still to be cut, or was merged from several (Linux 5.18).
    pub is_merged: bool,
    /// Bytes with its tag, also of what does not fit the slot.
    pub length: u32,
    /// When the kernel saw it, nanoseconds since 1970.
    pub wall_ns: u64,
}

/// The memory shared with the kernel: equal slots, used in turn.
#[derive(Debug)]
struct Ring {
    memory: Memory,
    slot_bytes: usize,
    slots: usize,
}

impl Ring {
    fn map(socket: &PacketSocket, frame_bytes_max: usize, ring_bytes: usize) -> io::Result<Self> {
        // Powers of two, so that slots fill blocks, and blocks are whole pages of any size.
        let slot_bytes = (frame_bytes_max + SLOT_OVERHEAD_BYTES).next_power_of_two();
        let block_bytes = slot_bytes.max(LARGEST_PAGE_BYTES);
        let blocks = (ring_bytes / block_bytes).max(1);
        let bytes = blocks * block_bytes;
        let slots = bytes / slot_bytes;
        let request = libc::tpacket_req {
            tp_block_size: block_bytes as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: slot_bytes as u32,
            tp_frame_nr: slots as u32,
        };
        socket.set(libc::PACKET_RX_RING, &request)?;
        Ok(Self {
            memory: Memory::of(socket.as_fd(), 0, bytes)?,
            slot_bytes,
            slots,
        })
    }

    /// The slot if the kernel has filled it and left it to us.
    fn filled(&self, number: usize) -> Option<Slot<'_>> {
        let slot = Slot {
            ring: self,
            start: number * self.slot_bytes,
        };
        let ours = slot.status().load(Ordering::Acquire) & TP_STATUS_USER != 0;
        ours.then_some(slot)
    }
}

/// One slot that is ours: `struct tpacket2_hdr`, `struct sockaddr_ll`, the frame.
struct Slot<'a> {
    ring: &'a Ring,
    start: usize,
}

impl<'a> Slot<'a> {
    fn status(&self) -> &'a AtomicU32 {
        // SAFETY: within the mapping: a slot begins at least `slot_bytes` before its end.
        let at = unsafe { self.ring.memory.start().as_ptr().add(self.start) };
        // SAFETY: slots are aligned to at least 16; the word is shared with the kernel, and both sides only access it
        // whole. No reference to the memory lies in between: the pointer is the mapping's own.
        unsafe { AtomicU32::from_ptr(at.cast()) }
    }

    /// What precedes the frame, to be read before [`Self::frame`] puts a tag there; `None` for an unknown request.
    fn request(&self) -> Option<Request> {
        let start = usize::from(u16::from_ne_bytes(self.array_at(12)));
        let request = Request::read(&self.array_at(start.checked_sub(Request::BYTES)?))?;
        Some(match self.has_tag() {
            true => request.moved(TAG_BYTES),
            false => request,
        })
    }

    /// The frame; `None` if it was longer than the slot.
    fn frame(&self) -> Option<&'a [u8]> {
        let (length, kept) = (self.word_at(4), self.word_at(8) as usize);
        let start = u16::from_ne_bytes(self.array_at(12)).into();
        if length as usize != kept {
            return None;
        }
        if !self.has_tag() {
            return Some(self.bytes_at(start, kept));
        }
        let first = self.put_tag_back(start)?;
        Some(self.bytes_at(first, kept + TAG_BYTES))
    }

    /// The kernel took the tag out and left room for it in front of the frame.
    fn put_tag_back(&self, start: usize) -> Option<usize> {
        let first = start.checked_sub(TAG_BYTES)?;
        let addresses: [u8; 12] = self.array_at(start);
        let [number, kind] = [24, 26].map(|at| u16::from_ne_bytes(self.array_at(at)));
        let kind = if kind == 0 { VLAN } else { kind };
        let mut header = [0; 16];
        header[..12].copy_from_slice(&addresses);
        header[12..14].copy_from_slice(&kind.to_be_bytes());
        header[14..].copy_from_slice(&number.to_be_bytes());
        if first + header.len() > self.ring.slot_bytes {
            return None;
        }
        // SAFETY: inside the slot, as was just compared.
        let to = unsafe { self.ring.memory.start().as_ptr().add(self.start + first) };
        // SAFETY: inside the slot, which is ours; no slice of it is alive.
        unsafe { std::ptr::copy_nonoverlapping(header.as_ptr(), to, header.len()) };
        Some(first)
    }

    /// What of a frame fits, with its tag.
    fn beginning(&self) -> &'a [u8] {
        let (start, kept) = (
            u16::from_ne_bytes(self.array_at(12)).into(),
            self.word_at(8) as usize,
        );
        let tagged = self.has_tag().then(|| self.put_tag_back(start)).flatten();
        match tagged {
            Some(first) => self.bytes_at(first, kept + TAG_BYTES),
            None => self.bytes_at(start, kept),
        }
    }

    /// Whether the kernel keeps a tag apart from the frame.
    fn has_tag(&self) -> bool {
        self.word_at(0) & TP_STATUS_VLAN_VALID != 0
    }

    fn sight(&self) -> Sight {
        let status = self.word_at(0);
        let second = u64::from(self.word_at(16));
        Sight {
            is_outgoing: self.is_outgoing(),
            is_unfinished: status & TP_STATUS_CSUMNOTREADY != 0,
            is_merged: status & TP_STATUS_GSO_TCP != 0,
            length: self.word_at(4) + if self.has_tag() { TAG_BYTES as u32 } else { 0 },
            wall_ns: second * 1_000_000_000 + u64::from(self.word_at(20)),
        }
    }

    fn is_outgoing(&self) -> bool {
        let [kind] = self.array_at(PACKET_TYPE_AT);
        kind == libc::PACKET_OUTGOING
    }

    fn give_back(self) {
        self.status().store(TP_STATUS_KERNEL, Ordering::Release);
    }

    fn word_at(&self, offset: usize) -> u32 {
        u32::from_ne_bytes(self.array_at(offset))
    }

    fn array_at<const N: usize>(&self, offset: usize) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes_at(offset, N));
        array
    }

    /// Bytes of this slot, cut at its end whatever the offsets say.
    fn bytes_at(&self, offset: usize, length: usize) -> &'a [u8] {
        let offset = offset.min(self.ring.slot_bytes);
        let length = length.min(self.ring.slot_bytes - offset);
        // SAFETY: within the mapping: a slot begins at least `slot_bytes` before its end.
        let first = unsafe { self.ring.memory.start().as_ptr().add(self.start + offset) };
        // SAFETY: within the mapping as above; the kernel writes to a slot only while it is the
        // kernel's, and this is called only while it is ours, and never for the status word.
        unsafe { slice::from_raw_parts(first, length) }
    }
}

/// linux/if_packet.h; before a ring is there.
const PACKET_VNET_HDR: i32 = 15;
/// linux/if_packet.h; Linux 4.20.
const PACKET_IGNORE_OUTGOING: i32 = 23;
/// `enum tpacket_versions`.
const TPACKET_V2: i32 = 1;
const TP_STATUS_KERNEL: u32 = 0;
const TP_STATUS_USER: u32 = 1;
const TP_STATUS_CSUMNOTREADY: u32 = 1 << 3;
const TP_STATUS_VLAN_VALID: u32 = 1 << 4;
/// Linux 5.18.
const TP_STATUS_GSO_TCP: u32 = 1 << 8;
/// Where the kernel does not say which kind of tag it was.
const VLAN: u16 = 0x8100;
const TAG_BYTES: usize = 4;
/// `sll_pkttype` after the 32 bytes of `struct tpacket2_hdr`.
const PACKET_TYPE_AT: usize = 32 + 10;
/// Header, address, alignment and a request in front of a frame (net/packet/af_packet.c, `tpacket_rcv`).
const SLOT_OVERHEAD_BYTES: usize = 96 + TAG_BYTES + Request::BYTES;
const LARGEST_PAGE_BYTES: usize = 65_536;
