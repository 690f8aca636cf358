// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file as TOML has it, before its words are understood. What can be wrong keeps its place.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// A word and where it stands.
pub(super) type Word = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMap {
    pub(super) map: Word,
    pub(super) hardware: String,
    pub(super) kernel: Option<Word>,
    #[serde(default)]
    pub(super) drivers: Vec<String>,
    #[serde(default)]
    pub(super) prefixes: Vec<String>,
    #[serde(default)]
    pub(super) bases: Vec<Number>,
    pub(super) window: Option<u32>,
    pub(super) bus: Option<Word>,
    /// Of every register that does not say otherwise.
    pub(super) read: Option<Word>,
    pub(super) source: Vec<Word>,
    pub(super) dump: Option<RawDump>,
    #[serde(default)]
    pub(super) register: Vec<RawRegister>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDump {
    pub(super) version: Option<u32>,
    pub(super) version_mask: Option<u32>,
    pub(super) bytes: Option<u32>,
    pub(super) layout: Word,
    pub(super) source: Vec<Word>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRegister {
    pub(super) name: Word,
    #[serde(default)]
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
    #[serde(default)]
    pub(super) shares: bool,
    #[serde(default)]
    pub(super) reserved: Vec<Word>,
    /// Instead of fields: the bits of the one number in it.
    pub(super) bits: Option<Word>,
    pub(super) unit: Option<Word>,
    pub(super) scale: Option<u64>,
    pub(super) note: Option<String>,
    #[serde(default)]
    pub(super) source: Vec<Word>,
    #[serde(default)]
    pub(super) field: Vec<RawField>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawField {
    pub(super) name: Word,
    pub(super) bits: Word,
    pub(super) unit: Option<Word>,
    pub(super) scale: Option<u64>,
    pub(super) plus: Option<u64>,
    pub(super) least: Option<u64>,
    pub(super) means: Option<String>,
    #[serde(default)]
    pub(super) values: BTreeMap<String, String>,
}

/// TOML's integers end at 2^63 - 1; a larger one is written as text.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Number {
    Small(u64),
    Text(String),
}

impl Number {
    pub(super) fn value(&self) -> Option<u64> {
        match self {
            Self::Small(value) => Some(*value),
            Self::Text(text) => super::number::unsigned(text),
        }
    }
}
