// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers, flags and strings as iperf3 versions write them: integers may come as `1e+10`, and a key of
//! the wrong JSON type counts as absent, as in stock servers since 3.18. One module per kind, for serde's `with`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

macro_rules! number_kinds {
    ($($kind:ident: $number:ty = $of:path, required $required:path;)*) => {$(
        pub(super) mod $kind {
            use super::*;

            pub(in crate::iperf3) fn deserialize<'de, D: Deserializer<'de>>(
                input: D,
            ) -> Result<Option<$number>, D::Error> {
                Value::deserialize(input).map(|value| $of(&value))
            }

            pub(in crate::iperf3) fn serialize<S: Serializer>(
                number: &Option<$number>,
                output: S,
            ) -> Result<S::Ok, S::Error> {
                number.serialize(output)
            }

            pub(in crate::iperf3) fn required<'de, D: Deserializer<'de>>(
                input: D,
            ) -> Result<$number, D::Error> {
                let value = Value::deserialize(input)?;
                $required(&value).ok_or_else(|| D::Error::custom("expected a number of another kind"))
            }
        }
    )*};
}

number_kinds! {
    unsigned: u64 = as_unsigned, required as_unsigned;
    signed: i64 = as_signed, required as_signed;
    float: f64 = Value::as_f64, required as_float;
}

/// Text.
pub(super) mod string {
    use super::*;

    pub(in crate::iperf3) fn deserialize<'de, D: Deserializer<'de>>(
        input: D,
    ) -> Result<Option<String>, D::Error> {
        Ok(match Value::deserialize(input)? {
            Value::String(text) => Some(text),
            _ => None,
        })
    }

    pub(in crate::iperf3) fn serialize<S: Serializer>(
        text: &Option<String>,
        output: S,
    ) -> Result<S::Ok, S::Error> {
        text.serialize(output)
    }
}

/// A flag that is written as `true`.
pub(super) mod flag {
    use super::*;

    pub(in crate::iperf3) fn deserialize<'de, D: Deserializer<'de>>(
        input: D,
    ) -> Result<bool, D::Error> {
        Value::deserialize(input).map(|value| value == Value::Bool(true))
    }

    pub(in crate::iperf3) fn serialize<S: Serializer>(
        set: &bool,
        output: S,
    ) -> Result<S::Ok, S::Error> {
        output.serialize_bool(*set)
    }
}

/// A flag that is written as 1, and read from any other number but 0 and from `true`.
pub(super) mod one {
    use super::*;

    pub(in crate::iperf3) fn deserialize<'de, D: Deserializer<'de>>(
        input: D,
    ) -> Result<bool, D::Error> {
        let value = Value::deserialize(input)?;
        Ok(value == Value::Bool(true) || as_signed(&value).is_some_and(|number| number != 0))
    }

    pub(in crate::iperf3) fn serialize<S: Serializer>(
        set: &bool,
        output: S,
    ) -> Result<S::Ok, S::Error> {
        output.serialize_u8(u8::from(*set))
    }
}

/// Returns a non-negative integer, written in any form.
fn as_unsigned(value: &Value) -> Option<u64> {
    value
        .as_u64()
        .or_else(|| value.as_f64().and_then(unsigned_from_float))
}

/// Returns an integer, written in any form. Some versions write -1 as 2^64 - 1 (3.12 in UDP results).
fn as_signed(value: &Value) -> Option<i64> {
    let wrapped = || value.as_u64().map(u64::cast_signed);
    let float = || value.as_f64().and_then(signed_from_float);
    value.as_i64().or_else(wrapped).or_else(float)
}

/// Returns a number; 0 for `null`, which stock builds print for infinities and NaN.
fn as_float(value: &Value) -> Option<f64> {
    value.as_f64().or(value.is_null().then_some(0.0))
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

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn both(text: &str) -> (Option<i64>, Option<u64>) {
        let value: Value = serde_json::from_str(text).unwrap();
        (as_signed(&value), as_unsigned(&value))
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
    fn anything_else_is_none() {
        for text in ["1e300", "-1e300", "\"1\"", "null", "true", "[]"] {
            assert_eq!(both(text), (None, None), "{text}");
        }
    }
}
