// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text → register map, or every mistake in it. Takes text, touches no file.

use super::check::check;
use super::map::{Dump, Field, Map, Register, Value};
use super::number;
use super::raw::{RawDump, RawField, RawMap, RawRegister, Word};
use super::{Access, Bits, Bus, Layout, Read, Source, Unit};
use linerate_knowledge::keys;
use linerate_knowledge::{Mistake, Mistakes};
use linerate_model::order;

/// Reads the map `text` of the file `file`.
///
/// # Errors
/// Every mistake found, in the order of the checks. TOML's own stop at the first.
pub fn parse(file: &str, text: &str) -> Result<Map, Vec<Mistake>> {
    keys::read(file, text, |raw, mistakes| {
        let map = Reader(mistakes).map(raw);
        check(raw, &map, mistakes);
        map
    })
}

/// Understands words, and notes those that it does not.
struct Reader<'m, 't>(&'m mut Mistakes<'t>);

impl Reader<'_, '_> {
    fn map(&mut self, raw: &RawMap) -> Map {
        let bus = self.word("bus", raw.bus.as_ref(), Bus::of_word, Bus::WORDS);
        let bus = bus.unwrap_or(Bus::Memory);
        let read = self.word("read", raw.read.as_ref(), Read::of_word, Read::WORDS);
        let read = read.unwrap_or(Read::Unknown);
        let sources = self.sources(&raw.source);
        let dump = raw.dump.as_ref().map(|dump| self.dump(dump));
        let registers = raw.register.iter();
        let registers = registers.map(|r| self.register(r, bus, read)).collect();
        Map {
            name: raw.map.get_ref().clone(),
            hardware: raw.hardware.clone(),
            kernel: raw.kernel.as_ref().map(|k| k.get_ref().clone()),
            drivers: raw.drivers.clone(),
            prefixes: raw.prefixes.clone(),
            bases: raw.bases.iter().filter_map(|b| b.0).collect(),
            window_bytes: raw.window,
            bus,
            dump,
            registers,
            sources,
        }
    }

    fn dump(&mut self, raw: &RawDump) -> Dump {
        let layout = Some(&raw.layout);
        let layout = self.word("layout", layout, Layout::of_word, Layout::WORDS);
        self.sources(&raw.source);
        Dump {
            version: raw.version,
            version_mask: raw.version_mask.unwrap_or(u32::MAX),
            bytes: raw.bytes,
            layout: layout.unwrap_or(Layout::Offset),
        }
    }

    fn register(&mut self, raw: &RawRegister, bus: Bus, default_read: Read) -> Register {
        let access = self.word(
            "access",
            raw.access.as_ref(),
            Access::of_word,
            Access::WORDS,
        );
        let read = self.word("read", raw.read.as_ref(), Read::of_word, Read::WORDS);
        let reserved = raw.reserved.iter().filter_map(|bits| self.bits(bits));
        let reserved_mask = reserved.fold(0, |mask, bits| mask | bits.mask());
        let width_bits = raw
            .width
            .as_ref()
            .map_or_else(|| if bus == Bus::Mdio { 16 } else { 32 }, |w| *w.get_ref());
        Register {
            name: raw.name.get_ref().clone(),
            also: raw.also.iter().map(|n| n.get_ref().clone()).collect(),
            title: raw.title.clone(),
            offset: *raw.offset.get_ref(),
            width_bits,
            access: access.unwrap_or(Access::ReadWrite),
            read: read.unwrap_or(default_read),
            reset: self.reset(raw),
            word: raw.word,
            dumped: raw.dumped.unwrap_or(true),
            reserved_mask,
            fields: self.fields(raw, width_bits),
            note: raw.note.clone(),
            sources: self.sources(&raw.source),
        }
    }

    fn reset(&mut self, raw: &RawRegister) -> Option<u64> {
        let reset = raw.reset.as_ref()?;
        let value = reset.get_ref().0;
        if value.is_none() {
            let wrong = "`reset` is not a number".to_owned();
            self.0.at(reset.span().start, wrong, NUMBER);
        }
        value
    }

    /// Highest first. A register that only says its unit is one field over all of its bits.
    fn fields(&mut self, raw: &RawRegister, width_bits: u8) -> Vec<Field> {
        let mut fields: Vec<Field> = raw.field.iter().filter_map(|f| self.field(f)).collect();
        order::by_key(&mut fields, |f| std::cmp::Reverse(f.bits.high()));
        let is_one_number = raw.bits.is_some() || raw.unit.is_some();
        if is_one_number && raw.field.is_empty() {
            fields.extend(self.whole(raw, width_bits));
        }
        fields
    }

    fn whole(&mut self, raw: &RawRegister, width_bits: u8) -> Option<Field> {
        let bits = match &raw.bits {
            Some(word) => self.bits(word),
            None => Bits::whole(width_bits),
        };
        Some(Field {
            name: WHOLE.to_owned(),
            bits: bits?,
            unit: self.word("unit", raw.unit.as_ref(), Unit::of_word, Unit::WORDS),
            scale: raw.scale.unwrap_or(1),
            plus: 0,
            least: None,
            means: None,
            values: Vec::new(),
        })
    }

    fn field(&mut self, raw: &RawField) -> Option<Field> {
        let unit = self.word("unit", raw.unit.as_ref(), Unit::of_word, Unit::WORDS);
        let values = raw.values.iter();
        let values = values.filter_map(|(v, means)| self.value(raw, v, means));
        let values = values.collect();
        Some(Field {
            name: raw.name.get_ref().clone(),
            bits: self.bits(&raw.bits)?,
            unit,
            scale: raw.scale.unwrap_or(1),
            plus: raw.plus.unwrap_or(0),
            least: raw.least,
            means: raw.means.clone(),
            values,
        })
    }

    fn value(&mut self, field: &RawField, text: &str, means: &str) -> Option<Value> {
        let value = number::value(text, means);
        if value.is_none() {
            let name = field.name.get_ref();
            let wrong = format!("`{text}` in the values of `{name}` is not a number");
            self.0.at(field.name.span().start, wrong, NUMBER);
        }
        value
    }

    fn bits(&mut self, word: &Word) -> Option<Bits> {
        let bits = Bits::of_text(word.get_ref());
        if bits.is_none() {
            let wrong = format!("`{}` is not a range of bits", word.get_ref());
            self.0.at(word.span().start, wrong, Bits::FORM);
        }
        bits
    }

    fn sources(&mut self, raw: &[Word]) -> Vec<Source> {
        let mut understood = Vec::new();
        for text in raw {
            match Source::of_text(text.get_ref()) {
                Some(source) => understood.push(source),
                None => {
                    let wrong = format!("`{}` gives no place in the source", text.get_ref());
                    self.0.at(text.span().start, wrong, Source::FORM);
                }
            }
        }
        understood
    }

    fn word<T>(
        &mut self,
        key: &str,
        word: Option<&Word>,
        understand: fn(&str) -> Option<T>,
        allowed: &[&str],
    ) -> Option<T> {
        self.0.word(key, word?, understand, allowed)
    }
}

/// The name of the one field of a register without fields.
pub(super) const WHOLE: &str = "VALUE";
const NUMBER: &str = "a number: 18, 0x12, 0b10010; with x for either bit: 0b1x0";
