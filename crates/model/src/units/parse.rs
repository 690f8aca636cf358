// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantities from text. Case is ignored, and bit and byte must be spelt out; a bare number is bit/s, bytes or
//! seconds. Every error names the value and the accepted forms.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::{BitsPerSecond, Bytes, Nanos, PacketsPerSecond, Rate, Ratio};

/// A value that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitError {
    /// The text.
    pub value: String,
    /// What was expected: `a rate`, `a size` …
    pub wanted: &'static str,
    /// What is wrong with it, if more is known.
    pub why: Option<&'static str>,
    /// The accepted forms.
    pub forms: &'static str,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not {}", self.value, self.wanted)?;
        if let Some(why) = self.why {
            write!(f, ": {why}")?;
        }
        write!(f, "; write {}", self.forms)
    }
}

impl Error for UnitError {}

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let refuse = |why| refusal(text, "a rate", why, RATE_FORMS);
        let (number, unit) = split(text).map_err(refuse)?;
        let unit = unit.to_ascii_lowercase();
        if unit == "%" {
            return Ok(Self::LineRate(Ratio(number.value() / 100.0)));
        }
        let (scale, rest) = decimal_prefix(&unit);
        let value = number.value() * scale;
        match rest {
            "" | "bit" | "bits" | "bit/s" | "bits/s" | "bits/sec" => {
                Ok(Self::Bits(BitsPerSecond(value)))
            }
            "pps" | "p/s" => Ok(Self::Packets(PacketsPerSecond(value))),
            "bps" => Err(refuse(Some("some tools mean bytes by bps"))),
            "b" | "b/s" | "byte" | "bytes" | "byte/s" | "bytes/s" => {
                Err(refuse(Some("rates are in bits, and bit is spelt")))
            }
            _ if rest.starts_with('i') => Err(refuse(Some("rates are decimal, not 1024-based"))),
            _ => Err(refuse(None)),
        }
    }
}

impl FromStr for BitsPerSecond {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        match text.parse() {
            Ok(Rate::Bits(bits)) => Ok(bits),
            Ok(_) => Err(refusal(text, "a bit rate", None, BIT_RATE_FORMS)),
            Err(error) => Err(UnitError {
                wanted: "a bit rate",
                forms: BIT_RATE_FORMS,
                ..error
            }),
        }
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    /// `K`, `M`, `G`, `T` and `KiB` … are powers of 1024, as in iperf3. Fractions of a byte are dropped.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let refuse = |why| refusal(text, "a size", why, SIZE_FORMS);
        let (number, unit) = split(text).map_err(refuse)?;
        let shift = match unit.to_ascii_lowercase().as_str() {
            "" | "byte" | "bytes" => 0,
            "k" | "kib" => 10,
            "m" | "mib" => 20,
            "g" | "gib" => 30,
            "t" | "tib" => 40,
            "kb" | "mb" | "gb" | "tb" => return Err(refuse(Some("bit and byte are spelt"))),
            "b" => return Err(refuse(Some("bit and byte are spelt"))),
            _ => return Err(refuse(None)),
        };
        let bytes = number
            .times(1 << shift)
            .ok_or_else(|| refuse(Some("it is too large")))?;
        Ok(Self(bytes))
    }
}

impl FromStr for Nanos {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let refuse = |why| refusal(text, "a duration", why, DURATION_FORMS);
        let (number, unit) = split(text).map_err(refuse)?;
        let unit_ns = match unit.to_ascii_lowercase().as_str() {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "" | "s" | "sec" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "d" => 86_400_000_000_000,
            _ => return Err(refuse(None)),
        };
        let nanos = number
            .times(unit_ns)
            .ok_or_else(|| refuse(Some("it is too long")))?;
        Ok(Self(nanos))
    }
}

impl FromStr for Ratio {
    type Err = UnitError;

    /// `0.1%` or `0.001`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let refuse = |why| refusal(text, "a share", why, SHARE_FORMS);
        let (number, unit) = split(text).map_err(refuse)?;
        let ratio = match unit {
            "%" => number.value() / 100.0,
            "" => number.value(),
            _ => return Err(refuse(None)),
        };
        if ratio > 1.0 {
            return Err(refuse(Some("it is above 100 %")));
        }
        Ok(Self(ratio))
    }
}

/// A decimal number: `digits` / 10^`decimals`.
#[derive(Clone, Copy)]
struct Number {
    digits: u64,
    decimals: u32,
}

impl Number {
    fn value(self) -> f64 {
        self.digits as f64 / 10_f64.powi(self.decimals as i32)
    }

    /// Returns `self × unit`, rounded down; `None` beyond 64 bits.
    fn times(self, unit: u64) -> Option<u64> {
        let product = u128::from(self.digits) * u128::from(unit) / 10_u128.pow(self.decimals);
        u64::try_from(product).ok()
    }
}

/// Splits the number from the unit; blanks between them are allowed.
fn split(text: &str) -> Result<(Number, &str), Option<&'static str>> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if text.starts_with('-') {
        return Err(Some("it is negative"));
    }
    if whole.is_empty() || fraction.contains('.') {
        return Err(None);
    }
    let digits = digits.parse().map_err(|_| Some("it has too many digits"))?;
    let decimals = fraction.len() as u32;
    Ok((Number { digits, decimals }, unit.trim_start()))
}

fn decimal_prefix(unit: &str) -> (f64, &str) {
    [("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12)]
        .into_iter()
        .find_map(|(letter, scale)| Some((scale, unit.strip_prefix(letter)?)))
        .unwrap_or((1.0, unit))
}

fn refusal(
    value: &str,
    wanted: &'static str,
    why: Option<&'static str>,
    forms: &'static str,
) -> UnitError {
    UnitError {
        value: value.to_owned(),
        wanted,
        why,
        forms,
    }
}

const RATE_FORMS: &str = "100M, 1.5Gbit, 940Mbit/s, 14.88Mpps or 80%";
const BIT_RATE_FORMS: &str = "100M, 1.5Gbit or 940Mbit/s";
const SIZE_FORMS: &str = "9000, 64K or 1MiB (1024-based)";
const DURATION_FORMS: &str = "10, 1.5s, 500ms, 2m or 24h";
const SHARE_FORMS: &str = "0.1% or 0.001";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        let bits = |value| Rate::Bits(BitsPerSecond(value));
        for (text, wanted) in [
            ("1", bits(1.0)),
            ("100M", bits(1e8)),
            ("100m", bits(1e8)),
            ("1.5Gbit", bits(1.5e9)),
            ("940Mbit/s", bits(9.4e8)),
            ("940 Mbits/sec", bits(9.4e8)),
            ("0", bits(0.0)),
            ("2.5T", bits(2.5e12)),
            ("10kbit", bits(1e4)),
            ("14.88Mpps", Rate::Packets(PacketsPerSecond(14.88e6))),
            ("300kpps", Rate::Packets(PacketsPerSecond(3e5))),
            ("80%", Rate::LineRate(Ratio(0.8))),
        ] {
            assert_eq!(text.parse(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn refused_rates_say_why_and_what_is_allowed() {
        let forms = "write 100M, 1.5Gbit, 940Mbit/s, 14.88Mpps or 80%";
        for (text, wanted) in [
            ("", "`` is not a rate; "),
            ("fast", "`fast` is not a rate; "),
            ("M", "`M` is not a rate; "),
            ("1.2.3M", "`1.2.3M` is not a rate; "),
            (".5M", "`.5M` is not a rate; "),
            ("-5M", "`-5M` is not a rate: it is negative; "),
            (
                "100Mbps",
                "`100Mbps` is not a rate: some tools mean bytes by bps; ",
            ),
            (
                "100MB",
                "`100MB` is not a rate: rates are in bits, and bit is spelt; ",
            ),
            (
                "1Mibit",
                "`1Mibit` is not a rate: rates are decimal, not 1024-based; ",
            ),
            ("1e9", "`1e9` is not a rate; "),
            (
                "99999999999999999999",
                "`99999999999999999999` is not a rate: it has too many digits; ",
            ),
        ] {
            let error = text.parse::<Rate>().unwrap_err().to_string();
            assert_eq!(error, format!("{wanted}{forms}"));
        }
    }

    #[test]
    fn bit_rates_take_no_packets() {
        assert_eq!("1G".parse(), Ok(BitsPerSecond(1e9)));
        let error = "1Mpps".parse::<BitsPerSecond>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`1Mpps` is not a bit rate; write 100M, 1.5Gbit or 940Mbit/s"
        );
    }

    #[test]
    fn sizes() {
        for (text, wanted) in [
            ("9000", 9000),
            ("64K", 65_536),
            ("64KiB", 65_536),
            ("1MiB", 1_048_576),
            ("4m", 4_194_304),
            ("1.5K", 1536),
            ("0.1K", 102),
            ("2G", 2_147_483_648),
            ("1 byte", 1),
            ("8T", 8_796_093_022_208),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(wanted)), "{text}");
        }
    }

    #[test]
    fn refused_sizes() {
        let forms = "write 9000, 64K or 1MiB (1024-based)";
        for (text, wanted) in [
            ("big", "`big` is not a size; "),
            ("1MB", "`1MB` is not a size: bit and byte are spelt; "),
            ("1Mbit", "`1Mbit` is not a size; "),
            ("99999999T", "`99999999T` is not a size: it is too large; "),
        ] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert_eq!(error, format!("{wanted}{forms}"));
        }
    }

    #[test]
    fn durations() {
        for (text, wanted) in [
            ("10", 10_000_000_000),
            ("0.5", 500_000_000),
            ("1s", 1_000_000_000),
            ("500ms", 500_000_000),
            ("100us", 100_000),
            ("7ns", 7),
            ("2m", 120_000_000_000),
            ("24h", 86_400_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Nanos(wanted)), "{text}");
        }
    }

    #[test]
    fn refused_durations() {
        for (text, wanted) in [
            (
                "soon",
                "`soon` is not a duration; write 10, 1.5s, 500ms, 2m or 24h",
            ),
            (
                "999999999d",
                "`999999999d` is not a duration: it is too long; write 10, 1.5s, 500ms, 2m or 24h",
            ),
        ] {
            assert_eq!(text.parse::<Nanos>().unwrap_err().to_string(), wanted);
        }
    }

    #[test]
    fn shares() {
        assert_eq!("0.1%".parse(), Ok(Ratio(0.001)));
        assert_eq!("0.001".parse(), Ok(Ratio(0.001)));
        assert_eq!(
            "150%".parse::<Ratio>().unwrap_err().to_string(),
            "`150%` is not a share: it is above 100 %; write 0.1% or 0.001"
        );
    }

    #[test]
    fn a_rate_in_packets_or_of_the_line_becomes_payload_bits() {
        let packets = "300kpps".parse::<Rate>().unwrap();
        assert_eq!(packets.of_payload(64, None), Some(BitsPerSecond(153.6e6)));
        let share = "50%".parse::<Rate>().unwrap();
        assert_eq!(share.of_payload(64, None), None);
        assert_eq!(
            share.of_payload(64, Some(BitsPerSecond(1e9))),
            Some(BitsPerSecond(5e8))
        );
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in ".{0,24}") {
            let _ = text.parse::<Rate>();
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Nanos>();
            let _ = text.parse::<Ratio>();
        }

        #[test]
        fn number_and_unit_never_panic(whole in "[0-9]{1,22}", fraction in "[0-9]{0,45}", unit in "[kmgtKMGT]?(iB|bit|pps|s)?") {
            let text = format!("{whole}.{fraction}{unit}");
            let _ = text.parse::<Rate>();
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Nanos>();
        }
    }
}
