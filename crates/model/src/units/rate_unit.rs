// SPDX-License-Identifier: MIT OR Apache-2.0
//! The unit of rates that a user chose, by iperf3's letters (`-f`).

use std::str::FromStr;

use super::format::{BIT_RATES, significant, with_unit};

/// `k m g t`: bits, decimal. `K M G T`: bytes, 1024-based.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateUnit(u8);

impl RateUnit {
    /// Formats a rate: `941400 kbit/s`, `112.2 MiB/s`.
    #[must_use]
    pub fn text(self, bits_per_second: f64) -> String {
        let power = LETTERS.iter().position(|letter| *letter == self.letter());
        let power = power.map_or(0, |index| index as i32 + 1);
        let shown = self.letter().to_ascii_uppercase() as char;
        match (self.0.is_ascii_lowercase(), self.letter()) {
            (true, letter) => {
                let value = significant(bits_per_second / 1000_f64.powi(power));
                let shown = if letter == b'k' { 'k' } else { shown };
                format!("{value} {shown}bit/s")
            }
            (false, _) => {
                let value = significant(bits_per_second / 8.0 / 1024_f64.powi(power));
                format!("{value} {shown}iB/s")
            }
        }
    }

    fn letter(self) -> u8 {
        self.0.to_ascii_lowercase()
    }
}

/// A rate in this unit; without one, in the unit that suits it.
#[must_use]
pub fn rate_in(unit: Option<RateUnit>, bits_per_second: f64) -> String {
    match unit {
        Some(unit) => unit.text(bits_per_second),
        None => with_unit(bits_per_second, BIT_RATES),
    }
}

impl FromStr for RateUnit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.as_bytes() {
            [letter] if LETTERS.contains(&letter.to_ascii_lowercase()) => Ok(Self(*letter)),
            _ => Err("expected k, m, g or t for bits, K, M, G or T for bytes"),
        }
    }
}

const LETTERS: [u8; 4] = *b"kmgt";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_the_unit_of_its_letter() {
        for (letter, wanted) in [
            ("k", "941400 kbit/s"),
            ("m", "941.4 Mbit/s"),
            ("g", "0.941 Gbit/s"),
            ("t", "0.001 Tbit/s"),
            ("K", "114917 KiB/s"),
            ("M", "112.2 MiB/s"),
            ("G", "0.110 GiB/s"),
        ] {
            let unit: RateUnit = letter.parse().unwrap();
            assert_eq!(unit.text(941.4e6), wanted, "{letter}");
        }
        for text in ["", "x", "mb", "b", "ü"] {
            assert!(text.parse::<RateUnit>().is_err(), "{text}");
        }
    }
}
