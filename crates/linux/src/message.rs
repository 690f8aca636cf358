// SPDX-License-Identifier: MIT OR Apache-2.0
//! `sendmmsg`, `recvmmsg`, `sendmsg` and `recvmsg` in the kernel's own layout, and the control messages of a receive.
//!
//! The system calls are made directly: musl's 64-bit `sendmmsg` is a loop of `sendmsg`, and its `msghdr` differs
//! from glibc's, while the kernel's (`include/linux/socket.h`, `struct user_msghdr`) is one everywhere.
#![expect(
    unsafe_code,
    reason = "message system calls and their pointer structures have no safe wrapper"
)]

use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use libc::{c_int, c_long, c_uint, c_void};

/// `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct IoVector {
    base: *mut c_void,
    length: usize,
}

/// `struct user_msghdr` of the kernel.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Header {
    name: *mut c_void,
    name_length: c_int,
    vectors: *mut IoVector,
    vector_count: usize,
    control: *mut c_void,
    control_length: usize,
    flags: c_uint,
}

/// `struct mmsghdr` of the kernel: a header and how many bytes it moved.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct BatchHeader {
    header: Header,
    moved: c_uint,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Header>() == 56 && size_of::<BatchHeader>() == 64);
#[cfg(target_pointer_width = "32")]
const _: () = assert!(size_of::<Header>() == 28 && size_of::<BatchHeader>() == 32);

const EMPTY_VECTOR: IoVector = IoVector {
    base: ptr::null_mut(),
    length: 0,
};
const EMPTY_HEADER: BatchHeader = BatchHeader {
    header: Header {
        name: ptr::null_mut(),
        name_length: 0,
        vectors: ptr::null_mut(),
        vector_count: 0,
        control: ptr::null_mut(),
        control_length: 0,
        flags: 0,
    },
    moved: 0,
};

/// Room for control messages of one receive: time stamp, drops, TOS, GRO size, packet information.
pub(crate) const CONTROL_BYTES: usize = 192;
/// `struct sockaddr_in6` is the longest address a UDP socket yields.
pub(crate) const NAME_BYTES: usize = 28;

#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; CONTROL_BYTES]);

#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Name([u8; 32]);

/// The buffers of a receive batch: `capacity` messages of `message_bytes`, allocated once.
pub(crate) struct ReceiveBuffers {
    message_bytes: usize,
    with_names: bool,
    /// How many messages the next batch asks for: twice what the last one got, since each costs preparation.
    ask: usize,
    /// Whether the last batch got all it asked for, so that more may be waiting.
    filled: bool,
    /// An error after the messages of the last receive.
    pending_error: Option<io::Error>,
    payload: Box<[u8]>,
    controls: Box<[Control]>,
    names: Box<[Name]>,
    vectors: Box<[IoVector]>,
    headers: Box<[BatchHeader]>,
}

impl std::fmt::Debug for ReceiveBuffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} messages of {} bytes",
            self.headers.len(),
            self.message_bytes
        )
    }
}

// SAFETY: the raw pointers point only into boxes owned by this value (their heap does not move with it).
unsafe impl Send for ReceiveBuffers {}

impl ReceiveBuffers {
    pub(crate) fn new(capacity: usize, message_bytes: usize, with_names: bool) -> Self {
        let capacity = capacity.clamp(1, LARGEST_BATCH);
        Self {
            message_bytes,
            with_names,
            ask: capacity.min(LEAST_ASKED),
            filled: false,
            pending_error: None,
            // Not zeros: their pages would be missing until the first messages come.
            payload: vec![u8::MAX; capacity * message_bytes].into_boxed_slice(),
            controls: vec![Control([0; CONTROL_BYTES]); capacity].into_boxed_slice(),
            names: vec![Name([0; 32]); capacity].into_boxed_slice(),
            vectors: vec![EMPTY_VECTOR; capacity].into_boxed_slice(),
            headers: vec![EMPTY_HEADER; capacity].into_boxed_slice(),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.headers.len()
    }

    /// `recvmmsg(2)`: fills up to `capacity` messages, fewer at first; returns how many.
    pub(crate) fn receive_many(&mut self, fd: BorrowedFd<'_>, flags: c_int) -> io::Result<usize> {
        let count = self.ask;
        self.prepare(count);
        let timeout: *mut c_void = ptr::null_mut();
        // SAFETY: each header was just prepared to describe buffers owned by `self`, which is exclusively borrowed.
        let result = unsafe {
            libc::syscall(
                libc::SYS_recvmmsg,
                c_long::from(fd.as_raw_fd()),
                self.headers.as_mut_ptr(),
                count as c_long,
                c_long::from(flags),
                timeout,
            )
        };
        let received = moved(result)?;
        self.filled = received == count;
        self.ask = (received * 2).max(LEAST_ASKED).min(self.headers.len());
        Ok(received)
    }

    /// `recvmsg(2)` once a message: fills up to `capacity` messages, fewer at first; returns how many.
    ///
    /// Only the first may wait. An error after a message is kept for the next call.
    pub(crate) fn receive_singly(&mut self, fd: BorrowedFd<'_>, flags: c_int) -> io::Result<usize> {
        if let Some(error) = self.pending_error.take() {
            return Err(error);
        }
        let count = self.ask;
        self.prepare(count);
        let mut received = 0;
        while received < count {
            let wait = if received == 0 { 0 } else { libc::MSG_DONTWAIT };
            match self.receive_one(fd, received, flags | wait) {
                Ok(()) => received += 1,
                Err(error) if received == 0 => return Err(error),
                Err(error) if is_empty(&error) => break,
                Err(error) => {
                    self.pending_error = Some(error);
                    break;
                }
            }
        }
        self.filled = received == count;
        self.ask = (received * 2).clamp(1, self.headers.len());
        Ok(received)
    }

    /// `recvmsg(2)`: fills the first message.
    pub(crate) fn receive_first(&mut self, fd: BorrowedFd<'_>, flags: c_int) -> io::Result<()> {
        self.prepare(1);
        self.receive_one(fd, 0, flags)
    }

    fn receive_one(&mut self, fd: BorrowedFd<'_>, index: usize, flags: c_int) -> io::Result<()> {
        let header = &raw mut self.headers[index].header;
        // SAFETY: the header was prepared to describe buffers owned by `self`, exclusively borrowed.
        let result = unsafe {
            libc::syscall(
                libc::SYS_recvmsg,
                c_long::from(fd.as_raw_fd()),
                header,
                c_long::from(flags),
            )
        };
        self.headers[index].moved = moved(result)? as c_uint;
        Ok(())
    }

    /// Whether more messages may be waiting than the last receive took.
    pub(crate) fn filled(&self) -> bool {
        self.filled
    }

    /// The message `index` of the last receive.
    pub(crate) fn message(&self, index: usize) -> Message<'_> {
        let head = &self.headers[index];
        let length = head.moved as usize;
        let start = index * self.message_bytes;
        let control = head.header.control_length.min(CONTROL_BYTES);
        let name = if self.with_names {
            head.header.name_length.clamp(0, NAME_BYTES as c_int)
        } else {
            0
        };
        Message {
            bytes: &self.payload[start..start + length.min(self.message_bytes)],
            length,
            control: &self.controls[index].0[..control],
            name: &self.names[index].0[..name as usize],
        }
    }

    fn prepare(&mut self, count: usize) {
        for index in 0..count {
            self.vectors[index] = IoVector {
                base: self.payload[index * self.message_bytes..]
                    .as_mut_ptr()
                    .cast(),
                length: self.message_bytes,
            };
            let named = self.with_names;
            self.headers[index].header = Header {
                name: if named {
                    self.names[index].0.as_mut_ptr().cast()
                } else {
                    ptr::null_mut()
                },
                name_length: if named { NAME_BYTES as c_int } else { 0 },
                vectors: &raw mut self.vectors[index],
                vector_count: 1,
                control: self.controls[index].0.as_mut_ptr().cast(),
                control_length: CONTROL_BYTES,
                flags: 0,
            };
        }
    }
}

/// One received message, before it is split into segments.
#[derive(Clone, Copy)]
pub(crate) struct Message<'a> {
    /// What fitted the buffer.
    pub(crate) bytes: &'a [u8],
    /// The length on the wire (needs `MSG_TRUNC` among the receive flags).
    pub(crate) length: usize,
    pub(crate) control: &'a [u8],
    pub(crate) name: &'a [u8],
}

impl<'a> Message<'a> {
    pub(crate) fn controls(&self) -> ControlMessages<'a> {
        ControlMessages::new(self.control)
    }
}

/// Walks control messages: (level, type, data). Stops at the first malformed one.
pub(crate) struct ControlMessages<'a> {
    rest: &'a [u8],
}

impl<'a> ControlMessages<'a> {
    pub(crate) const fn new(control: &'a [u8]) -> Self {
        Self { rest: control }
    }
}

impl<'a> Iterator for ControlMessages<'a> {
    type Item = (c_int, c_int, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        // struct cmsghdr: size_t cmsg_len (header included), int cmsg_level, int cmsg_type.
        const WORD: usize = size_of::<usize>();
        const HEAD: usize = WORD + 8;
        let length = usize::from_ne_bytes(self.rest.get(..WORD)?.try_into().ok()?);
        let level = c_int::from_ne_bytes(self.rest.get(WORD..WORD + 4)?.try_into().ok()?);
        let kind = c_int::from_ne_bytes(self.rest.get(WORD + 4..HEAD)?.try_into().ok()?);
        let data = self.rest.get(HEAD..length)?;
        self.rest = self
            .rest
            .get(length.next_multiple_of(WORD)..)
            .unwrap_or(&[]);
        Some((level, kind, data))
    }
}

/// The headers of a send batch over one contiguous payload, allocated once.
pub(crate) struct SendBatch {
    payload: Box<[u8]>,
    vectors: Box<[IoVector]>,
    headers: Box<[BatchHeader]>,
}

impl std::fmt::Debug for SendBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} messages", self.headers.len())
    }
}

// SAFETY: the raw pointers point only into boxes owned by this value (their heap does not move with it).
unsafe impl Send for SendBatch {}

impl SendBatch {
    pub(crate) fn new(payload_bytes: usize, messages: usize) -> Self {
        Self {
            payload: vec![0; payload_bytes].into_boxed_slice(),
            vectors: vec![EMPTY_VECTOR; messages.clamp(1, LARGEST_BATCH)].into_boxed_slice(),
            headers: vec![EMPTY_HEADER; messages.clamp(1, LARGEST_BATCH)].into_boxed_slice(),
        }
    }

    pub(crate) fn payload(&self) -> &[u8] {
        &self.payload
    }

    pub(crate) fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.payload
    }

    /// `sendmmsg(2)` of `payload[bytes]` in messages of `message_bytes` (the last may be shorter);
    /// returns how many whole messages went, at most the number of headers.
    pub(crate) fn send_many(
        &mut self,
        fd: BorrowedFd<'_>,
        bytes: Range<usize>,
        message_bytes: usize,
        flags: c_int,
    ) -> io::Result<usize> {
        let message = |start: usize| start..(start + message_bytes).min(bytes.end);
        let messages = bytes.clone().step_by(message_bytes.max(1)).map(message);
        self.send_each(fd, messages, flags)
    }

    /// `sendmmsg(2)` of these parts of the payload, each a message; returns how many went, at most the number of headers.
    pub(crate) fn send_each(
        &mut self,
        fd: BorrowedFd<'_>,
        messages: impl Iterator<Item = Range<usize>>,
        flags: c_int,
    ) -> io::Result<usize> {
        let mut count = 0;
        for bytes in messages.take(self.headers.len()) {
            let message = &mut self.payload[bytes];
            self.vectors[count] = IoVector {
                base: message.as_mut_ptr().cast(),
                length: message.len(),
            };
            self.headers[count] = EMPTY_HEADER;
            self.headers[count].header.vectors = &raw mut self.vectors[count];
            self.headers[count].header.vector_count = 1;
            count += 1;
        }
        // SAFETY: `count` headers were just prepared to describe `payload`, which lives as long as the call.
        let result = unsafe {
            libc::syscall(
                libc::SYS_sendmmsg,
                c_long::from(fd.as_raw_fd()),
                self.headers.as_mut_ptr(),
                count as c_long,
                c_long::from(flags),
            )
        };
        moved(result)
    }
}

/// `sendmsg(2)` of one datagram to the socket address `name`, with control messages.
pub(crate) fn send_to(
    fd: BorrowedFd<'_>,
    bytes: &[u8],
    name: &[u8],
    control: &[u8],
) -> io::Result<usize> {
    let mut vector = IoVector {
        base: bytes.as_ptr().cast_mut().cast(),
        length: bytes.len(),
    };
    let header = Header {
        name: name.as_ptr().cast_mut().cast(),
        name_length: name.len() as c_int,
        vectors: &raw mut vector,
        vector_count: 1,
        control: control.as_ptr().cast_mut().cast(),
        control_length: control.len(),
        flags: 0,
    };
    // SAFETY: sendmsg(2) only reads what the header describes: slices that live as long as the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_sendmsg,
            c_long::from(fd.as_raw_fd()),
            &raw const header,
            c_long::from(libc::MSG_DONTWAIT),
        )
    };
    moved(result)
}

/// `SIOCOUTQ`: TCP bytes not yet acknowledged.
pub(crate) fn output_queue_bytes(fd: BorrowedFd<'_>) -> Option<usize> {
    let mut bytes: c_int = 0;
    // SAFETY: the request (TIOCOUTQ) writes one int to `bytes`, which outlives the call.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCOUTQ as _, &raw mut bytes) };
    if result < 0 {
        None
    } else {
        usize::try_from(bytes).ok()
    }
}

fn is_empty(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR))
}

fn moved(result: c_long) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// The smallest batch.
const LEAST_ASKED: usize = 8;
/// `UIO_MAXIOV`: more messages than this in one call are refused or cut.
const LARGEST_BATCH: usize = 1024;
