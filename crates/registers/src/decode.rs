// SPDX-License-Identifier: MIT OR Apache-2.0
//! A register's value → its fields with their meaning, and what is remarkable about it.

use serde::Serialize;

use super::bits::{Bits, ranges};
use super::map::{Field, Map, Register};
use super::nearest::nearest;
use super::quantity::{self, Quantity};
use super::{Bus, Unit};

/// A register's value, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decoded {
    /// The map that knows it.
    pub map: String,
    /// The manual's name.
    pub name: String,
    /// What it is; none if the map does not say.
    pub title: Option<String>,
    /// Bytes from the block's base; on MDIO the register's number.
    pub offset: u32,
    /// 8, 16, 32 or 64.
    pub width_bits: u8,
    /// The whole value.
    pub value: u64,
    /// Every field that the map describes, highest bit first.
    pub fields: Vec<DecodedField>,
    /// What a reader should know of this value.
    pub remarks: Vec<String>,
}

/// One field of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecodedField {
    /// The manual's name; `VALUE` if the register is one number.
    pub name: String,
    /// Where it is.
    pub bits: Bits,
    /// Its value, as a number.
    pub value: u64,
    /// What this value means; none if the map does not say.
    pub meaning: Option<String>,
    /// What the field is, where its name does not say it.
    pub about: Option<String>,
    /// The value in its unit; none for a switch.
    pub quantity: Option<Quantity>,
}

/// Why a value cannot be taken apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// The map has no such register.
    #[error("{map} has no register `{name}`{}", did_you_mean(.nearest))]
    Unknown {
        /// The map.
        map: String,
        /// What was asked for.
        name: String,
        /// Known names that are spelled alike; empty if none is.
        nearest: Vec<String>,
    },
    /// The value has more bits than the register.
    #[error("{value:#x} does not fit into `{name}`, which has {width_bits} bits")]
    TooWide {
        /// The register.
        name: String,
        /// What was given.
        value: u64,
        /// What it has.
        width_bits: u8,
    },
}

impl Decoded {
    /// Its field of this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&DecodedField> {
        self.fields
            .iter()
            .find(|f| f.name.eq_ignore_ascii_case(name))
    }
}

/// Takes the register `name` of `map` apart. `link_bits_per_second` makes pause times and bit
/// times milliseconds; without it they are told for 1 Gbit/s, and say so.
///
/// # Errors
/// [`Undecodable`], with the nearest known names.
pub fn decode(
    map: &Map,
    name: &str,
    value: u64,
    link_bits_per_second: Option<u64>,
) -> Result<Decoded, Undecodable> {
    let register = map.register(name).ok_or_else(|| Undecodable::Unknown {
        map: map.name.clone(),
        name: name.to_owned(),
        nearest: nearest(map, name),
    })?;
    if value & !register.mask() != 0 {
        return Err(Undecodable::TooWide {
            name: register.name.clone(),
            value,
            width_bits: register.width_bits,
        });
    }
    Ok(apart(map, register, value, link_bits_per_second))
}

/// As [`decode`], of a register that is known; bits that it does not have are ignored.
#[must_use]
pub fn apart(
    map: &Map,
    register: &Register,
    value: u64,
    link_bits_per_second: Option<u64>,
) -> Decoded {
    let value = value & register.mask();
    let fields = register.fields.iter();
    let fields = fields.map(|f| field(f, value, link_bits_per_second));
    Decoded {
        map: map.name.clone(),
        name: register.name.clone(),
        title: register.title.clone(),
        offset: register.offset,
        width_bits: register.width_bits,
        value,
        fields: fields.collect(),
        remarks: remarks(map, register, value),
    }
}

fn field(field: &Field, register: u64, link_bits_per_second: Option<u64>) -> DecodedField {
    let value = field.bits.of(register);
    let quantity = field.unit.filter(|unit| *unit != Unit::Address);
    let quantity = quantity.and_then(|unit| {
        let amount = value.checked_mul(field.scale)?.checked_add(field.plus)?;
        Some(quantity::of(amount, unit, link_bits_per_second))
    });
    DecodedField {
        name: field.name.clone(),
        bits: field.bits,
        value,
        meaning: meaning(field, value, link_bits_per_second),
        about: field.means.clone(),
        quantity,
    }
}

/// What the map says of this very value, else the number in its unit.
fn meaning(field: &Field, value: u64, link_bits_per_second: Option<u64>) -> Option<String> {
    let known = field.values.iter().find(|v| value & v.mask == v.equals);
    if let Some(known) = known {
        return Some(known.means.clone());
    }
    match field.unit? {
        Unit::Address => Some(hexadecimal(value, field.bits.count())),
        unit => {
            let amount = value.checked_mul(field.scale)?.checked_add(field.plus)?;
            Some(quantity::words(amount, unit, link_bits_per_second))
        }
    }
}

fn remarks(map: &Map, register: &Register, value: u64) -> Vec<String> {
    let mut remarks = Vec::new();
    remarks.extend(nobody_answered(map, register, value));
    if register.reset == Some(value) {
        remarks.push("this is the value after a reset".to_owned());
    }
    let reserved = ranges(value & register.reserved_mask);
    if !reserved.is_empty() {
        remarks.push(format!("reserved bits are set: {}", list(&reserved)));
    }
    let described = register.fields.iter();
    let described = described.fold(register.reserved_mask, |all, f| all | f.bits.mask());
    let strange = ranges(value & register.mask() & !described);
    if !strange.is_empty() && !register.fields.is_empty() {
        remarks.push(format!(
            "bits are set that the map does not describe: {}",
            list(&strange)
        ));
    }
    remarks.extend(register.fields.iter().filter_map(|f| below_least(f, value)));
    remarks.extend(register.note.clone());
    remarks
}

/// A device that is off, or a PHY that is not there, reads as ones.
fn nobody_answered(map: &Map, register: &Register, value: u64) -> Option<String> {
    let all_ones = register.width_bits >= 16 && value == register.mask();
    let is_one_number = register.fields.len() == 1 && register.fields[0].bits.mask() == value;
    let why = match map.bus {
        Bus::Mdio => "no PHY answers at this address",
        Bus::Memory => "the device is off, or the read failed",
    };
    (all_ones && !is_one_number).then(|| format!("all bits are set: probably {why}"))
}

fn below_least(field: &Field, register: u64) -> Option<String> {
    let least = field.least?;
    let value = field.bits.of(register);
    (value < least).then(|| {
        let name = &field.name;
        format!("{name} is {value}, below the least value that works, {least}")
    })
}

/// `0x05ee0264`, with the digits that the width asks for.
#[must_use]
pub fn hexadecimal(value: u64, width_bits: u8) -> String {
    let digits = usize::from(width_bits).div_ceil(4);
    format!("0x{value:0digits$x}")
}

fn list(bits: &[Bits]) -> String {
    let all: Vec<String> = bits.iter().map(ToString::to_string).collect();
    all.join(", ")
}

fn did_you_mean(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!(": {}?", names.join(" or ")),
    }
}
