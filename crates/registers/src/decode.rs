// SPDX-License-Identifier: MIT OR Apache-2.0
//! A register's value → its fields with their meaning, and remarks.

use serde::Serialize;

use super::bits::{Bits, ranges};
use super::map::{Field, Map, Register};
use super::nearest::nearest;
use super::quantity::{self, Quantity};
use super::{Bus, Unit};

/// A decoded register value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decoded {
    /// The map.
    pub map: String,
    /// The manual's name.
    pub name: String,
    /// A short description, if the map has one.
    pub title: Option<String>,
    /// Bytes from the block's base; on MDIO the register's number.
    pub offset: u32,
    /// 8, 16, 32 or 64.
    pub width_bits: u8,
    /// The whole value.
    pub value: u64,
    /// Every field that the map describes, highest bit first.
    pub fields: Vec<DecodedField>,
    /// Remarks on this value.
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
    /// The meaning of this value, if the map has one.
    pub meaning: Option<String>,
    /// A description, if the name is not enough.
    pub about: Option<String>,
    /// The value in its unit; none for a switch.
    pub quantity: Option<Quantity>,
}

/// Why a value cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// The map has no such register.
    #[error("{map} has no register `{name}`{}", did_you_mean(.nearest))]
    Unknown {
        /// The map.
        map: String,
        /// The name that was not found.
        name: String,
        /// Known names with a similar spelling.
        nearest: Vec<String>,
    },
    /// The value has more bits than the register.
    #[error("{value:#x} does not fit into `{name}`, which has {width_bits} bits")]
    TooWide {
        /// The register.
        name: String,
        /// The value.
        value: u64,
        /// The register's width.
        width_bits: u8,
    },
}

impl Decoded {
    /// Returns the field of this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&DecodedField> {
        self.fields
            .iter()
            .find(|f| f.name.eq_ignore_ascii_case(name))
    }
}

/// Decodes the register `name` of `map`. Pause times and bit times are converted for
/// `link_bits_per_second`, by default 1 Gbit/s.
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

/// Decodes a known register; bits above its width are ignored.
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

/// Returns the map's meaning of this value, else the number in its unit.
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
    remarks.extend(all_ones(map, register, value));
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

/// A device that is off, or an absent PHY, reads as all ones.
fn all_ones(map: &Map, register: &Register, value: u64) -> Option<String> {
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
        format!("{name} is {value}, below the minimum, {least}")
    })
}

/// Formats `0x05ee0264`, with digits for the whole width.
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
