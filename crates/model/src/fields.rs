// SPDX-License-Identifier: MIT OR Apache-2.0
//! Structs of which a document gives some fields: what it lacks keeps its default, what the struct lacks is skipped.
//!
//! `#[derive(Fields)]` reads such a struct, with a call for each field, where `#[derive(Deserialize)]` with
//! `#[serde(default)]` compiles a hundred instructions.
//!
//! ```
//! use linerate_model::fields::Fields;
//! #[derive(Debug, Default, PartialEq, Fields)]
//! struct Mark { line: u32, #[serde(rename = "try")] try_: Option<String> }
//! let mark: Mark = serde_json::from_str(r#"{"try": "again", "novel": [1]}"#)?;
//! assert_eq!(mark, Mark { line: 0, try_: Some("again".to_owned()) });
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::fmt;

pub use linerate_fields::Fields;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A struct whose fields are read one by one. Derived.
pub trait Fields: Default {
    /// The number of the field that a document calls `name`.
    fn number(name: &str) -> Option<usize>;

    /// Reads the value of this field; skips that of a number that no field has.
    ///
    /// # Errors
    /// The value is not of its type.
    fn fill<'de, A: MapAccess<'de>>(
        &mut self,
        number: usize,
        entries: &mut A,
    ) -> Result<(), A::Error>;
}

/// Reads a struct.
///
/// # Errors
/// The document is no map, has a field twice, or one of another type.
pub fn read<'de, T: Fields, D: Deserializer<'de>>(reader: D) -> Result<T, D::Error> {
    let mut value = T::default();
    reader.deserialize_map(Filled(&mut value))?;
    Ok(value)
}

/// Reads the value of an entry to its place.
///
/// # Errors
/// It is of another type.
pub fn value<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    place: &mut T,
    entries: &mut A,
) -> Result<(), A::Error> {
    *place = entries.next_value()?;
    Ok(())
}

/// Skips the value of an entry.
///
/// # Errors
/// The document is malformed.
pub fn skipped<'de, A: MapAccess<'de>>(entries: &mut A) -> Result<(), A::Error> {
    entries.next_value::<IgnoredAny>().map(|_| ())
}

/// The place of a name among others, each after a byte with its length: a sixteenth of what a list of texts would add.
#[must_use]
pub fn position(mut names: &[u8], name: &str) -> Option<usize> {
    let mut place = 0;
    while let Some((length, rest)) = names.split_first() {
        let (one, others) = rest.split_at_checked(usize::from(*length))?;
        if one == name.as_bytes() {
            return Some(place);
        }
        (names, place) = (others, place + 1);
    }
    None
}

struct Filled<'v, T>(&'v mut T);

impl<'de, T: Fields> Visitor<'de> for Filled<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut seen = 0;
        while let Some(number) = entries.next_key_seed(Key(T::number, &mut seen))? {
            self.0.fill(number, &mut entries)?;
        }
        Ok(())
    }
}

/// Reads a name; its value is the number of the field, or one that no field has.
struct Key<'s>(fn(&str) -> Option<usize>, &'s mut u128);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<usize, D::Error> {
        reader.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        let Self(number, seen) = self;
        let Some(number) = number(name) else {
            return Ok(usize::MAX);
        };
        // No struct here has more fields than bits; one with more could not tell its last ones.
        let bit = u32::try_from(number)
            .ok()
            .and_then(|one| 1_u128.checked_shl(one))
            .unwrap_or(0);
        if *seen & bit != 0 {
            return Err(E::custom(format_args!("duplicate field `{name}`")));
        }
        *seen |= bit;
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::Fields;

    #[derive(Debug, Default, PartialEq, Serialize, Fields)]
    struct Whole {
        r#type: String,
        pairs: Vec<(u64, u64)>,
        #[serde(flatten)]
        part: Part,
        #[serde(skip)]
        unread: Option<u8>,
    }

    #[derive(Debug, Default, PartialEq, Serialize, Fields)]
    struct Part {
        #[serde(rename = "try")]
        try_: Option<String>,
        last: u8,
    }

    #[test]
    fn what_is_written_is_read() {
        let whole = Whole {
            r#type: "a".to_owned(),
            pairs: vec![(1, 2), (3, 4)],
            part: Part {
                try_: Some("b".to_owned()),
                last: 7,
            },
            unread: None,
        };
        let text = serde_json::to_string(&whole).unwrap();
        assert_eq!(
            text,
            r#"{"type":"a","pairs":[[1,2],[3,4]],"try":"b","last":7}"#
        );
        assert_eq!(serde_json::from_str::<Whole>(&text).unwrap(), whole);
    }

    #[test]
    fn what_is_absent_has_its_default_and_what_is_unknown_is_skipped() {
        let read = |text: &str| serde_json::from_str::<Whole>(text);
        assert_eq!(read("{}").unwrap(), Whole::default());
        let novel = read(r#"{"novel":{"last":1},"unread":3,"part":[],"last":2}"#).unwrap();
        assert_eq!((novel.part.last, novel.unread), (2, None));
    }

    #[test]
    fn another_type_and_a_second_value_are_refused() {
        let refused = |text: &str| serde_json::from_str::<Whole>(text).unwrap_err().to_string();
        assert!(refused(r#"{"last":"7"}"#).contains("expected u8"));
        assert!(refused(r#"{"last":1,"last":2}"#).contains("duplicate field `last`"));
        assert!(refused("[]").contains("expected a map"));
    }
}
