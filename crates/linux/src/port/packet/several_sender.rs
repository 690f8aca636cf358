// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sends batches of frames by sendmmsg(2), past the queueing discipline. Needs no memory shared with the kernel, which copies.
//!
//! Hot path: [`SeveralSender::send`] neither allocates nor locks.
#![expect(unsafe_code, reason = "sendmmsg has no safe wrapper")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};

use super::socket::{NOTHING, PacketSocket};

/// Bound to one interface.
#[derive(Debug)]
pub(in crate::port) struct SeveralSender {
    socket: PacketSocket,
    frames: Vec<u8>,
    frame_bytes_max: usize,
}

impl SeveralSender {
    /// # Errors
    /// EPERM without CAP_NET_RAW, ENODEV for an unknown interface, NetworkDown.
    pub(in crate::port) fn open(interface: &str, frame_bytes_max: usize) -> io::Result<Self> {
        let socket = PacketSocket::open_to_send(interface)?;
        socket.bind(NOTHING)?;
        let frame_bytes_max = frame_bytes_max.next_multiple_of(CACHE_LINE_BYTES);
        let frames = vec![0; frame_bytes_max * MOST_PER_CALL];
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
            let frames = self
                .frames
                .chunks_exact_mut(self.frame_bytes_max)
                .take(most);
            frames
                .enumerate()
                .map(|(number, frame)| (sent + number, frame))
                .for_each(|(number, frame)| fill(number, &mut frame[..length(number)]));
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
        let mut parts = [const { MaybeUninit::<libc::iovec>::uninit() }; MOST_PER_CALL];
        let mut messages = [const { MaybeUninit::<libc::mmsghdr>::zeroed() }; MOST_PER_CALL];
        let frames = self
            .frames
            .chunks_exact_mut(self.frame_bytes_max)
            .take(count);
        let room = parts.iter_mut().zip(&mut messages);
        for (number, (frame, (part, message))) in frames.zip(room).enumerate() {
            let iov_base = frame.as_mut_ptr().cast();
            let part = part.write(libc::iovec {
                iov_base,
                iov_len: length(number),
            });
            // SAFETY: a message of zeros is one without address, parts and control data.
            let message = unsafe { message.assume_init_mut() };
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
        }
        let (socket, first) = (
            self.socket.as_fd().as_raw_fd(),
            messages.as_mut_ptr().cast(),
        );
        // SAFETY: `count` messages are set up, each of one part inside `frames`; all of it outlives the call.
        let done = unsafe { libc::sendmmsg(socket, first, count as u32, libc::MSG_DONTWAIT as _) };
        usize::try_from(done).map_err(|_negative| io::Error::last_os_error())
    }
}

const MOST_PER_CALL: usize = 64;
const CACHE_LINE_BYTES: usize = 64;
