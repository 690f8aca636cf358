// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file as TOML has it, before its words are understood. Every word keeps its place.

use serde::Deserialize;
use toml::Spanned;

/// A word and where it stands.
pub(super) type Word = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDriver {
    pub(super) driver: Word,
    #[serde(default)]
    pub(super) also: Vec<String>,
    pub(super) hardware: String,
    pub(super) kernel: Word,
    #[serde(default)]
    pub(super) counter: Vec<RawCounter>,
    #[serde(default)]
    pub(super) blind: Vec<RawBlind>,
}

/// What a number of counters of one list have in common.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCounter {
    pub(super) group: Word,
    pub(super) names: Vec<Word>,
    pub(super) stage: Word,
    pub(super) counts: Word,
    pub(super) unit: Word,
    pub(super) width: Word,
    pub(super) reset: Option<Word>,
    pub(super) refresh_ms: Option<u32>,
    #[serde(default)]
    pub(super) shared: bool,
    #[serde(default)]
    pub(super) alias: Vec<Word>,
    pub(super) means: Option<String>,
    pub(super) source: Vec<Word>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBlind {
    pub(super) group: Word,
    pub(super) names: Vec<Word>,
    pub(super) source: Vec<Word>,
}
