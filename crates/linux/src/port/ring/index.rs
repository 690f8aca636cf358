// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the two sides of a ring are: numbers that count every entry ever written and ever read, modulo 2³², in which the place of an
//! entry is the low bits. No memory and no system call here.
//!
//! An index of the other side is accepted only if it is possible: it never reads what was not written, nor writes over what was not read.

/// The side that writes.
#[derive(Debug)]
pub(super) struct Writing {
    /// The entry that is written next.
    next: u32,
    /// Entries before this one have been shown.
    shown: u32,
    /// Entries before this one have been read by the other side, as far as is known.
    read: u32,
    size: u32,
}

impl Writing {
    /// A ring of `size` entries, a power of two, in which all so far, up to `start`, were read.
    pub(super) fn new(size: u32, start: u32) -> Self {
        debug_assert!(size.is_power_of_two());
        Self {
            next: start,
            shown: start,
            read: start,
            size,
        }
    }

    /// How many entries can be written.
    pub(super) fn room(&self) -> u32 {
        self.size - self.next.wrapping_sub(self.read)
    }

    /// The other side says how far it has read.
    pub(super) fn note_read(&mut self, read: u32) {
        if self.shown.wrapping_sub(read) <= self.shown.wrapping_sub(self.read) {
            self.read = read;
        }
    }

    /// The place of the next entry, which is now written.
    pub(super) fn take(&mut self) -> Option<u32> {
        if self.room() == 0 {
            return None;
        }
        let place = self.next & (self.size - 1);
        self.next = self.next.wrapping_add(1);
        Some(place)
    }

    /// Returns the index to publish: all that was written.
    pub(super) fn show(&mut self) -> u32 {
        self.shown = self.next;
        self.next
    }

    /// How many entries were shown and not read, as far as is known.
    pub(super) fn unread(&self) -> u32 {
        self.shown.wrapping_sub(self.read)
    }
}

/// The side that reads.
#[derive(Debug)]
pub(super) struct Reading {
    /// The entry that is read next.
    next: u32,
    /// Entries before this one have been written by the other side, as far as is known.
    written: u32,
    size: u32,
}

impl Reading {
    /// A ring of `size` entries, a power of two, of which those from `start` on are to be read.
    pub(super) fn new(size: u32, start: u32) -> Self {
        debug_assert!(size.is_power_of_two());
        Self {
            next: start,
            written: start,
            size,
        }
    }

    /// How many entries can be read.
    pub(super) fn waiting(&self) -> u32 {
        self.written.wrapping_sub(self.next)
    }

    /// The other side says how far it has written.
    pub(super) fn note_written(&mut self, written: u32) {
        let (before, now) = (self.waiting(), written.wrapping_sub(self.next));
        if (before..=self.size).contains(&now) {
            self.written = written;
        }
    }

    /// The place of the next entry, which is now read.
    pub(super) fn take(&mut self) -> Option<u32> {
        if self.waiting() == 0 {
            return None;
        }
        let place = self.next & (self.size - 1);
        self.next = self.next.wrapping_add(1);
        Some(place)
    }

    /// Returns the index to publish: all that was read.
    pub(super) fn read(&self) -> u32 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::{Reading, Writing};

    /// Both sides, the published indices, and the expected entries.
    struct Pair {
        writing: Writing,
        reading: Reading,
        shown: u32,
        read: u32,
        places: Vec<Option<u64>>,
        written: u64,
        taken: u64,
    }

    impl Pair {
        fn new(size: u32, start: u32) -> Self {
            Self {
                writing: Writing::new(size, start),
                reading: Reading::new(size, start),
                shown: start,
                read: start,
                places: vec![None; size as usize],
                written: 0,
                taken: 0,
            }
        }

        fn step(&mut self, step: u8) {
            match step {
                0 => {
                    if let Some(place) = self.writing.take() {
                        // Nothing is written over that was not read.
                        assert_eq!(self.places[place as usize].replace(self.written), None);
                        self.written += 1;
                    }
                }
                1 => self.shown = self.writing.show(),
                2 => self.reading.note_written(self.shown),
                3 => {
                    if let Some(place) = self.reading.take() {
                        // What is read was written, and comes in order.
                        assert_eq!(self.places[place as usize].take(), Some(self.taken));
                        self.taken += 1;
                    }
                }
                4 => self.read = self.reading.read(),
                _ => self.writing.note_read(self.read),
            }
            assert!(self.writing.room() as usize <= self.places.len());
            assert!(self.reading.waiting() as usize <= self.places.len());
        }
    }

    const STEPS: u8 = 6;

    /// Every order in which the steps of both sides may fall, a byte a step.
    fn every_order(length: u32, size: u32, start: u32) {
        for order in 0..u64::from(STEPS).pow(length) {
            let mut pair = Pair::new(size, start);
            let mut rest = order;
            for _ in 0..length {
                pair.step((rest % u64::from(STEPS)) as u8);
                rest /= u64::from(STEPS);
            }
        }
    }

    #[test]
    fn no_order_of_steps_loses_or_doubles_an_entry() {
        let length = if cfg!(miri) { 3 } else { 7 };
        for size in [1, 2] {
            for start in [0, u32::MAX - 1, u32::MAX] {
                every_order(length, size, start);
            }
        }
    }

    #[test]
    fn a_full_ring_goes_round_the_end_of_the_numbers() {
        for size in [1, 4, 64] {
            let mut pair = Pair::new(size, u32::MAX - 3 * size);
            for _ in 0..10 * size {
                // As much as fits, and a part of it read.
                (0..=size).for_each(|_| pair.step(0));
                [1, 2, 3, 3, 3, 4, 5]
                    .into_iter()
                    .for_each(|step| pair.step(step));
            }
            assert!(pair.taken >= u64::from(9 * size), "{}", pair.taken);
        }
    }

    #[test]
    fn the_impossible_is_not_believed() {
        let mut writing = Writing::new(4, u32::MAX);
        writing.take();
        writing.take();
        writing.show();
        for impossible in [2, 3, 100, u32::MAX - 1, u32::MAX / 2] {
            writing.note_read(impossible);
            assert_eq!((writing.room(), writing.unread()), (2, 2), "{impossible}");
        }
        writing.note_read(1);
        assert_eq!((writing.room(), writing.unread()), (4, 0));
        let mut reading = Reading::new(4, u32::MAX);
        for impossible in [4, 100, u32::MAX - 1, u32::MAX / 2] {
            reading.note_written(impossible);
            assert_eq!(reading.waiting(), 0, "{impossible}");
        }
        reading.note_written(3);
        assert_eq!(reading.waiting(), 4);
    }
}
