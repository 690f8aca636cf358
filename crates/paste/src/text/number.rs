// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers with units, as written by tools and people: `3.18 Mbits/sec`, `28.5Mb/s`, `12.5 MB/s`, `2,3 GiB`.

/// Parses a finite number, with decimal point or comma.
pub(super) fn decimal(word: &str) -> Option<f64> {
    let comma = !word.contains('.') && word.matches(',').count() == 1;
    let value: f64 = if comma {
        word.replace(',', ".").parse().ok()?
    } else {
        word.parse().ok()?
    };
    let plain = word.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    (plain && value.is_finite()).then_some(value)
}

/// Parses a count, without the punctuation around it.
pub(super) fn count(word: &str) -> Option<u64> {
    let digits = word.trim_matches(|letter: char| !letter.is_ascii_digit());
    digits.parse().ok()
}

/// Splits `28.5Mb/s` into number and unit; the unit may be empty.
pub(super) fn with_unit(word: &str) -> Option<(f64, &str)> {
    let end = word
        .find(|letter: char| !(letter.is_ascii_digit() || ".,+-".contains(letter)))
        .unwrap_or(word.len());
    let (number, unit) = word.split_at(end);
    Some((
        decimal(number)?,
        unit.trim_matches(|letter: char| "().,;~".contains(letter)),
    ))
}

/// Converts a number and its unit to bit/s: `Mbits/sec`, `Mbps`, `Mb/s`, `MB/s`, `MBytes/sec`, `Gbit/s` … A small `b` is
/// bits, a large one bytes; bytes count by 1024 where the tool writes `Bytes/sec` (iperf does), by 1000 elsewhere.
#[must_use]
pub fn bits_per_second(number: f64, unit: &str) -> Option<f64> {
    let unit = unit.trim_matches(|letter: char| "().,;".contains(letter));
    let lower = unit.to_ascii_lowercase();
    let rate = ["/s", "/sec", "/second", "ps", "bit"]
        .iter()
        .any(|end| lower.ends_with(end));
    let (prefix, rest) = split_prefix(unit);
    let bytes = rest.starts_with('B') && !rest.starts_with("BIT") && !rest.starts_with("Bit");
    let word = rest.to_ascii_lowercase();
    let known = ["b", "bit", "bits", "byte", "bytes"].iter().any(|name| {
        word.strip_prefix(name)
            .is_some_and(|end| ["", "/s", "/sec", "/second", "ps"].contains(&end))
    });
    let bytes = bytes || word.starts_with("byte");
    let base: f64 = if word.starts_with("byte") {
        1024.0
    } else {
        1000.0
    };
    let factor = base.powi(prefix?) * if bytes { 8.0 } else { 1.0 };
    (rate && known)
        .then_some(number * factor)
        .filter(|value| value.is_finite())
}

/// Converts a number and its unit, as in iperf and ifconfig, to bytes: `MBytes`, `KByte`, `GiB`, `MB` (all by 1024).
#[must_use]
pub fn bytes(number: f64, unit: &str) -> Option<f64> {
    let (prefix, rest) = split_prefix(unit);
    let known = ["Bytes", "Byte", "B", "bytes", "byte", "iB"].contains(&rest);
    known
        .then_some(number * 1024_f64.powi(prefix?))
        .filter(|value| value.is_finite())
}

/// Converts the rate of a program that counts bytes by 1024, to bit/s: `11.2MB/s` of scp, rsync and wget, `1123k` of curl.
pub(super) fn binary_rate(word: &str) -> Option<f64> {
    let (number, unit) = with_unit(word)?;
    let unit = unit.strip_suffix("/s").unwrap_or(unit);
    let unit = unit.strip_suffix(['B', 'b']).unwrap_or(unit);
    Some(8.0 * bytes(number, &format!("{unit}B"))?)
}

/// The exponent of a prefix such as `M`, and the rest.
fn split_prefix(unit: &str) -> (Option<i32>, &str) {
    let mut letters = unit.chars();
    let exponent = match letters.next() {
        Some('k' | 'K') => 1,
        Some('m' | 'M') => 2,
        Some('g' | 'G') => 3,
        Some('t' | 'T') => 4,
        Some(_) => return (Some(0), unit),
        None => return (None, unit),
    };
    (Some(exponent), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_bits_and_bytes() {
        for (number, unit, bits) in [
            (3.18, "Mbits/sec", 3.18e6),
            (28.5, "Mb/s", 28.5e6),
            (12.5, "MB/s", 100e6),
            (10.0, "Gbit/s", 10e9),
            (90.5, "Mbps", 90.5e6),
            (1.0, "MBytes/sec", 8.0 * 1_048_576.0),
            (9.3, "Gbit", 9.3e9),
            (7.0, "bits/sec", 7.0),
        ] {
            let read = bits_per_second(number, unit).unwrap_or_default();
            assert!((read - bits).abs() < 1.0, "{number} {unit}: {read}");
        }
        for unit in ["MBytes", "ms", "", "%", "sec"] {
            assert_eq!(bits_per_second(1.0, unit), None, "{unit}");
        }
    }

    #[test]
    fn rates_by_1024() {
        for (word, bits) in [
            ("11.2MB/s", 8.0 * 11.2 * 1_048_576.0),
            ("1123k", 8.0 * 1123.0 * 1024.0),
            ("0", 0.0),
        ] {
            let read = binary_rate(word).unwrap_or(-1.0);
            assert!((read - bits).abs() < 1.0, "{word}: {read}");
        }
        assert_eq!(binary_rate("--/s"), None);
    }

    #[test]
    fn numbers_as_people_write_them() {
        assert_eq!(decimal("2,3"), Some(2.3));
        assert_eq!(decimal("inf"), None);
        assert_eq!(decimal("1e400"), None);
        assert_eq!(count("(1234),"), Some(1234));
        assert_eq!(with_unit("~8800pps").map(|_| ()), None);
        assert_eq!(with_unit("10500pps)."), Some((10500.0, "pps")));
    }
}
