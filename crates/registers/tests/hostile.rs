// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whatever text comes: no panic, and what is decoded is what was there.
#![forbid(unsafe_code)]

use linerate_registers::{Bits, apart, decode, parse, readings, recognise, registers_of_dump};
use proptest::prelude::*;

fn bits() -> impl Strategy<Value = Bits> {
    (0u8..64, 0u8..64).prop_filter_map("upside down", |(a, b)| Bits::new(a.max(b), a.min(b)))
}

/// Pieces of dumps, cut and glued at random.
fn dump_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("ENET_RCR:0x02188084 =0x05ee0264".to_owned()),
        Just("RCR".to_owned()),
        Just(":0x".to_owned()),
        Just("=".to_owned()),
        Just(" =3D".to_owned()),
        Just("\n> ".to_owned()),
        "[0-9a-fx]{1,12}",
        "\\PC{0,4}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_field_that_is_put_is_found(bits in bits(), register: u64, value: u64) {
        let put = bits.put(register, value);
        prop_assert_eq!(bits.of(put), value & bits.largest());
        prop_assert_eq!(put & !bits.mask(), register & !bits.mask());
        prop_assert_eq!(Bits::of_text(&bits.to_string()), Some(bits));
    }

    /// The fields of every register of every map make its value again, but for what no field has.
    #[test]
    fn the_fields_are_the_value(
        value: u64,
        which: prop::sample::Index,
        speed in prop::option::of(any::<u64>()),
    ) {
        for map in linerate_registers::maps() {
            for register in map.registers.iter().skip(which.index(8)).step_by(8) {
                let decoded = apart(map, register, value, speed);
                let put = decoded.fields.iter().fold(0, |all, f| f.bits.put(all, f.value));
                let known = register.fields.iter().fold(0, |all, f| all | f.bits.mask());
                prop_assert_eq!(put, value & known & register.mask(), "{} {}", map.name, register.name);
            }
        }
    }

    #[test]
    fn any_text_is_read_without_harm(text in prop_oneof![dump_like(), "\\PC{0,80}"]) {
        let map = linerate_registers::map("nxp-enet").unwrap();
        for reading in readings(&text) {
            prop_assert!(text.contains(&reading.name));
            let _ = recognise(&reading);
            if let Ok(decoded) = decode(map, &reading.name, reading.value, None) {
                prop_assert_eq!(decoded.value, reading.value);
            }
        }
    }

    #[test]
    fn any_blob_is_read_without_harm(version: u32, words in prop::collection::vec(any::<u32>(), 0..300)) {
        for map in linerate_registers::maps() {
            let version = map.dump.as_ref().and_then(|d| d.version).unwrap_or(version);
            for (register, value) in registers_of_dump(map, version, &words).unwrap_or_default() {
                prop_assert_eq!(value & !register.mask(), 0);
            }
        }
    }

    #[test]
    fn any_map_is_a_map_or_its_mistakes(
        which: prop::sample::Index,
        at in 0usize..60_000,
        glued in "\\PC{0,6}",
    ) {
        let files = linerate_registers::EMBEDDED.unpack();
        let (file, text) = which.get(&files);
        let mut at = at % text.len();
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let changed = format!("{}{glued}{}", &text[..at], &text[at..]);
        let _ = parse(file, &changed);
    }
}
