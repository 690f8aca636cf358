// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a packet costs: time for each packet, and time for each of its bytes.

/// The time that one packet takes at this packet rate, microseconds; `None` at none.
#[must_use]
pub fn microseconds_per_packet(packets_per_second: f64) -> Option<f64> {
    (packets_per_second > 0.0).then(|| 1e6 / packets_per_second)
}

/// The time of a packet as a + b·bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// a: what every packet costs, microseconds.
    pub fixed_us: f64,
    /// b: what every byte costs, microseconds.
    pub byte_us: f64,
}

impl Cost {
    /// The line that fits best through (bytes, packets a second), by least squares; `None` with
    /// fewer than two sizes.
    #[must_use]
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let points: Vec<(f64, f64)> = points
            .iter()
            .filter_map(|(bytes, rate)| Some((*bytes, microseconds_per_packet(*rate)?)))
            .collect();
        let count = points.len() as f64;
        let mean_bytes = points.iter().map(|point| point.0).sum::<f64>() / count;
        let mean_us = points.iter().map(|point| point.1).sum::<f64>() / count;
        let spread: f64 = points
            .iter()
            .map(|point| (point.0 - mean_bytes).powi(2))
            .sum();
        let together: f64 = points
            .iter()
            .map(|point| (point.0 - mean_bytes) * (point.1 - mean_us))
            .sum();
        (points.len() > 1 && spread > 0.0).then(|| {
            let byte_us = together / spread;
            Self {
                fixed_us: mean_us - byte_us * mean_bytes,
                byte_us,
            }
        })
    }

    /// The size up to which the packet costs five times what its bytes cost; infinite if bytes cost nothing.
    #[must_use]
    pub fn packet_bound_up_to_bytes(&self) -> f64 {
        if self.byte_us > 0.0 {
            (self.fixed_us / (MOSTLY * self.byte_us)).max(0.0)
        } else {
            f64::INFINITY
        }
    }
}

/// A packet that costs this many times its bytes is bound by packets, not by bits.
const MOSTLY: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_as_the_time_of_a_packet() {
        for (pps, us) in [
            (33_984.375, 29.4253),
            (28_906.25, 34.5946),
            (33_398.437_5, 29.9415),
            (28_710.937_5, 34.8299),
        ] {
            assert!((microseconds_per_packet(pps).unwrap() - us).abs() < 1e-4);
        }
        assert_eq!(microseconds_per_packet(0.0), None);
    }

    #[test]
    fn a_line_rate_is_bound_by_bits_and_a_slow_forwarder_by_packets() {
        let sizes = [64.0, 128.0, 320.0, 512.0, 1024.0, 1518.0];
        let wire: Vec<(f64, f64)> = sizes
            .iter()
            .map(|size| (*size, 1e9 / ((size + 20.0) * 8.0)))
            .collect();
        let wire = Cost::fit(&wire).unwrap();
        assert!((wire.fixed_us - 0.16).abs() < 1e-9 && (wire.byte_us - 0.008).abs() < 1e-12);
        assert!((wire.packet_bound_up_to_bytes() - 4.0).abs() < 1e-6);
        let slow: Vec<(f64, f64)> = sizes
            .iter()
            .map(|size| (*size, 1e6 / (103.0 + 0.0001 * size)))
            .collect();
        assert!(Cost::fit(&slow).unwrap().packet_bound_up_to_bytes() > 1518.0);
    }

    #[test]
    fn one_size_is_no_line() {
        assert_eq!(Cost::fit(&[(64.0, 1000.0), (64.0, 1100.0)]), None);
        assert_eq!(Cost::fit(&[]), None);
    }
}
