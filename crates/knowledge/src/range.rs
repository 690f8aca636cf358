// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of settings, queues and windows that are outside their normal range.

use std::sync::LazyLock;

use linerate_model::output::Value;

use super::raw::Word;
use crate::keys;
use crate::mistake::Mistake;
use crate::packed;
use crate::sign::{FieldTest, sourced, test_of};
use crate::toml_table;

/// A field, and when its value is abnormal.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// Tool and field as printed, or `fact NAME`.
    pub field: String,
    /// Passes where the value is abnormal.
    pub abnormal: FieldTest,
    /// What such a value says.
    pub means: String,
    /// Where the range is from.
    pub sources: Vec<String>,
}

static RANGES: LazyLock<Vec<Range>> = LazyLock::new(|| {
    let files = packed::RANGES.unpack();
    let parsed = files.iter().map(|(file, text)| parse_ranges(file, text));
    parsed.filter_map(Result::ok).flatten().collect()
});

/// The ranges that the program knows.
#[must_use]
pub fn ranges() -> &'static [Range] {
    &RANGES
}

/// Reads the ranges `text` of the file `file`.
///
/// # Errors
/// Every mistake found. TOML's own stop at the first.
pub fn parse_ranges(file: &str, text: &str) -> Result<Vec<Range>, Vec<Mistake>> {
    keys::read(file, text, |raw: &RawFile, mistakes| {
        let each = raw.range.iter().filter_map(|one| {
            let at = one.field.span().start;
            let field = one.field.get_ref().clone();
            let words = (one.is.as_ref(), one.isnt.as_ref(), one.has.as_ref());
            let numbers = (one.above, one.below);
            Some(Range {
                abnormal: test_of(&field, at, words, numbers, mistakes)?,
                field,
                means: one.means.clone(),
                sources: sourced(&one.source, at, mistakes),
            })
        });
        each.collect()
    })
}

toml_table! {
    RawFile {
        range: Vec<RawRange> = or_default,
    }
}

toml_table! {
    RawRange {
        field: Word = need,
        is: Option<Value> = or_default,
        isnt: Option<Value> = or_default,
        has: Option<String> = or_default,
        above: Option<f64> = or_default,
        below: Option<f64> = or_default,
        means: String = need,
        source: Vec<Word> = need,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_duplex_is_abnormal() {
        let duplex = ranges().iter().find(|one| one.field == "ethtool Duplex");
        let abnormal = |value| duplex.and_then(|one| one.abnormal.passes(value));
        assert_eq!(abnormal("Half"), Some(true));
        assert_eq!(abnormal("Full"), Some(false));
    }

    #[test]
    fn a_range_needs_one_comparison_and_a_source() {
        let none = "[[range]]\nfield = \"ethtool Duplex\"\nmeans = \"x\"\nsource = []\n";
        assert!(parse_ranges("r.toml", none).is_err());
        let both = none.replace("means", "is = \"Half\"\nabove = 3\nmeans");
        assert!(parse_ranges("r.toml", &both).is_err());
    }
}
