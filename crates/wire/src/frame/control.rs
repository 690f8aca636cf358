// SPDX-License-Identifier: MIT OR Apache-2.0
//! A short frame that is made now and then, ARP or neighbour discovery: on the stack, without FCS.

use std::ops::Deref;

use crate::ether::Header;

/// A frame of at most [`ControlFrame::CAPACITY`] bytes, at least the 60 that Ethernet has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlFrame {
    bytes: [u8; Self::CAPACITY],
    length: usize,
}

impl ControlFrame {
    /// Most bytes: a tagged neighbour advertisement has 90.
    pub const CAPACITY: usize = 96;

    /// A header and what it carries, cut at the capacity, padded with zeros.
    pub(super) fn new(header: &Header, parts: &[&[u8]]) -> Self {
        let mut frame = Self {
            bytes: [0; Self::CAPACITY],
            length: 0,
        };
        let (header, header_bytes) = header.encode();
        frame.push(&header[..header_bytes]);
        parts.iter().for_each(|part| frame.push(part));
        frame.length = frame.length.max(SMALLEST_BYTES);
        frame
    }

    fn push(&mut self, part: &[u8]) {
        let room = self.bytes[self.length..].iter_mut();
        self.length += room.zip(part).map(|(to, from)| *to = *from).count();
    }
}

impl Deref for ControlFrame {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

const SMALLEST_BYTES: usize = 60;
