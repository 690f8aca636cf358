// SPDX-License-Identifier: MIT OR Apache-2.0
//! Indents compact JSON by two blanks a level, a line an entry, as serde_json's pretty writer does;
//! with that, every type would be in the program once more.

/// Gives `compact`, which is JSON without any space between its words, to `out`, piece by piece, for people. A line end is a
/// piece of its own.
pub(super) fn indent(compact: &str, out: &mut dyn FnMut(&str)) {
    let (mut rest, mut depth) = (compact, 0_usize);
    while !rest.is_empty() {
        let (word, after) = rest.split_at(word(rest.as_bytes()));
        match word {
            "{" | "[" => {
                depth += 1;
                out(word);
                line(depth, out);
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                line(depth, out);
                out(word);
            }
            "," => {
                out(word);
                line(depth, out);
            }
            ":" => out(": "),
            _ => out(word),
        }
        rest = after;
    }
}

/// Length of the first word: a string, a number, a name, a sign, or the two signs of an object or array without an entry.
fn word(text: &[u8]) -> usize {
    match text {
        [b'{', b'}', ..] | [b'[', b']', ..] => 2,
        [b'"', rest @ ..] => 1 + string(rest),
        [first, ..] if is_sign(*first) => 1,
        _ => text
            .iter()
            .position(|byte| is_sign(*byte))
            .unwrap_or(text.len()),
    }
}

/// Length of what follows the quotation mark that begins a string, to that which ends it.
fn string(text: &[u8]) -> usize {
    let mut escaped = false;
    let end = text.iter().position(|byte| match byte {
        _ if std::mem::take(&mut escaped) => false,
        b'\\' => {
            escaped = true;
            false
        }
        byte => *byte == b'"',
    });
    end.map_or(text.len(), |end| end + 1)
}

fn is_sign(byte: u8) -> bool {
    matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"')
}

fn line(depth: usize, out: &mut dyn FnMut(&str)) {
    out("\n");
    let mut left = 2 * depth;
    while left > 0 {
        let blanks = left.min(BLANKS.len());
        out(&BLANKS[..blanks]);
        left -= blanks;
    }
}

const BLANKS: &str = "                ";

#[cfg(test)]
mod tests {
    use super::indent;
    use proptest::prelude::*;
    use serde_json::Value;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[\\\\\"{}\\[\\]:, \\n]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[\\\\\"{}:, a]{0,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_what_serde_json_writes(value in any_value()) {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let mut indented = String::new();
            indent(&value.to_string(), &mut |piece| indented.push_str(piece));
            prop_assert_eq!(indented, pretty);
        }
    }
}
