// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port of the tester: sends and receives Ethernet frames at one interface, with the fastest backend that works.
//!
//! [`open`] tries AF_XDP with and without copying, then AF_PACKET, and returns the backends in use and why faster ones failed
//! ([`Chosen`]). Every backend delivers all frames that arrive at the interface, for any address, and none that were sent here.
//! Everything is undone when the port is dropped or the process ends, even by `kill -9`.
//!
//! AF_PACKET leaves what arrives to the kernel's own stack as well: a test should use hardware addresses that are not the
//! interface's, so that the stack throws its frames away at once.

mod link;
mod memory;
mod packet;
mod ring;
mod wanted;
mod xdp;

use std::io;
use std::time::Duration;

pub(crate) use link::wait;
pub(crate) use memory::Memory;
pub(crate) use packet::{EVERYTHING, NOTHING, PacketSocket};
use packet::{RingReceiver, RingSender, SeveralSender};
pub use wanted::{Backend, Chosen, OpenError, Refused, Wanted};
use xdp::{XdpReceiver, XdpSender};

/// Opens both directions of an interface of the calling thread's network namespace. The interface must be up.
///
/// # Errors
/// [`OpenError`] with what was tried and why it failed, such as EPERM without CAP_NET_RAW.
pub fn open(interface: &str, wanted: &Wanted) -> Result<(Sender, Receiver, Chosen), OpenError> {
    let mut attempt = Attempt {
        interface,
        wanted,
        refused: Vec::new(),
    };
    let opened = attempt.any();
    let refused = attempt.refused;
    match opened {
        Some((sender, send, receiver, receive)) => Ok((
            sender,
            receiver,
            Chosen {
                send,
                receive,
                refused,
            },
        )),
        None => Err(OpenError {
            interface: interface.to_owned(),
            refused,
        }),
    }
}

/// Sends frames. Neither allocates nor locks once it is open.
#[derive(Debug)]
pub struct Sender(SenderKind);

#[derive(Debug)]
enum SenderKind {
    Ring(RingSender),
    Several(SeveralSender),
    Xdp(Box<XdpSender>),
}

impl Sender {
    /// Sends up to `count` frames of `length` bytes (without FCS). `fill` writes each, given its number from 0, over the
    /// content of an old frame. Returns the number of frames handed over: fewer if the device has no room.
    ///
    /// # Errors
    /// Only if none was handed over: NetworkDown when the interface is down, without carrier or gone; EMSGSIZE beyond its MTU;
    /// InvalidInput beyond [`Wanted::frame_bytes_max`].
    pub fn send(
        &mut self,
        count: usize,
        length: usize,
        fill: impl FnMut(usize, &mut [u8]),
    ) -> io::Result<usize> {
        self.send_mixed(count, |_| length, fill)
    }

    /// As [`Self::send`], for frames of several lengths: `length` gets the number of each.
    ///
    /// # Errors
    /// As there.
    pub fn send_mixed(
        &mut self,
        count: usize,
        length: impl Fn(usize) -> usize,
        fill: impl FnMut(usize, &mut [u8]),
    ) -> io::Result<usize> {
        match &mut self.0 {
            SenderKind::Ring(sender) => sender.send(count, length, fill),
            SenderKind::Several(sender) => sender.send(count, length, fill),
            SenderKind::Xdp(sender) => sender.send(count, length, fill),
        }
    }

    /// Frames that the device took and dropped at once since the last call. Only AF_XDP reports any.
    pub fn take_dropped(&mut self) -> Dropped {
        match &mut self.0 {
            SenderKind::Ring(_) | SenderKind::Several(_) => Dropped::default(),
            SenderKind::Xdp(sender) => sender.take_dropped(),
        }
    }

    /// Waits until the kernel has taken all that was handed over, `timeout` at most; returns how many frames it has not: these were not
    /// sent. Only AF_XDP ever has any.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn flush(&mut self, timeout: Duration) -> io::Result<usize> {
        match &mut self.0 {
            SenderKind::Ring(_) | SenderKind::Several(_) => Ok(0),
            SenderKind::Xdp(sender) => sender.flush(timeout),
        }
    }
}

/// Frames that the device took and dropped at once. All were filled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// All of them.
    pub frames: u64,
    /// Those that [`Sender::send`] had counted as handed over.
    pub counted: u64,
}

impl Dropped {
    fn add(&mut self, frames: usize, counted: usize) {
        self.frames += frames as u64;
        self.counted += counted as u64;
    }
}

/// Receives frames. Neither allocates nor locks once it is open.
#[derive(Debug)]
pub struct Receiver(ReceiverKind);

#[derive(Debug)]
enum ReceiverKind {
    Ring(RingReceiver),
    Xdp(XdpReceiver),
}

impl Receiver {
    /// Shows a batch of the frames that have arrived, for the first of which it waits `timeout` at most: each with when it was
    /// received, in ns of CLOCK_MONOTONIC. Returns how many.
    ///
    /// By AF_PACKET the time is the kernel's stamp, and a frame may be shown a few milliseconds later; by AF_XDP it is when the batch
    /// was taken from the ring.
    ///
    /// # Errors
    /// NetworkDown when the interface went down or is gone.
    pub fn receive(
        &mut self,
        timeout: Duration,
        each: impl FnMut(&[u8], u64),
    ) -> io::Result<usize> {
        match &mut self.0 {
            ReceiverKind::Ring(receiver) => receiver.receive(timeout, each),
            ReceiverKind::Xdp(receiver) => receiver.receive(timeout, each),
        }
    }

    /// Frames that arrived and were not shown yet: by AF_PACKET they wait until their part of the memory is full or some
    /// milliseconds old, and longer where the kernel's timers are late. By AF_XDP 0.
    pub fn unread(&mut self) -> u64 {
        match &mut self.0 {
            ReceiverKind::Ring(receiver) => receiver.unread(),
            ReceiverKind::Xdp(_) => 0,
        }
    }

    /// Counts unread frames as lost, in [`Self::kernel_drops`].
    pub fn give_up(&mut self) {
        if let ReceiverKind::Ring(receiver) = &mut self.0 {
            receiver.give_up();
        }
    }

    /// How often the kernel did not fill the memory of `receive_bytes` in turn, which costs up to a wait; and the frames of
    /// a part that it never shows.
    pub fn astray(&self) -> u64 {
        match &self.0 {
            ReceiverKind::Ring(receiver) => receiver.astray(),
            ReceiverKind::Xdp(_) => 0,
        }
    }

    /// Frames that arrived since the start and were lost, because they were not taken fast enough or never shown.
    pub fn kernel_drops(&mut self) -> u64 {
        match &mut self.0 {
            ReceiverKind::Ring(receiver) => receiver.drops(),
            ReceiverKind::Xdp(receiver) => receiver.drops(),
        }
    }
}

/// Tries one backend after the other.
struct Attempt<'a> {
    interface: &'a str,
    wanted: &'a Wanted,
    refused: Vec<Refused>,
}

impl Attempt<'_> {
    fn any(&mut self) -> Option<(Sender, Backend, Receiver, Backend)> {
        let (interface, wanted) = (self.interface, self.wanted);
        let by_xdp = self.backends().filter(|backend| backend.is_xdp());
        if let Some((sender, receiver, backend)) =
            xdp::open(interface, wanted, by_xdp, &mut self.refused)
        {
            let sender = Sender(SenderKind::Xdp(Box::new(sender)));
            let (receiver, receive) = match receiver {
                Some(receiver) => (Receiver(ReceiverKind::Xdp(receiver)), backend),
                None => self.receiver()?,
            };
            return Some((sender, backend, receiver, receive));
        }
        let (sender, send) = self.sender()?;
        let (receiver, receive) = self.receiver()?;
        Some((sender, send, receiver, receive))
    }

    fn sender(&mut self) -> Option<(Sender, Backend)> {
        let (bytes, frames) = (self.wanted.frame_bytes_max, self.wanted.send_frames);
        for backend in self.backends().filter(|backend| !backend.is_xdp()) {
            let opened = match backend {
                Backend::AfPacketRing => {
                    RingSender::open(self.interface, bytes, frames).map(SenderKind::Ring)
                }
                _ => SeveralSender::open(self.interface, bytes).map(SenderKind::Several),
            };
            match opened {
                Ok(sender) => return Some((Sender(sender), backend)),
                Err(source) => self.refuse(backend, false, "open", source),
            }
        }
        None
    }

    fn receiver(&mut self) -> Option<(Receiver, Backend)> {
        let (bytes, memory) = (self.wanted.frame_bytes_max, self.wanted.receive_bytes());
        match RingReceiver::open(self.interface, bytes, memory) {
            Ok(receiver) => Some((
                Receiver(ReceiverKind::Ring(receiver)),
                Backend::AfPacketRing,
            )),
            Err(source) => {
                self.refuse(Backend::AfPacketRing, true, "open", source);
                None
            }
        }
    }

    fn backends(&self) -> impl Iterator<Item = Backend> + use<> {
        let wanted = self.wanted.backend;
        Backend::ALL
            .into_iter()
            .filter(move |backend| wanted.is_none_or(|wanted| wanted == *backend))
    }

    fn refuse(&mut self, backend: Backend, receiving: bool, op: &'static str, source: io::Error) {
        self.refused.push(Refused {
            backend,
            receiving,
            op,
            source,
        });
    }
}
