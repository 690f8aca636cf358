// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fields of a register and what their values mean.

use roxmltree::Node;

use super::element::{children, number, of_number, text};
use super::index::Index;
use crate::Bits;

/// One field, as the map will have it.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) bits: Bits,
    pub(super) means: Option<String>,
    /// Value as the map writes it, and what it means.
    pub(super) values: Vec<(String, String)>,
}

impl Field {
    /// What a node says of a field that is called so and is there.
    pub(super) fn of<'d>(node: Node<'d, 'd>, name: String, bits: Bits, index: &Index<'d>) -> Self {
        Self {
            means: text(node, "description").filter(|t| *t != name),
            values: values(node, bits, index),
            name,
            bits,
        }
    }

    /// Whether another field cannot be called so or be there.
    pub(super) fn clashes(&self, name: &str, bits: Bits) -> bool {
        self.bits.mask() & bits.mask() != 0 || self.name.eq_ignore_ascii_case(name)
    }
}

/// `[7:4]`, or the lowest and highest bit, or the lowest and how many.
pub(super) fn bits(field: Node<'_, '_>, behind: u64) -> Option<Bits> {
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
    let at = |bit: u64| u8::try_from(bit.checked_add(behind)?).ok();
    Bits::new(at(high)?, at(low)?)
}

/// The values of what is read; those of another field if they are said to be the same.
fn values<'d>(field: Node<'d, 'd>, bits: Bits, index: &Index<'d>) -> Vec<(String, String)> {
    let lists = children(field, "enumeratedValues");
    let read = lists
        .into_iter()
        .find(|l| text(*l, "usage").as_deref() != Some("write"));
    let Some(list) = read else {
        return Vec::new();
    };
    let list = match list.attribute("derivedFrom") {
        Some(path) => index.values(list, path).unwrap_or(list),
        None => list,
    };
    let mut found: Vec<(String, String)> = Vec::new();
    for value in children(list, "enumeratedValue").take(MOST_VALUES) {
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

/// A number, or a pattern where `x` is either: SVD writes `#1xx` or `0b1xx`.
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

const MOST_VALUES: usize = 256;
