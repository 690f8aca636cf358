// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file of rules as TOML has it, before its words are understood. Every word keeps its place.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

pub(super) type Word = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFile {
    #[serde(default)]
    pub(super) rule: Vec<RawRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRule {
    pub(super) id: Word,
    pub(super) cause: Word,
    pub(super) title: Word,
    pub(super) scope: Word,
    #[serde(default)]
    pub(super) applies: Vec<Word>,
    pub(super) when: Vec<Word>,
    #[serde(default)]
    pub(super) any: Vec<Word>,
    pub(super) strength: Word,
    #[serde(default)]
    pub(super) validity: bool,
    #[serde(default)]
    pub(super) informational: bool,
    pub(super) explains: Option<Word>,
    #[serde(default)]
    pub(super) contradicts: Vec<String>,
    pub(super) why: Word,
    pub(super) change: Option<RawChange>,
    pub(super) verify: Word,
    pub(super) source: Vec<String>,
    pub(super) example: Spanned<RawExample>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawChange {
    pub(super) commands: Vec<Word>,
    #[serde(default)]
    pub(super) undo: Vec<Word>,
    pub(super) risk: Word,
    #[serde(default)]
    pub(super) side_effects: String,
}

/// The rule shown at work: facts with which it fires, and each one fact otherwise with which it does not.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExample {
    pub(super) fires: BTreeMap<String, RawValue>,
    pub(super) nearly: BTreeMap<String, RawValue>,
    pub(super) not: BTreeMap<String, RawValue>,
}

#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub(super) enum RawValue {
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
}
