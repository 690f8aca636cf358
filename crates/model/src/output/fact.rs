// SPDX-License-Identifier: MIT OR Apache-2.0
//! A fact: a named value with its unit and source.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Visitor};

use crate::fields::Fields;

use super::host::Role;

/// A named value of a test, a host or an interface; `null` where it holds for all of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Fact {
    /// Its name, as rules use it.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// `packets`, `bit/s`, `s`, `ratio` …; empty for text and yes or no.
    pub unit: String,
    /// Where it was read, or what it was computed from.
    pub source: String,
    /// The test.
    pub test_id: Option<String>,
    /// The host.
    pub host: Option<Role>,
    /// The interface.
    pub interface: Option<String>,
}

/// A number, a word, or yes and no.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// In the fact's unit.
    Number(f64),
    /// As the kernel or a tool writes it.
    Text(String),
}

impl Value {
    /// The number, if it is one.
    #[must_use]
    pub const fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Flag(_) | Self::Text(_) => None,
        }
    }
}

/// A derive for the untagged enum would buffer the value and try each variant.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(Any)
    }
}

struct Any;

impl Visitor<'_> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, true or false")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }
}

impl Default for Value {
    fn default() -> Self {
        Self::Number(0.0)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Formats whole numbers without a decimal point, others with four significant digits.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(true) => f.write_str("yes"),
            Self::Flag(false) => f.write_str("no"),
            Self::Text(text) => f.write_str(text),
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                write!(f, "{number:.0}")
            }
            Self::Number(number) => write!(f, "{}", significant(*number)),
        }
    }
}

fn significant(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    let digits = 3 - number.abs().log10().floor() as i32;
    if digits > 0 {
        let scale = 10_f64.powi(digits.min(300));
        (number * scale).round() / scale
    } else {
        number.round()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_a_person_writes_them() {
        for (value, text) in [
            (Value::from(71_828.0), "71828"),
            (Value::from(0.009_635_522), "0.009636"),
            (Value::from(941_482_115.3), "941482115"),
            (Value::from(true), "yes"),
            (Value::from("fec"), "fec"),
        ] {
            assert_eq!(value.to_string(), text);
        }
    }

    #[test]
    fn json_keeps_numbers_numbers() {
        for (value, json) in [
            (Value::from(1.5), "1.5"),
            (Value::from(false), "false"),
            (Value::from("x"), "\"x\""),
        ] {
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
            assert_eq!(serde_json::from_str::<Value>(json).unwrap(), value);
        }
        let whole = ["7", "-7"].map(|json| serde_json::from_str::<Value>(json).unwrap());
        assert_eq!(whole, [7.0, -7.0].map(Value::from));
        assert!(serde_json::from_str::<Value>("null").is_err());
    }
}
