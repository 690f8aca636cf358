// SPDX-License-Identifier: MIT OR Apache-2.0
//! One value: as tc(8) takes it, and as the kernel does.

use super::super::attribute::unsigned;

/// How a value is shown and stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Count,
    Bytes,
    /// Bits per second; stored as bytes.
    Rate,
    Microseconds,
    Nanoseconds,
    /// Microseconds, which `codel` keeps in units of 1024 ns (include/net/codel.h).
    CodelTime,
    /// A power of two, stored as its exponent.
    Logarithm,
    /// A word for 0, and one for 1.
    Switch(&'static str, &'static str),
    /// Not set, and refused unless it is 0.
    Zero,
    /// Not set, and refused unless it is this.
    Always(&'static [u8]),
}

impl Form {
    /// As tc(8) takes it.
    pub(super) fn shown(self, stored: &[u8]) -> Option<String> {
        let number = unsigned(stored)?;
        Some(match self {
            Self::Count | Self::Bytes => number.to_string(),
            Self::Rate => format!("{}bit", number.checked_mul(8)?),
            Self::Microseconds => format!("{number}us"),
            Self::Nanoseconds => format!("{number}ns"),
            Self::CodelTime => format!("{}us", settable(number)),
            Self::Logarithm => 1_u64.checked_shl(number.try_into().ok()?)?.to_string(),
            Self::Switch(off, on) => if number == 0 { off } else { on }.to_owned(),
            Self::Zero | Self::Always(_) => return None,
        })
    }

    /// The same of a value that is not set yet.
    pub(super) fn set_to(self, bytes: &[u8]) -> Option<String> {
        match self {
            Self::CodelTime => Self::Microseconds.shown(bytes),
            _ => self.shown(bytes),
        }
    }

    /// As the kernel takes it: 32 bits, a byte for one switch.
    pub(super) fn bytes(self, text: &str) -> Option<Vec<u8>> {
        let number = match self {
            Self::Count => scaled(text.strip_suffix('p').unwrap_or(text), &[])?,
            Self::Bytes => scaled(text, &SIZES)?,
            Self::Rate => scaled(text, &RATES)? / 8,
            Self::Microseconds | Self::CodelTime => scaled(text, &MICROSECONDS)?,
            Self::Nanoseconds => scaled(text, &NANOSECONDS)?,
            Self::Logarithm => {
                let number = scaled(text, &[])?;
                number.is_power_of_two().then(|| number.ilog2().into())?
            }
            // The only switch of a byte.
            Self::Switch(off, "horizon_drop") => return Some(vec![u8::from(text != off)]),
            Self::Switch(off, _) => u64::from(text != off),
            Self::Zero | Self::Always(_) => return None,
        };
        Some(u32::try_from(number).ok()?.to_ne_bytes().to_vec())
    }
}

/// `codel` shows its units rounded down: the microseconds that give the same units when they are set.
fn settable(shown_us: u64) -> u64 {
    let units = (shown_us * 1000).div_ceil(1024);
    (units * 1024).div_ceil(1000)
}

pub(super) fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let scale = match unit {
        "" => 1,
        _ => {
            units
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(unit))?
                .1
        }
    };
    number.parse::<u64>().ok()?.checked_mul(scale)
}

/// tc(8), "UNITS"; those of a rate are decimal, those of a size binary.
pub(super) const RATES: [(&str, u64); 4] = [
    ("bit", 1),
    ("kbit", 1000),
    ("mbit", 1_000_000),
    ("gbit", 1_000_000_000),
];
pub(super) const SIZES: [(&str, u64); 5] = [
    ("b", 1),
    ("k", 1 << 10),
    ("kb", 1 << 10),
    ("m", 1 << 20),
    ("mb", 1 << 20),
];
const MICROSECONDS: [(&str, u64); 5] = [
    ("us", 1),
    ("usec", 1),
    ("ms", 1000),
    ("msec", 1000),
    ("s", 1_000_000),
];
const NANOSECONDS: [(&str, u64); 4] = [
    ("ns", 1),
    ("us", 1000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel keeps `(us * 1000) >> 10` and shows `(units << 10) / 1000`.
    #[test]
    fn a_time_of_codel_is_set_to_what_it_was() {
        for set in [1, 999, 5000, 100_000, 1_234_567] {
            let units = (set * 1000) >> 10;
            let again = settable((units << 10) / 1000);
            assert_eq!((again * 1000) >> 10, units, "{set}");
        }
    }

    #[test]
    fn a_rate_without_a_limit_is_kept() {
        let unlimited = u32::MAX.to_ne_bytes();
        let shown = Form::Rate.shown(&unlimited).unwrap();
        assert_eq!(Form::Rate.bytes(&shown).as_deref(), Some(&unlimited[..]));
        assert_eq!(scaled("5x", &RATES), None);
        assert_eq!(Form::Logarithm.bytes("1000"), None);
    }
}
