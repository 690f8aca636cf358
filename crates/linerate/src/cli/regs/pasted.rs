// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values read elsewhere: arguments, files, standard input.

use std::io;
use std::path::Path;

use linerate_registers::{self, Map, Reading, Register, decode, readings, recognise, unsigned};

use super::known;
use super::view::{RegisterView, Shown};
use linerate_model::failure::Failure;

/// Decodes every word: `NAME=VALUE`, a file, `-`; and shows the register that a bare name means.
pub(super) fn decode_words(
    map: Option<&Map>,
    words: &[String],
    link_bits_per_second: Option<u64>,
) -> Result<RegisterView, Failure> {
    let mut decoder = Decoder {
        map,
        link_bits_per_second,
        view: RegisterView::default(),
    };
    for word in words {
        decoder.word(word)?;
    }
    Ok(decoder.view.together())
}

/// Whether a word is a value or a text, not an interface.
pub(super) fn is_pasted(word: &str) -> bool {
    word == "-" || word.contains('=') || Path::new(word).is_file()
}

struct Decoder<'m> {
    map: Option<&'m Map>,
    link_bits_per_second: Option<u64>,
    view: RegisterView,
}

impl Decoder<'_> {
    fn word(&mut self, word: &str) -> Result<(), Failure> {
        if word == "-" {
            let text = known::bounded(io::stdin().lock(), TEXT_BYTES);
            let text = text.map_err(|why| Failure::measuring("read standard input", why))?;
            self.text("standard input", &text)
        } else if word.contains('=') {
            self.value(word)
        } else if Path::new(word).is_file() {
            let text = known::text_of(Path::new(word), TEXT_BYTES)?;
            self.text(word, &text)
        } else {
            self.bare(word)
        }
    }

    /// Decodes `NAME=VALUE`.
    fn value(&mut self, word: &str) -> Result<(), Failure> {
        let reading = one_reading(word).ok_or_else(|| {
            Failure::usage(format!("decode {word}"), "it is not NAME=VALUE")
                .hint("RCR=0x05ee0264      or      'ENET_RCR:0x02188084 =0x05ee0264'")
        })?;
        let shown = self.shown(&reading)?;
        self.view.registers.push(shown);
        Ok(())
    }

    /// Decodes all values of a text; unknown names are reported at the end.
    fn text(&mut self, name: &str, text: &str) -> Result<(), Failure> {
        let before = self.view.registers.len();
        for (count, reading) in readings(text).enumerate() {
            if count == MOST_VALUES {
                let why = format!("{name}: only its first {MOST_VALUES} values are shown");
                self.view.missed.push(why);
                break;
            }
            match self.shown(&reading) {
                Ok(shown) => self.view.registers.push(shown),
                Err(failure) => self.view.miss(failure.why),
            }
        }
        if self.view.registers.len() > before {
            return Ok(());
        }
        let why = match self.view.missed.as_slice() {
            [] => "no line has the form NAME=VALUE or NAME:ADDRESS =VALUE",
            [first, ..] => first,
        };
        Err(
            Failure::measuring(format!("find register values in {name}"), why)
                .hint(format!("--map MAP: one of {}", known::names())),
        )
    }

    /// A register's name without a value: what it is.
    fn bare(&mut self, word: &str) -> Result<(), Failure> {
        let map = self.map.ok_or_else(|| {
            Failure::usage(
                format!("decode {word}"),
                "it has no value and is not a file",
            )
        })?;
        match map.register(word) {
            Some(register) => self.view.explain(register),
            None => {
                let unknown = decode(map, word, 0, None).err();
                let why = unknown.map_or_else(String::new, |why| why.to_string());
                return Err(Failure::usage(format!("show {word}"), why)
                    .hint("without --map the first word is an interface"));
            }
        }
        Ok(())
    }

    fn shown(&self, reading: &Reading) -> Result<Shown, Failure> {
        let known = self.map.or_else(|| recognise(reading).map(|(map, _)| map));
        let map = known
            .or_else(|| likely(reading))
            .ok_or_else(|| which_map(reading))?;
        let decoded = decode(map, &reading.name, reading.value, self.link_bits_per_second);
        let mut decoded = decoded.map_err(|why| {
            let failure = Failure::usage(format!("decode {}", reading.name), why);
            failure.hint("linerate regs --map MAP, without a value, lists its registers")
        })?;
        let named = map.register(&reading.name);
        decoded.remarks.extend(elsewhere(map, named, reading));
        Ok(Shown::new(decoded, "pasted"))
    }
}

/// The one reading of a word. A number may stand for the name.
fn one_reading(word: &str) -> Option<Reading> {
    let mut all = readings(word);
    match (all.next(), all.next()) {
        (Some(one), None) => Some(one),
        _ => {
            let (name, value) = word.split_once('=')?;
            unsigned(name)?;
            Some(Reading {
                name: name.to_owned(),
                address: None,
                value: unsigned(value)?,
            })
        }
    }
}

/// A remark if a name and its address do not belong together.
fn elsewhere(map: &Map, named: Option<&Register>, reading: &Reading) -> Option<String> {
    let offset = map.offset_of(reading.address?)?;
    if named?.offset == offset {
        return None;
    }
    let there = match map.at(offset) {
        Some(register) => format!("is that of {}", register.name),
        None => "matches no register of the map".to_owned(),
    };
    Some(format!("the address {:#x} {there}", reading.address?))
}

/// The map that a prefix or an address points to, though the name is not in it.
fn likely(reading: &Reading) -> Option<&'static Map> {
    let is_there = |m: &&Map| reading.address.is_some_and(|a| m.offset_of(a).is_some());
    let is_it = |m: &&Map| is_there(m) || m.has_prefix(&reading.name);
    linerate_registers::maps().iter().find(|m| is_it(&&**m))
}

fn which_map(reading: &Reading) -> Failure {
    let why = format!("`{}` does not identify a chip", reading.name);
    let knowing = linerate_registers::maps()
        .iter()
        .filter(|m| m.register(&reading.name).is_some());
    let knowing: Vec<&str> = knowing.map(|m| m.name.as_str()).collect();
    let hint = match knowing.as_slice() {
        [] => format!("--map MAP: one of {}", known::names()),
        maps => format!("--map {}", maps.join(" or --map ")),
    };
    Failure::usage(format!("decode {}", reading.name), why).hint(hint)
}

/// A dump has some hundred.
const MOST_VALUES: usize = 10_000;
const TEXT_BYTES: u64 = 16 << 20;
