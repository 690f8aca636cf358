// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receives by AF_XDP what the program redirects, from all queues, and by a packet socket what it passes to the kernel.
//!
//! Hot path: [`XdpReceiver::receive`] makes a system call only when nothing is there, and neither allocates nor locks.

use std::array;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::net::sockopt;

use super::MOST_QUEUES;
use super::attachment::Attachment;
use super::socket::Incoming;
use crate::clock;
use crate::port::link;
use crate::port::packet::RingReceiver;

/// Of one interface, on which the program is attached as long as this lives.
#[derive(Debug)]
pub(in crate::port) struct XdpReceiver {
    /// The first to go, before the sockets that it redirects to.
    _attachment: Attachment,
    queues: Vec<Incoming>,
    /// What passes to the kernel.
    others: RingReceiver,
}

impl XdpReceiver {
    pub(super) fn new(attachment: Attachment, queues: Vec<Incoming>, others: RingReceiver) -> Self {
        Self {
            _attachment: attachment,
            queues,
            others,
        }
    }

    /// Shows the frames that have arrived, for which it waits `timeout` at most; returns how many.
    ///
    /// # Errors
    /// NetworkDown when the interface went down or is gone.
    pub(in crate::port) fn receive(
        &mut self,
        timeout: Duration,
        mut each: impl FnMut(&[u8], u64),
    ) -> io::Result<usize> {
        let shown = self.show(&mut each);
        if shown > 0 {
            return Ok(shown);
        }
        self.wait(timeout)?;
        self.others.find_oldest();
        Ok(self.show(&mut each))
    }

    fn show(&mut self, mut each: impl FnMut(&[u8], u64)) -> usize {
        let queues = self.queues.iter_mut();
        let shown: usize = queues.map(|queue| queue.show(&mut each)).sum();
        shown + self.others.show(each)
    }

    fn wait(&self, timeout: Duration) -> io::Result<()> {
        let queues = self.queues.iter().map(|queue| queue.socket.as_fd());
        let mut sockets = queues.chain([self.others.as_fd()]);
        let count = self.queues.len() + 1;
        let mut sockets: [PollFd<'_>; MOST_QUEUES + 1] = array::from_fn(|_| {
            let socket = sockets.next().unwrap_or(self.others.as_fd());
            PollFd::from_borrowed_fd(socket, PollFlags::IN)
        });
        let sockets = &mut sockets[..count];
        link::wait(sockets, timeout)?;
        if sockets.iter().any(link::in_trouble) {
            self.trouble()?;
        }
        Ok(())
    }

    fn trouble(&self) -> io::Result<()> {
        self.others.trouble()?;
        let errors = self
            .queues
            .iter()
            .map(|queue| sockopt::socket_error(&queue.socket));
        errors.into_iter().try_for_each(|error| Ok(error??))
    }

    /// Frames lost since the start because no frame was free, or no place in a ring.
    pub(in crate::port) fn drops(&mut self) -> u64 {
        let of = |queue: &Incoming| match sockopt::xdp_statistics(&queue.socket) {
            Ok(counts) => counts.rx_dropped + counts.rx_ring_full.unwrap_or(0),
            Err(_) => 0,
        };
        self.queues.iter().map(of).sum::<u64>() + self.others.drops()
    }
}

impl Incoming {
    fn show(&mut self, mut each: impl FnMut(&[u8], u64)) -> usize {
        let waiting = self.receive.waiting().min(MOST_AT_ONCE);
        if waiting == 0 {
            return 0;
        }
        let now_ns = clock::monotonic_ns();
        self.fill.room(waiting);
        let mut shown = 0;
        for _ in 0..waiting {
            let Some(descriptor) = self.receive.pop() else {
                break;
            };
            let Some(frame) = self.frames.take_back(descriptor.address) else {
                continue;
            };
            if let Some(bytes) =
                self.frames
                    .bytes(&frame, descriptor.address, descriptor.length as usize)
            {
                each(bytes, now_ns);
                shown += 1;
            }
            // The ring has room for every frame there is.
            self.frames
                .lend(frame)
                .map(|address| self.fill.push(address));
        }
        self.receive.release();
        self.fill.show();
        shown
    }
}

/// Few enough that other queues and the caller have their turn.
const MOST_AT_ONCE: u32 = 256;
