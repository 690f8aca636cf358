// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blob of `ethtool -d` → registers, as the map of the driver describes it.

use super::Layout;
use super::map::{Map, Register};

/// The registers of a blob with their values, in the map's order.
///
/// `words` is the blob as 32-bit words; `version` is the driver's version of its layout. Registers
/// that the driver does not dump are absent, not 0. None if the map does not describe this layout.
#[must_use]
pub fn registers_of_dump<'m>(
    map: &'m Map,
    version: u32,
    words: &[u32],
) -> Option<Vec<(&'m Register, u64)>> {
    let dump = map.dump.as_ref()?;
    if !dump.describes(version, words.len().checked_mul(4)?) {
        return None;
    }
    let value = |register: &'m Register| {
        let index = match dump.layout {
            Layout::Words => register.word?,
            Layout::Offset if register.dumped => register.offset / 4,
            Layout::Offset => return None,
        };
        let word = *words.get(usize::try_from(index).ok()?)?;
        // A narrow register is a part of its word.
        let shift = match dump.layout {
            Layout::Offset => register.offset % 4 * 8,
            Layout::Words => 0,
        };
        Some((register, u64::from(word) >> shift & register.mask()))
    };
    Some(map.registers.iter().filter_map(value).collect())
}
