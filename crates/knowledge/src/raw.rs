// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file as TOML, before its words are parsed. Every word keeps its position.

pub(super) use crate::keys::Word;
use crate::toml_table;

toml_table! {
    RawDriver {
        driver: Word = need,
        also: Vec<String> = or_default,
        hardware: String = need,
        kernel: Word = need,
        counter: Vec<RawCounter> = or_default,
        blind: Vec<RawBlind> = or_default,
    }
}

toml_table! {
    /// What a number of counters of one list have in common.
    RawCounter {
        group: Word = need,
        names: Vec<Word> = need,
        stage: Word = need,
        counts: Word = need,
        unit: Word = need,
        width: Word = need,
        reset: Option<Word> = or_default,
        refresh_ms: Option<u32> = or_default,
        shared: bool = or_default,
        alias: Vec<Word> = or_default,
        means: Option<String> = or_default,
        source: Vec<Word> = need,
    }
}

toml_table! {
    RawBlind {
        group: Word = need,
        names: Vec<Word> = need,
        source: Vec<Word> = need,
    }
}
