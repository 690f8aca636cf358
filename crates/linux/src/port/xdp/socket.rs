// SPDX-License-Identifier: MIT OR Apache-2.0
//! One socket of AF_XDP: memory that is cut into frames, four rings, bound to one queue of an interface.
//! Source: Documentation/networking/af_xdp.rst and include/uapi/linux/if_xdp.h.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::net::sockopt;
use rustix::net::xdp::{
    SocketAddrXdp, SocketAddrXdpFlags, XdpRingOffset, XdpUmemReg, XdpUmemRegFlags,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::frames::Frames;
use crate::port::memory::Memory;
use crate::port::ring::{Consumer, Descriptor, Entry, Layout, Producer};
use crate::socket_buffer;

/// The parameters of a socket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) interface_index: u32,
    pub(super) queue: u32,
    pub(super) zero_copy: bool,
    pub(super) frame_bytes: usize,
    pub(super) send_frames: usize,
    /// 0: it only sends.
    pub(super) receive_frames: usize,
}

/// The two directions of a socket, which share nothing but its descriptor and different parts of its memory.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) outgoing: Outgoing,
    pub(super) incoming: Option<Incoming>,
}

/// The sending direction.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) socket: Arc<OwnedFd>,
    pub(super) transmit: Producer<Descriptor>,
    pub(super) completion: Consumer<u64>,
    pub(super) frames: Frames,
}

/// The receiving direction.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) socket: Arc<OwnedFd>,
    pub(super) receive: Consumer<Descriptor>,
    pub(super) fill: Producer<u64>,
    pub(super) frames: Frames,
}

/// What failed, and why.
pub(super) type Failed = (&'static str, io::Error);

/// Opens the socket; all frames to receive into are the kernel's at once.
///
/// # Errors
/// EAFNOSUPPORT before Linux 4.18, EPERM without CAP_NET_RAW, ENOBUFS beyond RLIMIT_MEMLOCK, EINVAL for a queue that is not there, EBUSY for one
/// that is taken, EOPNOTSUPP where the driver cannot without copying.
pub(super) fn open(plan: &Plan) -> Result<Opened, Failed> {
    let (family, kind) = (AddressFamily::XDP, SocketType::RAW);
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None);
    let socket = socket.map_err(|errno| ("socket", errno.into()))?;
    let (memory, plan) = register(&socket, *plan)?;
    let sizes = Sizes::of(&plan);
    sizes.set(&socket).map_err(|error| ("make rings", error))?;
    let rings = Rings::map(&socket, &sizes).map_err(|error| ("map rings", error))?;
    bind(&socket, &plan).map_err(|error| ("bind", error))?;
    tune(&socket, &plan);
    let (sending, receiving) = Frames::cut(memory, plan.frame_bytes, plan.send_frames);
    let socket = Arc::new(socket);
    let outgoing = Outgoing {
        socket: Arc::clone(&socket),
        transmit: rings.transmit,
        completion: rings.completion,
        frames: sending,
    };
    let (fill, frames) = (rings.fill, receiving);
    let incoming = rings.receive.map(|receive| {
        Incoming {
            socket,
            receive,
            fill,
            frames,
        }
        .filled()
    });
    Ok(Opened { outgoing, incoming })
}

impl Incoming {
    /// Lends the kernel every frame.
    fn filled(mut self) -> Self {
        while let Some(address) = self.frames.take().and_then(|frame| self.frames.lend(frame)) {
            self.fill.push(address);
        }
        self.fill.show();
        self
    }
}

/// Memory for the frames, half as many where the kernel does not allow that much to be locked.
fn register(socket: &OwnedFd, mut plan: Plan) -> Result<(Memory, Plan), Failed> {
    loop {
        let bytes = plan.frame_bytes * (plan.send_frames + plan.receive_frames);
        let memory = Memory::own(bytes).map_err(|error| ("map memory", error))?;
        let registration = XdpUmemReg {
            addr: memory.start().as_ptr() as usize as u64,
            len: bytes as u64,
            chunk_size: plan.frame_bytes as u32,
            headroom: 0,
            flags: XdpUmemRegFlags::empty(),
            tx_metadata_len: 0,
        };
        match sockopt::set_xdp_umem_reg(socket, registration) {
            Ok(()) => return Ok((memory, plan)),
            Err(rustix::io::Errno::NOBUFS) if plan.send_frames > LEAST_FRAMES => {
                plan.send_frames /= 2;
                plan.receive_frames /= 2;
            }
            Err(errno) => return Err(("register memory", errno.into())),
        }
    }
}

fn bind(socket: &OwnedFd, plan: &Plan) -> io::Result<()> {
    let how = if plan.zero_copy {
        SocketAddrXdpFlags::XDP_ZEROCOPY
    } else {
        SocketAddrXdpFlags::XDP_COPY
    };
    let to = |flags| {
        rustix::net::bind(
            socket,
            &SocketAddrXdp::new(flags, plan.interface_index, plan.queue),
        )
    };
    match to(how | SocketAddrXdpFlags::XDP_USE_NEED_WAKEUP) {
        // Before Linux 5.4.
        Err(rustix::io::Errno::INVAL) => Ok(to(how)?),
        other => Ok(other?),
    }
}

/// Lets one system call send all that is ready; without, it takes several.
fn tune(socket: &OwnedFd, plan: &Plan) {
    let _several_calls = crate::sockopt::set(
        socket,
        libc::SOL_XDP,
        MAX_TX_SKB_BUDGET,
        &(plan.send_frames as u32),
    );
    let _fewer_on_their_way = socket_buffer::send(socket, Some(plan.send_frames * CHARGED_BYTES));
}

/// How many entries each ring has, powers of two. A ring that takes frames back has room for all.
struct Sizes {
    transmit: u32,
    completion: u32,
    fill: u32,
    receive: Option<u32>,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        let size = |frames: usize| frames.next_power_of_two() as u32;
        Self {
            transmit: size(plan.send_frames),
            completion: size(plan.send_frames),
            // The kernel wants one even of those that only send.
            fill: size(plan.receive_frames.max(LEAST_FRAMES)),
            receive: (plan.receive_frames > 0).then(|| size(plan.receive_frames)),
        }
    }

    fn set(&self, socket: &OwnedFd) -> io::Result<()> {
        sockopt::set_xdp_umem_fill_ring_size(socket, self.fill)?;
        sockopt::set_xdp_umem_completion_ring_size(socket, self.completion)?;
        sockopt::set_xdp_tx_ring_size(socket, self.transmit)?;
        if let Some(receive) = self.receive {
            sockopt::set_xdp_rx_ring_size(socket, receive)?;
        }
        Ok(())
    }
}

struct Rings {
    transmit: Producer<Descriptor>,
    completion: Consumer<u64>,
    fill: Producer<u64>,
    receive: Option<Consumer<Descriptor>>,
}

impl Rings {
    /// Each ring once: nothing else of this program is at its other side.
    fn map(socket: &OwnedFd, sizes: &Sizes) -> io::Result<Self> {
        let at = sockopt::xdp_mmap_offsets(socket)?;
        let broken = || io::Error::from(io::ErrorKind::InvalidData);
        let (memory, layout) = map::<Descriptor>(socket, TRANSMIT_PAGE, &at.tx, sizes.transmit)?;
        let transmit = Producer::new(memory, layout).ok_or_else(broken)?;
        let (memory, layout) = map::<u64>(socket, COMPLETION_PAGE, &at.cr, sizes.completion)?;
        let completion = Consumer::new(memory, layout).ok_or_else(broken)?;
        let (memory, layout) = map::<u64>(socket, FILL_PAGE, &at.fr, sizes.fill)?;
        let fill = Producer::new(memory, layout).ok_or_else(broken)?;
        let receive = match sizes.receive {
            None => None,
            Some(size) => {
                let (memory, layout) = map::<Descriptor>(socket, RECEIVE_PAGE, &at.rx, size)?;
                Some(Consumer::new(memory, layout).ok_or_else(broken)?)
            }
        };
        Ok(Self {
            transmit,
            completion,
            fill,
            receive,
        })
    }
}

fn map<T: Entry>(
    socket: &OwnedFd,
    page: u64,
    at: &XdpRingOffset,
    size: u32,
) -> io::Result<(Memory, Layout)> {
    let place = |offset: u64| usize::try_from(offset).map_err(io::Error::other);
    let layout = Layout {
        producer: place(at.producer)?,
        consumer: place(at.consumer)?,
        entries: place(at.desc)?,
        flags: at.flags.map(place).transpose()?,
        size,
    };
    let bytes = layout.entries + size as usize * size_of::<T>();
    Ok((Memory::of(socket.as_fd(), page, bytes)?, layout))
}

/// Where each ring is mapped, as a file would be.
const RECEIVE_PAGE: u64 = 0;
const TRANSMIT_PAGE: u64 = 0x8000_0000;
const FILL_PAGE: u64 = 0x1_0000_0000;
const COMPLETION_PAGE: u64 = 0x1_8000_0000;
/// Below which a socket is not worth having.
const LEAST_FRAMES: usize = 32;
/// `XDP_MAX_TX_SKB_BUDGET` (6.17).
const MAX_TX_SKB_BUDGET: i32 = 9;
/// What the kernel charges a socket for a frame on its way, at most, with its bookkeeping.
const CHARGED_BYTES: usize = 2304;
