// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fields of a register and what their values mean.

use linerate_registers::Bits;
use roxmltree::Node;

use super::derived;
use super::element::{children, number, of_number, text};

/// A field of the map.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) bits: Bits,
    pub(super) means: Option<String>,
    /// Each value as a map writes it, and its meaning.
    pub(super) values: Vec<(String, String)>,
}

impl Field {
    /// Reads the description and values of a field with this name and position.
    pub(super) fn of(node: Node<'_, '_>, name: String, bits: Bits) -> Self {
        Self {
            means: text(node, "description").filter(|t| *t != name),
            values: values(node, bits),
            name,
            bits,
        }
    }

    /// Whether a field of this name and position would collide with this one.
    pub(super) fn clashes(&self, name: &str, bits: Bits) -> bool {
        self.bits.mask() & bits.mask() != 0 || self.name.eq_ignore_ascii_case(name)
    }
}

/// Reads a position: `[7:4]`, `lsb` and `msb`, or `bitOffset` and `bitWidth`.
pub(super) fn bits(field: Node<'_, '_>, distance: u64) -> Option<Bits> {
    let range = text(field, "bitRange").and_then(|t| {
        let (high, low) = t.trim_matches(['[', ']']).split_once(':')?;
        Some((of_number(high.trim())?, of_number(low.trim())?))
    });
    let ends = || Some((number(field, "msb")?, number(field, "lsb")?));
    let width = || {
        let low = number(field, "bitOffset")?;
        let count = number(field, "bitWidth").unwrap_or(1);
        Some((low.checked_add(count)?.checked_sub(1)?, low))
    };
    let (high, low) = range.or_else(ends).or_else(width)?;
    let at = |bit: u64| u8::try_from(bit.checked_add(distance)?).ok();
    Bits::new(at(high)?, at(low)?)
}

/// Returns the values of a read, from another list where this one is derived.
fn values(field: Node<'_, '_>, bits: Bits) -> Vec<(String, String)> {
    let is_of_reads = |l: &Node<'_, '_>| text(*l, "usage").as_deref() != Some("write");
    let Some(list) = children(field, "enumeratedValues").find(is_of_reads) else {
        return Vec::new();
    };
    let basis = list.attribute("derivedFrom");
    let list = basis
        .and_then(|path| derived::values(list, path))
        .unwrap_or(list);
    let mut found: Vec<(String, String)> = Vec::new();
    for value in children(list, "enumeratedValue") {
        let Some(key) = text(value, "value").and_then(|t| key(&t, bits)) else {
            continue;
        };
        let means = text(value, "description").or_else(|| text(value, "name"));
        if let Some(means) = means.filter(|_| !found.iter().any(|(k, _)| *k == key)) {
            found.push((key, means));
        }
    }
    found
}

/// Converts a number, or a pattern such as `#1xx` or `0b1xx` where `x` matches either bit.
fn key(text: &str, bits: Bits) -> Option<String> {
    let binary = text.strip_prefix('#').or_else(|| text.strip_prefix("0b"));
    if let Some(digits) = binary.filter(|d| d.contains(['x', 'X'])) {
        let plain = digits.chars().all(|c| matches!(c, '0' | '1' | 'x' | 'X'));
        let fits = digits.len() <= usize::from(bits.count());
        return (plain && fits).then(|| format!("0b{}", digits.to_ascii_lowercase()));
    }
    let number = of_number(text).filter(|n| *n <= bits.largest())?;
    Some(number.to_string())
}
