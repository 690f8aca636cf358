// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ifconfig`: old (net-tools 1.60, busybox), new (net-tools 2), in any language: the order of the numbers does not
//! change with it. Its numbers are those of `/proc/net/dev`, which sums several hardware counters.

use super::lines::is_interface;
use super::{Block, Counters, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let name = heading(first);
    if name.is_none() && counts(first).is_empty() {
        return None;
    }
    let mut heads = 0;
    let found = lines.run(0, |line| {
        heads += usize::from(heading(line).is_some());
        heads < 2 && (heading(line).is_some() || belongs(line))
    });
    let values: Vec<(String, u64)> = joined(&found)
        .iter()
        .flat_map(|line| counts(line))
        .collect();
    let asked = hint.interface().filter(|_| hint.is("ifconfig", ""));
    let interface = name.or(asked);
    let settings: Vec<(String, String)> =
        found.iter().flat_map(|(_, line)| settings(line)).collect();
    if values.is_empty() && settings.is_empty() {
        return Block::says_nothing(&found, "ifconfig");
    }
    let mut content = vec![Counters::new("/proc/net/dev", interface, values)];
    if !settings.is_empty() {
        content.push(Settings::new("ip link", interface, settings));
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "ifconfig",
        content,
    })
}

/// Joins the lines that a mail program wrapped.
fn joined(found: &[(usize, &str)]) -> Vec<String> {
    let rest = ["errors:", "dropped:", "overruns:", "frame:", "carrier:"];
    let mut lines: Vec<String> = Vec::new();
    for (_, line) in found {
        let line = line.trim();
        match lines.last_mut() {
            Some(last) if rest.iter().any(|start| line.starts_with(start)) && last.len() < 200 => {
                last.push(' ');
                last.push_str(line);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

/// `eth0      Link encap:Ethernet  HWaddr …`, `eth0: flags=4163<UP,…>  mtu 1500`.
fn heading(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let rest = line.trim_start().strip_prefix(name)?;
    if let Some(name) = name.strip_suffix(':') {
        return (rest.trim_start().starts_with("flags=") && !name.is_empty()).then_some(name);
    }
    let old = [
        "encap:",
        "HWaddr",
        "Hardware Adresse",
        "direcciónHW",
        "Protokoll:",
        "Link encap",
    ];
    (old.iter().any(|word| rest.contains(word)) && (is_interface(name) || rest.contains("encap:")))
        .then_some(name)
}

fn belongs(line: &str) -> bool {
    let line = line.trim();
    let starts = [
        "inet",
        "UP ",
        "RX",
        "TX",
        "collisions:",
        "Interrupt:",
        "Interrup",
        "Base address:",
        "ether ",
        "loop ",
        "Memory:",
        "BROADCAST",
        "Paquetes",
        "Bytes RX",
        "colisiones:",
        "Kollisionen:",
        "Direc.",
        "Dirección",
        "ARRIBA",
        "ACTIVO",
        "Packets",
        "Octets",
        "Pacotes",
        "colisões:",
        "device interrupt",
        "device memory",
        "inet6",
        "Direcc",
        "Adresse",
        "unspec",
        "options=",
        "DMA chan",
        "errors:",
        "dropped:",
        "overruns:",
        "frame:",
        "carrier:",
    ];
    starts.iter().any(|start| line.starts_with(start)) || !counts(line).is_empty()
}

/// The counters of one line.
fn counts(line: &str) -> Vec<(String, u64)> {
    let line = line.trim();
    if line.len() > 400 {
        return Vec::new();
    }
    let pairs = pairs(line);
    let side = side(line);
    let new_style = |side: &str| new_counts(line, side);
    match (side, pairs.len()) {
        (Some(side), 0) => new_style(side),
        (None, _) if collisions(&pairs).is_some() => collisions(&pairs).into_iter().collect(),
        (Some(_), 1..=2) if is_bytes(line) => bytes(line, &pairs),
        (Some(side), 1..) => packets(side, &pairs),
        _ => Vec::new(),
    }
}

/// `name:number` pairs; the name may have blanks.
fn pairs(line: &str) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((name, tail)) = rest.split_once(':') {
        let digits = tail
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(tail.len());
        let (number, tail) = tail.split_at(digits);
        let ends = tail.is_empty() || tail.starts_with(char::is_whitespace);
        if let (Ok(number), true) = (number.parse(), ends) {
            found.push((name.trim().to_owned(), number));
        }
        rest = tail;
    }
    found
}

/// The direction that a line counts, in any language.
fn side(line: &str) -> Option<&'static str> {
    let line = line.strip_prefix("Bytes ").unwrap_or(line);
    let rx = [
        "RX",
        "Paquetes RX",
        "Packets reçus",
        "Pacotes RX",
        "Octets reçus",
        "Paquets RX",
        "Paquets reçus",
        "Pacchetti RX",
    ];
    let tx = [
        "TX",
        "Paquetes TX",
        "Packets transmis",
        "Pacotes TX",
        "Paquets TX",
        "Pacchetti TX",
        "Octets transmis",
    ];
    if rx.iter().any(|start| line.starts_with(start)) {
        Some("rx")
    } else {
        tx.iter()
            .any(|start| line.starts_with(start))
            .then_some("tx")
    }
}

fn is_bytes(line: &str) -> bool {
    let words = ["bytes", "Bytes", "Octets"];
    let packets = [
        "packets",
        "Paquetes",
        "Pakete",
        "Packets",
        "Paquets",
        "Pacotes",
        "Pacchetti",
    ];
    words.iter().any(|word| line.contains(word)) && !packets.iter().any(|word| line.contains(word))
}

/// `RX packets:1 errors:2 dropped:3 overruns:4 frame:5`: by position, because the names are translated.
fn packets(side: &str, pairs: &[(String, u64)]) -> Vec<(String, u64)> {
    let last = if side == "rx" { "frame" } else { "carrier" };
    let places = ["packets", "errs", "drop", "fifo", last];
    let named = pairs
        .iter()
        .zip(places)
        .map(|((_, value), place)| (format!("{side}_{place}"), *value));
    named.collect()
}

/// `RX bytes:1 (…)  TX bytes:2 (…)`.
fn bytes(line: &str, pairs: &[(String, u64)]) -> Vec<(String, u64)> {
    let first = side(line).unwrap_or("rx");
    let sides = if first == "rx" {
        ["rx", "tx"]
    } else {
        ["tx", "rx"]
    };
    pairs
        .iter()
        .zip(sides)
        .map(|((_, value), side)| (format!("{side}_bytes"), *value))
        .collect()
}

/// `collisions:0 txqueuelen:1000`.
fn collisions(pairs: &[(String, u64)]) -> Option<(String, u64)> {
    let (name, value) = pairs.first()?;
    let known = [
        "collisions",
        "colisiones",
        "Kollisionen",
        "colisões",
        "collisioni",
    ];
    known
        .contains(&name.as_str())
        .then(|| ("tx_colls".to_owned(), *value))
}

/// `RX packets 1  bytes 2 (…)`, `TX errors 0  dropped 0 overruns 0  carrier 0  collisions 0`.
fn new_counts(line: &str, side: &str) -> Vec<(String, u64)> {
    let words: Vec<&str> = line.split_whitespace().take(20).collect();
    let named = |pair: &[&str]| {
        let name = match (pair[0].trim_end_matches(':'), side) {
            ("packets", _) => "packets",
            ("bytes", _) => "bytes",
            ("errors", _) => "errs",
            ("dropped", _) => "drop",
            ("overruns", _) => "fifo",
            ("frame", "rx") => "frame",
            ("carrier", "tx") => "carrier",
            ("collisions", "tx") => "colls",
            _ => return None,
        };
        Some((format!("{side}_{name}"), pair[1].parse().ok()?))
    };
    words.windows(2).filter_map(named).collect()
}

/// MTU, queue length and flags.
fn settings(line: &str) -> Vec<(String, String)> {
    let words: Vec<&str> = line.split_whitespace().take(20).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let digits = |text: &str| {
            !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        for (mark, key) in [
            ("MTU:", "mtu"),
            ("txqueuelen:", "txqueuelen"),
            ("long.colaTX:", "txqueuelen"),
            ("Sendewarteschlangenlänge:", "txqueuelen"),
        ] {
            found.extend(
                word.strip_prefix(mark)
                    .filter(|value| digits(value))
                    .map(|value| (key.to_owned(), value.to_owned())),
            );
        }
        if ["mtu", "txqueuelen"].contains(word) && digits(next) {
            found.push(((*word).to_owned(), next.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    fn counters(text: &str) -> (Option<String>, Vec<(String, u64)>, usize) {
        let block = block_of(text, read).unwrap();
        match &block.content[0] {
            Content::Counters(counters) => (
                counters.interface.clone(),
                counters.values.clone(),
                block.lines,
            ),
            other => panic!("{other:?}"),
        }
    }

    fn value(values: &[(String, u64)], name: &str) -> Option<u64> {
        values
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| *value)
    }

    #[test]
    fn old_and_indented_with_blank_lines() {
        let text = "eth0 Link encap:Ethernet HWaddr 00:00:5e:00:53:01\n\ninet addr:192.0.2.1 Bcast:192.0.2.255\n\n\
            UP BROADCAST RUNNING MTU:1500 Metric:1\n\nRX packets:900 errors:71 dropped:7 overruns:71 frame:71\n\n\
            TX packets:41 errors:0 dropped:0 overruns:0 carrier:2\ncollisions:3 txqueuelen:1000\n\
            RX bytes:417 (4.1 GB) TX bytes:853 (853.3 MB)\nAnd then prose.\n";
        let (name, values, lines) = counters(text);
        assert_eq!((name.as_deref(), lines), (Some("eth0"), 11));
        for (key, expected) in [
            ("rx_packets", 900),
            ("rx_errs", 71),
            ("rx_drop", 7),
            ("rx_fifo", 71),
            ("rx_frame", 71),
            ("tx_carrier", 2),
            ("tx_colls", 3),
            ("rx_bytes", 417),
            ("tx_bytes", 853),
        ] {
            assert_eq!(value(&values, key), Some(expected), "{key}");
        }
    }

    #[test]
    fn new_style() {
        let text = "enp3s0: flags=4163<UP,BROADCAST>  mtu 9000\n        inet 192.0.2.1\n        RX packets 10  bytes 20 (20.0 B)\n\
            \u{20}       RX errors 1  dropped 2  overruns 3  frame 4\n        TX packets 5  bytes 6 (6.0 B)\n        TX errors 7  dropped 8 overruns 9  carrier 10  collisions 11\n";
        let (name, values, _) = counters(text);
        assert_eq!(name.as_deref(), Some("enp3s0"));
        for (key, expected) in [
            ("rx_packets", 10),
            ("rx_errs", 1),
            ("rx_drop", 2),
            ("rx_fifo", 3),
            ("rx_frame", 4),
            ("tx_fifo", 9),
            ("tx_colls", 11),
        ] {
            assert_eq!(value(&values, key), Some(expected), "{key}");
        }
    }

    #[test]
    fn wrapped() {
        let text = "eth0 Link encap:Ethernet\nRX packets:900 errors:71 dropped:7\noverruns:71 frame:70\nTX packets:41 errors:0\n";
        let (_, values, lines) = counters(text);
        assert_eq!(lines, 4);
        assert_eq!(
            (value(&values, "rx_fifo"), value(&values, "rx_frame")),
            (Some(71), Some(70))
        );
    }

    #[test]
    fn other_languages() {
        let spanish = "eth0      Link encap:Ethernet  direcciónHW 00:00:5e:00:53:01\n          Paquetes RX:12 errores:3 perdidos:4 overruns:5 frame:6\n\
            \u{20}         Paquetes TX:7 errores:0 perdidos:0 overruns:0 carrier:0\n          colisiones:1 long.colaTX:1000\n          Bytes RX:99 (99.0 B)  TX bytes:88 (88.0 B)\n";
        let german = "eth0      Protokoll:Ethernet  Hardware Adresse 00:00:5e:00:53:01\n          RX packets:12 errors:3 dropped:4 overruns:5 frame:6\n\
            \u{20}         TX packets:7 errors:0 dropped:0 overruns:0 carrier:0\n          Kollisionen:1 Sendewarteschlangenlänge:1000\n          RX bytes:99 (99.0 B)  TX bytes:88 (88.0 B)\n";
        let french = "Packets reçus:12 erreurs:3 :4 overruns:5 frame:6\n";
        let (spanish, german, french) =
            (counters(spanish).1, counters(german).1, counters(french).1);
        assert_eq!(spanish, german);
        assert_eq!(value(&spanish, "rx_drop"), Some(4));
        assert_eq!(value(&spanish, "rx_bytes"), Some(99));
        assert_eq!(french, spanish[..5]);
    }
}
