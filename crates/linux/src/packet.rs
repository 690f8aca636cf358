// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole Ethernet frames from and to one interface (AF_PACKET, packet(7)).
//!
//! Hot path: [`PacketSocket::receive`] and [`PacketSocket::send`] neither allocate nor lock.
#![expect(unsafe_code, reason = "sockaddr_ll, recvmmsg and packet options")]

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::netdevice;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};

/// A raw socket bound to one interface; sees every frame that arrives there.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
    /// The kernel was told to leave out what this machine sent itself.
    outgoing_left_out: bool,
}

/// What the socket has seen since it was last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketStatistics {
    /// Frames that arrived, the dropped ones included.
    pub packets: u32,
    /// Frames dropped because this socket's buffer was full.
    pub drops: u32,
}

impl PacketSocket {
    /// Binds to an interface of the calling thread's namespace, promiscuously, past its qdisc.
    ///
    /// # Errors
    /// EPERM without CAP_NET_RAW, ENODEV for an unknown interface.
    pub fn open(interface: &str, receive_buffer_bytes: usize) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let fd = rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
        let index = netdevice::name_to_index(&fd, interface)?;
        let outgoing_left_out = set(&fd, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1i32).is_ok();
        // An old kernel queues instead: slower, not wrong.
        let _queued = set(&fd, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1i32);
        set_receive_buffer(&fd, receive_buffer_bytes)?;
        bind(&fd, index)?;
        let everything = promiscuous(index);
        set(
            &fd,
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            &everything,
        )?;
        Ok(Self {
            fd,
            outgoing_left_out,
        })
    }

    /// Takes the frames that have arrived, as many as `batch` holds; returns how many of its
    /// first slots are filled. Zero: none is waiting.
    ///
    /// # Errors
    /// ENETDOWN when the interface went down.
    pub fn receive(&self, batch: &mut FrameBatch) -> io::Result<usize> {
        let headers = batch.prepare();
        let count = headers.len() as libc::c_uint;
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: `prepare` has pointed each header at a buffer and an address of the batch,
        // which is borrowed until the call returns.
        let taken = unsafe {
            libc::recvmmsg(
                self.fd.as_raw_fd(),
                headers.as_mut_ptr(),
                count,
                flags as _,
                std::ptr::null_mut(),
            )
        };
        match usize::try_from(taken) {
            Ok(taken) => Ok(batch.keep_incoming(taken, !self.outgoing_left_out)),
            Err(_) => nothing_waiting(io::Error::last_os_error()),
        }
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

    /// Sends one frame.
    ///
    /// # Errors
    /// ENOBUFS or EAGAIN when the device has no room, EMSGSIZE beyond its MTU.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        rustix::net::send(&self.fd, frame, SendFlags::DONTWAIT)?;
        Ok(())
    }

    /// Counts since the last call.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn statistics(&self) -> io::Result<PacketStatistics> {
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
        let [packets, drops] = counts;
        check(done).map(|()| PacketStatistics { packets, drops })
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Room for several frames, allocated once.
pub struct FrameBatch {
    frame_bytes_max: usize,
    bytes: Vec<u8>,
    addresses: Vec<libc::sockaddr_ll>,
    vectors: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
    /// Where each kept frame lies: slot and length.
    kept: Vec<(usize, usize)>,
}

// SAFETY: the raw pointers in `vectors` and `headers` point into this value's own heap
// buffers, which move with it, and are written anew before each use.
unsafe impl Send for FrameBatch {}

impl FrameBatch {
    /// Room for `frames` frames of at most `frame_bytes_max` each.
    pub fn new(frames: usize, frame_bytes_max: usize) -> Self {
        let zeroed = || {
            // SAFETY: all zeroes is a valid sockaddr_ll.
            unsafe { mem::zeroed::<libc::sockaddr_ll>() }
        };
        let header = || {
            // SAFETY: all zeroes is a valid mmsghdr: null pointers with zero lengths.
            unsafe { mem::zeroed::<libc::mmsghdr>() }
        };
        let vector = libc::iovec {
            iov_base: std::ptr::null_mut(),
            iov_len: 0,
        };
        Self {
            frame_bytes_max,
            bytes: vec![0; frames * frame_bytes_max],
            addresses: (0..frames).map(|_| zeroed()).collect(),
            vectors: vec![vector; frames],
            headers: (0..frames).map(|_| header()).collect(),
            kept: Vec::with_capacity(frames),
        }
    }

    /// Frame `number` of those that the last `receive` counted; longer than the room: cut.
    pub fn frame(&self, number: usize) -> &[u8] {
        let Some(&(slot, length)) = self.kept.get(number) else {
            return &[];
        };
        let start = slot * self.frame_bytes_max;
        self.bytes.get(start..start + length).unwrap_or(&[])
    }

    fn prepare(&mut self) -> &mut [libc::mmsghdr] {
        let rooms = self.bytes.chunks_exact_mut(self.frame_bytes_max);
        let slots = rooms.zip(&mut self.vectors).zip(&mut self.addresses);
        for (((room, vector), address), header) in slots.zip(&mut self.headers) {
            vector.iov_base = room.as_mut_ptr().cast();
            vector.iov_len = room.len();
            header.msg_hdr.msg_name = std::ptr::from_mut(address).cast();
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            header.msg_hdr.msg_iov = vector;
            header.msg_hdr.msg_iovlen = 1;
        }
        &mut self.headers
    }

    /// Remembers which of the first `taken` slots hold frames from outside.
    fn keep_incoming(&mut self, taken: usize, outgoing_among_them: bool) -> usize {
        self.kept.clear();
        let slots = self.headers.iter().zip(&self.addresses).take(taken);
        for (slot, (header, address)) in slots.enumerate() {
            let outgoing = outgoing_among_them && address.sll_pkttype == libc::PACKET_OUTGOING;
            if !outgoing {
                let length = (header.msg_len as usize).min(self.frame_bytes_max);
                self.kept.push((slot, length));
            }
        }
        self.kept.len()
    }
}

fn nothing_waiting(error: io::Error) -> io::Result<usize> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(0),
        _ => Err(error),
    }
}

/// Beyond the machine's limit where the privilege allows it.
fn set_receive_buffer(fd: &OwnedFd, bytes: usize) -> io::Result<()> {
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    set(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &bytes)
        .or_else(|_| set(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &bytes))
}

fn bind(fd: &OwnedFd, index: u32) -> io::Result<()> {
    // SAFETY: all zeroes is a valid sockaddr_ll.
    let mut address = unsafe { mem::zeroed::<libc::sockaddr_ll>() };
    address.sll_family = libc::AF_PACKET as libc::c_ushort;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index as i32;
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: `address` is a sockaddr_ll of that length and outlives the call.
    check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) })
}

fn promiscuous(index: u32) -> libc::packet_mreq {
    libc::packet_mreq {
        mr_ifindex: index as i32,
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    }
}

fn set<T>(fd: &OwnedFd, level: i32, option: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = std::ptr::from_ref(value).cast();
    // SAFETY: `value` points to `length` initialised bytes that outlive the call.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, option, value, length) })
}

fn check(done: i32) -> io::Result<()> {
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// linux/if_packet.h; Linux 4.20.
const PACKET_IGNORE_OUTGOING: i32 = 23;
