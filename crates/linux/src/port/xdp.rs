// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames by AF_XDP sockets (Linux 4.18; to receive 5.9), past the kernel's network stack. Sending needs CAP_NET_RAW only;
//! receiving needs the right to load programs.
//!
//! In generic mode, where the kernel allocates an skb before the program runs, receiving costs more than by AF_PACKET (measured on a veth: a
//! third more CPU time per frame), so it is used only on request.

mod attachment;
mod frames;
mod program;
mod receiver;
mod sender;
mod socket;

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use super::link::Link;
use super::packet::{PacketSocket, RingReceiver};
use super::wanted::{Backend, Refused, Wanted};
use crate::ethtool_features;
use crate::nic;
use attachment::Attachment;
pub(super) use receiver::XdpReceiver;
pub(super) use sender::XdpSender;
use socket::{Failed, Opened, Plan};

/// Opens the interface for sending and, if that is allowed, for receiving. What failed is added to `refused`.
pub(super) fn open(
    interface: &str,
    wanted: &Wanted,
    backends: impl Iterator<Item = Backend>,
    refused: &mut Vec<Refused>,
) -> Option<(XdpSender, Option<XdpReceiver>, Backend)> {
    let mut backends = backends.peekable();
    let first = *backends.peek()?;
    let mut refuse = |backend, receiving, (op, source): Failed| {
        refused.push(Refused {
            backend,
            receiving,
            op,
            source,
        });
    };
    let survey = Survey::of(interface, wanted)
        .map_err(|failed| refuse(first, false, failed))
        .ok()?;
    let mut attachment = survey
        .attach(interface, wanted)
        .map_err(|failed| refuse(first, true, failed))
        .ok();
    for backend in backends {
        let zero_copy = backend == Backend::AfXdpZeroCopy;
        if zero_copy && attachment.is_none() {
            let why = io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it takes the queues away from the kernel, so without the program nothing would be received",
            );
            refuse(backend, false, ("bind", why));
            continue;
        }
        let receives = attachment.is_some();
        let opened = match survey.sockets(wanted, zero_copy, receives) {
            Ok(opened) => opened,
            Err(failed) => {
                refuse(backend, false, failed);
                continue;
            }
        };
        let (outgoing, incoming): (Vec<_>, Vec<_>) = opened
            .into_iter()
            .map(|one| (one.outgoing, one.incoming))
            .unzip();
        let receiver = attachment.take().and_then(|attachment| {
            let incoming = incoming.into_iter().flatten().collect();
            Survey::receiver(interface, wanted, attachment, incoming)
                .map_err(|failed| refuse(backend, true, failed))
                .ok()
        });
        let first = outgoing.into_iter().next()?;
        let sender = XdpSender::new(first, zero_copy, survey.bytes_max, survey.control);
        return Some((sender, receiver, backend));
    }
    None
}

/// The interface, before anything is done to it.
struct Survey {
    control: PacketSocket,
    queues: u32,
    /// Of the memory, for each frame.
    frame_bytes: usize,
    bytes_max: usize,
}

impl Survey {
    fn of(interface: &str, wanted: &Wanted) -> Result<Self, Failed> {
        let failed = |error| ("open", error);
        let control = PacketSocket::open(interface).map_err(failed)?;
        control.link().must_be_up(control.as_fd()).map_err(failed)?;
        let mtu = control.link().mtu_bytes(control.as_fd()).map_err(failed)?;
        // If unknown, assume one.
        let queues = nic::receive_queues(interface).unwrap_or(1);
        let bytes_max = wanted.frame_bytes_max.min(mtu + HEADER_BYTES);
        Ok(Self {
            control,
            queues: queues.clamp(1, MOST_QUEUES as u32),
            frame_bytes: frame_bytes(wanted.frame_bytes_max)?,
            bytes_max,
        })
    }

    /// A driver that restarts with the program loses its link for a while.
    fn attach(&self, interface: &str, wanted: &Wanted) -> Result<Attachment, Failed> {
        let asked_for = wanted.backend.is_some();
        if !asked_for && nic::driver(interface).is_ok_and(|driver| driver == "veth") {
            let why = io::Error::new(io::ErrorKind::Unsupported, "on a veth AF_PACKET is faster");
            return Err(("attach program", why));
        }
        if wanted.tagged && ethtool_features::strips_vlan_tags(interface).unwrap_or(false) {
            return Err(("attach program", tags_are_taken_out(interface)));
        }
        let link = self.control.link();
        let had_carrier = link.has_carrier(self.control.as_fd());
        let attachment = patiently(|| Attachment::new(link.index(), self.queues, asked_for))?;
        if had_carrier {
            self.wait_for_carrier(link);
        }
        Ok(attachment)
    }

    fn wait_for_carrier(&self, link: &Link) {
        let deadline = Instant::now() + CARRIER_TIMEOUT;
        while !link.has_carrier(self.control.as_fd()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// One for each queue, or the first alone to send.
    fn sockets(
        &self,
        wanted: &Wanted,
        zero_copy: bool,
        receives: bool,
    ) -> Result<Vec<Opened>, Failed> {
        let count = if receives { self.queues } else { 1 };
        let each =
            |frames: usize| previous_power_of_two((frames / count as usize).max(LEAST_FRAMES));
        let receive_frames = if receives {
            each(wanted.receive_bytes().min(MOST_BYTES) / self.frame_bytes)
        } else {
            0
        };
        let plan = |queue| Plan {
            interface_index: self.control.link().index(),
            queue,
            zero_copy,
            frame_bytes: self.frame_bytes,
            send_frames: each(wanted.send_frames),
            receive_frames,
        };
        (0..count)
            .map(|queue| patiently(|| socket::open(&plan(queue))))
            .collect()
    }

    fn receiver(
        interface: &str,
        wanted: &Wanted,
        attachment: Attachment,
        incoming: Vec<socket::Incoming>,
    ) -> Result<XdpReceiver, Failed> {
        let others = RingReceiver::open(interface, wanted.frame_bytes_max, OTHERS_BYTES);
        let others = others.map_err(|error| ("open packet socket", error))?;
        for (queue, socket) in (0..).zip(&incoming) {
            attachment
                .redirect(queue, socket.socket.as_fd())
                .map_err(|error| ("redirect", error))?;
        }
        Ok(XdpReceiver::new(attachment, incoming, others))
    }
}

fn tags_are_taken_out(interface: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!(
            "VLAN tags are taken out of frames before a program sees them: ethtool -K {interface} rxvlan off"
        ),
    )
}

/// Retries for a while when something is in use: the kernel cleans up after a process with a delay.
fn patiently<T>(mut attempt: impl FnMut() -> Result<T, Failed>) -> Result<T, Failed> {
    let deadline = Instant::now() + TAKEN_TIMEOUT;
    loop {
        match attempt() {
            Err((_, error)) if is_taken(&error) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err((op, error)) if is_taken(&error) => {
                let why = io::Error::new(error.kind(), "another program has the interface");
                return Err((op, why));
            }
            other => return other,
        }
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST))
}

/// The kernel wants half a page or a page of 4 KiB, and keeps some of it free in front of a received frame.
fn frame_bytes(frame_bytes_max: usize) -> Result<usize, Failed> {
    let fits = |bytes: &usize| frame_bytes_max + HEADROOM_BYTES <= *bytes;
    let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "frames too long for one page");
    [2048, 4096]
        .into_iter()
        .find(fits)
        .ok_or_else(|| ("cut memory", too_long()))
}

fn previous_power_of_two(number: usize) -> usize {
    1 << number.max(1).ilog2()
}

const MOST_QUEUES: usize = 64;
const LEAST_FRAMES: usize = 64;
/// Of memory that stays in place, for all queues.
const MOST_BYTES: usize = 16 << 20;
/// `XDP_PACKET_HEADROOM`.
const HEADROOM_BYTES: usize = 256;
/// Ethernet and a tag.
const HEADER_BYTES: usize = 18;
/// For frames that are not test frames.
const OTHERS_BYTES: usize = 1 << 20;
const TAKEN_TIMEOUT: Duration = Duration::from_secs(1);
const CARRIER_TIMEOUT: Duration = Duration::from_secs(10);
