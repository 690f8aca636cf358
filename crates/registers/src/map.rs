// SPDX-License-Identifier: MIT OR Apache-2.0
//! A register map.

use super::number::unsigned;
use super::{Access, Bits, Bus, Layout, Read, Source, Unit};

/// The registers of one kind of device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    /// The map's name: that of its file.
    pub name: String,
    /// The hardware, in a line.
    pub hardware: String,
    /// The kernel whose files the sources cite, such as `6.12.117`; none if they cite no kernel.
    pub kernel: Option<String>,
    /// The drivers (`ethtool -i`) that drive this hardware.
    pub drivers: Vec<String>,
    /// Prefixes that other tools put before the names: `ENET_`, `FEC_`.
    pub prefixes: Vec<String>,
    /// Known physical addresses of this block.
    pub bases: Vec<u64>,
    /// Size of the block's address range, bytes; none if unknown.
    pub window_bytes: Option<u32>,
    /// How its registers are reached.
    pub bus: Bus,
    /// The layout of `ethtool -d`; none if there is no dump or no description of it.
    pub dump: Option<Dump>,
    /// Every register, in the order of the file.
    pub registers: Vec<Register>,
    /// The sources of registers that do not name their own.
    pub sources: Vec<Source>,
}

/// The blob of `ethtool -d` (`ETHTOOL_GREGS`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dump {
    /// The driver's version number under `version_mask`; none if any.
    pub version: Option<u32>,
    /// The bits of the version number that identify the layout.
    pub version_mask: u32,
    /// The blob's length in bytes, if it identifies the layout.
    pub bytes: Option<u32>,
    /// Where in the blob a register is.
    pub layout: Layout,
}

/// One register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    /// Its name in the manual, without a prefix.
    pub name: String,
    /// Other names: the driver's, another manual's.
    pub also: Vec<String>,
    /// A short description.
    pub title: Option<String>,
    /// Bytes from the block's base; on MDIO the register's number.
    pub offset: u32,
    /// 8, 16, 32 or 64.
    pub width_bits: u8,
    /// Whether software may read and write it.
    pub access: Access,
    /// Side effects of a read.
    pub read: Read,
    /// Its value after a reset of the block; none if unknown.
    pub reset: Option<u64>,
    /// Its word in the `ethtool -d` blob ([`Layout::Words`]).
    pub word: Option<u32>,
    /// Whether the driver dumps it ([`Layout::Offset`]).
    pub dumped: bool,
    /// Bits that must stay 0.
    pub reserved_mask: u64,
    /// Its fields, highest bit first.
    pub fields: Vec<Field>,
    /// A note for readers of its value.
    pub note: Option<String>,
    /// Its sources, if they differ from the map's.
    pub sources: Vec<Source>,
}

/// Some bits of a register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name in the manual.
    pub name: String,
    /// Where it is.
    pub bits: Bits,
    /// Its unit; none for a flag or a plain number.
    pub unit: Option<Unit>,
    /// The number of units per count.
    pub scale: u64,
    /// The number of units that zero stands for.
    pub plus: u64,
    /// The minimum value; none if there is no limit.
    pub least: Option<u64>,
    /// A description, if the name is not enough.
    pub means: Option<String>,
    /// Meanings of single values.
    pub values: Vec<Value>,
}

/// What one value of a field means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// The bits to compare.
    pub mask: u64,
    /// Their value.
    pub equals: u64,
    /// The meaning.
    pub means: String,
}

impl Map {
    /// Finds a register by name, in any spelling and with any known prefix; a number is its offset.
    #[must_use]
    pub fn register(&self, name: &str) -> Option<&Register> {
        let wanted = spelling(name);
        let with_prefix = || {
            let mut stripped = self.without_prefixes(&wanted);
            stripped.find_map(|s| self.by_spelling(&s))
        };
        let at_number = || self.at(u32::try_from(unsigned(name)?).ok()?);
        let named = self.by_spelling(&wanted).or_else(with_prefix);
        named.or_else(at_number)
    }

    /// The register at this offset (memory) or of this number (MDIO).
    #[must_use]
    pub fn at(&self, offset: u32) -> Option<&Register> {
        self.registers.iter().find(|r| r.offset == offset)
    }

    /// Returns the offset of a physical address in this block, if it is in one of the known ranges.
    #[must_use]
    pub fn offset_of(&self, address: u64) -> Option<u32> {
        let window = u64::from(self.window_bytes?);
        let within = |base: &u64| address.checked_sub(*base).filter(|offset| *offset < window);
        let offset = self.bases.iter().find_map(within)?;
        u32::try_from(offset).ok()
    }

    /// Whether `name` begins with a prefix that only this kind of map uses.
    #[must_use]
    pub fn has_prefix(&self, name: &str) -> bool {
        let name = spelling(name);
        self.prefixes.iter().any(|p| name.starts_with(&spelling(p)))
    }

    /// Returns the spelling without each prefix that it has.
    pub(super) fn without_prefixes(&self, spelled: &str) -> impl Iterator<Item = String> {
        let prefixes = self.prefixes.iter().map(|p| spelling(p));
        prefixes.filter_map(move |p| spelled.strip_prefix(&p).map(str::to_owned))
    }

    fn by_spelling(&self, wanted: &str) -> Option<&Register> {
        self.registers.iter().find(|r| r.is_spelled(wanted))
    }
}

impl Register {
    /// Returns the field of this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields
            .iter()
            .find(|f| f.name.eq_ignore_ascii_case(name))
    }

    /// Every bit that the register has.
    #[must_use]
    pub fn mask(&self) -> u64 {
        Bits::whole(self.width_bits).map_or(0, Bits::mask)
    }

    /// Its names, the manual's first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.also.iter().map(String::as_str))
    }

    fn is_spelled(&self, wanted: &str) -> bool {
        self.names().any(|name| spelling(name) == wanted)
    }
}

impl Dump {
    /// Whether a blob of this version and length has this layout.
    #[must_use]
    pub fn describes(&self, version: u32, bytes: usize) -> bool {
        let version_fits = self
            .version
            .is_none_or(|v| v == version & self.version_mask);
        let length_fits = self
            .bytes
            .is_none_or(|b| usize::try_from(b).is_ok_and(|b| b == bytes));
        version_fits && length_fits
    }
}

/// How a name is compared: capitals, one sign between its parts, `Q[0]` as `Q0`.
pub(super) fn spelling(name: &str) -> String {
    let sign = |c: char| match c {
        '[' | ']' => None,
        '-' | '.' | ' ' => Some('_'),
        _ => Some(c.to_ascii_uppercase()),
    };
    name.chars().filter_map(sign).collect()
}
