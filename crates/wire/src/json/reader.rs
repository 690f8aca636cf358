// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON text (RFC 8259) as serde's data model. `serde_json` has the same, but compiles most of its parser once for each type
//! that is read; here what all types share is compiled once.
//!
//! Structs are read only as maps: a derived `Deserialize` also accepts a list of the fields' values, which no JSON of ours or
//! of iperf3's has, and never asking for it lets the compiler drop that code.

mod text;

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde_json::Error;

use text::{Number, Piece, Text};

/// Reads one document.
pub(super) struct Reader<'de> {
    text: Text<'de>,
}

impl<'de> Reader<'de> {
    pub(super) fn new(text: &'de str) -> Self {
        Self {
            text: Text::new(text),
        }
    }

    /// Nothing but white space may follow.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        self.text.end()
    }

    /// An error of a type, which does not know the place.
    pub(super) fn placed(&self, error: Error) -> Error {
        match error.line() {
            0 => self.text.error(&error.to_string()),
            _ => error,
        }
    }

    fn string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        match self.text.string(&visitor)? {
            Piece::Whole(text) => visitor.visit_borrowed_str(text),
            Piece::Unescaped(text) => visitor.visit_str(text),
        }
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        match self.text.number(&visitor)? {
            Number::Positive(number) => visitor.visit_u64(number),
            Number::Negative(number) => visitor.visit_i64(number),
            Number::Float(number) => visitor.visit_f64(number),
        }
    }
}

macro_rules! read_as {
    ($($reader:ident: $($method:ident)*;)*) => {$($(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.$reader(visitor)
        }
    )*)*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Error;

    read_as! {
        number: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32
            deserialize_u64 deserialize_f32 deserialize_f64;
        string: deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
            deserialize_identifier;
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.text.next()? {
            b'"' => self.string(visitor),
            b'{' => self.deserialize_map(visitor),
            b'[' => self.deserialize_seq(visitor),
            b't' | b'f' => self.deserialize_bool(visitor),
            b'n' => self.deserialize_unit(visitor),
            _ => self.number(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let flag = self.text.flag(&visitor)?;
        visitor.visit_bool(flag)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.text.null()? {
            true => visitor.visit_unit(),
            false => Err(self.text.unexpected(&visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.text.null()? {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.text.open(b'[', &visitor)?;
        let value = visitor.visit_seq(Entries::of(self))?;
        self.text.close(b']')?;
        Ok(value)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.text.open(b'{', &visitor)?;
        let value = visitor.visit_map(Entries::of(self))?;
        self.text.close(b'}')?;
        Ok(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name != RAW {
            return visitor.visit_newtype_struct(self);
        }
        let raw = BorrowedStrDeserializer::new(self.text.skipped()?);
        visitor.visit_map(MapDeserializer::new(std::iter::once((RAW, raw))))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if self.text.next()? == b'"' {
            return visitor.visit_enum(Variant {
                reader: self,
                has_content: false,
            });
        }
        self.text.open(b'{', &visitor)?;
        let value = visitor.visit_enum(Variant {
            reader: self,
            has_content: true,
        })?;
        self.text.close(b'}')?;
        Ok(value)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.text.skipped()?;
        visitor.visit_unit()
    }
}

/// How serde_json asks for the text of a value (`serde_json::value::RawValue`).
const RAW: &str = "$serde_json::private::RawValue";

/// What is between brackets or braces.
struct Entries<'r, 'de> {
    reader: &'r mut Reader<'de>,
    is_first: bool,
}

impl<'r, 'de> Entries<'r, 'de> {
    fn of(reader: &'r mut Reader<'de>) -> Self {
        Self {
            reader,
            is_first: true,
        }
    }

    /// Whether there is another, and the comma before it.
    fn more(&mut self, close: u8) -> Result<bool, Error> {
        let is_first = std::mem::take(&mut self.is_first);
        self.reader.text.more(close, is_first)
    }
}

impl<'de> SeqAccess<'de> for Entries<'_, 'de> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        match self.more(b']')? {
            true => seed.deserialize(&mut *self.reader).map(Some),
            false => Ok(None),
        }
    }
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        if !self.more(b'}')? {
            return Ok(None);
        }
        self.reader.text.name()?;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        self.reader.text.colon()?;
        seed.deserialize(&mut *self.reader)
    }
}

/// A variant's name, alone or with its content.
struct Variant<'r, 'de> {
    reader: &'r mut Reader<'de>,
    has_content: bool,
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Error> {
        self.reader.text.name()?;
        let name = seed.deserialize(&mut *self.reader)?;
        if self.has_content {
            self.reader.text.colon()?;
        }
        Ok((name, self))
    }
}

impl<'de> Variant<'_, 'de> {
    /// It must have content.
    fn content(&mut self, expected: &dyn Expected) -> Result<&mut Reader<'de>, Error> {
        match self.has_content {
            true => Ok(self.reader),
            false => Err(Error::invalid_type(
                serde::de::Unexpected::UnitVariant,
                expected,
            )),
        }
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.has_content && !self.reader.text.null()? {
            true => Err(self.reader.text.unexpected(&"a variant without content")),
            false => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self.content(&"a variant with content")?)
    }

    fn tuple_variant<V: Visitor<'de>>(
        mut self,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.content(&visitor)?.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        mut self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.content(&visitor)?.deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests;
