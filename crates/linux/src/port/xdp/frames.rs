// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory cut into frames, of which each is either ours or the kernel's. No system call here.
//!
//! A frame that is ours is a [`Frame`], of which there is never a second one: lending it to the kernel consumes it, and only the address
//! that the kernel gives back makes it again. Only a `Frame` gives access to bytes, and the state is checked as well: a lent
//! frame cannot be accessed, even with a `Frame` of another memory.
#![expect(unsafe_code, reason = "memory shared with the kernel")]

use std::slice;

use crate::port::memory::Memory;

/// A frame that is ours.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame(u32);

/// Some of the frames of a memory.
#[derive(Debug)]
pub(super) struct Frames {
    memory: Memory,
    /// A power of two, as the kernel has it: numbers are made of addresses by a shift.
    frame_bytes: usize,
    /// The number of the first one in the memory.
    first: u32,
    /// One a frame: whether the kernel has it.
    lent: Vec<bool>,
    /// Unused frames; its capacity never grows.
    free: Vec<Frame>,
}

impl Frames {
    /// Cuts the memory into frames of `frame_bytes` and deals them out: the first `count`, and all others.
    pub(super) fn cut(memory: Memory, frame_bytes: usize, count: usize) -> (Self, Self) {
        debug_assert!(frame_bytes.is_power_of_two());
        let all = memory.bytes() / frame_bytes;
        let (count, shared) = (count.min(all), memory.share());
        let one = Self::new(shared, frame_bytes, 0, count);
        let other = Self::new(memory, frame_bytes, count, all - count);
        (one, other)
    }

    fn new(memory: Memory, frame_bytes: usize, first: usize, count: usize) -> Self {
        let numbers = first as u32..(first + count) as u32;
        Self {
            memory,
            frame_bytes,
            first: numbers.start,
            lent: vec![false; count],
            free: numbers.rev().map(Frame).collect(),
        }
    }

    /// Takes an unused frame.
    pub(super) fn take(&mut self) -> Option<Frame> {
        self.free.pop()
    }

    /// The frame is used no more.
    pub(super) fn put_back(&mut self, frame: Frame) {
        self.free.push(frame);
    }

    /// The frame is the kernel's from now on: its address for a ring.
    pub(super) fn lend(&mut self, frame: Frame) -> Option<u64> {
        let lent = self
            .lent
            .get_mut(frame.0.checked_sub(self.first)? as usize)?;
        *lent = true;
        Some(u64::from(frame.0) * self.frame_bytes as u64)
    }

    /// The kernel gives back the frame that this address is in; `None` if it was never lent.
    pub(super) fn take_back(&mut self, address: u64) -> Option<Frame> {
        let number = u32::try_from(address >> self.frame_bytes.trailing_zeros()).ok()?;
        let lent = self
            .lent
            .get_mut(number.checked_sub(self.first)? as usize)?;
        std::mem::take(lent).then_some(Frame(number))
    }

    /// The first `length` bytes of a frame; `None` if it is shorter, or not one of these.
    pub(super) fn bytes_mut(&mut self, frame: &mut Frame, length: usize) -> Option<&mut [u8]> {
        let first = self.part(frame, 0, length)?;
        // SAFETY: inside the memory, in a frame that is not lent (`part`); `&mut self` excludes other access.
        Some(unsafe { slice::from_raw_parts_mut(first, length) })
    }

    /// The `length` bytes at an address in a frame; `None` if they are not all inside.
    pub(super) fn bytes(&self, frame: &Frame, address: u64, length: usize) -> Option<&[u8]> {
        let offset = address.checked_sub(u64::from(frame.0) * self.frame_bytes as u64)?;
        let first = self.part(frame, usize::try_from(offset).ok()?, length)?;
        // SAFETY: inside the memory, in a frame that is not lent (`part`); `&self` excludes writes.
        Some(unsafe { slice::from_raw_parts(first, length) })
    }

    fn part(&self, frame: &Frame, offset: usize, length: usize) -> Option<*mut u8> {
        let lent = self.lent.get(frame.0.checked_sub(self.first)? as usize)?;
        if *lent || offset.checked_add(length)? > self.frame_bytes {
            return None;
        }
        let start = frame.0 as usize * self.frame_bytes;
        Some(self.memory.at(start + offset, length)?.as_ptr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> (Frames, Frames) {
        Frames::cut(Memory::own(8 * 2048).unwrap(), 2048, 3)
    }

    #[test]
    fn frames_are_dealt_out_without_overlap() {
        let (mut one, mut other) = two();
        let mut addresses = Vec::new();
        for frames in [&mut one, &mut other] {
            while let Some(mut frame) = frames.take() {
                frames.bytes_mut(&mut frame, 2048).unwrap().fill(1);
                addresses.push(frames.lend(frame).unwrap());
            }
        }
        addresses.sort_unstable();
        assert_eq!(
            addresses,
            (0..8).map(|number| number * 2048).collect::<Vec<_>>()
        );
    }

    #[test]
    fn what_was_written_is_there_when_the_frame_comes_back() {
        let (mut frames, _) = two();
        let mut frame = frames.take().unwrap();
        frames.bytes_mut(&mut frame, 60).unwrap().fill(7);
        let address = frames.lend(frame).unwrap();
        // With headroom, as received frames come.
        let back = frames.take_back(address + 10).unwrap();
        assert_eq!(frames.bytes(&back, address + 10, 50), Some(&[7; 50][..]));
        frames.put_back(back);
        assert_eq!(std::iter::from_fn(|| frames.take()).count(), 3);
    }

    #[test]
    fn the_kernel_cannot_give_back_what_it_was_not_lent() {
        let (mut frames, mut others) = two();
        let frame = frames.take().unwrap();
        let address = frames.lend(frame).unwrap();
        assert_eq!(others.take_back(address), None);
        assert!(frames.take_back(address).is_some());
        for wrong in [address, 2048, 3 * 2048, 99 * 2048, u64::MAX] {
            assert_eq!(frames.take_back(wrong), None, "{wrong}");
        }
        let frame = others.take().unwrap();
        assert!(others.lend(frame).is_some());
    }

    #[test]
    fn bytes_are_of_one_frame_that_is_ours() {
        let (mut frames, mut others) = two();
        let mut frame = frames.take().unwrap();
        assert!(frames.bytes_mut(&mut frame, 2049).is_none());
        assert!(
            frames.bytes(&frame, 2000, 49).is_none() && frames.bytes(&frame, u64::MAX, 1).is_none()
        );
        assert!(others.bytes_mut(&mut frame, 1).is_none(), "of others");
        // A token of another memory with the number of a frame that is lent here.
        let (mut foreign, _) = two();
        let mut token = foreign.take().unwrap();
        assert_eq!(token, frame);
        frames.lend(frame);
        assert!(frames.bytes_mut(&mut token, 1).is_none());
        assert!(others.lend(token).is_none());
    }
}
