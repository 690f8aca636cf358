// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quantities in a fault's value: `50M`, `16K`, `10ms`, `1%`.

use std::fmt;

/// Why a text is not such a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    text: String,
    expected: &'static str,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not {}", self.text, self.expected)
    }
}

/// Bits per second, decimal: `100M` is 100 000 000.
pub(super) fn bits_per_second(text: &str) -> Result<u64, Unreadable> {
    let units = [("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("", 1.0)];
    let rate = scaled(text, &units).filter(|rate| *rate >= 1.0);
    rate.map(|rate| rate as u64)
        .ok_or_else(|| no(text, "a rate such as 100M"))
}

/// Bytes, binary as iperf3's `-w`: `16K` is 16 384.
pub(super) fn bytes(text: &str) -> Result<u32, Unreadable> {
    let units = [("k", 1024.0), ("K", 1024.0), ("M", 1_048_576.0), ("", 1.0)];
    let size = scaled(text, &units).filter(|size| (1.0..=f64::from(u32::MAX)).contains(size));
    size.map(|size| size as u32)
        .ok_or_else(|| no(text, "a size such as 16K"))
}

/// Nanoseconds from `10ms`, `200us`, `2s`.
pub(super) fn nanoseconds(text: &str) -> Result<u64, Unreadable> {
    let units = [("ms", 1e6), ("us", 1e3), ("ns", 1.0), ("s", 1e9)];
    let time = scaled(text, &units).filter(|time| *time <= HOUR_NS);
    time.map(|time| time as u64)
        .ok_or_else(|| no(text, "a time such as 10ms, at most an hour"))
}

/// A share above 0 and up to 1 from `1%` or `0.01`.
pub(super) fn ratio(text: &str) -> Result<f64, Unreadable> {
    let share =
        scaled(text, &[("%", 0.01), ("", 1.0)]).filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| no(text, "a share such as 1%, above 0 and at most 100%"))
}

/// A whole number, 1 or more.
pub(super) fn count(text: &str) -> Result<u32, Unreadable> {
    let number = text.parse().ok().filter(|number| *number >= 1);
    number.ok_or_else(|| no(text, "a number, 1 or more"))
}

/// The number of hops, at most 255.
pub(super) fn hops(text: &str) -> Result<u8, Unreadable> {
    Ok(count(text)?.min(u8::MAX.into()) as u8)
}

/// The first unit that ends the text and leaves a number counts.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find_map(|(unit, factor)| {
        let digits = text.strip_suffix(unit)?;
        let plain = digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let number: f64 = digits.parse().ok().filter(|_| plain)?;
        Some(number * factor)
    })
}

fn no(text: &str, expected: &'static str) -> Unreadable {
    Unreadable {
        text: text.to_owned(),
        expected,
    }
}

const HOUR_NS: f64 = 3.6e12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read() {
        assert_eq!(bits_per_second("1.5M"), Ok(1_500_000));
        assert_eq!(bytes("16K"), Ok(16_384));
        assert_eq!(nanoseconds("200us"), Ok(200_000));
        assert_eq!(nanoseconds("2s"), Ok(2_000_000_000));
        assert_eq!(ratio("100%"), Ok(1.0));
        assert_eq!(ratio("0.25"), Ok(0.25));
        assert_eq!(count("3"), Ok(3));
    }

    #[test]
    fn nonsense_is_named() {
        let message = |unreadable: Unreadable| unreadable.to_string();
        let rate = bits_per_second("fast").map_err(message);
        assert_eq!(rate, Err("'fast' is not a rate such as 100M".to_owned()));
        for text in ["", "-1", "0", "nan", "inf", "1e3", "%", "101%", "1.5.2"] {
            assert!(ratio(text).is_err(), "{text}");
        }
        for text in ["", "10", "ms", "-1ms", "2h", "5000s"] {
            assert!(nanoseconds(text).is_err(), "{text}");
        }
        for text in ["0", "5G", "K", "-4", "99999999999"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert!(count("0").is_err() && count("1.5").is_err());
    }
}
