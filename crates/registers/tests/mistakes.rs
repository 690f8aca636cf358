// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mistakes in a register map are reported by line, in the words of the map.
#![forbid(unsafe_code)]

use linerate_registers::{Map, check_together, parse};

const HEAD: &str = "map = \"toy\"\nhardware = \"Toy\"\nsource = [\"manual Toy p. 1\"]\n";

fn mistakes(text: &str) -> Vec<String> {
    match parse("toy.toml", text) {
        Ok(map) => panic!("no mistake in {map:?}"),
        Err(mistakes) => mistakes.iter().map(ToString::to_string).collect(),
    }
}

/// A map with one register, whose further lines these are.
fn register(lines: &str) -> String {
    format!("{HEAD}[[register]]\nname = \"R\"\noffset = 4\n{lines}")
}

fn field(name: &str, bits: &str, more: &str) -> String {
    format!("[[register.field]]\nname = \"{name}\"\nbits = \"{bits}\"\n{more}")
}

/// Each text has a mistake that is reported with these words.
fn each_reports(cases: &[(String, &str)]) {
    for (text, expected) in cases {
        let found = mistakes(text);
        assert!(
            found.iter().any(|t| t.contains(expected)),
            "{expected}\n{text}\n{found:#?}"
        );
    }
}

#[test]
fn a_wrong_field_is_reported() {
    each_reports(&[
        (
            register(&field("A", "3:0", "").repeat(2)),
            ":12: `A` (3:0) overlaps `A` (3:0)\n    allowed: each bit in one field",
        ),
        (
            register(&(field("A", "7:4", "") + &field("B", "4", ""))),
            ":12: `B` (4) overlaps `A` (7:4)",
        ),
        (
            register(&(field("A", "7", "") + &field("a", "6", ""))),
            ":12: there are two fields `a`",
        ),
        (
            register(&field("A", "32", "")),
            ":9: `A` has the bits 32 of a register of 32\n    allowed: bits 31 to 0",
        ),
        (
            register(&(String::from("width = 16\n") + &field("A", "16:3", ""))),
            ":10: `A` has the bits 16:3 of a register of 16",
        ),
        (
            register(&field("A", "3:5", "")),
            ":9: `3:5` is not a range of bits\n    allowed: a bit (\"5\") or a range",
        ),
        (
            register(&field("A", "0", "values = { 2 = \"two\" }")),
            ":8: 2 does not fit into `A`\n    allowed: 0 to 1",
        ),
        (
            register(&field("A", "0", "values = { yes = \"two\" }")),
            ":8: `yes` in the values of `A` is not a number",
        ),
        (
            register(&field("A", "1:0", "least = 4")),
            ":8: `least` does not fit into `A`",
        ),
        (
            register(&(String::from("reserved = [\"2\"]\n") + &field("A", "3:2", ""))),
            ":10: bits 2 of `A` are also reserved",
        ),
        (
            register(&(String::from("unit = \"frames\"\n") + &field("A", "0", ""))),
            ":5: `R` has both a unit and fields",
        ),
    ]);
}

#[test]
fn a_wrong_register_is_reported() {
    each_reports(&[
        (
            register("reserved = [\"32:30\"]\n"),
            ":7: `reserved` has the bits 32:30 of a register of 32",
        ),
        (
            register("width = 24\n"),
            ":7: `R` cannot be 24 bits wide\n    allowed: 8, 16, 32, 64",
        ),
        (
            register("width = 64\n"),
            ":6: `R` is 8 bytes wide and not at a multiple of that\n    allowed: a multiple of 8",
        ),
        (
            register("width = 8\nreset = 0x100\n"),
            ":8: `reset` has more than 8 bits",
        ),
        (
            register("reset = \"zero\"\n"),
            ":7: `reset` is not a number",
        ),
        (
            register("read = \"maybe\"\n"),
            ":7: `read` cannot be `maybe`\n    allowed: safe, clears, unknown",
        ),
        (
            register("access = \"rc\"\n"),
            ":7: `access` cannot be `rc`\n    allowed: rw, ro, wo, w1c",
        ),
        (
            register("unit = \"kilo\"\n"),
            ":7: `unit` cannot be `kilo`\n    allowed: bytes, frames",
        ),
        (
            register("word = 3\n"),
            ":5: `word` of `R` without a dump of words",
        ),
        (register("colour = 3\n"), ":7: there is no key `colour`"),
        (
            register("also = [\"r\"]\n"),
            ":7: `r` is already a name of `R`",
        ),
        (
            register("[[register]]\nname = \"S\"\noffset = 4\n"),
            ":9: the offset 0x4 is already that of `R`\n    allowed: each offset one register; `shares = true`",
        ),
    ]);
}

#[test]
fn a_wrong_map_is_reported() {
    each_reports(&[
        (
            format!("{HEAD}window = 4\n[[register]]\nname = \"R\"\noffset = 4\n"),
            ":7: `R` is outside the window\n    allowed: offsets below 0x4",
        ),
        (
            format!("{HEAD}bus = \"mdio\"\n[[register]]\nname = \"R\"\noffset = 32\n"),
            ":7: `R` cannot be register 32 of a PHY\n    allowed: 0 to 31",
        ),
        (
            format!("{HEAD}bases = [0]\n"),
            ":1: `bases` without `window`",
        ),
        (
            format!("{HEAD}[[register]]\nname = \"R\"\n"),
            "the key `offset` is missing",
        ),
        (
            "map = \"m\"\nhardware = \"h\"\nsource = []\n".to_owned(),
            ":1: `source` of the map is empty\n    allowed: `recall`; a path",
        ),
        (
            "map = \"m\"\nhardware = \"h\"\n".to_owned(),
            "the key `source` is missing",
        ),
        (
            "map = \"m\"\nhardware = \"h\"\nsource = [\"recall\"]\n".to_owned(),
            ":1: nothing is checked: every source is `recall`",
        ),
        (
            "map = \"m\"\nhardware = \"h\"\nsource = [\"a book\"]\n".to_owned(),
            ":3: `a book` gives no place in the source",
        ),
        (
            "map = \"m\"\nhardware = \"h\"\nsource = [\"drivers/net/a.c f\"]\n".to_owned(),
            ":1: sources cite the kernel and `kernel` does not say which",
        ),
        (
            "map = \"m\"\nhardware = \"h\"\nkernel = \"new\"\nsource = [\"drivers/net/a.c f\"]\n"
                .to_owned(),
            ":3: `kernel` cannot be `new`",
        ),
        ("map = ".to_owned(), "toy.toml:1: "),
    ]);
}

#[test]
fn every_mistake_is_reported_not_only_the_first() {
    let text = register(&(field("A", "40", "") + &field("B", "x", "unit = \"y\"")));
    assert_eq!(mistakes(&text).len(), 3, "{:#?}", mistakes(&text));
}

#[test]
fn a_word_of_the_dump_is_one_register() {
    let one = |name: &str, offset: u32| {
        format!("[[register]]\nname = \"{name}\"\noffset = {offset}\nword = 3\n")
    };
    let dump = "[dump]\nlayout = \"words\"\nsource = [\"recall\"]\n";
    let found = mistakes(&format!("{HEAD}{dump}{}{}", one("A", 0), one("B", 4)));
    assert_eq!(
        found,
        ["toy.toml:12: word 3 of the dump is already `A`\n    allowed: each word one register"]
    );
}

#[test]
fn a_map_is_called_as_its_file_and_once() {
    let map: Map = parse("toy.toml", &register("")).unwrap();
    let together = check_together([("a/toy.toml", &map), ("a/other.toml", &map)]);
    let found: Vec<String> = together.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("a/other.toml: the map is `toy` and the file is `other.toml`"),
        "{found:?}"
    );
    assert!(
        found[1].contains("the map `toy` is also in a/toy.toml"),
        "{found:?}"
    );
}
