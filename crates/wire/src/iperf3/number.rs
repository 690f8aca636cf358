// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers, flags and strings as iperf3 versions write them: integers may come as `1e+10`, and a key of
//! the wrong JSON type counts as absent (as stock servers since 3.18 do).

use serde::{Deserialize, Deserializer, Serializer};
use serde_json::Value;

/// A non-negative integer, written in any form; `None` if it is none.
pub(super) fn unsigned(value: &Value) -> Option<u64> {
    value
        .as_u64()
        .or_else(|| value.as_f64().and_then(unsigned_from_float))
}

/// An integer, written in any form; `None` if it is none. Some versions write -1 as 2^64 - 1 (3.12 in UDP results).
pub(super) fn signed(value: &Value) -> Option<i64> {
    let wrapped = || value.as_u64().map(u64::cast_signed);
    let float = || value.as_f64().and_then(signed_from_float);
    value.as_i64().or_else(wrapped).or_else(float)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range was checked"
)]
fn unsigned_from_float(number: f64) -> Option<u64> {
    (0.0..TWO_TO_64).contains(&number).then_some(number as u64)
}

#[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
fn signed_from_float(number: f64) -> Option<i64> {
    match number.abs() {
        ..TWO_TO_63 => Some(number as i64),
        TWO_TO_64 if number > 0.0 => Some(-1),
        _ => None,
    }
}

pub(super) fn optional_unsigned<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<u64>, D::Error> {
    Value::deserialize(input).map(|value| unsigned(&value))
}

pub(super) fn optional_signed<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<i64>, D::Error> {
    Value::deserialize(input).map(|value| signed(&value))
}

pub(super) fn optional_float<'de, D: Deserializer<'de>>(input: D) -> Result<Option<f64>, D::Error> {
    Value::deserialize(input).map(|value| value.as_f64())
}

pub(super) fn optional_string<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<String>, D::Error> {
    Value::deserialize(input).map(|value| match value {
        Value::String(text) => Some(text),
        _ => None,
    })
}

/// A flag given as `true`.
pub(super) fn truth<'de, D: Deserializer<'de>>(input: D) -> Result<bool, D::Error> {
    Value::deserialize(input).map(|value| value == Value::Bool(true))
}

/// A flag given as the number 1 (or, generously, as `true`).
pub(super) fn one_is_truth<'de, D: Deserializer<'de>>(input: D) -> Result<bool, D::Error> {
    let value = Value::deserialize(input)?;
    Ok(value == Value::Bool(true) || signed(&value).is_some_and(|number| number != 0))
}

pub(super) fn as_one<S: Serializer>(_set: &bool, output: S) -> Result<S::Ok, S::Error> {
    output.serialize_u8(1)
}

/// A required integer.
pub(super) fn required_signed<'de, D: Deserializer<'de>>(input: D) -> Result<i64, D::Error> {
    let value = Value::deserialize(input)?;
    signed(&value).ok_or_else(|| serde::de::Error::custom("expected an integer"))
}

/// A required count.
pub(super) fn required_unsigned<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(input)?;
    unsigned(&value).ok_or_else(|| serde::de::Error::custom("expected a non-negative integer"))
}

/// A required float; `null`, as stock builds print what is not finite, is 0.
pub(super) fn required_float<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    match Value::deserialize(input)? {
        Value::Null => Ok(0.0),
        value => value
            .as_f64()
            .ok_or_else(|| serde::de::Error::custom("expected a number")),
    }
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn both(text: &str) -> (Option<i64>, Option<u64>) {
        let value: Value = serde_json::from_str(text).unwrap();
        (signed(&value), unsigned(&value))
    }

    #[test]
    fn every_form_of_an_integer_is_read() {
        assert_eq!(both("7"), (Some(7), Some(7)));
        assert_eq!(both("-7"), (Some(-7), None));
        assert_eq!(both("1e+10"), (Some(10_000_000_000), Some(10_000_000_000)));
        assert_eq!(both("-1.0"), (Some(-1), None));
        assert_eq!(both("18446744073709551615"), (Some(-1), Some(u64::MAX)));
        assert_eq!(both("1.8446744073709552e+19"), (Some(-1), None));
    }

    #[test]
    fn what_is_no_integer_is_none() {
        for text in ["1e300", "-1e300", "\"1\"", "null", "true", "[]"] {
            assert_eq!(both(text), (None, None), "{text}");
        }
    }
}
