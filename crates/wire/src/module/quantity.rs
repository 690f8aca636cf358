// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a module measures, in the units that the three standards share (SFF-8472 §9.2, SFF-8636 §6.2.4, CMIS 5.2 §8.2.6).

/// How a raw number is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Signed, 1/256 °C.
    Temperature,
    /// 100 µV.
    Voltage,
    /// 2 µA.
    Current,
    /// 0.1 µW.
    Power,
}

impl Quantity {
    /// As `ethtool -m` prints it; a power in dBm.
    pub(super) fn text(self, raw: f64) -> String {
        match self {
            Self::Temperature => format!("{:.2} degrees C", signed(raw) / 256.0),
            Self::Voltage => format!("{:.4} V", raw * 1e-4),
            Self::Current => format!("{:.3} mA", raw * 2e-3),
            Self::Power if raw > 0.0 => format!("{:.2} dBm", 10.0 * (raw * 1e-4).log10()),
            Self::Power => "-inf dBm".to_owned(),
        }
    }
}

/// The two's complement of 16 bits, which calibration may have left with a fraction.
fn signed(raw: f64) -> f64 {
    if raw >= 32_768.0 { raw - 65_536.0 } else { raw }
}
