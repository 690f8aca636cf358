// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON that keeps the order of its names, as the document has them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::Cell;

/// A part of a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
    Value(Cell),
}

impl Node {
    /// A field that is one value.
    pub(super) fn value(&self, name: &str) -> Option<&Cell> {
        let Self::Map(fields) = self else { return None };
        let field = fields.iter().find(|(field, _)| field == name);
        match field {
            Some((_, Self::Value(cell))) if *cell != Cell::Empty => Some(cell),
            _ => None,
        }
    }

    /// Whether a list has no objects in it: it is then one cell.
    pub(super) fn is_words(&self) -> bool {
        match self {
            Self::List(entries) => !entries.iter().any(|entry| matches!(entry, Self::Map(_))),
            Self::Map(_) | Self::Value(_) => false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::List(entries) if entries.is_empty())
    }

    /// Values with blanks between, those of an inner list with colons.
    pub(super) fn words(&self) -> String {
        self.joined(" ")
    }

    fn joined(&self, gap: &str) -> String {
        match self {
            Self::List(entries) => {
                let words: Vec<_> = entries.iter().map(|entry| entry.joined(":")).collect();
                words.join(gap)
            }
            Self::Map(_) => String::new(),
            Self::Value(cell) => cell.to_string(),
        }
    }
}

/// Numbers in full, as programs read them; nothing for what is unknown.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Empty => Ok(()),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Value(Cell::Flag(flag)))
    }

    fn visit_u64<E>(self, count: u64) -> Result<Node, E> {
        Ok(Node::Value(Cell::Count(count)))
    }

    fn visit_i64<E>(self, count: i64) -> Result<Node, E> {
        Ok(Node::Value(Cell::Number(count as f64)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Value(Cell::Number(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Value(Cell::Text(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Value(Cell::Empty))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            entries.push(entry);
        }
        Ok(Node::List(entries))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Node::Map(fields))
    }
}
