// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON by one way: text. A type that is also read from or written to a [`Value`] itself would be in
//! the program twice.

mod named;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::{Error, Value};

use named::Named;

/// Reads a document.
///
/// # Errors
/// It is no text, no JSON, or of another shape.
pub fn read<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, Error> {
    text(std::str::from_utf8(json).map_err(Error::custom)?)
}

/// Reads a document that is known to be text.
///
/// # Errors
/// It is no JSON, or of another shape.
pub fn text<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, Error> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let read = T::deserialize(Named(&mut reader))?;
    reader.end()?;
    Ok(read)
}

/// Reads what is in a value.
///
/// # Errors
/// It is of another shape.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    text(&value.to_string())
}

/// As a value.
///
/// # Errors
/// It has keys that are no strings.
pub fn to_value(of: &impl Serialize) -> Result<Value, Error> {
    text(&serde_json::to_string(of)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_by_each_way() {
        let told = (Some(0.1_f64), u64::MAX, "a\"\n\u{1f600}".to_owned());
        let value = to_value(&told).unwrap();
        assert_eq!(value, serde_json::to_value(&told).unwrap());
        assert_eq!(
            from_value::<(Option<f64>, u64, String)>(&value).unwrap(),
            told
        );
        let text = serde_json::to_vec(&value).unwrap();
        assert_eq!(read::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let refused = read::<Value>(b"\"\xff\"").unwrap_err();
        assert!(refused.is_data(), "{refused}");
        assert!(read::<Value>(b"{\"a\":").unwrap_err().is_eof());
    }
}
