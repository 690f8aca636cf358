// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decodes registers of MACs and PHYs with the maps of `knowledge/registers/`, which are built in.
//!
//! In: a [`Map`] (built in, or parsed from TOML) and a value: given by name, found in pasted text
//! ([`readings`]) or in the blob of `ethtool -d` ([`registers_of_dump`]). Out: [`Decoded`] fields with
//! bits, number, meaning and unit, and remarks such as reserved bits that are set. [`parse`](fn@parse)
//! reports every mistake in a map by line. Nothing here reads hardware.
//!
//! ```
//! use linerate_registers as registers;
//! let map = registers::map("nxp-enet").expect("a map of this name");
//! let rcr = registers::decode(map, "ENET_RCR", 0x05ee_0264, None).expect("a register of it");
//! assert_eq!(rcr.field("MAX_FL").expect("a field of it").value, 1518);
//! ```
#![forbid(unsafe_code)]

mod bits;
mod check;
mod decode;
mod dump;
mod map;
mod nearest;
mod negotiation;
mod number;
mod parse;
mod pasted;
mod quantity;
mod raw;
mod source;
mod words;

pub use bits::Bits;
pub use check::check_together;
pub use decode::{Decoded, DecodedField, Undecodable, apart, decode, hexadecimal};
pub use dump::registers_of_dump;
pub use linerate_knowledge::Mistake;
pub use map::{Dump, Field, Map, Register, Value};
pub use negotiation::{Ability, Pause, agreed};
pub use number::unsigned;
pub use parse::parse;
pub use pasted::{Reading, readings};
pub use quantity::Quantity;
pub use source::Source;
pub use words::{Access, Bus, Layout, Read, Unit};

use std::sync::LazyLock;

use linerate_knowledge::Packed;

/// Every map that the program carries, as text.
pub const EMBEDDED: Packed = linerate_knowledge::REGISTERS;

static MAPS: LazyLock<Vec<Map>> = LazyLock::new(|| {
    let parsed = EMBEDDED.each().map(|(file, text)| parse(file, &text));
    parsed.filter_map(Result::ok).collect()
});

/// Every map that the program carries.
#[must_use]
pub fn maps() -> &'static [Map] {
    &MAPS
}

/// Returns the map of this name, if there is one.
#[must_use]
pub fn map(name: &str) -> Option<&'static Map> {
    MAPS.iter().find(|m| m.name.eq_ignore_ascii_case(name))
}

/// Returns the maps of a driver (`ethtool -i`): several where it supports several generations,
/// which their [`Dump`] distinguishes.
pub fn of_driver(driver: &str) -> impl Iterator<Item = &'static Map> {
    MAPS.iter()
        .filter(move |m| m.drivers.iter().any(|d| d == driver))
}

/// Returns the map and register of a pasted value, if its address, or a prefix that only one map
/// uses, identifies them.
#[must_use]
pub fn recognise(reading: &Reading) -> Option<(&'static Map, &'static Register)> {
    let by_address = |m: &'static Map| {
        let offset = m.offset_of(reading.address?)?;
        let register = m.register(&reading.name)?;
        (register.offset == offset).then_some((m, register))
    };
    let by_prefix = |m: &'static Map| {
        let register = m.register(&reading.name)?;
        m.has_prefix(&reading.name).then_some((m, register))
    };
    let addressed = MAPS.iter().find_map(by_address);
    addressed.or_else(|| MAPS.iter().find_map(by_prefix))
}
