// SPDX-License-Identifier: MIT OR Apache-2.0
//! Maps made from SVD files: what is inherited, derived and repeated is written out.

use super::import;
use linerate_registers::{Access, Map, Read, decode, parse};
use proptest::prelude::*;

/// Two peripherals of a chip that does not exist.
const CHIP: &str = r##"<?xml version="1.0"?>
<device><name>Toy</name><size>32</size><resetValue>0</resetValue>
<peripherals>
 <peripheral><name>MAC0</name><description>A toy
   MAC</description><baseAddress>0x40092000</baseAddress>
  <addressBlock><offset>0</offset><size>0x200</size></addressBlock>
  <registers>
   <register><name>CTRL</name><description>control</description><addressOffset>0</addressOffset>
    <resetValue>0x8000</resetValue>
    <fields>
     <field><name>SPEED</name><bitRange>[15:14]</bitRange>
      <enumeratedValues><name>speeds</name>
       <enumeratedValue><name>ten</name><description>10 Mbit/s</description><value>#10</value></enumeratedValue>
       <enumeratedValue><name>gigabit</name><value>#0x</value></enumeratedValue>
      </enumeratedValues></field>
     <field><name>DUPLEX</name><lsb>13</lsb><msb>13</msb></field>
     <field><name>Q%s</name><dim>3</dim><dimIncrement>2</dimIncrement><bitOffset>0</bitOffset><bitWidth>2</bitWidth>
      <enumeratedValues derivedFrom="speeds"/></field>
     <field><name>AGAIN</name><bitOffset>0</bitOffset><bitWidth>4</bitWidth></field>
    </fields></register>
   <register derivedFrom="CTRL"><name>SHADOW</name><addressOffset>4</addressOffset><access>read-only</access></register>
   <register><name>FLOW[%s]</name><dim>2</dim><dimIncrement>4</dimIncrement><addressOffset>0x70</addressOffset></register>
   <register><name>LOST</name><addressOffset>0x80</addressOffset><size>16</size><readAction>clear</readAction></register>
   <cluster><name>QUEUE%s</name><dim>2</dim><dimIncrement>0x40</dimIncrement><addressOffset>0x100</addressOffset>
    <register><name>MODE</name><addressOffset>0</addressOffset></register>
    <cluster><name>DEEP</name><addressOffset>0x10</addressOffset>
     <register><name>DEBUG</name><addressOffset>4</addressOffset></register></cluster>
   </cluster>
  </registers></peripheral>
 <peripheral derivedFrom="MAC0"><name>MAC1</name><baseAddress>0x40094000</baseAddress>
  <registers><register><name>CTRL</name><addressOffset>0</addressOffset><access>write-only</access></register></registers>
 </peripheral>
</peripherals></device>"##;

fn imported(peripheral: &str) -> Map {
    let imported = import(CHIP, Some(peripheral)).unwrap_or_else(|error| panic!("{error}"));
    parse("toy.toml", &imported.toml).unwrap_or_else(|wrong| panic!("{wrong:?}"))
}

fn places(map: &Map) -> Vec<(&str, u32)> {
    map.registers
        .iter()
        .map(|r| (r.name.as_str(), r.offset))
        .collect()
}

#[test]
fn arrays_and_clusters_are_written_out() {
    let map = imported("MAC0");
    assert_eq!(
        (map.name.as_str(), map.bases.as_slice()),
        ("toy-mac0", &[0x4009_2000][..])
    );
    assert_eq!(map.hardware, "Toy: A toy MAC");
    assert_eq!(
        places(&map),
        [
            ("CTRL", 0),
            ("SHADOW", 4),
            ("FLOW0", 0x70),
            ("FLOW1", 0x74),
            ("LOST", 0x80),
            ("QUEUE0_MODE", 0x100),
            ("QUEUE0_DEEP_DEBUG", 0x114),
            ("QUEUE1_MODE", 0x140),
            ("QUEUE1_DEEP_DEBUG", 0x154),
        ]
    );
    assert!(map.register("FLOW[1]").is_some());
}

#[test]
fn values_and_resets_are_inherited() {
    let map = imported("MAC0");
    let shadow = map.register("SHADOW").unwrap();
    assert_eq!(
        (shadow.access, shadow.reset),
        (Access::ReadOnly, Some(0x8000))
    );
    let decoded = decode(&map, "SHADOW", 0x8020, None).unwrap();
    let meaning = |field: &str| decoded.field(field).unwrap().meaning.clone();
    assert_eq!(meaning("SPEED").as_deref(), Some("10 Mbit/s"));
    assert_eq!(meaning("Q2").as_deref(), Some("10 Mbit/s"), "the same list");
    assert_eq!(
        meaning("Q0").as_deref(),
        Some("gigabit"),
        "a pattern: either bit"
    );
    assert_eq!(meaning("DUPLEX"), None);
    let lost = map.register("LOST").unwrap();
    assert_eq!((lost.width_bits, lost.read), (16, Read::Clears));
    assert_eq!(shadow.read, Read::Unknown, "an SVD file does not tell");
}

#[test]
fn a_field_without_its_own_bits_is_left_out_and_reported() {
    let imported = import(CHIP, Some("MAC0")).unwrap();
    assert!(
        imported
            .left_out
            .contains(&"CTRL.AGAIN: overlaps or does not fit".to_owned())
    );
}

#[test]
fn a_derived_peripheral_has_the_registers_of_its_basis() {
    let (first, second) = (imported("MAC0"), imported("mac1"));
    assert_eq!(places(&second), places(&first));
    assert_eq!(second.bases, [0x4009_4000]);
    let access = |map: &Map, name| map.register(name).unwrap().access;
    assert_eq!(
        access(&second, "CTRL"),
        Access::WriteOnly,
        "its own comes first"
    );
}

#[test]
fn what_is_asked_for_has_to_be_there() {
    assert_eq!(import(CHIP, None).unwrap_err(), "name one of MAC0, MAC1");
    assert_eq!(
        import(CHIP, Some("ENET")).unwrap_err(),
        "no peripheral `ENET`; name one of MAC0, MAC1"
    );
}

#[test]
fn wrong_files_end_in_an_error() {
    let device = |registers: &str| {
        format!(
            "<device><name>D</name><peripherals><peripheral><name>P</name>\
             <registers>{registers}</registers></peripheral></peripherals></device>"
        )
    };
    let array = "<dim>1000</dim><dimIncrement>4</dimIncrement>";
    let nested = |depth: usize| {
        let open = format!("<cluster><name>C%s</name>{array}<addressOffset>0</addressOffset>");
        open.repeat(depth) + &"</cluster>".repeat(depth)
    };
    let register = "<register><name>R</name><addressOffset>0</addressOffset></register>";
    let cases = [
        ("", "not an SVD"),
        ("<device", "not an SVD"),
        ("<svg/>", "begins with <svg>"),
        (
            "<!DOCTYPE d [<!ENTITY a \"aa\">]><device>&a;</device>",
            "not an SVD",
        ),
        (&device(&nested(3)), "more than 100000 registers"),
        (&device(&nested(20)), "more than 8 nested"),
        (
            &device(&format!(
                "<register><name>R%s</name><dim>99999999999</dim></register>{register}"
            )),
            "members of an array",
        ),
        (
            &device(
                "<register derivedFrom=\"R\"><name>R</name><addressOffset>3</addressOffset></register>",
            ),
            "`P` has no registers",
        ),
        (
            &device(
                "<register derivedFrom=\"S\"><name>R</name></register><register derivedFrom=\"R\"><name>S</name></register>",
            ),
            "derived from itself",
        ),
        (&device(""), "`P` has no registers"),
    ];
    for (svd, expected) in cases {
        let imported = import(svd, None);
        let why = imported.map_or_else(|why| why, |map| map.toml);
        let svd: String = svd.chars().take(200).collect();
        assert!(why.contains(expected), "{svd}: {why}");
    }
}

/// Elements of SVD files in any order and depth, closed or not.
fn svd_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<registers>".to_owned()),
        Just("</registers>".to_owned()),
        Just("<register><name>R%s</name><addressOffset>4</addressOffset>".to_owned()),
        Just("</register>".to_owned()),
        Just("<register derivedFrom=\"R%s\"><name>S</name></register>".to_owned()),
        Just("<cluster derivedFrom=\"C\"><name>C</name></cluster>".to_owned()),
        Just("<cluster><name>C</name>".to_owned()),
        Just("</cluster>".to_owned()),
        Just("<fields><field><name>F</name><bitRange>[7:4]</bitRange></field></fields>".to_owned()),
        Just("<fields><field><name>G</name><bitOffset>70</bitOffset></field></fields>".to_owned()),
        "<size>[0-9]{1,3}</size>",
        "<dim>[0-9]{1,4}</dim>",
        "<resetValue>0x[0-9a-f]{1,18}</resetValue>",
        "<description>\\PC{0,8}</description>",
    ];
    let device = |pieces: Vec<String>| {
        format!(
            "<device><name>D</name><peripherals><peripheral><name>P</name><registers>{}\
             <register><name>Z</name><addressOffset>0x40</addressOffset></register>\
             </registers></peripheral></peripherals></device>",
            pieces.concat()
        )
    };
    prop::collection::vec(piece, 0..10).prop_map(device)
}

proptest! {
    /// `import` checks its own map: none of these is a wrong one.
    #[test]
    fn any_svd_is_a_right_map_or_an_error(svd in svd_like()) {
        if let Err(why) = import(&svd, None) {
            prop_assert!(!why.contains("would be wrong"), "{}", why);
        }
    }
}
