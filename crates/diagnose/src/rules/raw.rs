// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file of rules as TOML has it, before its words are understood. Every word keeps its place.

use linerate_model::map::Map;
use linerate_model::output::Value;
use toml::Spanned;

pub(super) use linerate_knowledge::keys::Word;
use linerate_knowledge::toml_table;

toml_table! {
    RawFile {
        rule: Vec<RawRule> = or_default,
    }
}

toml_table! {
    RawRule {
        id: Word = need,
        cause: Word = need,
        title: Word = need,
        scope: Word = need,
        applies: Vec<Word> = or_default,
        when: Vec<Word> = need,
        any: Vec<Word> = or_default,
        strength: Word = need,
        validity: bool = or_default,
        informational: bool = or_default,
        fallback: bool = or_default,
        of_machine: bool = or_default,
        explains: Option<Word> = or_default,
        contradicts: Vec<String> = or_default,
        why: Word = need,
        change: Option<RawChange> = or_default,
        verify: Word = need,
        source: Vec<String> = need,
        example: Spanned<RawExample> = need,
    }
}

toml_table! {
    RawChange {
        commands: Vec<Word> = need,
        undo: Vec<Word> = or_default,
        risk: Word = need,
        side_effects: String = or_default,
        figure: Option<Word> = or_default,
        tradeoffs: Vec<Word> = or_default,
    }
}

toml_table! {
    /// The rule shown at work: facts with which it fires, and each one fact otherwise with which it does not.
    RawExample {
        fires: Map<String, Value> = need,
        nearly: Map<String, Value> = need,
        not: Map<String, Value> = need,
    }
}
