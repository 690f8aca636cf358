// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the registers of the i.MX ENET say where somebody read them: the counters of overflows and
//! of pause frames, and two bits of RCR (i.MX 6 reference manual, chapter ENET).

use crate::facts::Facts;
use crate::facts::counted::{Counted, Place};

/// The counter of frames lost by an overflow of the receive FIFO.
pub(super) const RECEIVE_OVERFLOW: &str = "IEEE_R_MACERR";
/// The counter of pause frames sent.
pub(super) const PAUSE_SENT: &str = "IEEE_T_FDXFC";

pub(super) fn collect(place: &Place<'_>, facts: &mut Facts) {
    if let Some(rcr) = value(place, "RCR").filter(|_| place.test.is_none()) {
        place.add(
            facts,
            "enet_padding_removed",
            rcr & PADEN != 0,
            "",
            "registers RCR",
        );
    }
}

/// Whether the MAC does flow control.
pub(super) fn pause(place: &Place<'_>) -> Option<bool> {
    Some(value(place, "RCR")? & FCE != 0)
}

/// A counter that somebody read as a register. It has 16 bits and the driver's reset clears it: of a
/// row of readings that fall, the sum of what each shows is the best that can be said.
pub(super) fn counted_by_register(place: &Place<'_>, name: &str) -> Option<Counted> {
    let with_block = format!("{BLOCK}{name}");
    let mut names = [name, with_block.as_str()].into_iter();
    let sampled = names.find_map(|name| {
        let of_interface = place.of_interface("registers", name);
        of_interface.or_else(|| place.of_host("registers", name))
    });
    let read = || {
        Some(Counted {
            value: value(place, name)?,
            since_boot: true,
            source: format!("registers {name}"),
        })
    };
    sampled.or_else(read)
}

/// The last reading of a register, with or without the block's name before its own.
fn value(place: &Place<'_>, name: &str) -> Option<u64> {
    let mut readings = place.record.run.settings.iter().rev().filter(|setting| {
        setting.host == place.host
            && setting.source == "registers"
            && (setting.interface.is_none() || setting.interface.as_deref() == place.interface)
    });
    let text = readings.find_map(|setting| {
        let with_block = || setting.values.get(&format!("{BLOCK}{name}"));
        setting.values.get(name).or_else(with_block)
    })?;
    u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
}

const BLOCK: &str = "ENET_";
const FCE: u64 = 1 << 5;
const PADEN: u64 = 1 << 12;
