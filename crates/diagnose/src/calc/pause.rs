// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pause frames (IEEE 802.3 annex 31B): what one end offers, and how long a pause is.

use linerate_registers::Ability;

/// The abilities that `ethtool` prints in these words.
#[must_use]
pub fn ability_of_words(words: &str) -> Option<Ability> {
    let (pause, asymmetric) = match words.trim() {
        "No" => (false, false),
        "Symmetric" => (true, false),
        "Symmetric Receive-only" => (true, true),
        "Transmit-only" => (false, true),
        _ => return None,
    };
    Some(Ability { pause, asymmetric })
}

/// For how long one pause frame with this many quanta stops the partner, seconds.
#[must_use]
pub fn time_s(quanta: u16, link_bits_per_second: f64) -> f64 {
    f64::from(quanta) * QUANTUM_BITS / link_bits_per_second
}

const QUANTUM_BITS: f64 = 512.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pause_by_link_speed() {
        for (speed, milliseconds) in [(1e9, 33.546_24), (1e8, 335.462_4), (1e10, 3.354_624)] {
            assert!((time_s(0xFFF0, speed) * 1e3 - milliseconds).abs() < 1e-9);
        }
    }

    #[test]
    fn offers_in_the_words_of_ethtool() {
        let both = Ability {
            pause: true,
            asymmetric: true,
        };
        assert_eq!(ability_of_words("Symmetric Receive-only"), Some(both));
        assert_eq!(ability_of_words("No"), Some(Ability::default()));
        assert_eq!(ability_of_words("perhaps"), None);
    }
}
