// SPDX-License-Identifier: MIT OR Apache-2.0
//! Moving a TCP stream's bytes in blocks: copied, by page reference, from a file, or discarded unread.
//!
//! Hot path: [`Mover::send_block`] and [`Mover::receive_block`] do not allocate, lock or log.

use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::Duration;

use libc::c_int;
use rustix::event::PollFlags;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::clock::monotonic_ns;
use crate::message::{self, ReceiveBuffers};
use crate::sockopt;

/// How a block is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxMode {
    /// `send(2)`.
    Copy,
    /// `MSG_ZEROCOPY` (Linux 4.14): pages are pinned and completions drained; loopback and veth copy all the same.
    ZeroCopy,
    /// `sendfile(2)` from memory-backed pages, as iperf3's `-Z`.
    SendFile,
}

/// How a block is received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RxMode {
    /// `recv(2)`.
    Copy,
    /// `MSG_TRUNC`: the kernel discards the bytes without copying them.
    Trunc,
}

/// Sends and receives blocks on one stream.
#[derive(Debug)]
pub struct Mover {
    stream: TcpStream,
    block: Box<[u8]>,
    tx: TxMode,
    rx: RxMode,
    file: Option<File>,
    completions: ReceiveBuffers,
    in_flight: u32,
}

impl Mover {
    /// Prepares a block of `block_bytes` filled by `fill`. An unavailable mode falls back to copying: see
    /// [`Self::tx_mode`]. Blocking calls on the stream return when it is shut down from another thread.
    pub fn new(
        stream: TcpStream,
        block_bytes: usize,
        tx: TxMode,
        rx: RxMode,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<Self> {
        let mut block = vec![0; block_bytes.max(1)].into_boxed_slice();
        fill(&mut block);
        let mut mover = Self {
            stream,
            block,
            tx,
            rx,
            file: None,
            completions: ReceiveBuffers::new(1, 1, false),
            in_flight: 0,
        };
        match tx {
            TxMode::ZeroCopy
                if sockopt::set_int(&mover.stream, libc::SOL_SOCKET, SO_ZEROCOPY, 1).is_err() =>
            {
                mover.tx = TxMode::Copy;
            }
            TxMode::SendFile => mover.prepare_file(),
            _ => {}
        }
        Ok(mover)
    }

    /// The stream, for `TCP_INFO` and shutting down.
    #[must_use]
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// The send mode in use now.
    #[must_use]
    pub fn tx_mode(&self) -> TxMode {
        self.tx
    }

    /// The receive mode in use.
    #[must_use]
    pub fn rx_mode(&self) -> RxMode {
        self.rx
    }

    /// Sends at most one block (the first `limit_bytes` of it) with one system call; returns the bytes taken.
    ///
    /// 0: a signal or the socket's send time-out came first. Errors: `BrokenPipe` after a shutdown, `ConnectionReset`…
    pub fn send_block(&mut self, limit_bytes: usize) -> io::Result<usize> {
        let length = limit_bytes.min(self.block.len());
        let result = match self.tx {
            TxMode::Copy => send(&self.stream, &self.block[..length], SendFlags::NOSIGNAL)
                .map_err(io::Error::from),
            TxMode::ZeroCopy => self.send_pinned(length),
            TxMode::SendFile => self.send_file(length),
        };
        none_yet(result)
    }

    /// Receives at most one block. `Some(0)`: a signal or time-out came first; `None`: the peer has finished.
    pub fn receive_block(&mut self) -> io::Result<Option<usize>> {
        let flags = if self.rx == RxMode::Trunc {
            RecvFlags::TRUNC
        } else {
            RecvFlags::empty()
        };
        match recv(&self.stream, &mut *self.block, flags) {
            // With MSG_TRUNC the second number is what was discarded, the first is cut to the buffer.
            Ok((_, 0)) => Ok(None),
            Ok((_, length)) => Ok(Some(length)),
            Err(error) => none_yet(Err(error.into())).map(Some),
        }
    }

    /// The block, after a [`RxMode::Copy`] receive its first bytes are what came.
    #[must_use]
    pub fn block(&self) -> &[u8] {
        &self.block
    }

    /// Bytes written but not acknowledged by the peer (`SIOCOUTQ`); `None` if unknown.
    #[must_use]
    pub fn unacknowledged_bytes(&self) -> Option<usize> {
        message::output_queue_bytes(self.stream.as_fd())
    }

    fn send_pinned(&mut self, length: usize) -> io::Result<usize> {
        let flags = SendFlags::NOSIGNAL | SendFlags::from_bits_retain(MSG_ZEROCOPY);
        match send(&self.stream, &self.block[..length], flags) {
            Ok(sent) => {
                self.in_flight += 1;
                if self.in_flight >= COMPLETIONS_EVERY {
                    self.drain_completions();
                }
                Ok(sent)
            }
            // The pinned-memory limit (optmem_max or memlock): complete some, copy this one.
            Err(rustix::io::Errno::NOBUFS) => {
                self.drain_completions();
                Ok(send(
                    &self.stream,
                    &self.block[..length],
                    SendFlags::NOSIGNAL,
                )?)
            }
            Err(error) if sockopt::is_missing(&error.into()) => {
                self.tx = TxMode::Copy;
                Ok(0)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Takes completion notices off the error queue: a range of send calls each (include/uapi/linux/errqueue.h).
    fn drain_completions(&mut self) {
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        while self
            .completions
            .receive_first(self.stream.as_fd(), flags)
            .is_ok()
        {
            let done = self
                .completions
                .message(0)
                .controls()
                .find_map(|(_, _, data)| completion(data));
            self.in_flight = self.in_flight.saturating_sub(done.unwrap_or(0));
        }
    }

    fn prepare_file(&mut self) {
        let file = memory_file(&self.block);
        if file.is_err() {
            self.tx = TxMode::Copy;
        }
        self.file = file.ok();
    }

    fn send_file(&mut self, length: usize) -> io::Result<usize> {
        let Some(file) = &self.file else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let mut offset = 0;
        Ok(rustix::fs::sendfile(
            &self.stream,
            file,
            Some(&mut offset),
            length,
        )?)
    }
}

impl Drop for Mover {
    /// Pages sent by reference must not be written to while the kernel may still send or resend them:
    /// if the peer does not acknowledge soon, the block is given away instead of being freed.
    fn drop(&mut self) {
        let deadline = monotonic_ns() + COMPLETION_WAIT_NS;
        self.drain_completions();
        while self.in_flight > 0 && monotonic_ns() < deadline {
            // Completions wake as POLLERR, which is always reported.
            let _ = super::wait(&self.stream, PollFlags::empty(), Duration::from_millis(10));
            self.drain_completions();
        }
        if self.in_flight > 0 {
            std::mem::forget(std::mem::take(&mut self.block));
        }
    }
}

/// The number of sends that are complete (`struct sock_extended_err`).
fn completion(data: &[u8]) -> Option<u32> {
    let word = |at: usize| Some(u32::from_ne_bytes(data.get(at..at + 4)?.try_into().ok()?));
    if *data.get(4)? != ORIGIN_ZEROCOPY {
        return None;
    }
    Some(word(12)?.wrapping_sub(word(8)?).wrapping_add(1))
}

/// A file of the block's bytes: anonymous memory, else (before Linux 3.17) an unlinked temporary file.
fn memory_file(block: &[u8]) -> io::Result<File> {
    use std::io::Write;
    let mut file = crate::memory_file::create()?;
    file.write_all(block)?;
    Ok(file)
}

fn none_yet(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => Ok(0),
        other => other,
    }
}

/// How long a stream's blocking calls may wait before they return 0, so that its thread sees a stop.
pub fn set_wait(stream: &TcpStream, wait: Duration) -> io::Result<()> {
    stream.set_read_timeout(Some(wait))?;
    stream.set_write_timeout(Some(wait))
}

/// include/uapi/asm-generic/socket.h, the same on mips; include/linux/socket.h; include/uapi/linux/errqueue.h
pub(super) const SO_ZEROCOPY: c_int = 60;
const MSG_ZEROCOPY: u32 = 0x0400_0000;
const ORIGIN_ZEROCOPY: u8 = 5;
const COMPLETIONS_EVERY: u32 = 32;
const COMPLETION_WAIT_NS: u64 = 200_000_000;
