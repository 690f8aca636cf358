// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sends batches of frames by sendmmsg(2), past the queueing discipline. Needs no memory shared with the kernel, which copies.
//!
//! Hot path: [`SeveralSender::send`] neither allocates nor locks.

use std::io;
use std::os::fd::AsFd;

use super::socket::{NOTHING, PacketSocket};
use crate::message::SendBatch;

/// Bound to one interface.
#[derive(Debug)]
pub(in crate::port) struct SeveralSender {
    socket: PacketSocket,
    frames: SendBatch,
    frame_bytes_max: usize,
}

impl SeveralSender {
    /// # Errors
    /// EPERM without CAP_NET_RAW, ENODEV for an unknown interface, NetworkDown.
    pub(in crate::port) fn open(interface: &str, frame_bytes_max: usize) -> io::Result<Self> {
        let socket = PacketSocket::open_to_send(interface)?;
        socket.bind(NOTHING)?;
        let frame_bytes_max = frame_bytes_max.next_multiple_of(CACHE_LINE_BYTES);
        let frames = SendBatch::new(frame_bytes_max * MOST_PER_CALL, MOST_PER_CALL);
        Ok(Self {
            socket,
            frames,
            frame_bytes_max,
        })
    }

    /// As [`super::RingSender::send`].
    ///
    /// # Errors
    /// As there.
    pub(in crate::port) fn send(
        &mut self,
        count: usize,
        length: impl Fn(usize) -> usize,
        mut fill: impl FnMut(usize, &mut [u8]),
    ) -> io::Result<usize> {
        if (0..count).any(|number| length(number) > self.frame_bytes_max) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut sent = 0;
        while sent < count {
            let most = (count - sent).min(MOST_PER_CALL);
            let frames = self.frames.payload_mut();
            let frames = frames.chunks_exact_mut(self.frame_bytes_max).take(most);
            for (number, frame) in (sent..).zip(frames) {
                fill(number, &mut frame[..length(number)]);
            }
            match self.hand_over(most, |number| length(sent + number)) {
                Ok(taken) if taken == most => sent += taken,
                Ok(taken) => return Ok(sent + taken),
                Err(error) if sent == 0 => return self.socket.none_sent(error),
                Err(_) => break,
            }
        }
        Ok(sent)
    }

    fn hand_over(&mut self, count: usize, length: impl Fn(usize) -> usize) -> io::Result<usize> {
        let start = |number| number * self.frame_bytes_max;
        let frames = (0..count).map(|number| start(number)..start(number) + length(number));
        let flags = libc::MSG_DONTWAIT;
        self.frames.send_each(self.socket.as_fd(), frames, flags)
    }
}

const MOST_PER_CALL: usize = 64;
const CACHE_LINE_BYTES: usize = 64;
