// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pause frames (IEEE 802.3 annexes 31B and 28B): what two ends agree on, and how long a pause is.

/// What one end offers in negotiation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// The bit `Pause`.
    pub pause: bool,
    /// The bit `Asym_Pause`.
    pub asymmetric: bool,
}

/// What is then in force at this end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InForce {
    /// This end may stop its partner.
    pub tx: bool,
    /// This end obeys its partner.
    pub rx: bool,
}

impl Offer {
    /// The offer that `ethtool` prints in these words.
    #[must_use]
    pub fn of_words(words: &str) -> Option<Self> {
        let (pause, asymmetric) = match words.trim() {
            "No" => (false, false),
            "Symmetric" => (true, false),
            "Symmetric Receive-only" => (true, true),
            "Transmit-only" => (false, true),
            _ => return None,
        };
        Some(Self { pause, asymmetric })
    }

    /// What follows from both ends' offers (drivers/net/phy, `linkmode_resolve_pause`).
    #[must_use]
    pub const fn with(self, partner: Self) -> InForce {
        if self.pause && partner.pause {
            InForce { tx: true, rx: true }
        } else if self.asymmetric && partner.asymmetric {
            InForce {
                tx: partner.pause,
                rx: self.pause,
            }
        } else {
            InForce {
                tx: false,
                rx: false,
            }
        }
    }
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

    /// Ours and theirs as bits `Pause` and `Asym_Pause`; what may be sent and is obeyed.
    const TABLE: [(u8, u8, u8); 16] = [
        (0b00, 0b00, 0b00),
        (0b00, 0b01, 0b00),
        (0b00, 0b10, 0b00),
        (0b00, 0b11, 0b00),
        (0b01, 0b00, 0b00),
        (0b01, 0b01, 0b00),
        (0b01, 0b10, 0b00),
        (0b01, 0b11, 0b10),
        (0b10, 0b00, 0b00),
        (0b10, 0b01, 0b00),
        (0b10, 0b10, 0b11),
        (0b10, 0b11, 0b11),
        (0b11, 0b00, 0b00),
        (0b11, 0b01, 0b01),
        (0b11, 0b10, 0b11),
        (0b11, 0b11, 0b11),
    ];

    const fn offer(bits: u8) -> Offer {
        Offer {
            pause: bits & 0b10 != 0,
            asymmetric: bits & 0b01 != 0,
        }
    }

    #[test]
    fn all_sixteen_agreements() {
        for (ours, theirs, expected) in TABLE {
            let InForce { tx, rx } = offer(ours).with(offer(theirs));
            let bits = u8::from(tx) << 1 | u8::from(rx);
            assert_eq!(bits, expected, "{ours:02b} with {theirs:02b}");
        }
    }

    #[test]
    fn both_ends_agree_on_who_may_stop_whom() {
        for (ours, theirs, _) in TABLE {
            let (here, there) = (
                offer(ours).with(offer(theirs)),
                offer(theirs).with(offer(ours)),
            );
            assert_eq!((here.tx, here.rx), (there.rx, there.tx));
        }
    }

    #[test]
    fn the_longest_pause_by_link_speed() {
        for (speed, milliseconds) in [(1e9, 33.546_24), (1e8, 335.462_4), (1e10, 3.354_624)] {
            assert!((time_s(0xFFF0, speed) * 1e3 - milliseconds).abs() < 1e-9);
        }
    }

    #[test]
    fn offers_in_the_words_of_ethtool() {
        assert_eq!(Offer::of_words("Symmetric Receive-only"), Some(offer(0b11)));
        assert_eq!(Offer::of_words("No"), Some(offer(0)));
        assert_eq!(Offer::of_words("perhaps"), None);
    }
}
