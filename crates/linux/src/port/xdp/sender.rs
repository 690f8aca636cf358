// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sends by AF_XDP, over one queue, so that frames stay in order. Hot path: [`XdpSender::send`] neither allocates nor locks.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::SendFlags;

use super::socket::Outgoing;
use crate::port::Dropped;
use crate::port::packet::PacketSocket;
use crate::port::ring::Descriptor;

/// Bound to a queue of an interface.
#[derive(Debug)]
pub(in crate::port) struct XdpSender {
    queue: Outgoing,
    zero_copy: bool,
    /// The longest frame that the device takes.
    bytes_max: usize,
    /// Not yet reported.
    dropped: Dropped,
    /// Returns the error of the interface.
    control: PacketSocket,
}

impl XdpSender {
    pub(super) fn new(
        queue: Outgoing,
        zero_copy: bool,
        bytes_max: usize,
        control: PacketSocket,
    ) -> Self {
        Self {
            queue,
            zero_copy,
            bytes_max,
            dropped: Dropped::default(),
            control,
        }
    }

    /// What the device took and dropped since the last call.
    pub(in crate::port) fn take_dropped(&mut self) -> Dropped {
        std::mem::take(&mut self.dropped)
    }

    /// Sends up to `count` frames, each of its `length` in bytes; `fill` writes each, given its number. Returns how many were handed
    /// over. The kernel may take the last of them only at the next call, or at [`Self::flush`].
    ///
    /// # Errors
    /// If none was: NetworkDown when the interface is down, without carrier or gone; EMSGSIZE beyond its MTU.
    pub(in crate::port) fn send(
        &mut self,
        count: usize,
        length: impl Fn(usize) -> usize,
        mut fill: impl FnMut(usize, &mut [u8]),
    ) -> io::Result<usize> {
        if (0..count).any(|number| length(number) > self.bytes_max) {
            return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
        }
        let mut sent = 0;
        while sent < count {
            let most = (count - sent).min(MOST_PER_CALL);
            let number = |number| sent + number;
            let filled = self.queue.fill(
                most,
                |place| length(number(place)),
                |place, frame| fill(number(place), frame),
            );
            let lost = match self.queue.push(self.zero_copy) {
                Ok(lost) => lost,
                Err(errno) if sent == 0 => return Err(self.control.explain(errno.into())),
                Err(_) => break,
            };
            sent += filled.saturating_sub(lost);
            // More than this call filled: the device dropped frames of an earlier call now.
            self.dropped.add(lost, lost.saturating_sub(filled));
            if lost > 0 && sent == 0 {
                let error = self.control.explain(Errno::BUSY.into());
                return if error.kind() == io::ErrorKind::NetworkDown {
                    Err(error)
                } else {
                    Ok(0)
                };
            }
            if filled < most || lost > 0 {
                break;
            }
        }
        Ok(sent)
    }

    /// Waits until the kernel has taken all, `timeout` at most; returns how many frames it has not.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub(in crate::port) fn flush(&mut self, timeout: Duration) -> io::Result<usize> {
        let deadline = Instant::now() + timeout;
        loop {
            let pushed = self.queue.push(self.zero_copy);
            let lost = pushed.map_err(|errno| self.control.explain(errno.into()))?;
            self.dropped.add(lost, lost);
            let left = self.queue.transmit.unread() as usize;
            if left == 0 || Instant::now() >= deadline {
                return Ok(left);
            }
            std::thread::yield_now();
        }
    }
}

impl Outgoing {
    /// Writes frames as long as there are any that the kernel has given back; returns how many.
    fn fill(
        &mut self,
        most: usize,
        length: impl Fn(usize) -> usize,
        mut fill: impl FnMut(usize, &mut [u8]),
    ) -> usize {
        self.reap();
        for number in 0..most {
            let Some(mut frame) = self.frames.take() else {
                return number;
            };
            let length = length(number);
            match self.frames.bytes_mut(&mut frame, length) {
                Some(bytes) => fill(number, bytes),
                None => {
                    self.frames.put_back(frame);
                    return number;
                }
            }
            let Some(address) = self.frames.lend(frame) else {
                return number;
            };
            let descriptor = Descriptor {
                address,
                length: length as u32,
                options: 0,
            };
            // The ring has room for every frame there is.
            self.transmit.push(descriptor);
        }
        most
    }

    fn reap(&mut self) {
        if self.completion.waiting() == 0 {
            return;
        }
        while let Some(address) = self.completion.pop() {
            if let Some(frame) = self.frames.take_back(address) {
                self.frames.put_back(frame);
            }
        }
        self.completion.release();
    }

    /// Shows the kernel what was written and has it sent; returns how many frames the device dropped at once.
    fn push(&mut self, zero_copy: bool) -> Result<usize, Errno> {
        self.transmit.show();
        let mut lost = 0;
        let mut before = self.transmit.unread();
        for _call in 0..MOST_CALLS {
            if before == 0 || !self.transmit.needs_wakeup() {
                break;
            }
            let done = rustix::net::send(self.socket.as_fd(), &[], SendFlags::DONTWAIT);
            match done {
                Ok(_) | Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => {}
                // The device took one frame and dropped it.
                Err(Errno::BUSY) => lost += 1,
                Err(errno) => return Err(errno),
            }
            let now = self.transmit.unread();
            if zero_copy || (now == before && done != Err(Errno::BUSY)) {
                break;
            }
            before = now;
        }
        Ok(lost)
    }
}

/// Enough to make the system call cheap, few enough that the stamps of the first frames are not old when they leave.
const MOST_PER_CALL: usize = 64;
/// For one batch, of which an old kernel takes 16 a call, and a device without carrier drops one a call.
const MOST_CALLS: usize = 2 * MOST_PER_CALL;
