// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole Ethernet frames from and to one interface (AF_PACKET, packet(7)).
//!
//! Frames arrive in a ring of memory shared with the kernel (TPACKET_V2), whose size no
//! setting of the machine limits. Hot path: [`PacketReceiver::receive`] makes no system call,
//! [`PacketSender::send`] makes one; neither allocates nor locks.
#![expect(unsafe_code, reason = "sockaddr_ll, packet options and a shared ring")]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::netdevice;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};

/// Sends frames out of one interface, past its queueing discipline.
#[derive(Debug)]
pub struct PacketSender {
    fd: OwnedFd,
}

impl PacketSender {
    /// Binds to an interface of the calling thread's namespace.
    ///
    /// # Errors
    /// EPERM without CAP_NET_RAW, ENODEV for an unknown interface.
    pub fn open(interface: &str) -> io::Result<Self> {
        let fd = open()?;
        // An old kernel queues instead: slower, not wrong.
        let _queued = set(&fd, libc::PACKET_QDISC_BYPASS, &1i32);
        bind(&fd, interface, NOTHING)?;
        Ok(Self { fd })
    }

    /// Sends one frame.
    ///
    /// # Errors
    /// ENOBUFS or EAGAIN when the device has no room, EMSGSIZE beyond its MTU.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        rustix::net::send(&self.fd, frame, SendFlags::DONTWAIT)?;
        Ok(())
    }
}

/// Receives every frame that arrives at one interface, for any address.
#[derive(Debug)]
pub struct PacketReceiver {
    ring: Ring,
    fd: OwnedFd,
    /// The slot that the kernel fills next.
    next: usize,
    truncated: u64,
}

impl PacketReceiver {
    /// Binds to an interface of the calling thread's namespace, with room for `ring_bytes` of
    /// frames of at most `frame_bytes_max`.
    ///
    /// # Errors
    /// EPERM without CAP_NET_RAW, ENODEV for an unknown interface, ENOMEM.
    pub fn open(interface: &str, frame_bytes_max: usize, ring_bytes: usize) -> io::Result<Self> {
        let fd = open()?;
        // An old kernel shows what this machine sends, too: `receive` leaves it out.
        let _shown = set(&fd, PACKET_IGNORE_OUTGOING, &1i32);
        set(&fd, libc::PACKET_VERSION, &TPACKET_V2)?;
        set(&fd, libc::PACKET_RESERVE, &(TAG_BYTES as u32))?;
        let ring = Ring::map(&fd, frame_bytes_max, ring_bytes)?;
        let index = bind(&fd, interface, EVERYTHING)?;
        set(&fd, libc::PACKET_ADD_MEMBERSHIP, &promiscuous(index))?;
        Ok(Self {
            ring,
            fd,
            next: 0,
            truncated: 0,
        })
    }

    /// Shows the frames that have arrived, at most `most`, to `each`, with the VLAN tags that they came with; returns how many.
    pub fn receive(&mut self, most: usize, mut each: impl FnMut(&[u8])) -> usize {
        let mut shown = 0;
        while shown < most {
            let Some(slot) = self.ring.filled(self.next) else {
                break;
            };
            match slot.frame() {
                Some(frame) if !slot.is_outgoing() => {
                    each(frame);
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

    /// Waits until a frame has arrived or `timeout_ns` are over.
    ///
    /// # Errors
    /// Those of poll(2) but an interruption.
    pub fn wait(&self, timeout_ns: u64) -> io::Result<()> {
        let timeout = Timespec {
            tv_sec: (timeout_ns / 1_000_000_000) as i64,
            tv_nsec: (timeout_ns % 1_000_000_000) as _,
        };
        let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
        match rustix::event::poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Frames lost since the last call: the ring was full, or they were longer than a slot.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn take_losses(&mut self) -> io::Result<u64> {
        let mut counts = [0u32; 2];
        let mut length = size_of_val(&counts) as libc::socklen_t;
        // SAFETY: `counts` has the size and layout of `struct tpacket_stats`.
        let done = unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                counts.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        let [_all, dropped] = counts;
        check(done).map(|()| u64::from(dropped) + std::mem::take(&mut self.truncated))
    }
}

/// The memory shared with the kernel: equal slots, used in turn.
#[derive(Debug)]
struct Ring {
    memory: NonNull<u8>,
    bytes: usize,
    slot_bytes: usize,
    slots: usize,
}

// SAFETY: the mapping belongs to this value alone, and no thread's identity matters to it.
unsafe impl Send for Ring {}

impl Ring {
    fn map(fd: &OwnedFd, frame_bytes_max: usize, ring_bytes: usize) -> io::Result<Self> {
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
        set(fd, libc::PACKET_RX_RING, &request)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of the ring that was just made, at an address of the kernel's.
        let memory = unsafe {
            let anywhere = std::ptr::null_mut();
            libc::mmap(
                anywhere,
                bytes,
                protection,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(memory.cast::<u8>()) {
            Some(memory) if memory.as_ptr().cast() != libc::MAP_FAILED => Ok(Self {
                memory,
                bytes,
                slot_bytes,
                slots,
            }),
            _ => Err(io::Error::last_os_error()),
        }
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

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped; slots borrow the ring, so none is in use.
        let _unmapped = unsafe { libc::munmap(self.memory.as_ptr().cast(), self.bytes) };
    }
}

/// One slot that is ours: `struct tpacket2_hdr`, `struct sockaddr_ll`, the frame.
struct Slot<'a> {
    ring: &'a Ring,
    start: usize,
}

impl<'a> Slot<'a> {
    fn status(&self) -> &'a AtomicU32 {
        let at = self.bytes_at(0, 4).as_ptr();
        // SAFETY: slots are aligned to at least 16; the word is shared with the kernel and both
        // sides only access it whole.
        unsafe { AtomicU32::from_ptr(at.cast_mut().cast()) }
    }

    /// The frame; `None` if it was longer than the slot.
    fn frame(&self) -> Option<&'a [u8]> {
        let (length, kept) = (self.word_at(4), self.word_at(8) as usize);
        let start = u16::from_ne_bytes(self.array_at(12)).into();
        if length as usize != kept {
            return None;
        }
        if self.word_at(0) & TP_STATUS_VLAN_VALID == 0 {
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
        let to = unsafe { self.ring.memory.as_ptr().add(self.start + first) };
        // SAFETY: inside the slot, which is ours; no slice of it is alive.
        unsafe { std::ptr::copy_nonoverlapping(header.as_ptr(), to, header.len()) };
        Some(first)
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
        // SAFETY: within the mapping, because a slot begins `slot_bytes` before its end at most.
        let first = unsafe { self.ring.memory.as_ptr().add(self.start + offset) };
        // SAFETY: within the mapping as above; the kernel writes to a slot only while it is the
        // kernel's, and but for the status word this is called only while it is ours.
        unsafe { slice::from_raw_parts(first, length) }
    }
}

fn open() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    Ok(rustix::net::socket_with(
        AddressFamily::PACKET,
        SocketType::RAW,
        flags,
        None,
    )?)
}

/// Returns the interface's number.
fn bind(fd: &OwnedFd, interface: &str, protocol: u16) -> io::Result<u32> {
    let index = netdevice::name_to_index(fd, interface)?;
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as libc::c_ushort,
        sll_protocol: protocol.to_be(),
        sll_ifindex: index as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: `address` is a sockaddr_ll of that length and outlives the call.
    check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(index)
}

fn promiscuous(index: u32) -> libc::packet_mreq {
    libc::packet_mreq {
        mr_ifindex: index as i32,
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    }
}

fn set<T>(fd: &OwnedFd, option: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = std::ptr::from_ref(value).cast();
    // SAFETY: `value` points to `length` initialised bytes that outlive the call.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), libc::SOL_PACKET, option, value, length) })
}

fn check(done: i32) -> io::Result<()> {
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Protocols to receive.
const NOTHING: u16 = 0;
const EVERYTHING: u16 = libc::ETH_P_ALL as u16;
/// linux/if_packet.h; Linux 4.20.
const PACKET_IGNORE_OUTGOING: i32 = 23;
/// `enum tpacket_versions`.
const TPACKET_V2: i32 = 1;
const TP_STATUS_KERNEL: u32 = 0;
const TP_STATUS_USER: u32 = 1;
const TP_STATUS_VLAN_VALID: u32 = 1 << 4;
/// Where the kernel does not say which kind of tag it was.
const VLAN: u16 = 0x8100;
const TAG_BYTES: usize = 4;
/// `sll_pkttype` after the 32 bytes of `struct tpacket2_hdr`.
const PACKET_TYPE_AT: usize = 32 + 10;
/// Header, address and alignment in front of a frame (net/packet/af_packet.c, `tpacket_rcv`).
const SLOT_OVERHEAD_BYTES: usize = 96 + TAG_BYTES;
const LARGEST_PAGE_BYTES: usize = 65_536;
