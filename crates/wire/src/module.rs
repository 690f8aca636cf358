// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a pluggable module: what to read of it, and its identity, readings and limits under the names of
//! `ethtool -m` (SFF-8472, SFF-8636, CMIS).
//!
//! SFF-8636 and CMIS clear their alarm flags when they are read. These flags are not read, so reading changes nothing;
//! readings and limits say the same.

mod cmis;
mod quantity;
mod sff8472;
mod sff8636;

use quantity::Quantity;

/// A stretch of a module's memory: at most 128 bytes that do not cross byte 128, as the kernel hands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Address on the module's two-wire bus: 0x50, or 0x51 for the diagnostics of SFF-8472.
    pub bus_address: u8,
    /// The page that is shown from byte 128 on; 0 without pages.
    pub page: u8,
    /// The first byte.
    pub offset: u8,
    /// How many bytes.
    pub bytes: u8,
}

/// A stretch and what stands there: as many bytes as could be read.
pub type Part = (Stretch, Vec<u8>);

/// Names and values as `ethtool -m` prints them, powers in dBm only.
pub type Values = Vec<(String, String)>;

/// What to read first: the identifier and the two bytes after it.
pub const FIRST: Stretch = Stretch::of(0, 0, 3);

/// What to read of a module that begins with these bytes; nothing of an unknown one.
#[must_use]
pub fn stretches(first: &[u8]) -> &'static [Stretch] {
    let (Some(identifier), status) = (first.first(), first.get(2).copied().unwrap_or(0)) else {
        return &[];
    };
    match kind(*identifier) {
        Some(Kind::Sff8472) => &sff8472::STRETCHES,
        Some(Kind::Sff8636) if status & sff8636::FLAT != 0 => &sff8636::STRETCHES[..2],
        Some(Kind::Sff8636) => &sff8636::STRETCHES,
        Some(Kind::Cmis) if status & cmis::FLAT != 0 => &cmis::STRETCHES[..2],
        Some(Kind::Cmis) => &cmis::STRETCHES,
        None => &[],
    }
}

/// What the parts say of the module with this identifier (SFF-8024 table 4-1). What was not read is absent.
#[must_use]
pub fn values(identifier: u8, parts: &[Part]) -> Values {
    let memory = Memory { parts };
    let mut values = Vec::new();
    put(&mut values, "Identifier", name(identifier));
    match kind(identifier) {
        Some(Kind::Sff8472) => sff8472::add(&memory, &mut values),
        Some(Kind::Sff8636) => sff8636::add(&memory, &mut values),
        Some(Kind::Cmis) => cmis::add(&memory, &mut values),
        None => {}
    }
    values
}

enum Kind {
    Sff8472,
    Sff8636,
    Cmis,
}

fn kind(identifier: u8) -> Option<Kind> {
    match identifier {
        0x02 | 0x03 | 0x0b => Some(Kind::Sff8472),
        0x0c | 0x0d | 0x11 => Some(Kind::Sff8636),
        0x18 | 0x19 | 0x1b | 0x1e..=0x20 => Some(Kind::Cmis),
        _ => None,
    }
}

fn name(identifier: u8) -> String {
    let known = match identifier {
        0x02 => "module soldered to motherboard",
        0x03 => "SFP",
        0x0b => "DWDM-SFP",
        0x0c => "QSFP",
        0x0d => "QSFP+",
        0x11 => "QSFP28",
        0x18 => "QSFP-DD",
        0x19 => "OSFP",
        0x1b => "DSFP",
        0x1e => "QSFP+ with CMIS",
        0x1f => "SFP-DD with CMIS",
        0x20 => "SFP+ with CMIS",
        _ => "reserved or unknown",
    };
    format!("0x{identifier:02x} ({known})")
}

impl Stretch {
    const fn of(page: u8, offset: u8, bytes: u8) -> Self {
        Self {
            bus_address: BUS_ADDRESS,
            page,
            offset,
            bytes,
        }
    }

    /// How far into the stretch a byte of one of its pages is.
    fn place(&self, space: Space, at: u8) -> Option<usize> {
        // The lower half is the same under every page.
        let same_page = space.1 == self.page || at < HALF;
        let inside = at.checked_sub(self.offset)?;
        (space.0 == self.bus_address && same_page && inside < self.bytes).then_some(inside.into())
    }
}

/// Bus address and page.
type Space = (u8, u8);
type Named = (&'static str, Quantity);

const BUS_ADDRESS: u8 = 0x50;
const HALF: u8 = 128;

/// What was read.
struct Memory<'p> {
    parts: &'p [Part],
}

impl Memory<'_> {
    fn byte(&self, space: Space, at: u8) -> Option<u8> {
        let byte = |(stretch, bytes): &Part| bytes.get(stretch.place(space, at)?).copied();
        self.parts.iter().find_map(byte)
    }

    /// Two bytes, the high one first.
    fn word(&self, space: Space, at: u8) -> Option<u16> {
        let low = self.byte(space, at.checked_add(1)?)?;
        Some(u16::from_be_bytes([self.byte(space, at)?, low]))
    }

    /// ASCII, padded with blanks. A byte that cannot be printed shows as `.`.
    fn text(&self, space: Space, from: u8, bytes: u8) -> Option<String> {
        let all: Option<Vec<u8>> = (from..from + bytes)
            .map(|at| self.byte(space, at))
            .collect();
        let printed = |byte: u8| match byte {
            b' '..=b'~' => char::from(byte),
            0 => ' ',
            _ => '.',
        };
        let text: String = all?.into_iter().map(printed).collect();
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Adds texts by name, first byte and length.
    fn texts(&self, space: Space, fields: &[(&str, u8, u8)], values: &mut Values) {
        for (name, from, bytes) in fields {
            if let Some(text) = self.text(space, *from, *bytes) {
                put(values, name, text);
            }
        }
    }

    /// Adds the four limits of a quantity, which stand in one order in all three standards, this many times what is
    /// written. A module without limits has zeros there.
    fn limits(&self, (space, from): (Space, u8), (name, of): Named, times: u16, to: &mut Values) {
        let each = (from..).step_by(2).map(|at| self.word(space, at));
        let raws: Option<Vec<u16>> = each.take(LIMITS.len()).collect();
        let raws = raws.filter(|raws| raws.iter().any(|raw| *raw != 0));
        for (limit, raw) in LIMITS.iter().zip(raws.into_iter().flatten()) {
            let raw = f64::from(raw) * f64::from(times);
            put(to, &format!("{name} {limit} threshold"), of.text(raw));
        }
    }
}

const LIMITS: [&str; 4] = ["high alarm", "low alarm", "high warning", "low warning"];
const TEMPERATURE: &str = "Module temperature";
const VOLTAGE: &str = "Module voltage";
/// What the limits are of, in the order of SFF-8472.
const BIAS: &str = "Laser bias current";
const TX_POWER: &str = "Laser output power";
const RX_POWER: &str = "Laser rx power";

fn put(values: &mut Values, name: &str, value: impl Into<String>) {
    values.push((name.to_owned(), value.into()));
}

/// Adds a reading of each lane that was read.
fn lanes(values: &mut Values, name: &str, of: Quantity, raws: impl Iterator<Item = Option<u16>>) {
    for (raw, lane) in raws.zip(1..) {
        if let Some(raw) = raw {
            put(
                values,
                &format!("{name} (Channel {lane})"),
                of.text(raw.into()),
            );
        }
    }
}

#[cfg(test)]
mod tests;
