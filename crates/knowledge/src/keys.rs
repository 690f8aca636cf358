// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the tables of a TOML file key by key: each kind of table names its keys, any other key is a
//! mistake. All kinds share one tree, because a derived reader would add code for every kind of table.

use std::collections::BTreeMap;

use linerate_model::output::Value;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::mistake::Mistakes;

/// A word and its position.
pub type Word = Spanned<String>;

/// A TOML value and its position.
pub type Given<'t> = Spanned<DeValue<'t>>;

/// The first mistake.
#[derive(Debug)]
pub struct Wrong {
    /// The byte of the text.
    at: usize,
    wrong: String,
    allowed: String,
}

impl Wrong {
    pub fn note(self, mistakes: &mut Mistakes<'_>) {
        mistakes.at(self.at, self.wrong, &self.allowed);
    }

    /// Reports a value of another kind than the `allowed` one.
    pub fn kind(given: &Given<'_>, allowed: &str) -> Self {
        let is = match given.get_ref() {
            DeValue::String(text) => format!("string {text:?}"),
            DeValue::Integer(number) => format!("integer `{number}`"),
            DeValue::Float(number) => format!("floating point `{number}`"),
            DeValue::Boolean(flag) => format!("boolean `{flag}`"),
            DeValue::Datetime(_) => "a date or time".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        Self {
            at: given.span().start,
            wrong: format!("not the right kind of value: {is}"),
            allowed: allowed.to_owned(),
        }
    }
}

/// A type that a value of a file can be read as.
pub trait FromToml: Sized {
    /// # Errors
    /// The value is of another kind.
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong>;
}

/// Reads a whole file.
///
/// # Errors
/// It is not TOML, or not a `T`.
pub fn file<T: FromToml>(text: &str) -> Result<T, Wrong> {
    let table = DeTable::parse(text).map_err(|why| Wrong {
        at: why.span().map_or(0, |span| span.start),
        wrong: why.message().to_owned(),
        allowed: String::new(),
    })?;
    let (span, table) = (table.span(), table.into_inner());
    T::from_toml(Spanned::new(span, DeValue::Table(table)))
}

/// A table whose keys are taken one after the other.
pub struct Keys<'t> {
    at: usize,
    table: DeTable<'t>,
}

impl<'t> Keys<'t> {
    /// Reads a table that has only `known` keys.
    ///
    /// # Errors
    /// It is not a table, or has another key.
    pub fn of(given: Given<'t>, known: &[&str]) -> Result<Self, Wrong> {
        let (at, table) = table(given)?;
        let strange = table
            .keys()
            .filter(|key| !known.contains(&key.get_ref().as_ref()));
        match strange.min_by_key(|key| key.span().start) {
            None => Ok(Self { at, table }),
            Some(key) => Err(Wrong {
                at: key.span().start,
                wrong: format!("there is no key `{}`", key.get_ref()),
                allowed: quoted(known),
            }),
        }
    }

    /// Takes a required key.
    ///
    /// # Errors
    /// It is missing, or of another kind.
    pub fn need<T: FromToml>(&mut self, key: &str) -> Result<T, Wrong> {
        let given = self.table.remove(key).ok_or_else(|| Wrong {
            at: self.at,
            wrong: format!("the key `{key}` is missing"),
            allowed: String::new(),
        })?;
        T::from_toml(given)
    }

    /// Takes an optional key.
    ///
    /// # Errors
    /// It is of another kind.
    pub fn may<T: FromToml>(&mut self, key: &str) -> Result<Option<T>, Wrong> {
        self.table.remove(key).map(T::from_toml).transpose()
    }

    /// Takes a key that is empty or false by default.
    ///
    /// # Errors
    /// It is of another kind.
    pub fn or_none<T: FromToml + Default>(&mut self, key: &str) -> Result<T, Wrong> {
        Ok(self.may(key)?.unwrap_or_default())
    }
}

fn table(given: Given<'_>) -> Result<(usize, DeTable<'_>), Wrong> {
    let at = given.span().start;
    match given.get_ref() {
        DeValue::Table(_) => {}
        _ => return Err(Wrong::kind(&given, "a table")),
    }
    match given.into_inner() {
        DeValue::Table(table) => Ok((at, table)),
        _ => Ok((at, DeTable::new())),
    }
}

fn quoted(known: &[&str]) -> String {
    let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
    known.join(", ")
}

impl<T: FromToml> FromToml for Spanned<T> {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let span = given.span();
        Ok(Self::new(span, T::from_toml(given)?))
    }
}

impl<T: FromToml> FromToml for Vec<T> {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        match given.get_ref() {
            DeValue::Array(_) => {}
            _ => return Err(Wrong::kind(&given, "a list: [\"…\"]")),
        }
        match given.into_inner() {
            DeValue::Array(list) => list.into_iter().map(T::from_toml).collect(),
            _ => Ok(Self::new()),
        }
    }
}

impl<T: FromToml> FromToml for BTreeMap<String, T> {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut all = Self::new();
        for (key, value) in table(given)?.1 {
            all.insert(DeString::into_owned(key.into_inner()), T::from_toml(value)?);
        }
        Ok(all)
    }
}

impl FromToml for String {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        match given.get_ref() {
            DeValue::String(text) => Ok(text.clone().into_owned()),
            _ => Err(Wrong::kind(&given, "a string")),
        }
    }
}

impl FromToml for bool {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        match given.get_ref() {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(Wrong::kind(&given, "true or false")),
        }
    }
}

impl FromToml for f64 {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let number = match given.get_ref() {
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => whole(&given).map(|number| number as Self),
        };
        number.ok_or_else(|| Wrong::kind(&given, "a number"))
    }
}

impl FromToml for u64 {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let number = whole(&given).and_then(|number| number.try_into().ok());
        number.ok_or_else(|| Wrong::kind(&given, "a whole number, not below 0"))
    }
}

impl FromToml for u32 {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let number = whole(&given).and_then(|number| number.try_into().ok());
        number.ok_or_else(|| Wrong::kind(&given, "a whole number of 32 bits"))
    }
}

impl FromToml for u8 {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let number = whole(&given).and_then(|number| number.try_into().ok());
        number.ok_or_else(|| Wrong::kind(&given, "a whole number of 8 bits"))
    }
}

impl FromToml for Value {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        match given.get_ref() {
            DeValue::Boolean(flag) => Ok(Self::Flag(*flag)),
            DeValue::String(text) => Ok(Self::from(text.as_ref())),
            _ => f64::from_toml(given).map(Self::Number),
        }
    }
}

/// TOML's integers are of 64 bits with a sign.
fn whole(given: &Given<'_>) -> Option<i64> {
    match given.get_ref() {
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    }
}
