// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the tables of a TOML file key by key: each kind of table names its keys, any other key is a
//! mistake. All kinds share one tree, because a derived reader would add code for every kind of table.

use linerate_model::map::Map;
use linerate_model::output::Value;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::mistake::{Mistake, Mistakes};

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
    /// Reports a value of another kind than the `allowed` one.
    pub fn kind(at: usize, value: &DeValue<'_>, allowed: &str) -> Self {
        let is = match value {
            DeValue::String(text) => format!("string {text:?}"),
            DeValue::Integer(number) => format!("integer `{number}`"),
            DeValue::Float(number) => format!("floating point `{number}`"),
            DeValue::Boolean(flag) => format!("boolean `{flag}`"),
            DeValue::Datetime(_) => "a date or time".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        Self {
            at,
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

/// Reads the file `file` as an `R`, which `understand` turns into a `T`.
///
/// # Errors
/// Every mistake found, in the order of the checks. TOML's own stop at the first.
pub fn read<R: FromToml, T>(
    file: &str,
    text: &str,
    understand: impl FnOnce(&R, &mut Mistakes<'_>) -> T,
) -> Result<T, Vec<Mistake>> {
    let mut mistakes = Mistakes::new(file, text);
    let understood = match parse(text) {
        Ok(raw) => Some(understand(&raw, &mut mistakes)),
        Err(Wrong { at, wrong, allowed }) => {
            mistakes.at(at, wrong, &allowed);
            None
        }
    };
    let found = mistakes.into_found();
    understood.filter(|_| found.is_empty()).ok_or(found)
}

fn parse<R: FromToml>(text: &str) -> Result<R, Wrong> {
    let table = DeTable::parse(text).map_err(|why| Wrong {
        at: why.span().map_or(0, |span| span.start),
        wrong: why.message().to_owned(),
        allowed: String::new(),
    })?;
    let (span, table) = (table.span(), table.into_inner());
    R::from_toml(Spanned::new(span, DeValue::Table(table)))
}

/// A kind of table: its keys, each with its type and whether it is needed (`need`) or empty by default (`or_default`).
#[macro_export]
macro_rules! toml_table {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $key:ident: $kind:ty = $take:ident,)+ }) => {
        $(#[$doc])*
        pub(super) struct $name { $($(#[$about])* pub(super) $key: $kind,)+ }

        impl $crate::keys::FromToml for $name {
            fn from_toml(given: $crate::keys::Given<'_>) -> Result<Self, $crate::keys::Wrong> {
                let mut keys = $crate::keys::Keys::of(given, &[$(stringify!($key)),+])?;
                Ok(Self { $($key: keys.$take(stringify!($key))?,)+ })
            }
        }
    };
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

    /// Takes a key that is absent, empty or false by default.
    ///
    /// # Errors
    /// It is of another kind.
    pub fn or_default<T: FromToml + Default>(&mut self, key: &str) -> Result<T, Wrong> {
        let given = self.table.remove(key);
        given.map_or_else(|| Ok(T::default()), T::from_toml)
    }
}

fn table(given: Given<'_>) -> Result<(usize, DeTable<'_>), Wrong> {
    let at = given.span().start;
    match given.into_inner() {
        DeValue::Table(table) => Ok((at, table)),
        other => Err(Wrong::kind(at, &other, "a table")),
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

impl<T: FromToml> FromToml for Option<T> {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        T::from_toml(given).map(Some)
    }
}

impl<T: FromToml> FromToml for Vec<T> {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let at = given.span().start;
        match given.into_inner() {
            DeValue::Array(list) => list.into_iter().map(T::from_toml).collect(),
            other => Err(Wrong::kind(at, &other, "a list: [\"…\"]")),
        }
    }
}

impl<T: FromToml> FromToml for Map<String, T> {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        let mut all = Self::new();
        for (key, value) in table(given)?.1 {
            all.insert(DeString::into_owned(key.into_inner()), T::from_toml(value)?);
        }
        Ok(all)
    }
}

/// Reads a value that `understand` takes, or reports what is `allowed`.
fn scalar<T>(
    given: &Given<'_>,
    allowed: &str,
    understand: impl FnOnce(&DeValue<'_>) -> Option<T>,
) -> Result<T, Wrong> {
    let value = given.get_ref();
    understand(value).ok_or_else(|| Wrong::kind(given.span().start, value, allowed))
}

impl FromToml for String {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        scalar(&given, "a string", |value| {
            value.as_str().map(str::to_owned)
        })
    }
}

impl FromToml for bool {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        scalar(&given, "true or false", |value| value.as_bool())
    }
}

impl FromToml for f64 {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        scalar(&given, "a number", |value| match value {
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => whole(value).map(|number| number as Self),
        })
    }
}

impl FromToml for u64 {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        integer(&given, "a whole number, not below 0")
    }
}

impl FromToml for u32 {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        integer(&given, "a whole number of 32 bits")
    }
}

impl FromToml for u8 {
    fn from_toml(given: Given<'_>) -> Result<Self, Wrong> {
        integer(&given, "a whole number of 8 bits")
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

fn integer<T: TryFrom<i64>>(given: &Given<'_>, allowed: &str) -> Result<T, Wrong> {
    scalar(given, allowed, |value| whole(value)?.try_into().ok())
}

/// TOML's integers are of 64 bits with a sign.
fn whole(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}
