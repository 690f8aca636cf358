// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames by packet sockets (AF_PACKET): on every kernel and every interface, with CAP_NET_RAW only.

mod block;
mod receiver;
mod ring_sender;
mod several_sender;
mod socket;

pub(super) use receiver::RingReceiver;
pub(super) use ring_sender::RingSender;
pub(super) use several_sender::SeveralSender;
pub(crate) use socket::{EVERYTHING, NOTHING, PacketSocket};
