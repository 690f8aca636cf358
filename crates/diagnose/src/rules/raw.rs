// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file of rules as TOML has it, before its words are understood. Every word keeps its place.

use std::collections::BTreeMap;

use linerate_model::output::Value;
use toml::Spanned;

pub(super) use linerate_knowledge::keys::Word;
use linerate_knowledge::keys::{FromToml, Given, Keys, Wrong};

pub(super) struct RawFile {
    pub(super) rule: Vec<RawRule>,
}

impl FromToml for RawFile {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut keys = Keys::of(given, &["rule"])?;
        Ok(Self {
            rule: keys.or_none("rule")?,
        })
    }
}

pub(super) struct RawRule {
    pub(super) id: Word,
    pub(super) cause: Word,
    pub(super) title: Word,
    pub(super) scope: Word,
    pub(super) applies: Vec<Word>,
    pub(super) when: Vec<Word>,
    pub(super) any: Vec<Word>,
    pub(super) strength: Word,
    pub(super) validity: bool,
    pub(super) informational: bool,
    pub(super) explains: Option<Word>,
    pub(super) contradicts: Vec<String>,
    pub(super) why: Word,
    pub(super) change: Option<RawChange>,
    pub(super) verify: Word,
    pub(super) source: Vec<String>,
    pub(super) example: Spanned<RawExample>,
}

impl FromToml for RawRule {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut keys = Keys::of(
            given,
            &[
                "id",
                "cause",
                "title",
                "scope",
                "applies",
                "when",
                "any",
                "strength",
                "validity",
                "informational",
                "explains",
                "contradicts",
                "why",
                "change",
                "verify",
                "source",
                "example",
            ],
        )?;
        Ok(Self {
            id: keys.need("id")?,
            cause: keys.need("cause")?,
            title: keys.need("title")?,
            scope: keys.need("scope")?,
            applies: keys.or_none("applies")?,
            when: keys.need("when")?,
            any: keys.or_none("any")?,
            strength: keys.need("strength")?,
            validity: keys.or_none("validity")?,
            informational: keys.or_none("informational")?,
            explains: keys.may("explains")?,
            contradicts: keys.or_none("contradicts")?,
            why: keys.need("why")?,
            change: keys.may("change")?,
            verify: keys.need("verify")?,
            source: keys.need("source")?,
            example: keys.need("example")?,
        })
    }
}

pub(super) struct RawChange {
    pub(super) commands: Vec<Word>,
    pub(super) undo: Vec<Word>,
    pub(super) risk: Word,
    pub(super) side_effects: String,
}

impl FromToml for RawChange {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut keys = Keys::of(given, &["commands", "undo", "risk", "side_effects"])?;
        Ok(Self {
            commands: keys.need("commands")?,
            undo: keys.or_none("undo")?,
            risk: keys.need("risk")?,
            side_effects: keys.or_none("side_effects")?,
        })
    }
}

/// The rule shown at work: facts with which it fires, and each one fact otherwise with which it does not.
pub(super) struct RawExample {
    pub(super) fires: BTreeMap<String, Value>,
    pub(super) nearly: BTreeMap<String, Value>,
    pub(super) not: BTreeMap<String, Value>,
}

impl FromToml for RawExample {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut keys = Keys::of(given, &["fires", "nearly", "not"])?;
        Ok(Self {
            fires: keys.need("fires")?,
            nearly: keys.need("nearly")?,
            not: keys.need("not")?,
        })
    }
}
