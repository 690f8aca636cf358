// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks register maps beyond their words, each alone and all together.

use std::collections::BTreeMap;

use super::bits::{Bits, ranges};
use super::map::{Map, Register, spelling};
use super::raw::{RawMap, RawRegister};
use super::{Bus, Layout, Source};
use linerate_knowledge::{Mistake, Mistakes};

/// Reports the mistakes of one map other than wrong words.
pub(super) fn check(raw: &RawMap, map: &Map, mistakes: &mut Mistakes<'_>) {
    kernel_is_named(raw, map, mistakes);
    something_was_checked(raw, map, mistakes);
    bases_have_a_window(raw, mistakes);
    words_of_the_dump(raw, map, mistakes);
    no_name_twice(raw, mistakes);
    no_offset_twice(raw, mistakes);
    for (raw_register, register) in raw.register.iter().zip(&map.registers) {
        let mut one = One {
            raw: raw_register,
            register,
            mistakes,
        };
        one.check(map);
    }
}

/// Returns the mistakes between maps that are each correct: duplicate names, wrong file names.
#[must_use]
pub fn check_together<'m>(maps: impl IntoIterator<Item = (&'m str, &'m Map)>) -> Vec<Mistake> {
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    let mut found = Vec::new();
    for (file, map) in maps {
        let name = file.rsplit('/').next().unwrap_or(file);
        let expected = format!("{}.toml", map.name);
        let mistake = |wrong: String, allowed: &str| Mistake {
            file: file.to_owned(),
            line: None,
            wrong,
            allowed: allowed.to_owned(),
        };
        if name != expected {
            let wrong = format!("the map is `{}` and the file is `{name}`", map.name);
            found.push(mistake(wrong, &format!("a file called `{expected}`")));
        }
        if let Some(owner) = owners.insert(map.name.clone(), file) {
            let wrong = format!("the map `{}` is also in {owner}", map.name);
            found.push(mistake(wrong, "each name once"));
        }
    }
    found
}

fn kernel_is_named(raw: &RawMap, map: &Map, mistakes: &mut Mistakes<'_>) {
    let of_registers = map.registers.iter().flat_map(|r| &r.sources);
    let mut cites_kernel = map.sources.iter().chain(of_registers);
    let cites_kernel = cites_kernel.any(|s| *s == Source::Kernel);
    let number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match &raw.kernel {
        None if cites_kernel => mistakes.at(
            raw.map.span().start,
            "sources cite the kernel and `kernel` does not say which".to_owned(),
            "kernel = \"6.12.117\"",
        ),
        Some(kernel) if !kernel.get_ref().split('.').all(number) => mistakes.at(
            kernel.span().start,
            format!("`kernel` cannot be `{}`", kernel.get_ref()),
            "a version such as `6.12.117`",
        ),
        _ => {}
    }
}

fn something_was_checked(raw: &RawMap, map: &Map, mistakes: &mut Mistakes<'_>) {
    let of_registers = map.registers.iter().flat_map(|r| &r.sources);
    let mut sources = map.sources.iter().chain(of_registers);
    if raw.source.is_empty() {
        let wrong = "`source` of the map is empty".to_owned();
        mistakes.at(raw.map.span().start, wrong, Source::FORM);
    } else if sources.all(|s| *s == Source::Recall) {
        let wrong = "nothing is checked: every source is `recall`".to_owned();
        mistakes.at(raw.map.span().start, wrong, Source::FORM);
    }
}

fn bases_have_a_window(raw: &RawMap, mistakes: &mut Mistakes<'_>) {
    if !raw.bases.is_empty() && raw.window.is_none() {
        let wrong = "`bases` without `window`".to_owned();
        let allowed = "how many bytes of addresses the block takes: window = 0x4000";
        mistakes.at(raw.map.span().start, wrong, allowed);
    }
    if raw.bases.iter().any(|b| b.0.is_none()) {
        let wrong = "an entry of `bases` is not a number".to_owned();
        mistakes.at(raw.map.span().start, wrong, "bases = [0x02188000]");
    }
}

fn words_of_the_dump(raw: &RawMap, map: &Map, mistakes: &mut Mistakes<'_>) {
    let by_words = map.dump.as_ref().is_some_and(|d| d.layout == Layout::Words);
    let mut owners: BTreeMap<u32, &str> = BTreeMap::new();
    for register in &raw.register {
        let (Some(word), name) = (register.word, &register.name) else {
            continue;
        };
        if !by_words {
            let wrong = format!("`word` of `{}` without a dump of words", name.get_ref());
            let allowed = "[dump] layout = \"words\", or no `word`";
            mistakes.at(name.span().start, wrong, allowed);
        } else if let Some(owner) = owners.insert(word, name.get_ref()) {
            let wrong = format!("word {word} of the dump is already `{owner}`");
            mistakes.at(name.span().start, wrong, "each word one register");
        }
    }
}

fn no_name_twice(raw: &RawMap, mistakes: &mut Mistakes<'_>) {
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    for register in &raw.register {
        for name in std::iter::once(&register.name).chain(&register.also) {
            let owner = owners.insert(spelling(name.get_ref()), register.name.get_ref());
            if let Some(owner) = owner {
                let wrong = format!("`{}` is already a name of `{owner}`", name.get_ref());
                mistakes.at(name.span().start, wrong, "each name one register");
            }
        }
    }
}

fn no_offset_twice(raw: &RawMap, mistakes: &mut Mistakes<'_>) {
    let mut owners: BTreeMap<u32, &str> = BTreeMap::new();
    for register in raw.register.iter().filter(|r| !r.shares) {
        let offset = *register.offset.get_ref();
        if let Some(owner) = owners.insert(offset, register.name.get_ref()) {
            mistakes.at(
                register.offset.span().start,
                format!("the offset {offset:#x} is already that of `{owner}`"),
                "each offset one register; `shares = true` where the hardware really shares it",
            );
        }
    }
}

/// One register, as it was written and as it was understood.
struct One<'a, 't> {
    raw: &'a RawRegister,
    register: &'a Register,
    mistakes: &'a mut Mistakes<'t>,
}

impl One<'_, '_> {
    fn check(&mut self, map: &Map) {
        if !self.width_is_possible() {
            return;
        }
        self.offset_is_possible(map);
        self.reset_fits();
        self.one_number_or_fields();
        self.fields_fit();
        self.fields_are_apart();
        self.values_fit();
    }

    fn width_is_possible(&mut self) -> bool {
        let width = self.register.width_bits;
        let possible = matches!(width, 8 | 16 | 32 | 64);
        if let (false, Some(raw)) = (possible, &self.raw.width) {
            let wrong = format!("`{}` cannot be {width} bits wide", self.register.name);
            self.mistakes.at(raw.span().start, wrong, "8, 16, 32, 64");
        }
        possible
    }

    fn offset_is_possible(&mut self, map: &Map) {
        let (offset, name) = (self.register.offset, &self.register.name);
        let (bytes, window) = (u32::from(self.register.width_bits / 8), map.window_bytes);
        let (wrong, allowed) = match map.bus {
            Bus::Mdio if offset > 31 => (
                format!("`{name}` cannot be register {offset} of a PHY"),
                "0 to 31".to_owned(),
            ),
            Bus::Memory if !offset.is_multiple_of(bytes) => (
                format!("`{name}` is {bytes} bytes wide and not at a multiple of that"),
                format!("a multiple of {bytes}"),
            ),
            Bus::Memory if window.is_some_and(|w| w.saturating_sub(bytes) < offset) => (
                format!("`{name}` is outside the window"),
                format!("offsets below {:#x}", window.unwrap_or(0)),
            ),
            _ => return,
        };
        let at = self.raw.offset.span().start;
        self.mistakes.at(at, wrong, &allowed);
    }

    fn reset_fits(&mut self) {
        let (Some(raw), Some(reset)) = (&self.raw.reset, self.register.reset) else {
            return;
        };
        if reset & !self.register.mask() != 0 {
            let width = self.register.width_bits;
            let wrong = format!("`reset` has more than {width} bits");
            self.mistakes
                .at(raw.span().start, wrong, &format!("{width} bits"));
        }
    }

    fn one_number_or_fields(&mut self) {
        let is_number = self.raw.bits.is_some() || self.raw.unit.is_some();
        if is_number && !self.raw.field.is_empty() {
            let wrong = format!("`{}` has both a unit and fields", self.register.name);
            let allowed =
                "`unit` (and `bits`) for a register that is one number, else [[register.field]]";
            self.mistakes.at(self.raw.name.span().start, wrong, allowed);
        }
    }

    fn fields_fit(&mut self) {
        let (width, mask) = (self.register.width_bits, self.register.mask());
        let fields = self
            .raw
            .field
            .iter()
            .map(|f| (f.name.get_ref().as_str(), &f.bits));
        let whole = self
            .raw
            .bits
            .iter()
            .map(|b| (self.register.name.as_str(), b));
        let reserved = self.raw.reserved.iter().map(|b| ("reserved", b));
        for (name, word) in fields.chain(whole).chain(reserved) {
            let Some(bits) = Bits::of_text(word.get_ref()) else {
                continue;
            };
            if bits.mask() & !mask != 0 {
                let wrong = format!("`{name}` has the bits {bits} of a register of {width}");
                let allowed = format!("bits {} to 0", width - 1);
                self.mistakes.at(word.span().start, wrong, &allowed);
            }
        }
    }

    fn fields_are_apart(&mut self) {
        let mut taken: Vec<(&str, Bits)> = Vec::new();
        for field in &self.raw.field {
            let Some(bits) = Bits::of_text(field.bits.get_ref()) else {
                continue;
            };
            let name = field.name.get_ref().as_str();
            let at = field.bits.span().start;
            for (other, theirs) in &taken {
                if bits.mask() & theirs.mask() != 0 {
                    let wrong = format!("`{name}` ({bits}) overlaps `{other}` ({theirs})");
                    self.mistakes.at(at, wrong, "each bit in one field");
                }
                if name.eq_ignore_ascii_case(other) {
                    let wrong = format!("there are two fields `{name}`");
                    self.mistakes.at(at, wrong, "each name of a register once");
                }
            }
            if bits.mask() & self.register.reserved_mask != 0 {
                let both = ranges(bits.mask() & self.register.reserved_mask);
                let both: Vec<String> = both.iter().map(ToString::to_string).collect();
                let wrong = format!("bits {} of `{name}` are also reserved", both.join(", "));
                self.mistakes.at(at, wrong, "a field or reserved, not both");
            }
            taken.push((name, bits));
        }
    }

    fn values_fit(&mut self) {
        for raw in &self.raw.field {
            let Some(field) = self.register.field(raw.name.get_ref()) else {
                continue;
            };
            let most = field.bits.largest();
            let too_large = field.values.iter().find(|v| v.equals > most);
            let at = raw.name.span().start;
            if let Some(value) = too_large {
                let wrong = format!("{} does not fit into `{}`", value.equals, field.name);
                self.mistakes.at(at, wrong, &format!("0 to {most}"));
            }
            if field.least.is_some_and(|least| least > most) {
                let wrong = format!("`least` does not fit into `{}`", field.name);
                self.mistakes.at(at, wrong, &format!("0 to {most}"));
            }
        }
    }
}
