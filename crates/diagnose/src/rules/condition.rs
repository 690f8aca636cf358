// SPDX-License-Identifier: MIT OR Apache-2.0
//! One condition over facts: `lost_at_rx_mac > 0`, `pause_tx == 'off'`, `ring_rx < ring_rx_max`,
//! `rate > 0.9 * line_rate`, `driver in ['fec', 'stmmac']`, `cmdline contains 'iommu=pt'`, `half_duplex == true`.

use std::fmt;

use linerate_model::output::Value;

/// A comparison of a fact with a value or with another fact.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    fact: String,
    test: Test,
    right: Operand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Contains,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Value(Value),
    List(Vec<Value>),
    Fact { times: f64, name: String },
}

/// Whether a condition holds; `None` where a fact is missing or is of another kind.
pub type Answer = Option<bool>;

impl Condition {
    /// Understands a text.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no condition");
        let (fact, rest) = text.trim().split_once(' ').ok_or_else(wrong)?;
        let (word, right) = rest.trim_start().split_once(' ').ok_or_else(wrong)?;
        let test =
            Test::of_word(word).ok_or_else(|| format!("`{word}` in `{text}` is no comparison"))?;
        let right = Operand::parse(right.trim())
            .ok_or_else(|| format!("`{}` in `{text}` is no value and no fact", right.trim()))?;
        if !is_name(fact) {
            return Err(format!("`{fact}` in `{text}` cannot be a fact's name"));
        }
        match (test, &right) {
            (Test::In, Operand::List(_)) => {}
            (Test::In, _) | (_, Operand::List(_)) => {
                return Err(format!(
                    "`{text}`: `in` goes with a list, and nothing else does"
                ));
            }
            _ => {}
        }
        Ok(Self {
            text: text.to_owned(),
            fact: fact.to_owned(),
            test,
            right,
        })
    }

    /// The facts that it asks for.
    pub fn facts(&self) -> impl Iterator<Item = &str> {
        let right = match &self.right {
            Operand::Fact { name, .. } => Some(name.as_str()),
            Operand::Value(_) | Operand::List(_) => None,
        };
        std::iter::once(self.fact.as_str()).chain(right)
    }

    /// Whether it holds with the facts that `ask` knows.
    pub fn holds<'f>(&self, ask: impl Fn(&str) -> Option<&'f Value>) -> Answer {
        let left = ask(&self.fact)?;
        match &self.right {
            Operand::Value(right) => self.test.compare(left, right),
            Operand::List(values) => Some(values.contains(left)),
            Operand::Fact { times, name } => match ask(name)? {
                Value::Number(number) => self.test.compare(left, &Value::Number(times * number)),
                other => self.test.compare(left, other),
            },
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Test {
    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "==" => Self::Equal,
            "!=" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            "in" => Self::In,
            "contains" => Self::Contains,
            _ => return None,
        })
    }

    fn compare(self, left: &Value, right: &Value) -> Answer {
        match (left, right) {
            (Value::Number(left), Value::Number(right)) => self.numbers(*left, *right),
            (Value::Text(left), Value::Text(right)) if self == Self::Contains => {
                Some(left.contains(right.as_str()))
            }
            (Value::Text(_), Value::Text(_)) | (Value::Flag(_), Value::Flag(_)) => match self {
                Self::Equal => Some(left == right),
                Self::NotEqual => Some(left != right),
                _ => None,
            },
            _ => None,
        }
    }

    fn numbers(self, left: f64, right: f64) -> Answer {
        Some(match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
            Self::In | Self::Contains => return None,
        })
    }
}

impl Operand {
    fn parse(text: &str) -> Option<Self> {
        if let Some(value) = literal(text) {
            return Some(Self::Value(value));
        }
        if let Some(list) = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
        {
            return list
                .split(',')
                .map(|item| literal(item.trim()))
                .collect::<Option<_>>()
                .map(Self::List);
        }
        let (times, name) = match text.split_once(" * ") {
            Some((times, name)) => (times.trim().parse().ok()?, name.trim()),
            None => (1.0, text),
        };
        is_name(name).then(|| Self::Fact {
            times,
            name: name.to_owned(),
        })
    }
}

fn literal(text: &str) -> Option<Value> {
    match text {
        "true" => return Some(Value::Flag(true)),
        "false" => return Some(Value::Flag(false)),
        _ => {}
    }
    if let Some(word) = text
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''))
    {
        return (!word.contains('\'')).then(|| Value::from(word));
    }
    let starts_as_number = text.starts_with(|first: char| first.is_ascii_digit() || first == '-');
    let digits = text.replace('_', "");
    starts_as_number
        .then(|| digits.parse().ok().map(Value::Number))
        .flatten()
}

fn is_name(text: &str) -> bool {
    let name = text.strip_prefix(crate::facts::PEER).unwrap_or(text);
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Answer {
        let facts = [
            ("lost", Value::from(12.0)),
            ("line", Value::from(10.0)),
            ("driver", Value::from("fec")),
            ("half", Value::from(true)),
            ("cmdline", Value::from("quiet iommu=pt ro")),
        ];
        let ask = |name: &str| {
            facts
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value)
        };
        Condition::parse(text).unwrap().holds(ask)
    }

    #[test]
    fn what_holds_and_what_does_not() {
        for text in [
            "lost > 0",
            "lost >= 1.2 * line",
            "lost != 1_000",
            "driver == 'fec'",
            "driver in ['igb', 'fec']",
            "half == true",
            "cmdline contains 'iommu=pt'",
        ] {
            assert_eq!(answer(text), Some(true), "{text}");
        }
        for text in [
            "lost < 12",
            "line > lost",
            "driver != 'fec'",
            "driver in ['igb']",
            "half == false",
            "cmdline contains 'smmu'",
        ] {
            assert_eq!(answer(text), Some(false), "{text}");
        }
    }

    #[test]
    fn what_is_missing_or_of_another_kind_is_unknown() {
        for text in [
            "nothing > 0",
            "lost > nothing",
            "driver > 3",
            "lost == 'fec'",
            "half > 0",
        ] {
            assert_eq!(answer(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_a_mistake() {
        for text in [
            "",
            "lost",
            "lost >",
            "lost ~ 3",
            "Lost > 3",
            "lost > 3x",
            "driver in 'fec'",
            "driver == ['fec']",
        ] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
    }
}
