// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads JSON from text, and carries documents as text until their type is known.

mod reader;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::Error;
use serde_json::value::RawValue;

use reader::Reader;

/// Reads a document.
///
/// # Errors
/// The bytes are not UTF-8, not JSON, or not of this type.
pub fn read<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, Error> {
    text(std::str::from_utf8(json).map_err(Error::custom)?)
}

/// Reads a document that is known to be text.
///
/// # Errors
/// The text is not JSON, or not of this type.
pub fn text<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, Error> {
    let mut reader = Reader::new(json);
    let read = T::deserialize(&mut reader).map_err(|error| reader.placed(error))?;
    reader.end()?;
    Ok(read)
}

/// A document of a type that this crate does not know, as text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Raw(Box<RawValue>);

impl Raw {
    /// Writes a document.
    ///
    /// # Errors
    /// The value has a map whose keys are not strings.
    pub fn of(value: &impl Serialize) -> Result<Self, Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Reads the document as a type.
    ///
    /// # Errors
    /// It is not of this type.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        text(self.0.get())
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_raw_document_reads_back_as_it_was() {
        let written = (Some(0.1_f64), u64::MAX, "a\"\n\u{1f600}".to_owned());
        let raw = Raw::of(&written).unwrap();
        assert_eq!(raw.read::<(Option<f64>, u64, String)>().unwrap(), written);
        assert_eq!(raw.read::<Value>().unwrap(), json!(written));
        let carried = read::<Raw>(serde_json::to_string(&raw).unwrap().as_bytes());
        assert_eq!(carried.unwrap(), raw);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let refused = read::<Value>(b"\"\xff\"").unwrap_err();
        assert!(refused.is_data(), "{refused}");
        let ended = read::<Value>(b"{\"a\":").unwrap_err().to_string();
        assert!(ended.contains("ends in the middle"), "{ended}");
        for wrong in ["{]", "{} {}", ""] {
            assert!(text::<Raw>(wrong).is_err(), "{wrong}");
        }
    }
}
