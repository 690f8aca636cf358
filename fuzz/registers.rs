// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the target of register maps and values does with one input. Separate from `targets.rs`, because it needs
//! `linerate-registers`, whose corpus test includes this file.

use linerate_registers as registers;

/// A user's map and pasted values: no panic; a field that was decoded fits into its bits.
pub(crate) fn maps(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let words: Vec<u32> = data
        .chunks_exact(4)
        .map(|bytes| {
            bytes
                .iter()
                .fold(0, |word, byte| word << 8 | u32::from(*byte))
        })
        .collect();
    if let Ok(map) = registers::parse("map.toml", &text) {
        for register in &map.registers {
            check(&registers::apart(&map, register, u64::MAX, None));
        }
        let _ = registers::registers_of_dump(&map, 1, &words);
    }
    for reading in registers::readings(&text) {
        for map in ["nxp-enet", "mii"].into_iter().filter_map(registers::map) {
            let decoded = registers::decode(map, &reading.name, reading.value, Some(1_000_000_000));
            decoded.iter().for_each(check);
        }
    }
}

fn check(decoded: &registers::Decoded) {
    for field in &decoded.fields {
        assert!(field.value <= field.bits.largest(), "{field:?}");
    }
}
