// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers in register dumps, maps and SVD files.

use super::{Bits, map::Value};

/// `255`, `0xff`, `0XFF`, `0b1111_1111`, `0o377`; none for anything else and beyond 64 bits.
#[must_use]
pub fn unsigned(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, radix) = radix_of(text);
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    let plain = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    plain.then(|| u64::from_str_radix(&digits, radix).ok())?
}

/// Parses a value of a field; in binary an `x` matches either bit: `0b1xx0`.
pub(super) fn value(text: &str, means: &str) -> Option<Value> {
    let text = text.trim();
    let of = |mask, equals| Value {
        mask,
        equals,
        means: means.to_owned(),
    };
    match binary(text) {
        Some(digits) if digits.contains(['x', 'X']) => {
            let (mask, equals) = pattern(digits)?;
            Some(of(mask, equals))
        }
        _ => unsigned(text).map(|equals| of(u64::MAX, equals)),
    }
}

fn binary(text: &str) -> Option<&str> {
    text.strip_prefix("0b").or_else(|| text.strip_prefix("0B"))
}

/// Returns mask and value of a pattern. Bits above the pattern must be 0.
fn pattern(digits: &str) -> Option<(u64, u64)> {
    let count = u8::try_from(digits.len()).ok()?;
    let mut free = 0;
    let mut equals = 0;
    for digit in digits.chars() {
        let (is_free, is_one) = match digit {
            'x' | 'X' => (1, 0),
            '1' => (0, 1),
            '0' => (0, 0),
            _ => return None,
        };
        free = free << 1 | is_free;
        equals = equals << 1 | is_one;
    }
    Bits::whole(count).map(|_| (!free, equals))
}

fn radix_of(text: &str) -> (&str, u32) {
    match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (&text[2..], 16),
        Some("0b") => (&text[2..], 2),
        Some("0o") => (&text[2..], 8),
        _ => (text, 10),
    }
}

#[cfg(test)]
mod tests {
    use super::{unsigned, value};

    #[test]
    fn numbers_in_every_base() {
        for (text, expected) in [
            ("255", 255),
            ("0xff", 255),
            ("0XFF", 255),
            ("0b1111_1111", 255),
            ("0o377", 255),
            (" 0 ", 0),
            ("0xffffffffffffffff", u64::MAX),
        ] {
            assert_eq!(unsigned(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "0x",
            "ff",
            "-1",
            "+1",
            "0x1_0000_0000_0000_0000",
            "1.5",
            "é",
        ] {
            assert_eq!(unsigned(text), None, "{text}");
        }
    }

    #[test]
    fn an_x_is_either() {
        let both = value("0b1x0", "m").unwrap();
        assert!([0b100, 0b110].iter().all(|v| v & both.mask == both.equals));
        assert!(
            [0b101, 0b000, 0b1100]
                .iter()
                .all(|v| v & both.mask != both.equals)
        );
        assert_eq!(value("0b1y", "m"), None);
        assert_eq!(value(&format!("0b{}", "x".repeat(65)), "m"), None);
    }
}
