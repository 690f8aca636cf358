// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `regs` shows, as text and as JSON.

use std::io;

use linerate_model::output::Output;
use linerate_model::printable::Printable;
use linerate_registers::{Bits, Decoded, DecodedField, Field, Map, Register, agreed, hexadecimal};
use serde::Serialize;

use crate::cli::document::document;
use crate::output::ascii;

/// Registers and their values, with notes.
#[derive(Debug, Default)]
pub(super) struct RegisterView {
    /// Above all.
    pub(super) headline: Option<String>,
    /// Registers without a value.
    pub(super) lines: Vec<Line>,
    /// Registers with their values.
    pub(super) registers: Vec<Shown>,
    /// What several registers say together.
    pub(super) together: Vec<String>,
    /// What could not be decoded or read, and why.
    pub(super) missed: Vec<String>,
}

/// A register's value and who read it.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    #[serde(flatten)]
    decoded: Decoded,
    /// `pasted`, `ethtool -d`, `mdio`, `device memory`.
    source: &'static str,
}

/// A register or field without a value, in columns.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    name: String,
    place: String,
    about: String,
    #[serde(skip)]
    indent: usize,
}

impl RegisterView {
    /// Adds what the registers say together.
    pub(super) fn together(mut self) -> Self {
        let all: Vec<Decoded> = self.registers.iter().map(|s| s.decoded.clone()).collect();
        self.together.extend(agreed(&all));
        self
    }

    /// Notes something that could not be decoded, once, and not without end.
    pub(super) fn miss(&mut self, why: String) {
        if self.missed.len() < MOST_MISSED && !self.missed.contains(&why) {
            self.missed.push(why);
        }
    }

    /// Whether this register's value is already view.
    pub(super) fn has(&self, map: &Map, register: &Register) -> bool {
        let is_it = |d: &Decoded| d.map == map.name && d.name == register.name;
        self.registers.iter().any(|s| is_it(&s.decoded))
    }

    /// Adds a register's fields and what their values mean.
    pub(super) fn explain(&mut self, register: &Register) {
        self.lines.push(Line::of_register(register));
        for field in &register.fields {
            self.lines.push(Line::of_field(field));
            let values = field.values.iter();
            let values = values.map(|v| Line {
                name: String::new(),
                place: String::new(),
                about: format!("{}: {}", value_text(v.mask, v.equals, field), v.means),
                indent: 2,
            });
            self.lines.extend(values);
        }
        let note = register.note.iter().map(|note| Line {
            name: String::new(),
            place: String::new(),
            about: note.clone(),
            indent: 2,
        });
        self.lines.extend(note);
    }

    pub(super) fn text(&self, only_ascii: bool) -> String {
        let mut text = self
            .headline
            .iter()
            .fold(String::new(), |t, h| t + h + "\n");
        let names = self.lines.iter().map(|l| l.name.chars().count() + l.indent);
        let width = names.max().unwrap_or(0);
        for line in &self.lines {
            text += &line.text(width);
        }
        for shown in &self.registers {
            text += &shown.text();
        }
        for sentence in &self.together {
            text += &format!("{sentence}\n");
        }
        if only_ascii { ascii(&text) } else { text }
    }

    pub(super) fn document(&self) -> io::Result<Printable> {
        let output = document("regs");
        Ok(linerate_report::json::pretty(&Document {
            output,
            registers: &self.registers,
            known: &self.lines,
            together: &self.together,
            missed: &self.missed,
        })?)
    }
}

/// The common document plus the registers.
#[derive(Serialize)]
struct Document<'t> {
    #[serde(flatten)]
    output: Output,
    registers: &'t [Shown],
    #[serde(skip_serializing_if = "<[Line]>::is_empty")]
    known: &'t [Line],
    together: &'t [String],
    missed: &'t [String],
}

impl Shown {
    pub(super) const fn new(decoded: Decoded, source: &'static str) -> Self {
        Self { decoded, source }
    }

    /// A register that is one number fits in a line; others have one line per field.
    fn text(&self) -> String {
        let Decoded {
            name, width_bits, ..
        } = &self.decoded;
        let value = hexadecimal(self.decoded.value, *width_bits);
        let title = self.decoded.title.as_deref().unwrap_or_default();
        let head = format!("{name:<NAME$} {value:<VALUE$}  {title}");
        let mut text = head.trim_end().to_owned();
        match self.decoded.fields.as_slice() {
            [only] if only.name == "VALUE" => {
                let meaning = only.meaning.iter();
                text = meaning.fold(text, |text, meaning| format!("{text}: {meaning}"));
                text.push('\n');
            }
            fields => {
                text.push('\n');
                text.extend(fields.iter().map(field_text));
            }
        }
        let remarks = self.decoded.remarks.iter();
        text.extend(remarks.map(|remark| format!("  note: {remark}\n")));
        text
    }
}

fn field_text(field: &DecodedField) -> String {
    let DecodedField {
        name, bits, value, ..
    } = field;
    let about = field.about.as_deref();
    let meaning = match (&field.meaning, about) {
        (Some(meaning), Some(about)) => format!("{meaning} ({about})"),
        (Some(meaning), None) => meaning.clone(),
        (None, about) => about.unwrap_or_default().to_owned(),
    };
    let line = format!(
        "  {:<6} {name:<NAME_OF_FIELD$} {value:<6} {meaning}",
        bits.to_string()
    );
    format!("{}\n", line.trim_end())
}

impl Line {
    pub(super) fn of_register(register: &Register) -> Self {
        Self {
            name: register.name.clone(),
            place: format!("{:#05x}", register.offset),
            about: register.title.clone().unwrap_or_default(),
            indent: 0,
        }
    }

    fn of_field(field: &Field) -> Self {
        Self {
            name: field.name.clone(),
            place: field.bits.to_string(),
            about: field.means.clone().unwrap_or_default(),
            indent: 2,
        }
    }

    fn text(&self, width: usize) -> String {
        let name = format!("{:indent$}{}", "", self.name, indent = self.indent);
        let line = format!("{name:<width$}  {:<6}  {}", self.place, self.about);
        format!("{}\n", line.trim_end())
    }
}

/// A value as the map wrote it: a number, or a pattern of bits.
fn value_text(mask: u64, equals: u64, field: &Field) -> String {
    let largest = field.bits.largest();
    if mask & largest == largest {
        return equals.to_string();
    }
    let digit = |bit: u8| match Bits::new(bit, bit) {
        Some(bit) if bit.of(mask) == 0 => 'x',
        Some(bit) if bit.of(equals) == 1 => '1',
        _ => '0',
    };
    (0..field.bits.count()).rev().map(digit).collect()
}

const NAME: usize = 18;
const NAME_OF_FIELD: usize = 20;
const VALUE: usize = 10;
const MOST_MISSED: usize = 20;
