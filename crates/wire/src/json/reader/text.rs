// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tokens of JSON.

use serde::de::{Error as _, Expected, Unexpected};
use serde_json::Error;

/// A text and the place in it.
pub(super) struct Text<'de> {
    text: &'de str,
    at: usize,
    /// Open brackets and braces.
    depth: u32,
    /// The last string with escapes.
    unescaped: String,
}

/// A string.
pub(super) enum Piece<'de, 'r> {
    /// As it stands in the text.
    Whole(&'de str),
    /// It had escapes.
    Unescaped(&'r str),
}

/// As serde distinguishes them.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Positive(u64),
    Negative(i64),
    Float(f64),
}

impl<'de> Text<'de> {
    pub(super) fn new(text: &'de str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            unescaped: String::new(),
        }
    }

    /// The first byte of the next token; it is not taken.
    pub(super) fn next(&mut self) -> Result<u8, Error> {
        match self.peek() {
            Some(byte) => Ok(byte),
            None => Err(self.error("the text ends in the middle of a value")),
        }
    }

    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = self.byte()?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// A string must be next; it is not taken.
    pub(super) fn name(&mut self) -> Result<(), Error> {
        match self.next()? {
            b'"' => Ok(()),
            _ => Err(self.error("expected a name in quotes")),
        }
    }

    pub(super) fn colon(&mut self) -> Result<(), Error> {
        self.take(b':', "expected `:`")
    }

    fn take(&mut self, byte: u8, otherwise: &str) -> Result<(), Error> {
        if self.next()? != byte {
            return Err(self.error(otherwise));
        }
        self.at += 1;
        Ok(())
    }

    /// Takes a bracket or brace.
    pub(super) fn open(&mut self, byte: u8, expected: &dyn Expected) -> Result<(), Error> {
        if self.next()? != byte {
            return Err(self.unexpected(expected));
        }
        self.at += 1;
        self.depth += 1;
        match self.depth > DEPTH_MOST {
            true => Err(self.error("recursion limit exceeded")),
            false => Ok(()),
        }
    }

    /// Takes the other one.
    pub(super) fn close(&mut self, byte: u8) -> Result<(), Error> {
        self.take(byte, "more entries than expected")?;
        self.depth -= 1;
        Ok(())
    }

    /// Whether there is another entry before `close`; takes the comma before it.
    pub(super) fn more(&mut self, close: u8, is_first: bool) -> Result<bool, Error> {
        let next = self.next()?;
        if next == close {
            return Ok(false);
        }
        if is_first {
            return Ok(true);
        }
        self.take(b',', "expected `,` or the end")?;
        match self.next()? == close {
            true => Err(self.error("trailing comma")),
            false => Ok(true),
        }
    }

    /// Takes `null`, if it is next.
    pub(super) fn null(&mut self) -> Result<bool, Error> {
        match self.next()? {
            b'n' => self.word("null").map(|()| true),
            _ => Ok(false),
        }
    }

    pub(super) fn flag(&mut self, expected: &dyn Expected) -> Result<bool, Error> {
        match self.next()? {
            b't' => self.word("true").map(|()| true),
            b'f' => self.word("false").map(|()| false),
            _ => Err(self.unexpected(expected)),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Error> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(self.error("expected a value"));
        }
        self.at += word.len();
        Ok(())
    }

    pub(super) fn number(&mut self, expected: &dyn Expected) -> Result<Number, Error> {
        match self.next()? {
            b'-' | b'0'..=b'9' => self.any_number(),
            _ => Err(self.unexpected(expected)),
        }
    }

    fn any_number(&mut self) -> Result<Number, Error> {
        let start = self.at;
        let is_negative = self.passes(b"-");
        let starts_with_zero = self.byte() == Some(b'0');
        let whole = self.digits()?;
        if starts_with_zero && whole > 1 {
            return Err(self.error("a number with a leading zero"));
        }
        let mut is_whole = true;
        if self.passes(b".") {
            is_whole = false;
            self.digits()?;
        }
        if self.passes(b"eE") {
            is_whole = false;
            self.passes(b"+-");
            self.digits()?;
        }
        let written = self.text.get(start..self.at).unwrap_or_default();
        let number = match (is_whole, is_negative) {
            (true, false) => written.parse().ok().map(Number::Positive),
            // Zero has a sign only as a float.
            (true, true) => written
                .parse()
                .ok()
                .filter(|number| *number != 0)
                .map(Number::Negative),
            (false, _) => None,
        };
        match number.or_else(|| written.parse().ok().map(Number::Float)) {
            Some(Number::Float(float)) if float.is_infinite() => {
                Err(self.error("number out of range"))
            }
            Some(number) => Ok(number),
            None => Err(self.error("invalid number")),
        }
    }

    /// Takes one of these bytes, if it is next.
    fn passes(&mut self, any: &[u8]) -> bool {
        let is_one = self.byte().is_some_and(|byte| any.contains(&byte));
        self.at += usize::from(is_one);
        is_one
    }

    /// Takes at least one; how many.
    fn digits(&mut self) -> Result<usize, Error> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        match self.at - start {
            0 => Err(self.error("invalid number")),
            count => Ok(count),
        }
    }

    pub(super) fn string(&mut self, expected: &dyn Expected) -> Result<Piece<'de, '_>, Error> {
        if self.next()? != b'"' {
            return Err(self.unexpected(expected));
        }
        self.at += 1;
        let mut start = self.at;
        let mut end = self.plain()?;
        if end == b'"' {
            return Ok(Piece::Whole(self.taken(start)));
        }
        self.unescaped.clear();
        loop {
            let plain = self.taken(start);
            self.unescaped.push_str(plain);
            if end == b'"' {
                return Ok(Piece::Unescaped(&self.unescaped));
            }
            let letter = self.escape()?;
            self.unescaped.push(letter);
            start = self.at;
            end = self.plain()?;
        }
    }

    /// From there to before the last byte.
    fn taken(&self, start: usize) -> &'de str {
        self.text.get(start..self.at - 1).unwrap_or_default()
    }

    /// Takes the letters of a string, and the quote or backslash that ends them, which it returns.
    fn plain(&mut self) -> Result<u8, Error> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | ..=0x1f);
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        self.at += length;
        match rest.get(length) {
            Some(end @ (b'"' | b'\\')) => {
                self.at += 1;
                Ok(*end)
            }
            Some(_) => Err(self.error("a control character in a string")),
            None => Err(self.error("the text ends in the middle of a string")),
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<char, Error> {
        let letter = self.byte();
        self.at += 1;
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.error("invalid escape")),
        })
    }

    /// What follows `\u`: one code unit of UTF-16, or a pair of surrogates.
    fn unicode(&mut self) -> Result<char, Error> {
        let first = self.unit()?;
        let is_pair = matches!(first, 0xd800..=0xdbff) && self.passes(b"\\") && self.passes(b"u");
        let units = match is_pair {
            true => [Some(first), Some(self.unit()?)],
            false => [Some(first), None],
        };
        let mut letters = char::decode_utf16(units.into_iter().flatten());
        match letters.next() {
            Some(Ok(letter)) => Ok(letter),
            _ => Err(self.error("a lone surrogate in an escape")),
        }
    }

    fn unit(&mut self) -> Result<u16, Error> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u16::from_str_radix(digits, 16) {
            Ok(unit) if are_digits => {
                self.at += 4;
                Ok(unit)
            }
            _ => Err(self.error("invalid escape")),
        }
    }

    /// Passes over one value; its text.
    pub(super) fn skipped(&mut self) -> Result<&'de str, Error> {
        self.next()?;
        let start = self.at;
        self.skip()?;
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    fn skip(&mut self) -> Result<(), Error> {
        match self.next()? {
            b'"' => self.string(&ANY).map(drop),
            b'{' => self.skip_entries(b'{', b'}'),
            b'[' => self.skip_entries(b'[', b']'),
            b't' | b'f' => self.flag(&ANY).map(drop),
            b'n' => self.word("null"),
            _ => self.number(&ANY).map(drop),
        }
    }

    fn skip_entries(&mut self, open: u8, close: u8) -> Result<(), Error> {
        self.open(open, &ANY)?;
        let mut is_first = true;
        while self.more(close, is_first)? {
            is_first = false;
            if close == b'}' {
                self.name()?;
                self.skip()?;
                self.colon()?;
            }
            self.skip()?;
        }
        self.close(close)
    }

    /// Nothing but white space may follow.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error("trailing characters")),
        }
    }

    /// The next value is of another type.
    pub(super) fn unexpected(&mut self, expected: &dyn Expected) -> Error {
        let found = match self.peek() {
            Some(b'{') => Ok(Unexpected::Map),
            Some(b'[') => Ok(Unexpected::Seq),
            Some(b'n') => self.word("null").map(|()| Unexpected::Unit),
            Some(b't' | b'f') => self.flag(expected).map(Unexpected::Bool),
            Some(b'-' | b'0'..=b'9') => self.any_number().map(|number| match number {
                Number::Positive(number) => Unexpected::Unsigned(number),
                Number::Negative(number) => Unexpected::Signed(number),
                Number::Float(number) => Unexpected::Float(number),
            }),
            Some(b'"') => self.string(expected).map(|piece| match piece {
                Piece::Whole(text) => Unexpected::Str(text),
                Piece::Unescaped(text) => Unexpected::Str(text),
            }),
            _ => Err(self.error("expected a value")),
        };
        found.map_or_else(
            |malformed| malformed,
            |found| Error::invalid_type(found, expected),
        )
    }

    /// An error, at the place where the text was read to.
    pub(super) fn error(&self, what: &str) -> Error {
        let read = self
            .text
            .as_bytes()
            .get(..self.at)
            .unwrap_or(self.text.as_bytes());
        let mut lines = read.split(|byte| *byte == b'\n');
        let line = lines.clone().count();
        let column = lines.next_back().map_or(0, <[u8]>::len);
        // serde_json reads the place out of such a message.
        Error::custom(format_args!("{what} at line {line} column {column}"))
    }
}

/// As serde_json has it.
const DEPTH_MOST: u32 = 127;

/// What is skipped may be of any type.
const ANY: &str = "a value";
