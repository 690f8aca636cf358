// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file as TOML has it, before its words are understood. What can be wrong keeps its place.

use linerate_model::map::Map;

use toml::Spanned;
use toml::de::DeValue;

use super::number::unsigned;
pub(super) use linerate_knowledge::keys::Word;
use linerate_knowledge::keys::{FromToml, Given, Wrong};
use linerate_knowledge::toml_table;

toml_table! {
    RawMap {
        map: Word = need,
        hardware: String = need,
        kernel: Option<Word> = or_default,
        drivers: Vec<String> = or_default,
        prefixes: Vec<String> = or_default,
        bases: Vec<Number> = or_default,
        window: Option<u32> = or_default,
        bus: Option<Word> = or_default,
        /// Of every register that does not say otherwise.
        read: Option<Word> = or_default,
        source: Vec<Word> = need,
        dump: Option<RawDump> = or_default,
        register: Vec<RawRegister> = or_default,
    }
}

toml_table! {
    RawDump {
        version: Option<u32> = or_default,
        version_mask: Option<u32> = or_default,
        bytes: Option<u32> = or_default,
        layout: Word = need,
        source: Vec<Word> = need,
    }
}

toml_table! {
    RawRegister {
        name: Word = need,
        also: Vec<Word> = or_default,
        title: Option<String> = or_default,
        offset: Spanned<u32> = need,
        width: Option<Spanned<u8>> = or_default,
        access: Option<Word> = or_default,
        read: Option<Word> = or_default,
        reset: Option<Spanned<Number>> = or_default,
        word: Option<u32> = or_default,
        dumped: Option<bool> = or_default,
        /// Another register has the same offset, and that is no mistake.
        shares: bool = or_default,
        reserved: Vec<Word> = or_default,
        /// Instead of fields: the bits of the one number in it.
        bits: Option<Word> = or_default,
        unit: Option<Word> = or_default,
        scale: Option<u64> = or_default,
        note: Option<String> = or_default,
        source: Vec<Word> = or_default,
        field: Vec<RawField> = or_default,
    }
}

toml_table! {
    RawField {
        name: Word = need,
        bits: Word = need,
        unit: Option<Word> = or_default,
        scale: Option<u64> = or_default,
        plus: Option<u64> = or_default,
        least: Option<u64> = or_default,
        means: Option<String> = or_default,
        values: Map<String, String> = or_default,
    }
}

/// A number; none for a text that is not one. TOML's integers end at 2^63 - 1: a larger one is written as text.
pub(super) struct Number(pub(super) Option<u64>);

impl FromToml for Number {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        match given.get_ref() {
            DeValue::String(text) => Ok(Self(unsigned(text))),
            DeValue::Integer(_) => u64::from_toml(given).map(|number| Self(Some(number))),
            other => Err(Wrong::kind(
                given.span().start,
                other,
                "a number, or one as text",
            )),
        }
    }
}
