// SPDX-License-Identifier: MIT OR Apache-2.0
//! SFP (SFF-8472 rev 12.4): identity at bus address A0h, diagnostics at A2h. (As 7-bit addresses 0x50 and 0x51.)

use super::quantity::Quantity;
use super::{
    BIAS, BUS_ADDRESS, LIMITS, Memory, Named, RX_POWER, Space, Stretch, TEMPERATURE, TX_POWER,
    VOLTAGE, Values, put,
};

pub(super) const STRETCHES: [Stretch; 2] = [
    Stretch::of(0, 0, 128),
    Stretch {
        bus_address: DIAGNOSTICS.0,
        page: 0,
        offset: 0,
        bytes: 118,
    },
];

pub(super) fn add(memory: &Memory<'_>, values: &mut Values) {
    memory.texts(IDENTITY, &TEXTS, values);
    // A passive cable (byte 8 bit 2) and an active one (bit 3) have no wavelength.
    let is_cable = memory
        .byte(IDENTITY, 8)
        .is_some_and(|byte| byte & 0b1100 != 0);
    let wavelength = memory.word(IDENTITY, 60).filter(|nm| *nm > 0 && !is_cable);
    if let Some(nm) = wavelength {
        put(values, "Laser wavelength", format!("{nm}nm"));
    }
    let Some(kind) = memory.byte(IDENTITY, MONITORING) else {
        return;
    };
    let has_diagnostics = kind & IMPLEMENTED != 0;
    let said = if has_diagnostics { "Yes" } else { "No" };
    put(values, "Optical diagnostics support", said);
    if has_diagnostics {
        readings(memory, kind, values);
        flags(memory, values);
        // External calibration is of readings and limits alike (§9.3); limits without it would be compared with other units.
        if kind & EXTERNALLY_CALIBRATED == 0 {
            for (from, named) in (0..).step_by(8).zip(LIMITED) {
                memory.limits((DIAGNOSTICS, from), named, 1, values);
            }
        }
    }
}

fn readings(memory: &Memory<'_>, kind: u8, values: &mut Values) {
    let received = match kind & AVERAGE_POWER {
        0 => "Receiver signal OMA",
        _ => "Receiver signal average optical power",
    };
    let calibration = kind & EXTERNALLY_CALIBRATED != 0;
    let order = [
        (BIAS, Quantity::Current, 100, Some(76)),
        (TX_POWER, Quantity::Power, 102, Some(80)),
        (received, Quantity::Power, 104, None),
        (TEMPERATURE, Quantity::Temperature, 96, Some(84)),
        (VOLTAGE, Quantity::Voltage, 98, Some(88)),
    ];
    for (name, quantity, at, line) in order {
        let raw = memory.word(DIAGNOSTICS, at).map(f64::from);
        let raw = match (calibration, line) {
            (false, _) => raw,
            (true, Some(line)) => raw.and_then(|raw| on_line(memory, quantity, line, raw)),
            (true, None) => raw.and_then(|raw| on_curve(memory, raw)),
        };
        if let Some(raw) = raw {
            put(values, name, quantity.text(raw));
        }
    }
}

/// §9.3: a slope in 1/256 and an offset, both in units of the quantity.
fn on_line(memory: &Memory<'_>, quantity: Quantity, at: u8, raw: f64) -> Option<f64> {
    let signed = |raw: u16| f64::from(raw.cast_signed());
    let slope = f64::from(memory.word(DIAGNOSTICS, at)?) / 256.0;
    let offset = signed(memory.word(DIAGNOSTICS, at + 2)?);
    let raw = match quantity {
        Quantity::Temperature if raw >= 32_768.0 => raw - 65_536.0,
        _ => raw,
    };
    Some(slope * raw + offset)
}

/// §9.3: a polynomial of degree 4 whose coefficients are IEEE 754 numbers, that of the highest power first.
fn on_curve(memory: &Memory<'_>, raw: f64) -> Option<f64> {
    let coefficient = |at: u8| {
        let (high, low) = (
            memory.word(DIAGNOSTICS, at)?,
            memory.word(DIAGNOSTICS, at + 2)?,
        );
        let bits = u32::from(high) << 16 | u32::from(low);
        Some(f64::from(f32::from_bits(bits)))
    };
    let mut sum = 0.0;
    for at in (56..76).step_by(4) {
        sum = sum * raw + coefficient(at)?;
    }
    sum.is_finite().then_some(sum)
}

/// Bytes 112, 113 (alarms) and 116, 117 (warnings): from the highest bit on, high and low of each quantity.
fn flags(memory: &Memory<'_>, values: &mut Values) {
    let (alarms, warnings) = (memory.word(DIAGNOSTICS, 112), memory.word(DIAGNOSTICS, 116));
    let (Some(alarms), Some(warnings)) = (alarms, warnings) else {
        return;
    };
    for (place, (name, _)) in LIMITED.iter().enumerate() {
        for (number, limit) in LIMITS.iter().enumerate() {
            let bits = if number < 2 { alarms } else { warnings };
            let bit = 15 - (2 * place + number % 2);
            let said = if bits >> bit & 1 == 1 { "On" } else { "Off" };
            put(values, &format!("{name} {limit}"), said);
        }
    }
}

const IDENTITY: Space = (BUS_ADDRESS, 0);
const DIAGNOSTICS: Space = (BUS_ADDRESS + 1, 0);
const TEXTS: [(&str, u8, u8); 5] = [
    ("Vendor name", 20, 16),
    ("Vendor PN", 40, 16),
    ("Vendor rev", 56, 4),
    ("Vendor SN", 68, 16),
    ("Date code", 84, 8),
];
/// In the order of the limits and of the flags.
const LIMITED: [Named; 5] = [
    (TEMPERATURE, Quantity::Temperature),
    (VOLTAGE, Quantity::Voltage),
    (BIAS, Quantity::Current),
    (TX_POWER, Quantity::Power),
    (RX_POWER, Quantity::Power),
];
/// Of A0h.
const MONITORING: u8 = 92;
const IMPLEMENTED: u8 = 1 << 6;
const EXTERNALLY_CALIBRATED: u8 = 1 << 4;
const AVERAGE_POWER: u8 = 1 << 3;
