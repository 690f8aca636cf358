// SPDX-License-Identifier: MIT OR Apache-2.0
//! A kernel message as a table writes it: literal text with open places, such as
//! `NETDEV WATCHDOG: {interface} ({driver}): transmit queue {number} timed out`.

/// A message with its open places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagePattern {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Open(Open),
}

/// What stands at an open place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// `eth0`, `br-lan.7`.
    Interface,
    /// `e1000e`.
    Driver,
    /// Decimal, with a sign or a fraction.
    Number,
    /// Hexadecimal digits, with or without `0x`.
    Hex,
    /// An IP or MAC address, or that of a bus (`0000:01:00.0`).
    Address,
    /// Anything without a space.
    Word,
    /// All up to the end of the line.
    Rest,
}

/// What was found in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<'l> {
    /// The open places and what stands there, in their order.
    pub values: Vec<(Open, &'l str)>,
}

impl Found<'_> {
    /// What stands at the first open place of this kind.
    #[must_use]
    pub fn first(&self, open: Open) -> Option<&str> {
        let mut values = self.values.iter();
        values
            .find(|(kind, _)| *kind == open)
            .map(|(_, value)| *value)
    }
}

impl MessagePattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub fn parse(text: &str) -> Result<Self, (String, &'static str)> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find('{') {
            let (literal, open) = rest.split_at(start);
            let (name, after) = open[1..]
                .split_once('}')
                .ok_or_else(|| (format!("`{open}` does not end"), OPEN))?;
            let open = Open::of_word(name)
                .ok_or_else(|| (format!("there is no place `{{{name}}}`"), OPEN))?;
            if !literal.is_empty() {
                pieces.push(Piece::Literal(literal.to_owned()));
            }
            pieces.push(Piece::Open(open));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest.to_owned()));
        }
        let pattern = Self {
            text: text.to_owned(),
            pieces,
        };
        pattern.check().map_or(Ok(pattern), Err)
    }

    fn check(&self) -> Option<(String, &'static str)> {
        let open = |piece: &Piece| matches!(piece, Piece::Open(_));
        let adjacent = self.pieces.windows(2).any(|two| two.iter().all(open));
        let literal: usize = self.literals().map(str::len).sum();
        let last = self.pieces.len().saturating_sub(1);
        let rest = Piece::Open(Open::Rest);
        let early = self.pieces.iter().position(|piece| *piece == rest);
        if adjacent {
            Some((
                "two open places touch".to_owned(),
                "literal text between them",
            ))
        } else if early.is_some_and(|at| at < last) {
            Some(("`{rest}` is not last".to_owned(), "`{rest}` at the end"))
        } else if literal < LITERAL_MIN {
            Some((
                format!("`{}` is too short to be unmistakable", self.text),
                "at least 12 literal characters",
            ))
        } else {
            None
        }
    }

    /// The pattern as the table has it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The longest literal text: a line without it does not match.
    #[must_use]
    pub fn longest_literal(&self) -> &str {
        self.literals()
            .max_by_key(|literal| literal.len())
            .unwrap_or_default()
    }

    fn literals(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(text) => Some(text.as_str()),
            Piece::Open(_) => None,
        })
    }

    /// Finds the message anywhere in a line.
    #[must_use]
    pub fn find<'l>(&self, line: &'l str) -> Option<Found<'l>> {
        let mut starts = line.char_indices().map(|(at, _)| at);
        match self.pieces.first()? {
            Piece::Literal(first) => line
                .match_indices(first.as_str())
                .find_map(|(at, _)| self.at(line, at)),
            Piece::Open(_) => starts.find_map(|at| {
                let begins = at == 0 || !line[..at].ends_with(is_word);
                begins.then(|| self.at(line, at)).flatten()
            }),
        }
    }

    fn at<'l>(&self, line: &'l str, at: usize) -> Option<Found<'l>> {
        let mut values = Vec::new();
        matches(&self.pieces, line.get(at..)?, &mut values).then_some(Found { values })
    }
}

/// Whether `pieces` match the beginning of `text`. An open place takes as much as it can.
fn matches<'l>(pieces: &[Piece], text: &'l str, values: &mut Vec<(Open, &'l str)>) -> bool {
    let Some((piece, more)) = pieces.split_first() else {
        return true;
    };
    match piece {
        Piece::Literal(literal) => text
            .strip_prefix(literal.as_str())
            .is_some_and(|rest| matches(more, rest, values)),
        Piece::Open(open) => {
            let longest = open.length(text);
            let known = values.len();
            let mut lengths = (1..=longest).rev().filter(|at| text.is_char_boundary(*at));
            lengths.any(|length| {
                let (value, rest) = text.split_at(length);
                values.truncate(known);
                values.push((*open, value));
                matches(more, rest, values)
            })
        }
    }
}

impl Open {
    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "interface" => Self::Interface,
            "driver" => Self::Driver,
            "number" => Self::Number,
            "hex" => Self::Hex,
            "address" => Self::Address,
            "word" => Self::Word,
            "rest" => Self::Rest,
            _ => return None,
        })
    }

    /// The most bytes at the beginning of `text` that can stand here.
    fn length(self, text: &str) -> usize {
        let fits = |letter: char| match self {
            Self::Interface | Self::Driver => letter.is_alphanumeric() || "_-.@".contains(letter),
            Self::Number => letter.is_ascii_digit() || "+-.".contains(letter),
            Self::Hex => letter.is_ascii_hexdigit() || letter == 'x',
            Self::Address => letter.is_ascii_hexdigit() || ":./%-".contains(letter),
            Self::Word => !letter.is_whitespace(),
            Self::Rest => true,
        };
        let most = if self == Self::Rest {
            text.len()
        } else {
            OPEN_MAX
        };
        let letters = text.char_indices().take_while(|(_, letter)| fits(*letter));
        let ends = letters.map(|(at, letter)| at + letter.len_utf8());
        ends.take_while(|end| *end <= most).last().unwrap_or(0)
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

const OPEN: &str = "{interface}, {driver}, {number}, {hex}, {address}, {word}, {rest}";
/// The shortest literal text of a pattern.
const LITERAL_MIN: usize = 12;
/// The longest value, which bounds what a match costs.
const OPEN_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, line: &str) -> Option<Vec<String>> {
        let pattern = MessagePattern::parse(pattern).unwrap();
        let found = pattern.find(line)?;
        let values = found.values.iter();
        Some(values.map(|(_, value)| (*value).to_owned()).collect())
    }

    #[test]
    fn open_places_take_what_fits() {
        let watchdog = "NETDEV WATCHDOG: {interface} ({driver}): transmit queue {number} timed out";
        let line = "[ 12.5] NETDEV WATCHDOG: enp3s0 (e1000e): transmit queue 0 timed out 5000 ms";
        assert_eq!(
            found(watchdog, line),
            Some(vec!["enp3s0".into(), "e1000e".into(), "0".into()])
        );
        assert_eq!(found(watchdog, "NETDEV WATCHDOG: eth0: timed out"), None);
        let own = "{interface}: received packet on {interface} with own address";
        let line = "[1.0] br0: received packet on eth1 with own address as source address";
        assert_eq!(found(own, line), Some(vec!["br0".into(), "eth1".into()]));
        let words = "{word}: nf_conntrack: table full, {rest}";
        assert_eq!(
            found(words, "kernel: nf_conntrack: table full, dropping packet"),
            Some(vec!["kernel".into(), "dropping packet".into()])
        );
    }

    #[test]
    fn what_is_wrong_with_a_pattern_is_said() {
        let wrong = |pattern: &str| MessagePattern::parse(pattern).unwrap_err().0;
        assert_eq!(
            wrong("{colour} is wrong here"),
            "there is no place `{colour}`"
        );
        assert_eq!(
            wrong("a message {number}{hex} of two"),
            "two open places touch"
        );
        assert_eq!(wrong("all {rest} of the message"), "`{rest}` is not last");
        assert_eq!(
            wrong("{word} down"),
            "`{word} down` is too short to be unmistakable"
        );
        assert_eq!(wrong("it {does not end"), "`{does not end` does not end");
    }
}
