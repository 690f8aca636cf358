// SPDX-License-Identifier: MIT OR Apache-2.0
//! One register map, as decoding and reading ask it.

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
    /// What other tools put before the names: `ENET_`, `FEC_`.
    pub prefixes: Vec<String>,
    /// Physical addresses at which this block is known to be.
    pub bases: Vec<u64>,
    /// How many bytes of addresses the block takes; none if unknown.
    pub window_bytes: Option<u32>,
    /// How its registers are reached.
    pub bus: Bus,
    /// What `ethtool -d` gives; none if the driver has no dump or nobody described it.
    pub dump: Option<Dump>,
    /// Every register, in the order of the file.
    pub registers: Vec<Register>,
    /// Who says so, where a register does not name its own source.
    pub sources: Vec<Source>,
}

/// The blob of `ethtool -d` (`ETHTOOL_GREGS`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dump {
    /// What the driver's version number has to be under `version_mask`; none if any.
    pub version: Option<u32>,
    /// Which bits of the version number tell the layout.
    pub version_mask: u32,
    /// The blob's length in bytes, where it tells this layout from another; none if any.
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
    /// What it is, in a few words.
    pub title: Option<String>,
    /// Bytes from the block's base; on MDIO the register's number.
    pub offset: u32,
    /// 8, 16, 32 or 64.
    pub width_bits: u8,
    /// What software may do with it.
    pub access: Access,
    /// What reading does to it.
    pub read: Read,
    /// Its value after a reset of the block; none if unknown.
    pub reset: Option<u64>,
    /// Which word of the `ethtool -d` blob it is ([`Layout::Words`]).
    pub word: Option<u32>,
    /// Whether the driver puts it into the blob at all ([`Layout::Offset`]).
    pub dumped: bool,
    /// Bits that have to stay 0.
    pub reserved_mask: u64,
    /// Its fields, highest bit first.
    pub fields: Vec<Field>,
    /// What has to be known to understand it.
    pub note: Option<String>,
    /// Who says so; empty where the map's sources do.
    pub sources: Vec<Source>,
}

/// Some bits of a register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name in the manual.
    pub name: String,
    /// Where it is.
    pub bits: Bits,
    /// What it counts in; none for a switch or a plain number.
    pub unit: Option<Unit>,
    /// How many units one is.
    pub scale: u64,
    /// How many units zero is.
    pub plus: u64,
    /// The least value that the hardware works with; none if any.
    pub least: Option<u64>,
    /// What it is, where the name does not say it.
    pub means: Option<String>,
    /// What single values mean.
    pub values: Vec<Value>,
}

/// What one value of a field means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Which bits have to agree.
    pub mask: u64,
    /// With what.
    pub equals: u64,
    /// What it means then.
    pub means: String,
}

impl Map {
    /// The register that somebody calls `name`, whatever prefix and spelling they use; a number
    /// is its offset.
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

    /// The offset of a physical address in this block; none if it is nowhere known to be there.
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

    /// What is left of a spelling behind each prefix that it has.
    pub(super) fn without_prefixes(&self, spelled: &str) -> impl Iterator<Item = String> {
        let prefixes = self.prefixes.iter().map(|p| spelling(p));
        prefixes.filter_map(move |p| spelled.strip_prefix(&p).map(str::to_owned))
    }

    fn by_spelling(&self, wanted: &str) -> Option<&Register> {
        self.registers.iter().find(|r| r.is_spelled(wanted))
    }
}

impl Register {
    /// Its field of this name.
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
