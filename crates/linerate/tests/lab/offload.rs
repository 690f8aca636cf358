// SPDX-License-Identifier: MIT OR Apache-2.0
//! Segments are, byte for byte, those that this machine's kernel cuts where an interface does not; also over the wire.

use std::net::IpAddr;
use std::time::Instant;

use linerate_lab::{Isolation, Lab};
use linerate_linux::packet::{PacketReceiver, PacketSender};
use linerate_wire::checksum::Checksum;
use linerate_wire::offload::{Kind, Request, Segmentation, Segments, Upper, complete};

use super::Test;
use super::frames::packet;
use super::traffic::{DEADLINE, lab_with};
use super::verdict::{Outcome, ensure};

pub(crate) const TESTS: &[Test] = &[
    ("segments_are_the_kernels", segments_are_the_kernels),
    (
        "the_cards_segments_are_the_same",
        the_cards_segments_are_the_same,
    ),
];

/// What is asked of the kernel.
#[derive(Clone, Copy, Debug)]
struct Case {
    kind: Kind,
    ipv6: bool,
    tagged: bool,
    /// Of TCP.
    flags: u8,
    option_words: u8,
    payload_bytes: usize,
    segment_bytes: u16,
}

/// Sent through an interface without offloads, the kernel cuts.
fn segments_are_the_kernels(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["offload-off"])?;
    through(&lab, |frame| frame)
}

/// What a fault of the receiving side needs does not change what is sent.
fn the_cards_segments_are_the_same(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["nic-one-queue"])?;
    through(&lab, |mut frame| {
        frame.resize(frame.len().max(60), 0);
        frame
    })
}

/// Sends every case from host A; host B gets the segments that we would cut, as `on_the_wire` makes them.
fn through(lab: &Lab, on_the_wire: fn(Vec<u8>) -> Vec<u8>) -> Outcome {
    let [a, b] = lab.hosts();
    let sender = a.enter(|| PacketSender::open_offloading(a.interface))??;
    let mut receiver = b.enter(|| PacketReceiver::open(b.interface, 2048, 8 << 20))??;
    for case in cases() {
        let (frame, request) = case.frame();
        sender.send(&[&request.encode()[..], &frame].concat())?;
        let expected = expected(frame, &request).into_iter().map(on_the_wire);
        let expected: Vec<_> = expected.collect();
        let seen = of_us(&mut receiver, expected.len())?;
        ensure(seen == expected, || {
            format!("{case:?}:\n{seen:02x?}\n{expected:02x?}")
        })?;
    }
    Ok(())
}

fn cases() -> Vec<Case> {
    let kinds = [
        (Kind::Tcp4, false),
        (Kind::Tcp6, true),
        (Kind::Udp, false),
        (Kind::Udp, true),
    ];
    let sizes = [
        (1, 1448),
        (100, 0),
        (1000, 100),
        (1001, 100),
        (3000, 1400),
        (777, 33),
    ];
    let mut cases = Vec::new();
    for (kind, ipv6) in kinds {
        for (payload_bytes, segment_bytes) in sizes {
            // ACK alone; CWR, ACK, PSH and FIN.
            for (flags, option_words) in [(0x10, 0), (0x99, 3)] {
                cases.push(Case {
                    kind,
                    ipv6,
                    tagged: payload_bytes == 1000,
                    flags,
                    option_words,
                    payload_bytes,
                    segment_bytes,
                });
            }
        }
    }
    cases
}

impl Case {
    /// What a driver would get: uncut, with the sum of the pseudo-header.
    fn frame(&self) -> (Vec<u8>, Request) {
        let payload = (0..self.payload_bytes).map(|at| (at * 7 + at / 251) as u8);
        let mut upper = vec![0x9C, 0x40, 0x14, 0x51];
        let protocol = match self.kind {
            Kind::Udp => {
                upper.extend(((8 + self.payload_bytes) as u16).to_be_bytes());
                upper.extend([0, 0]);
                17
            }
            _ => {
                upper.extend([0xFF, 0xFF, 0xFF, 0x00, 0, 0, 0, 9]);
                upper.extend([(5 + self.option_words) << 4, self.flags, 1, 0, 0, 0, 0, 0]);
                upper.resize(20 + 4 * usize::from(self.option_words), 1);
                6
            }
        };
        upper.extend(payload);
        let ends: (IpAddr, IpAddr) = match self.ipv6 {
            false => ([198, 18, 0, 1].into(), [198, 18, 0, 77].into()),
            true => ([0xFD; 16].into(), [0x20; 16].into()),
        };
        let mut frame = packet(NOBODY, self.tagged, ends, protocol, &upper);
        let checksum = Upper::of(&frame).map(|upper| upper.checksum);
        let length = upper.len() as u32;
        if let (Some(place), Some(sum)) = (
            checksum,
            Checksum::pseudo_header(ends.0, ends.1, protocol, length),
        ) {
            frame[place.field..][..2].copy_from_slice(&(!sum.finish()).to_be_bytes());
        }
        let segmentation = (self.segment_bytes > 0).then_some(Segmentation {
            kind: self.kind,
            payload_bytes: self.segment_bytes,
        });
        let request = Request {
            checksum,
            segmentation,
        };
        (frame, request)
    }
}

/// A packet that fits one segment is not cut (include/linux/virtio_net.h).
fn expected(mut frame: Vec<u8>, request: &Request) -> Vec<Vec<u8>> {
    let cut = Segments::of(&frame, request).map(|mut segments| {
        let mut out = vec![0; frame.len()];
        let next = || {
            segments
                .write_next(&mut out)
                .map(|bytes| out[..bytes].to_vec())
        };
        std::iter::from_fn(next).collect::<Vec<_>>()
    });
    match cut {
        Some(cut) if cut.len() > 1 => cut,
        _ => {
            if let Some(place) = request.checksum {
                complete(&mut frame, place);
            }
            vec![frame]
        }
    }
}

fn of_us(receiver: &mut PacketReceiver, count: usize) -> Outcome<Vec<Vec<u8>>> {
    let mut frames = Vec::new();
    let end = Instant::now() + DEADLINE;
    while frames.len() < count && Instant::now() < end {
        receiver.receive(64, |frame| {
            if frame.starts_with(&NOBODY) {
                frames.push(frame.to_vec());
            }
        });
        receiver.wait(10_000_000)?;
    }
    Ok(frames)
}

/// No host has this address.
const NOBODY: [u8; 6] = [2, 0, 0, 0, 0, 8];
