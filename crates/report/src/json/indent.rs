// SPDX-License-Identifier: MIT OR Apache-2.0
//! Indents compact JSON by two blanks a level, a line an entry, as serde_json's pretty writer does;
//! with that, every type would be in the program once more.

/// Gives `compact`, which is JSON without any space between its words, to `out`, letter by letter, for people.
pub(super) fn indent(compact: &str, out: &mut dyn FnMut(char)) {
    let mut text = Indented {
        out,
        depth: 0,
        string: None,
        empty: false,
    };
    let mut rest = compact.chars().peekable();
    while let Some(character) = rest.next() {
        let empty = matches!(rest.peek(), Some('}' | ']'));
        text.push(character, empty);
    }
}

struct Indented<'o> {
    out: &'o mut dyn FnMut(char),
    depth: usize,
    /// Within a string; whether after a backslash.
    string: Option<bool>,
    /// The object or array that was just opened has no entry.
    empty: bool,
}

impl Indented<'_> {
    /// `closes_next`: what follows closes something.
    fn push(&mut self, character: char, closes_next: bool) {
        if let Some(escaped) = self.string {
            self.string = match character {
                '"' if !escaped => None,
                '\\' => Some(!escaped),
                _ => Some(false),
            };
            return (self.out)(character);
        }
        match character {
            '{' | '[' => self.open(character, closes_next),
            '}' | ']' => self.close(character),
            ',' => {
                (self.out)(',');
                self.line();
            }
            ':' => [':', ' '].into_iter().for_each(&mut *self.out),
            _ => {
                self.string = (character == '"').then_some(false);
                (self.out)(character);
            }
        }
    }

    fn open(&mut self, character: char, empty: bool) {
        (self.out)(character);
        self.depth += 1;
        self.empty = empty;
        if !empty {
            self.line();
        }
    }

    fn close(&mut self, character: char) {
        self.depth = self.depth.saturating_sub(1);
        if !std::mem::take(&mut self.empty) {
            self.line();
        }
        (self.out)(character);
    }

    fn line(&mut self) {
        (self.out)('\n');
        for _ in 0..2 * self.depth {
            (self.out)(' ');
        }
    }
}

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
            indent(&value.to_string(), &mut |letter| indented.push(letter));
            prop_assert_eq!(indented, pretty);
        }
    }
}
