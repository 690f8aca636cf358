// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver tables: each is right, says what the ledger needs, and every kind of mistake is
//! reported with its file, its line and what would be right.

use linerate_knowledge::{
    Counts, EMBEDDED, Field, Group, Source, Stage, Width, check_together, counter, driver, drivers,
    parse, parse_causes, parse_messages,
};

#[test]
fn every_embedded_table_is_right() {
    for (file, text) in EMBEDDED.unpack() {
        let parsed = parse(file, &text).map_err(|found| {
            found
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        });
        assert!(parsed.is_ok(), "{}", parsed.unwrap_err());
    }
    assert_eq!(drivers().len(), EMBEDDED.names().count());
    assert_eq!(check_together(drivers()), []);
}

#[test]
fn more_is_checked_than_recalled() {
    for driver in drivers() {
        let checked = |s: &[Source]| s.iter().any(|s| *s != Source::Recall);
        let count = driver
            .counters
            .iter()
            .filter(|c| checked(&c.sources))
            .count();
        assert!(
            count * 2 > driver.counters.len(),
            "{}: {count}",
            driver.name
        );
    }
}

#[test]
fn what_the_ledger_asks_is_answered() {
    let fec = driver("fec").unwrap();
    let lost = counter(fec, "IEEE_rx_macerr").unwrap();
    assert_eq!(
        (lost.stage, lost.counts, lost.width),
        (Stage::RxMac, Counts::Drop, Width::U16)
    );

    let igb = driver("igb").unwrap();
    let ring = counter(igb, "rx_queue_3_drops").unwrap();
    assert_eq!(ring.stage, Stage::RxRing);
    let Field::Filled(both) = igb.link_field("rx_fifo_errors") else {
        panic!("filled")
    };
    assert!(both.alias.len() == 2 && both.alias.contains(&ring.alias[0]));
    assert_eq!(igb.link_field("rx_dropped"), Field::Blind);
    assert_eq!(igb.link_field("rx_nonsense"), Field::Unknown);
    assert_eq!(counter(igb, "rx_queue_N_drops"), None);
}

#[test]
fn a_counter_is_its_list_and_its_name() {
    let fec = driver("fec").unwrap();
    let register = fec.counter(Group::Ethtool, "rx_packets").unwrap();
    let link = fec.counter(Group::Link, "rx_packets").unwrap();
    assert_ne!((register.stage, register.width), (link.stage, link.width));
}

#[test]
fn stmmac_is_known_by_what_ethtool_shows_and_its_dead_counters_are_blind() {
    let stmmac = driver("st_gmac").unwrap();
    assert_eq!(stmmac.name, "stmmac");
    assert_eq!(stmmac.link_field("rx_missed_errors"), Field::Blind);
    for dead in ["rx_overflow_cntr", "rx_missed_cntr"] {
        assert!(stmmac.is_blind(Group::Ethtool, dead), "{dead}");
    }
    assert_eq!(driver("nobody_wrote_one"), None);
}

#[test]
fn every_kind_of_mistake_is_explained() {
    assert!(
        parse("x.toml", RIGHT).is_ok(),
        "{:?}",
        parse("x.toml", RIGHT)
    );
    for (right, wrong, line, says, allowed) in MISTAKES {
        assert!(RIGHT.contains(right), "{right}");
        let found = parse("x.toml", &RIGHT.replacen(right, wrong, 1)).unwrap_err();
        let mistake = found
            .iter()
            .find(|m| m.wrong.contains(says) && m.allowed.contains(allowed));
        let mistake = mistake.unwrap_or_else(|| panic!("{wrong}: {found:#?}"));
        assert_eq!(mistake.line, Some(*line), "{mistake}");
        assert!(
            mistake.to_string().starts_with(&format!("x.toml:{line}: ")),
            "{mistake}"
        );
    }
}

#[test]
fn mistakes_of_a_whole_file_are_explained_too() {
    let found = parse("x.toml", &RIGHT.replace("\"tx_bytes\", ", "")).unwrap_err();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].wrong, "link fields not listed: `tx_bytes`");
    assert_eq!(found[0].line, None);

    let recalls = RIGHT.replace(", \"drivers/net/x.c x_stats\"]", "]");
    let found = parse("x.toml", &recalls).unwrap_err();
    assert_eq!(
        found[0].wrong,
        "no counter is checked: every source is `recall`"
    );

    let mut two = vec![
        parse("x.toml", RIGHT).unwrap(),
        parse("x.toml", RIGHT).unwrap(),
    ];
    two[1].name = "z".to_owned();
    two[1].also = vec!["x".to_owned()];
    assert_eq!(
        check_together(&two)[0].wrong,
        "`x` is also claimed by x.toml"
    );
}

#[test]
fn all_mistakes_of_words_are_reported_at_once() {
    let text = RIGHT
        .replace("rx-mac", "rx-mc")
        .replace("\"frames\"", "\"packets\"");
    assert_eq!(parse("x.toml", &text).unwrap_err().len(), 2);
}

/// A correct text, its wrong replacement, and the line, words and remedy to be reported.
const MISTAKES: &[(&str, &str, usize, &str, &str)] = &[
    (
        "stage = \"rx-mac\"",
        "stage = \"rx-mc\"",
        9,
        "`stage` cannot be `rx-mc`",
        "rx-mac, rx-ring",
    ),
    (
        "counts = \"drop\"",
        "counts = \"lost\"",
        10,
        "`counts` cannot be `lost`",
        "drop, pass, error",
    ),
    (
        "unit = \"frames\"",
        "unit = \"packets\"",
        11,
        "`unit` cannot be `packets`",
        "frames, segments",
    ),
    (
        "width = \"u32\"",
        "width = \"u33\"",
        12,
        "`width` cannot be `u33`",
        "u64, u32, u16",
    ),
    (
        "width = \"u32\"",
        "width = 32",
        12,
        "not the right kind of value: integer `32`",
        "a string",
    ),
    ("width = \"u32\"", "", 6, "the key `width` is missing", ""),
    (
        "reset = \"read\"",
        "reset = \"boot\"",
        13,
        "`reset` cannot be `boot`",
        "never, read, down",
    ),
    (
        "group = \"ethtool\"",
        "group = \"ethtol\"",
        7,
        "`group` cannot be `ethtol`",
        "link, ethtool",
    ),
    (
        "reset = \"read\"",
        "resets = \"read\"",
        13,
        "there is no key `resets`",
        "`reset`",
    ),
    ("[\"lost\"]", "[]", 7, "`names` is empty", "at least one"),
    (
        "[\"lost\"]",
        "[\"lost\", \"lost\"]",
        8,
        "`lost` of `ethtool` is listed twice",
        "once",
    ),
    (
        "[\"lost\"]",
        "\"lost\"",
        8,
        "not the right kind of value",
        "a list",
    ),
    (
        "[\"recall\", ",
        "[\"the driver\", ",
        14,
        "`the driver` gives no place in the source",
        "`recall`, or a path",
    ),
    (
        "[\"recall\", \"drivers/net/x.c x_stats\"]",
        "[]",
        7,
        "`source` is empty",
        "`recall`, or a path",
    ),
    (
        "driver = \"x\"",
        "driver = \"y\"",
        2,
        "the driver is `y` and the file is `x.toml`",
        "`y.toml`",
    ),
    (
        "kernel = \"6.12\"",
        "kernel = \"new\"",
        4,
        "`kernel` cannot be `new`",
        "6.12.117",
    ),
    (
        "reset = \"read\"",
        "alias = [\"alone\"]",
        13,
        "the alias set `alone` has one member",
        "every counter",
    ),
    (
        "\"tx_bytes\"",
        "\"tx_bites\"",
        18,
        "`link` has no field `tx_bites`",
        "tx_bytes",
    ),
    ("driver = \"x\"", "driver = x", 2, "", ""),
];

const RIGHT: &str = r#"# a table
driver = "x"
hardware = "a card"
kernel = "6.12"

[[counter]]
group = "ethtool"
names = ["lost"]
stage = "rx-mac"
counts = "drop"
unit = "frames"
width = "u32"
reset = "read"
source = ["recall", "drivers/net/x.c x_stats"]

[[blind]]
group = "link"
names = ["rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_errors", "tx_errors",
  "rx_dropped", "tx_dropped", "multicast", "collisions", "rx_length_errors", "rx_over_errors",
  "rx_crc_errors", "rx_frame_errors", "rx_fifo_errors", "rx_missed_errors",
  "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors", "tx_heartbeat_errors",
  "tx_window_errors", "rx_compressed", "tx_compressed"]
source = ["recall"]
"#;

/// What somebody copies who adds a message or a cause: the examples of the guide are read without a mistake.
#[test]
fn the_guides_examples_are_right() {
    let guide = include_str!("../../../knowledge/README.md");
    let blocks = guide.split("```toml\n").skip(1);
    let blocks: Vec<&str> = blocks
        .filter_map(|block| block.split("```").next())
        .collect();
    let of = |kind: &str| {
        let mut fitting = blocks.iter().filter(|block| block.starts_with(kind));
        *fitting.next().expect(kind)
    };
    let messages = parse_messages("README.md", of("[[message]]")).unwrap();
    assert!(messages[0].find(&messages[0].example).is_some());
    let causes = parse_causes("README.md", of("[[cause]]")).unwrap();
    assert_eq!(causes[0].id, "half-duplex");
    assert_eq!(causes[0].words.len(), 4);
}
