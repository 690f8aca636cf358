// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the registers of the i.MX ENET say, where they were read: the counters of overflows and
//! of pause frames, and two fields of RCR. Where these are, the map in `knowledge/registers` says.

use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage};
use linerate_registers::{self as registers, Map};

/// The counter of frames lost by an overflow of the receive FIFO.
pub(super) const RECEIVE_OVERFLOW: &str = "IEEE_R_MACERR";
/// The counter of pause frames sent.
pub(super) const PAUSE_SENT: &str = "IEEE_T_FDXFC";

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let removed = switch(vantage, "RCR", "PADEN").filter(|_| vantage.test.is_none());
    vantage.add(facts, "enet_padding_removed", removed, "registers RCR");
}

/// Whether the MAC does flow control.
pub(super) fn pause(vantage: &Vantage<'_>) -> Option<bool> {
    switch(vantage, "RCR", "FCE")
}

/// A counter that was read as a register. It has 16 bits and the driver's reset clears it: of a
/// row of readings that fall, the sum of what each shows is the best that can be said.
pub(super) fn counted_by_register(vantage: &Vantage<'_>, name: &str) -> Option<Counted> {
    if !vantage.evidence.has_registers() {
        return None;
    }
    let sampled = spellings(name).find_map(|name| {
        let of_interface = vantage.of_interface("registers", &name);
        of_interface.or_else(|| vantage.of_host("registers", &name))
    });
    let read = || {
        Some(Counted {
            value: value(vantage, name)?,
            since_boot: true,
            source: format!("registers {name}"),
        })
    };
    sampled.or_else(read)
}

/// Whether a field of one bit is set.
fn switch(vantage: &Vantage<'_>, register: &str, field: &str) -> Option<bool> {
    // The maps are read only where there is a value: they take megabytes.
    let value = value(vantage, register)?;
    let decoded = registers::decode(map()?, register, value, None).ok()?;
    Some(decoded.field(field)?.value != 0)
}

fn map() -> Option<&'static Map> {
    registers::map("nxp-enet")
}

/// All names of a register, with and without the block's name before them.
fn spellings(name: &str) -> impl Iterator<Item = String> {
    let register = map().and_then(|map| map.register(name));
    let names = register.into_iter().flat_map(registers::Register::names);
    let prefixes = map().into_iter().flat_map(|map| &map.prefixes);
    let prefixes: Vec<&str> = std::iter::once("")
        .chain(prefixes.map(String::as_str))
        .collect();
    names.flat_map(move |name| {
        let spelled = prefixes.clone().into_iter();
        spelled.map(move |prefix| format!("{prefix}{name}"))
    })
}

/// The last reading of a register.
fn value(vantage: &Vantage<'_>, name: &str) -> Option<u64> {
    let mut readings = vantage.record.run.settings.iter().rev().filter(|setting| {
        setting.host == vantage.host
            && setting.source == "registers"
            && (setting.interface.is_none() || setting.interface.as_deref() == vantage.interface)
    });
    let text =
        readings.find_map(|setting| spellings(name).find_map(|name| setting.values.get(&name)))?;
    u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
}
