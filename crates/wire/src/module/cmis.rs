// SPDX-License-Identifier: MIT OR Apache-2.0
//! QSFP-DD, OSFP and others (OIF CMIS 5.2): readings of the module in the lower half, identity on page 00h, what it can
//! on page 01h, limits on page 02h, readings of the lanes on page 11h (bank 0).

use super::quantity::Quantity;
use super::{
    BIAS, BUS_ADDRESS, Memory, Named, RX_POWER, Space, Stretch, TEMPERATURE, TX_POWER, VOLTAGE,
    Values, lanes, put,
};

/// Without bytes 8 to 13 and those of page 11h before 154, whose flags reading would clear.
pub(super) const STRETCHES: [Stretch; 5] = [
    Stretch::of(0, 14, 4),
    Stretch::of(0, 128, 84),
    Stretch::of(1, 128, 33),
    Stretch::of(2, 128, 72),
    Stretch::of(0x11, 154, 48),
];
/// Byte 2: there is only page 00h.
pub(super) const FLAT: u8 = 1 << 7;

pub(super) fn add(memory: &Memory<'_>, values: &mut Values) {
    memory.texts(PAGE_0, &TEXTS, values);
    for (name, quantity, at) in [
        (TEMPERATURE, Quantity::Temperature, 14),
        (VOLTAGE, Quantity::Voltage, 16),
    ] {
        // A cable without monitors has 0 there.
        if let Some(raw) = memory.word(PAGE_0, at).filter(|raw| *raw != 0) {
            put(values, name, quantity.text(raw.into()));
        }
    }
    let Some(monitors) = memory.byte((BUS_ADDRESS, 1), 160) else {
        return;
    };
    let scale = 1 << (monitors >> 3 & 0b11).min(2);
    let times = |of| if of == Quantity::Current { scale } else { 1 };
    for (name, quantity, from, bit) in [
        ("Laser tx bias current", Quantity::Current, 170, 0),
        ("Transmit avg optical power", Quantity::Power, 154, 1),
        ("Rcvr signal avg optical power", Quantity::Power, 186, 2),
    ] {
        let is_measured = monitors >> bit & 1 == 1;
        let word = |lane: u8| memory.word((BUS_ADDRESS, 0x11), from + 2 * lane);
        let each = (0..8).map(|lane| Some(word(lane)?.saturating_mul(times(quantity))));
        lanes(values, name, quantity, each.filter(|_| is_measured));
    }
    for (named, from) in LIMITED {
        memory.limits(((BUS_ADDRESS, 2), from), named, times(named.1), values);
    }
}

const PAGE_0: Space = (BUS_ADDRESS, 0);
const TEXTS: [(&str, u8, u8); 5] = [
    ("Vendor name", 129, 16),
    ("Vendor PN", 148, 16),
    ("Vendor rev", 164, 2),
    ("Vendor SN", 166, 16),
    ("Date code", 182, 8),
];
const LIMITED: [(Named, u8); 5] = [
    ((TEMPERATURE, Quantity::Temperature), 128),
    ((VOLTAGE, Quantity::Voltage), 136),
    ((TX_POWER, Quantity::Power), 176),
    ((BIAS, Quantity::Current), 184),
    ((RX_POWER, Quantity::Power), 192),
];
