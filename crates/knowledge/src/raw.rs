// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file as TOML, before its words are parsed. Every word keeps its position.

pub(super) use crate::keys::Word;
use crate::keys::{FromToml, Given, Keys, Wrong};

pub(super) struct RawDriver {
    pub(super) driver: Word,
    pub(super) also: Vec<String>,
    pub(super) hardware: String,
    pub(super) kernel: Word,
    pub(super) counter: Vec<RawCounter>,
    pub(super) blind: Vec<RawBlind>,
}

impl FromToml for RawDriver {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut keys = Keys::of(
            given,
            &["driver", "also", "hardware", "kernel", "counter", "blind"],
        )?;
        Ok(Self {
            driver: keys.need("driver")?,
            also: keys.or_none("also")?,
            hardware: keys.need("hardware")?,
            kernel: keys.need("kernel")?,
            counter: keys.or_none("counter")?,
            blind: keys.or_none("blind")?,
        })
    }
}

/// What a number of counters of one list have in common.
pub(super) struct RawCounter {
    pub(super) group: Word,
    pub(super) names: Vec<Word>,
    pub(super) stage: Word,
    pub(super) counts: Word,
    pub(super) unit: Word,
    pub(super) width: Word,
    pub(super) reset: Option<Word>,
    pub(super) refresh_ms: Option<u32>,
    pub(super) shared: bool,
    pub(super) alias: Vec<Word>,
    pub(super) means: Option<String>,
    pub(super) source: Vec<Word>,
}

impl FromToml for RawCounter {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut keys = Keys::of(
            given,
            &[
                "group",
                "names",
                "stage",
                "counts",
                "unit",
                "width",
                "reset",
                "refresh_ms",
                "shared",
                "alias",
                "means",
                "source",
            ],
        )?;
        Ok(Self {
            group: keys.need("group")?,
            names: keys.need("names")?,
            stage: keys.need("stage")?,
            counts: keys.need("counts")?,
            unit: keys.need("unit")?,
            width: keys.need("width")?,
            reset: keys.may("reset")?,
            refresh_ms: keys.may("refresh_ms")?,
            shared: keys.or_none("shared")?,
            alias: keys.or_none("alias")?,
            means: keys.may("means")?,
            source: keys.need("source")?,
        })
    }
}

pub(super) struct RawBlind {
    pub(super) group: Word,
    pub(super) names: Vec<Word>,
    pub(super) source: Vec<Word>,
}

impl FromToml for RawBlind {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut keys = Keys::of(given, &["group", "names", "source"])?;
        Ok(Self {
            group: keys.need("group")?,
            names: keys.need("names")?,
            source: keys.need("source")?,
        })
    }
}
