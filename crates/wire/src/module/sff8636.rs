// SPDX-License-Identifier: MIT OR Apache-2.0
//! QSFP, QSFP+ and QSFP28 (SFF-8636 rev 2.11): readings in the lower half, identity on page 0, limits on page 3.

use super::quantity::Quantity;
use super::{
    BIAS, BUS_ADDRESS, Memory, Named, RX_POWER, Space, Stretch, TEMPERATURE, TX_POWER, VOLTAGE,
    Values, lanes, put,
};

/// Without bytes 3 to 21, whose flags reading would clear.
pub(super) const STRETCHES: [Stretch; 3] = [
    Stretch::of(0, 22, 36),
    Stretch::of(0, 128, 93),
    Stretch::of(3, 128, 72),
];
/// Byte 2: there is only page 0.
pub(super) const FLAT: u8 = 1 << 2;

pub(super) fn add(memory: &Memory<'_>, values: &mut Values) {
    memory.texts(PAGE_0, &TEXTS, values);
    // A copper cable has its attenuation there.
    let is_laser = memory.byte(PAGE_0, 147).is_some_and(|byte| byte >> 4 < 0xa);
    let wavelength = memory.word(PAGE_0, 186).filter(|raw| *raw > 0 && is_laser);
    if let Some(raw) = wavelength {
        put(
            values,
            "Laser wavelength",
            format!("{}nm", f64::from(raw) / 20.0),
        );
    }
    let single = |at| memory.word(PAGE_0, at).filter(|raw| *raw != 0);
    for (name, quantity, at) in [
        (TEMPERATURE, Quantity::Temperature, 22),
        (VOLTAGE, Quantity::Voltage, 26),
    ] {
        if let Some(raw) = single(at) {
            put(values, name, quantity.text(raw.into()));
        }
    }
    if is_laser {
        light(memory, values);
    }
    for (named, from) in LIMITED {
        memory.limits((PAGE_3, from), named, 1, values);
    }
}

fn light(memory: &Memory<'_>, values: &mut Values) {
    let received = match memory.byte(PAGE_0, 220).map(|byte| byte & AVERAGE_POWER) {
        Some(0) => "Receiver signal OMA",
        _ => "Rcvr signal avg optical power",
    };
    for (name, quantity, from) in [
        ("Laser tx bias current", Quantity::Current, 42),
        ("Transmit avg optical power", Quantity::Power, 50),
        (received, Quantity::Power, 34),
    ] {
        let each = (0..4).map(|lane| memory.word(PAGE_0, from + 2 * lane));
        lanes(values, name, quantity, each);
    }
}

const PAGE_0: Space = (BUS_ADDRESS, 0);
const PAGE_3: Space = (BUS_ADDRESS, 3);
const TEXTS: [(&str, u8, u8); 5] = [
    ("Vendor name", 148, 16),
    ("Vendor PN", 168, 16),
    ("Vendor rev", 184, 2),
    ("Vendor SN", 196, 16),
    ("Date code", 212, 8),
];
const LIMITED: [(Named, u8); 5] = [
    ((TEMPERATURE, Quantity::Temperature), 128),
    ((VOLTAGE, Quantity::Voltage), 144),
    ((RX_POWER, Quantity::Power), 176),
    ((BIAS, Quantity::Current), 184),
    ((TX_POWER, Quantity::Power), 192),
];
const AVERAGE_POWER: u8 = 1 << 3;
