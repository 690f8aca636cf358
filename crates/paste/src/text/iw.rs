// SPDX-License-Identifier: MIT OR Apache-2.0
//! `iw dev`, `iw dev wlan0 link`, `… station dump`, `… get power_save`: signal, bit rates and what had to be repeated:
//! `  tx bitrate:  13.0 MBit/s MCS 1`.

use std::collections::BTreeMap;

use super::number::decimal;
use super::{Block, Counters, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let asked = hint.is("iw", "");
    let mine = |line: &str| title(line).is_some() || field(line).is_some() || is_queue(line);
    (title(first).is_some() || is_telling(first) || (asked && mine(first))).then_some(())?;
    // The stations of an access point are read together.
    let mut named = None;
    let found = lines.run(0, |line| {
        let name = title(line).flatten();
        let other = name.is_some() && named.is_some() && name != named;
        named = named.or(name);
        !other && mine(line)
    });
    let interface = named.or_else(|| asked.then(|| hint.interface()).flatten());
    let fields = || found.iter().filter_map(|(_, line)| field(line));
    let (mut counted, mut said) = (BTreeMap::new(), BTreeMap::new());
    for (name, value) in fields() {
        if let Some((_, kept)) = COUNTERS.iter().find(|(known, _)| *known == name) {
            let sum: &mut u64 = counted.entry((*kept).to_owned()).or_default();
            *sum = sum.saturating_add(value.parse().unwrap_or(0));
        } else {
            let known = said.entry(name).or_insert(value);
            // Of several stations the weakest: `-84 dBm` is less than `-59 dBm`.
            if name == "signal" && decibels(value) < decibels(known) {
                *known = value;
            }
        }
    }
    let said = said
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let channel = found.iter().filter_map(|(_, line)| channel(line)).flatten();
    let mut content = vec![Settings::new(
        "iw",
        interface,
        said.chain(channel).collect(),
    )];
    if !counted.is_empty() {
        content.push(Counters::new(
            "iw",
            interface,
            counted.into_iter().collect(),
        ));
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "iw",
        content,
    })
}

/// `Connected to 02:… (on wlan0)`, `Station 02:… (on wlan0)`, `Interface wlan0`: with the interface; `phy#0` has none.
#[expect(clippy::option_option, reason = "a title may name no interface")]
fn title(line: &str) -> Option<Option<&str>> {
    let text = line.trim();
    let words: Vec<&str> = text.split_whitespace().take(6).collect();
    match words.as_slice() {
        ["Connected", "to", address, "(on", name] | ["Station", address, "(on", name] => {
            (address.len() == 17).then(|| Some(name.trim_end_matches(')')))
        }
        ["Interface", name]
            if line.starts_with([' ', '\t']) || super::lines::is_interface(name) =>
        {
            Some(Some(name))
        }
        [phy]
            if phy
                .strip_prefix("phy#")
                .is_some_and(|number| number.parse::<u32>().is_ok()) =>
        {
            Some(None)
        }
        _ => None,
    }
}

/// `signal avg:  -83 [-86, -87] dBm`.
fn field(line: &str) -> Option<(&str, &str)> {
    let text = line.trim();
    let (name, value) = text.split_once(':').filter(|_| text.len() < 160)?;
    let is_counter = COUNTERS.iter().any(|(known, _)| *known == name);
    let known = is_counter || FIELDS.split('|').any(|known| known == name);
    known.then(|| (name, value.trim()))
}

fn decibels(value: &str) -> Option<f64> {
    decimal(value.split_whitespace().next()?)
}

/// A line that begins only outputs of `iw`, where a person left out the lines before it.
fn is_telling(line: &str) -> bool {
    let Some((name, value)) = field(line) else {
        return false;
    };
    match name {
        "signal" | "signal avg" => value.ends_with("dBm"),
        "tx bitrate" | "rx bitrate" => value.contains("MBit/s"),
        "Power save" => ["on", "off"].contains(&value),
        "beacon loss" | "tx retries" | "tx failed" => value.parse::<u64>().is_ok(),
        _ => false,
    }
}

/// Lines of `iw dev` that are no field, and the table of a queue.
fn is_queue(line: &str) -> bool {
    let text = line.trim();
    let begins = [
        "ifindex ",
        "wdev ",
        "addr ",
        "ssid ",
        "type ",
        "channel ",
        "txpower ",
        "multicast TXQ",
        "qsz-byt",
        "Unnamed/non-netdev ",
    ];
    let digits = |word: &str| word.bytes().all(|letter| letter.is_ascii_digit());
    let row = text.split_whitespace().count() == 9 && text.split_whitespace().all(digits);
    text.len() < 160
        && (row || text == "Not connected." || begins.iter().any(|begin| text.starts_with(begin)))
}

/// `channel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz`.
fn channel(line: &str) -> Option<[(String, String); 2]> {
    let rest = line.trim().strip_prefix("channel ")?;
    let (_, rest) = rest.split_once('(')?;
    let (frequency, rest) = rest.split_once(" MHz)")?;
    let width = rest.split_once("width: ")?.1.split(',').next()?;
    let pair = |name: &str, value: &str| (name.to_owned(), value.trim().to_owned());
    Some([pair("freq", frequency), pair("width", width)])
}

/// iw's names, and those by which packets are found.
const COUNTERS: [(&str, &str); 6] = [
    ("tx retries", "tx retries"),
    ("tx failed", "tx failed"),
    ("beacon loss", "beacon loss"),
    ("rx drop misc", "rx drop misc"),
    ("rx packets", "rx_packets"),
    ("tx packets", "tx_packets"),
];
/// The fields of `link.c`, `station.c` and `interface.c` of iw.
const FIELDS: &str = "SSID|freq|RX|TX|signal|signal avg|beacon signal avg|tx bitrate|rx bitrate|bss flags|dtim period|\
    beacon int|inactive time|rx bytes|tx bytes|tx duration|rx duration|beacon rx|last ack signal|\
    avg ack signal|ack signal|airtime weight|expected throughput|authorized|authenticated|associated|\
    preamble|WMM/WME|MFP|TDLS peer|DTIM period|beacon interval|CTS protection|short preamble|\
    short slot time|connected time|associated at [boottime]|associated at|current time|Toffset|4addr|\
    Power save|last rx|mesh plink|mesh local PS mode|mesh peer PS mode|tx airtime|rx airtime";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    type Read = (usize, Settings, Vec<(String, u64)>);

    fn of(text: &str, command: Option<&str>) -> Option<Read> {
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint { command })?;
        let mut content = block.content.into_iter();
        let Some(Content::Settings(settings)) = content.next() else {
            panic!()
        };
        let counted = match content.next() {
            Some(Content::Counters(counters)) => counters.values,
            _ => Vec::new(),
        };
        Some((block.lines, settings, counted))
    }

    fn has(settings: &Settings, name: &str, value: &str) -> bool {
        settings
            .values
            .contains(&(name.to_owned(), value.to_owned()))
    }

    #[test]
    fn link_and_station() {
        let link = "Connected to 02:00:00:aa:bb:cc (on wlan0)\n\tSSID: home\n\tfreq: 2437\n\tRX: 1771993 bytes (9212 packets)\n\tsignal: -84 dBm\n\trx bitrate: 6.5 MBit/s MCS 0\n\n\tbss flags:\tshort-slot-time\n\tbeacon int:\t100\nand\n";
        let (lines, read, _) = of(link, None).unwrap();
        assert_eq!((lines, read.interface.as_deref()), (9, Some("wlan0")));
        assert!(
            has(&read, "signal", "-84 dBm") && has(&read, "freq", "2437"),
            "{read:?}"
        );
        let station = "Station 02:00:00:aa:bb:cc (on wlan0)\n\trx packets:\t9212\n\ttx packets:\t1021\n\ttx retries:\t2217\n\ttx failed:\t311\n\tbeacon loss:\t12\n\tsignal:  \t-84 [-86, -88] dBm\nStation 02:00:00:aa:bb:cd (on wlan0)\n\tsignal:  \t-50 dBm\n\ttx failed:\t1\nStation 02:00:00:aa:bb:ce (on wlan1)\n";
        let (lines, read, counted) = of(station, None).unwrap();
        assert_eq!(lines, 10);
        assert!(has(&read, "signal", "-84 [-86, -88] dBm"), "{read:?}");
        for (name, value) in [
            ("tx_packets", 1021),
            ("tx retries", 2217),
            ("tx failed", 312),
        ] {
            assert!(counted.contains(&(name.to_owned(), value)), "{name}");
        }
    }

    #[test]
    fn interfaces_and_single_lines() {
        let dev = "phy#0\n\tInterface wlan0\n\t\tifindex 3\n\t\ttype managed\n\t\tchannel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz\n\t\t4addr: on\n\t\tmulticast TXQ:\n\t\t\tqsz-byt\tqsz-pkt\tflows\n\t\t\t0\t0\t0\t0\t0\t0\t0\t0\t0\n";
        let (lines, read, _) = of(dev, None).unwrap();
        assert_eq!((lines, read.interface.as_deref()), (9, Some("wlan0")));
        assert!(
            has(&read, "width", "80 MHz") && has(&read, "freq", "5180"),
            "{read:?}"
        );
        let (_, rate, _) = of("    tx bitrate: 54.0 MBit/s\n", None).unwrap();
        assert!(has(&rate, "tx bitrate", "54.0 MBit/s"));
        let (_, power, _) = of("Power save: on\n", Some("iw dev wlan0 get power_save")).unwrap();
        assert_eq!(power.interface.as_deref(), Some("wlan0"));
        assert!(of("Not connected.\n", Some("iw dev wlan0 link")).is_some());
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "signal: weak\n",
            "tx bitrate: low\n",
            "Not connected.\n",
            "Connected to the access point (on wlan0)\n",
            "associated: yes, it is\n",
        ] {
            assert_eq!(of(text, None), None, "{text}");
        }
    }
}
