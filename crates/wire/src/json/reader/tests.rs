// SPDX-License-Identifier: MIT OR Apache-2.0
use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use crate::json::{Raw, text};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Plain,
    One(u8),
    Pair(u8, String),
    Named { first: Option<i64> },
}

#[derive(Debug, PartialEq, Deserialize)]
struct Whole {
    kinds: Vec<Kind>,
    map: BTreeMap<String, f64>,
    unit: (),
    letter: char,
}

/// Each text is read, or refused, as serde_json does it.
fn same<'de, T: Deserialize<'de> + PartialEq + std::fmt::Debug>(json: &'de str) -> bool {
    let (ours, theirs) = (text::<T>(json), serde_json::from_str::<T>(json));
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{json}"),
        (Err(_), Err(_)) => return false,
        (ours, theirs) => panic!("{json}: {ours:?}, not {theirs:?}"),
    }
    true
}

#[test]
fn values_are_read_as_serde_json_reads_them() {
    for json in [
        "0",
        "-0",
        "7",
        "-7",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "1.5",
        "-1e3",
        "1E+2",
        "1e-400",
        "123456789012345678901234567890",
        " [ ] ",
        "{}",
        "[1,[2,{\"a\":[]}]]",
        "null",
        "true",
        "false",
        r#""a\"\\\/\b\f\n\r\té𝄞é""#,
        "\"é\u{1d11e}\"",
        "{\"a\":1,\"b\":{\"c\":null}}",
    ] {
        assert!(same::<Value>(json), "{json}");
    }
}

#[test]
fn malformed_text_is_refused_as_serde_json_refuses_it() {
    for json in [
        "",
        " ",
        "nul",
        "tru",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "+1",
        "1e999",
        "[1,]",
        "[1 2]",
        "[,1]",
        "[",
        "[1",
        "{\"a\"}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\":1 \"b\":2}",
        "{1:2}",
        "\"",
        "\"a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\ud800\\n\"",
        "\"\\udc00\"",
        "\"\\ud800\\ud800\"",
        "\"\\u+123\"",
        "\"\n\"",
        "1 2",
        "{} x",
        "]",
        "[}",
        "{]",
    ] {
        assert!(!same::<Value>(json), "{json}");
        assert!(text::<Raw>(json).is_err() || json.contains("\\u"), "{json}");
    }
}

#[test]
fn nesting_has_the_limit_of_serde_json() {
    for depth in [127, 128] {
        let json = "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(same::<Value>(&json), depth == 127);
    }
}

#[test]
fn types_are_read_and_refused_as_serde_json_does_it() {
    let whole = |kinds: &str| {
        format!(
            r#"{{"kinds":[{kinds}],"novel":{{"x":[1,"\n",{{}}]}},"map":{{"a\tb":1}},"unit":null,"letter":"\u00e9"}}"#
        )
    };
    for good in [
        "",
        "\"plain\"",
        r#"{"plain":null}"#,
        r#"{"one":1}"#,
        r#"{"pair":[1,"x"]}"#,
        r#"{"named":{"first":-1}}"#,
        r#"{"named":{}}"#,
    ] {
        assert!(same::<Whole>(&whole(good)), "{good}");
    }
    for bad in [
        "\"other\"",
        "\"one\"",
        "\"named\"",
        r#"{"plain":1}"#,
        r#"{"one":"1"}"#,
        r#"{"one":300}"#,
        r#"{"pair":[1]}"#,
        r#"{"pair":[1,"x",2]}"#,
        r#"{"named":{"first":1.5}}"#,
        r#"{"one":1,"pair":2}"#,
        "{}",
        "3",
        "null",
    ] {
        assert!(!same::<Whole>(&whole(bad)), "{bad}");
    }
}

#[test]
fn an_error_says_what_and_where() {
    let said = |json: &str| text::<BTreeMap<String, u8>>(json).unwrap_err();
    let error = said("{\n \"a\": \"x\"}");
    assert_eq!((error.line(), error.column()), (2, 9));
    assert_eq!(
        error.to_string(),
        "invalid type: string \"x\", expected u8 at line 2 column 9"
    );
    assert!(
        said("{\"a\":256}")
            .to_string()
            .starts_with("invalid value: integer `256`, expected u8 at line 1")
    );
    assert!(
        said("{\"a\":-1e3}")
            .to_string()
            .starts_with("invalid type: floating point `-1000.0`, expected u8")
    );
    assert!(
        said("[]")
            .to_string()
            .starts_with("invalid type: sequence, expected a map")
    );
    assert!(said("{\"a\":1").to_string().contains("ends"));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map(".*", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_serde_json_writes_is_read(value in any_value()) {
        for json in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            prop_assert_eq!(&text::<Value>(&json).unwrap(), &value);
            let raw: Raw = text(&json).unwrap();
            prop_assert_eq!(&raw.read::<Value>().unwrap(), &value);
        }
    }

    #[test]
    fn any_change_of_a_text_ends_alike(value in any_value(), at in 0.0_f64..1.0, byte in "[\\[\\]{}\",:\\\\0-9eEu.+ nt-]") {
        let json = value.to_string();
        let at = (json.len() as f64 * at) as usize;
        if json.is_char_boundary(at) {
            let changed = format!("{}{byte}{}", &json[..at], &json[at..]);
            // serde_json rounds a few decimals otherwise, so only whether they are read is compared.
            prop_assert_eq!(text::<Value>(&changed).is_ok(), serde_json::from_str::<Value>(&changed).is_ok(), "{}", changed);
        }
    }
}
