// SPDX-License-Identifier: MIT OR Apache-2.0
//! A field's number in its unit: pause quanta as time, bytes as bytes.

use serde::{Serialize, Serializer};

use super::{Bits, Unit};

/// How much of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Quantity {
    /// How much.
    pub value: u64,
    /// Of what.
    pub unit: Unit,
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl Serialize for Bits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The amount, and as a time where the speed of the link makes it one.
pub(super) fn of(amount: u64, unit: Unit, link_bits_per_second: Option<u64>) -> Quantity {
    let time = link_bits_per_second.and_then(|speed| nanoseconds(amount, unit, speed));
    match time {
        Some(value) => Quantity {
            value,
            unit: Unit::Nanoseconds,
        },
        None => Quantity {
            value: amount,
            unit,
        },
    }
}

/// The amount in words: `1056 bytes`, `65520 × 512 bit times = 33.5 ms at 1 Gbit/s`.
pub(super) fn words(amount: u64, unit: Unit, link_bits_per_second: Option<u64>) -> String {
    let speed = link_bits_per_second.unwrap_or(GIGABIT);
    let time = || nanoseconds(amount, unit, speed).map_or_else(String::new, time);
    match unit {
        Unit::PauseQuanta if amount == 0 => "no pause: resume".to_owned(),
        Unit::PauseQuanta => {
            format!("{amount} × 512 bit times = {} at {}", time(), rate(speed))
        }
        Unit::BitTimes => format!("{amount} bit times = {} at {}", time(), rate(speed)),
        Unit::Nanoseconds => self::time(amount),
        Unit::Microseconds => self::time(amount.saturating_mul(1_000)),
        Unit::Milliseconds => self::time(amount.saturating_mul(1_000_000)),
        _ => format!(
            "{amount} {}",
            if amount == 1 {
                singular(unit)
            } else {
                unit.word()
            }
        ),
    }
}

/// What the amount takes on a link of this speed; none for a unit that is no time on the wire.
fn nanoseconds(amount: u64, unit: Unit, bits_per_second: u64) -> Option<u64> {
    let bits_each: u128 = match unit {
        Unit::PauseQuanta => 512,
        Unit::BitTimes => 1,
        _ => return None,
    };
    let nanoseconds = u128::from(amount) * bits_each * 1_000_000_000;
    u64::try_from(nanoseconds.checked_div(u128::from(bits_per_second))?).ok()
}

fn time(nanoseconds: u64) -> String {
    let (amount, unit) = match nanoseconds {
        0..1_000 => (nanoseconds as f64, "ns"),
        1_000..1_000_000 => (nanoseconds as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (nanoseconds as f64 / 1e6, "ms"),
        _ => (nanoseconds as f64 / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(amount))
}

fn rate(bits_per_second: u64) -> String {
    let megabits = bits_per_second as f64 / 1e6;
    if megabits >= 1_000.0 {
        format!("{} Gbit/s", three_digits(megabits / 1e3))
    } else {
        format!("{} Mbit/s", three_digits(megabits))
    }
}

/// Three significant digits, no trailing zeros.
fn three_digits(amount: f64) -> String {
    let decimals = if amount >= 100.0 {
        0
    } else if amount >= 10.0 {
        1
    } else {
        2
    };
    let text = format!("{amount:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

const fn singular(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "byte",
        Unit::Frames => "frame",
        Unit::Events => "event",
        Unit::Descriptors => "descriptor",
        _ => unit.word(),
    }
}

const GIGABIT: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::{Quantity, of, words};
    use crate::Unit;

    #[test]
    fn a_pause_takes_longer_on_a_slower_link() {
        let pause_words = |speed| words(0xfff0, Unit::PauseQuanta, speed);
        assert_eq!(
            pause_words(None),
            "65520 × 512 bit times = 33.5 ms at 1 Gbit/s"
        );
        assert_eq!(
            pause_words(Some(100_000_000)),
            "65520 × 512 bit times = 335 ms at 100 Mbit/s"
        );
        assert_eq!(
            pause_words(Some(2_500_000_000)),
            "65520 × 512 bit times = 13.4 ms at 2.5 Gbit/s"
        );
        assert_eq!(words(0, Unit::PauseQuanta, None), "no pause: resume");
    }

    #[test]
    fn a_time_is_only_a_quantity_where_the_speed_is_known() {
        let quantity = |speed| of(2, Unit::PauseQuanta, speed);
        let (value, unit) = (1_024, Unit::Nanoseconds);
        assert_eq!(quantity(Some(1_000_000_000)), Quantity { value, unit });
        let (value, unit) = (2, Unit::PauseQuanta);
        assert_eq!(quantity(None), Quantity { value, unit });
        assert_eq!(quantity(Some(0)), Quantity { value, unit });
    }

    #[test]
    fn numbers_have_their_unit() {
        for (amount, unit, expected) in [
            (1_056, Unit::Bytes, "1056 bytes"),
            (1, Unit::Frames, "1 frame"),
            (12_800, Unit::Nanoseconds, "12.8 µs"),
            (u64::MAX, Unit::Milliseconds, "18446744074 s"),
            (96, Unit::BitTimes, "96 bit times = 96 ns at 1 Gbit/s"),
        ] {
            assert_eq!(words(amount, unit, None), expected);
        }
    }
}
