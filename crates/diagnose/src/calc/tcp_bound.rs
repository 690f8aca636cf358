// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a round trip allows: the bytes that have to be on their way, and what loss leaves of the rate.

/// Bytes that fill a path of this rate and round trip.
#[must_use]
pub fn bandwidth_delay_bytes(bits_per_second: f64, rtt_s: f64) -> f64 {
    bits_per_second * rtt_s / 8.0
}

/// The rate above which Reno-like congestion control does not get with random loss, bit/s (Mathis,
/// Semke, Mahdavi, Ott: The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, 1997; C = √1.5).
#[must_use]
pub fn mathis_bits_per_second(mss_bytes: f64, rtt_s: f64, loss_ratio: f64) -> f64 {
    mss_bytes * 8.0 * 1.5_f64.sqrt() / (rtt_s * loss_ratio.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_of_one_percent_on_a_lan() {
        for (milliseconds, megabits) in [(0.3, 481.8), (0.5, 289.1), (0.7, 206.5), (1.0, 144.5)] {
            let bound = mathis_bits_per_second(1448.0, milliseconds / 1e3, 0.009_635_522) / 1e6;
            assert!((bound - megabits).abs() < 0.06, "{milliseconds}: {bound}");
        }
    }

    #[test]
    fn bytes_on_their_way() {
        let table = [
            (1e9, 0.3, 37_500.0),
            (1e9, 1.0, 125_000.0),
            (1e9, 50.0, 6_250_000.0),
            (1e10, 0.2, 250_000.0),
            (1e10, 50.0, 62_500_000.0),
            (1e11, 20.0, 250_000_000.0),
        ];
        for (rate, milliseconds, bytes) in table {
            assert!((bandwidth_delay_bytes(rate, milliseconds / 1e3) - bytes).abs() < 1e-3);
        }
    }
}
