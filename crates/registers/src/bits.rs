// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bits of a register that a field occupies.

use std::fmt;

/// Bits `high` down to `low` of a register, both within.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits {
    low: u8,
    high: u8,
}

impl Bits {
    /// The notation, for error messages.
    pub const FORM: &str = "a bit (\"5\") or a range, the higher first (\"29:16\"), from 0 to 63";

    /// Returns bits `high:low`; none if `high` is below `low` or above 63.
    #[must_use]
    pub const fn new(high: u8, low: u8) -> Option<Self> {
        if low <= high && high < 64 {
            Some(Self { low, high })
        } else {
            None
        }
    }

    /// All bits of a register of `width_bits`; none for 0 and for more than 64.
    #[must_use]
    pub const fn whole(width_bits: u8) -> Option<Self> {
        match width_bits.checked_sub(1) {
            Some(high) => Self::new(high, 0),
            None => None,
        }
    }

    /// Parses `5` or `29:16`; none if the text does not have the [`Self::FORM`].
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        let number = |part: &str| part.trim().parse().ok();
        match text.split_once(':') {
            Some((high, low)) => Self::new(number(high)?, number(low)?),
            None => number(text).and_then(|bit| Self::new(bit, bit)),
        }
    }

    /// The lowest bit.
    #[must_use]
    pub const fn low(self) -> u8 {
        self.low
    }

    /// The highest bit.
    #[must_use]
    pub const fn high(self) -> u8 {
        self.high
    }

    /// The number of bits.
    #[must_use]
    pub const fn count(self) -> u8 {
        self.high - self.low + 1
    }

    /// The largest value that fits.
    #[must_use]
    pub const fn largest(self) -> u64 {
        u64::MAX >> (64 - self.count())
    }

    /// A one for each of these bits, at its place.
    #[must_use]
    pub const fn mask(self) -> u64 {
        self.largest() << self.low
    }

    /// The field's value in the register's.
    #[must_use]
    pub const fn of(self, register: u64) -> u64 {
        (register & self.mask()) >> self.low
    }

    /// The register's value with this field set; what does not fit in is cut off.
    #[must_use]
    pub const fn put(self, register: u64, value: u64) -> u64 {
        (register & !self.mask()) | ((value << self.low) & self.mask())
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == self.high {
            write!(f, "{}", self.low)
        } else {
            write!(f, "{}:{}", self.high, self.low)
        }
    }
}

/// The bits of a mask as ranges, highest first: `31, 11:10`.
pub(super) fn ranges(mask: u64) -> Vec<Bits> {
    let mut found = Vec::new();
    let mut rest = mask;
    while rest != 0 {
        let high = 63 - rest.leading_zeros() as u8;
        let below = !rest & Bits { low: 0, high }.mask();
        let low = match below {
            0 => 0,
            zeros => 64 - zeros.leading_zeros() as u8,
        };
        let range = Bits { low, high };
        rest &= !range.mask();
        found.push(range);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Bits, ranges};

    #[test]
    fn a_field_is_cut_out_and_put_back() {
        let field = Bits::of_text("29:16").unwrap();
        assert_eq!((field.high(), field.low(), field.count()), (29, 16, 14));
        assert_eq!(field.of(0x05ee_0264), 0x5ee);
        assert_eq!(field.put(0, 0x5ee), 0x05ee_0000);
        assert_eq!(Bits::whole(64).unwrap().of(u64::MAX), u64::MAX);
        assert_eq!(Bits::of_text("63:0").unwrap().put(7, 9), 9);
    }

    #[test]
    fn what_is_no_range_is_none() {
        for text in ["", "x", "3:5", "64", "64:0", "1:2:3", "-1", "5:"] {
            assert_eq!(Bits::of_text(text), None, "{text}");
        }
        assert_eq!(Bits::whole(0), None);
        assert_eq!(Bits::whole(65), None);
    }

    #[test]
    fn a_mask_is_printed_as_ranges() {
        let ranges = |mask| {
            let all: Vec<String> = ranges(mask).iter().map(ToString::to_string).collect();
            all.join(", ")
        };
        assert_eq!(ranges(0), "");
        assert_eq!(ranges(0x8000_0c01), "31, 11:10, 0");
        assert_eq!(ranges(u64::MAX), "63:0");
        assert_eq!(ranges(1 << 63), "63");
    }
}
