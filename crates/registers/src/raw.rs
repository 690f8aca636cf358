// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file as TOML has it, before its words are understood. What can be wrong keeps its place.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::DeValue;

pub(super) use linerate_knowledge::keys::Word;
use linerate_knowledge::keys::{FromToml, Given, Keys, Wrong};

pub(super) struct RawMap {
    pub(super) map: Word,
    pub(super) hardware: String,
    pub(super) kernel: Option<Word>,
    pub(super) drivers: Vec<String>,
    pub(super) prefixes: Vec<String>,
    pub(super) bases: Vec<Number>,
    pub(super) window: Option<u32>,
    pub(super) bus: Option<Word>,
    /// Of every register that does not say otherwise.
    pub(super) read: Option<Word>,
    pub(super) source: Vec<Word>,
    pub(super) dump: Option<RawDump>,
    pub(super) register: Vec<RawRegister>,
}

impl FromToml for RawMap {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut keys = Keys::of(
            given,
            &[
                "map", "hardware", "kernel", "drivers", "prefixes", "bases", "window", "bus",
                "read", "source", "dump", "register",
            ],
        )?;
        Ok(Self {
            map: keys.need("map")?,
            hardware: keys.need("hardware")?,
            kernel: keys.may("kernel")?,
            drivers: keys.or_none("drivers")?,
            prefixes: keys.or_none("prefixes")?,
            bases: keys.or_none("bases")?,
            window: keys.may("window")?,
            bus: keys.may("bus")?,
            read: keys.may("read")?,
            source: keys.need("source")?,
            dump: keys.may("dump")?,
            register: keys.or_none("register")?,
        })
    }
}

pub(super) struct RawDump {
    pub(super) version: Option<u32>,
    pub(super) version_mask: Option<u32>,
    pub(super) bytes: Option<u32>,
    pub(super) layout: Word,
    pub(super) source: Vec<Word>,
}

impl FromToml for RawDump {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut keys = Keys::of(
            given,
            &["version", "version_mask", "bytes", "layout", "source"],
        )?;
        Ok(Self {
            version: keys.may("version")?,
            version_mask: keys.may("version_mask")?,
            bytes: keys.may("bytes")?,
            layout: keys.need("layout")?,
            source: keys.need("source")?,
        })
    }
}

pub(super) struct RawRegister {
    pub(super) name: Word,
    pub(super) also: Vec<Word>,
    pub(super) title: Option<String>,
    pub(super) offset: Spanned<u32>,
    pub(super) width: Option<Spanned<u8>>,
    pub(super) access: Option<Word>,
    pub(super) read: Option<Word>,
    pub(super) reset: Option<Spanned<Number>>,
    pub(super) word: Option<u32>,
    pub(super) dumped: Option<bool>,
    /// Another register has the same offset, and that is no mistake.
    pub(super) shares: bool,
    pub(super) reserved: Vec<Word>,
    /// Instead of fields: the bits of the one number in it.
    pub(super) bits: Option<Word>,
    pub(super) unit: Option<Word>,
    pub(super) scale: Option<u64>,
    pub(super) note: Option<String>,
    pub(super) source: Vec<Word>,
    pub(super) field: Vec<RawField>,
}

impl FromToml for RawRegister {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut keys = Keys::of(
            given,
            &[
                "name", "also", "title", "offset", "width", "access", "read", "reset", "word",
                "dumped", "shares", "reserved", "bits", "unit", "scale", "note", "source", "field",
            ],
        )?;
        Ok(Self {
            name: keys.need("name")?,
            also: keys.or_none("also")?,
            title: keys.may("title")?,
            offset: keys.need("offset")?,
            width: keys.may("width")?,
            access: keys.may("access")?,
            read: keys.may("read")?,
            reset: keys.may("reset")?,
            word: keys.may("word")?,
            dumped: keys.may("dumped")?,
            shares: keys.or_none("shares")?,
            reserved: keys.or_none("reserved")?,
            bits: keys.may("bits")?,
            unit: keys.may("unit")?,
            scale: keys.may("scale")?,
            note: keys.may("note")?,
            source: keys.or_none("source")?,
            field: keys.or_none("field")?,
        })
    }
}

pub(super) struct RawField {
    pub(super) name: Word,
    pub(super) bits: Word,
    pub(super) unit: Option<Word>,
    pub(super) scale: Option<u64>,
    pub(super) plus: Option<u64>,
    pub(super) least: Option<u64>,
    pub(super) means: Option<String>,
    pub(super) values: BTreeMap<String, String>,
}

impl FromToml for RawField {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut keys = Keys::of(
            given,
            &[
                "name", "bits", "unit", "scale", "plus", "least", "means", "values",
            ],
        )?;
        Ok(Self {
            name: keys.need("name")?,
            bits: keys.need("bits")?,
            unit: keys.may("unit")?,
            scale: keys.may("scale")?,
            plus: keys.may("plus")?,
            least: keys.may("least")?,
            means: keys.may("means")?,
            values: keys.or_none("values")?,
        })
    }
}

/// TOML's integers end at 2^63 - 1; a larger one is written as text.
pub(super) enum Number {
    Small(u64),
    Text(String),
}

impl FromToml for Number {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        match given.get_ref() {
            DeValue::String(text) => Ok(Self::Text(text.clone().into_owned())),
            DeValue::Integer(_) => u64::from_toml(given).map(Self::Small),
            _ => Err(Wrong::kind(&given, "a number, or one as text")),
        }
    }
}

impl Number {
    pub(super) fn value(&self) -> Option<u64> {
        match self {
            Self::Small(value) => Some(*value),
            Self::Text(text) => super::number::unsigned(text),
        }
    }
}
