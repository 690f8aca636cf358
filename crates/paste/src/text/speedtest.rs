// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of an access: `speedtest-cli`, Ookla's `speedtest` (`    Download:   341.52 Mbps (data used: 322.7 MB)`, below it
//! the latency under load), `networkQuality` of macOS, and `fast`. Loss and latencies are settings.

use super::number::decimal;
use super::{Block, Content, Hint, Lines, Protocol, Settings, Transfer, bits_per_second};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    fast(lines, hint).or_else(|| labelled(lines))
}

fn labelled(lines: Lines<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    (is_frame(first) || rate(first).is_some() || setting(first).is_some()).then_some(())?;
    let (mut content, mut settings) = (Vec::new(), Vec::new());
    let (mut side, mut is_titled) = (None, false);
    let found = lines.run(0, |line| {
        if let Some((sends, bits)) = rate(line) {
            side = Some(sends);
            content.push(transfer(Some(sends), bits));
            is_titled |= line.contains("(data used: ");
        } else if let Some((name, value)) = setting(line) {
            settings.push((name.to_owned(), value.to_owned()));
        } else if let Some((value, sends)) = latency(line).zip(side) {
            let name = if sends {
                "Upload Latency"
            } else {
                "Download Latency"
            };
            settings.push((name.to_owned(), value.to_owned()));
        } else {
            is_titled |= is_frame(line);
            return is_frame(line);
        }
        true
    });
    // A lone rate may be what a contract promises.
    let is_test = is_titled || !settings.is_empty();
    if content.is_empty() || !is_test {
        return Block::says_nothing(&found, "speedtest");
    }
    let others = (!settings.is_empty()).then(|| Settings::new("speedtest", None, settings));
    content.extend(others);
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "speedtest",
        content,
    })
}

fn transfer(sends: Option<bool>, bits_per_second: f64) -> Content {
    Content::Transfer(Transfer {
        protocol: Some(Protocol::Tcp),
        sends,
        bits_per_second,
        ..Transfer::default()
    })
}

/// `Download: 93.21 Mbit/s`.
fn rate(line: &str) -> Option<(bool, f64)> {
    let (name, value) = line.trim().split_once(':').filter(|_| line.len() < 160)?;
    let (_, sends) = RATES.iter().find(|(known, _)| *known == name)?;
    let mut words = value.split_whitespace();
    let number = decimal(words.next()?)?;
    Some((*sends, bits_per_second(number, words.next()?)?))
}

fn setting(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().split_once(':').filter(|_| line.len() < 160)?;
    if name.starts_with("Hosted by ") && value.ends_with(" ms") {
        return Some(("Idle Latency", value.trim()));
    }
    let (_, title) = SETTINGS.iter().find(|(known, _)| *known == name)?;
    let value = value.trim();
    let is_value = value.starts_with(|first: char| first.is_ascii_digit()) || value.contains('(');
    (is_value || value == "Not available.").then_some((title, value))
}

/// Below a rate: `61.95 ms   (jitter: 20.28ms, low: 2.65ms, high: 311.38ms)`.
fn latency(line: &str) -> Option<&str> {
    let line = line.trim();
    let (value, _) = line.split_once("(jitter: ").filter(|_| line.len() < 160)?;
    value.trim().ends_with(" ms").then_some(line)
}

fn is_frame(line: &str) -> bool {
    let line = line.trim();
    line.len() < 200 && FRAMES.iter().any(|start| line.starts_with(start))
}

/// `fast`: `93 Mbps ↓ / 12 Mbps ↑`, or after that command the rate alone.
fn fast(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let line = lines.get(0)?.trim();
    let asked = hint.is("fast", "") || hint.is("fast-cli", "");
    let arrows = ["↓", "↑"];
    (line.len() < 80 && (asked || arrows.iter().any(|arrow| line.contains(arrow)))).then_some(())?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let of_words = |row: &[&str]| {
        let bits = bits_per_second(decimal(row.first()?)?, row.get(1)?)?;
        let arrow = row.get(2).copied().unwrap_or("↓");
        (asked || arrows.contains(&arrow)).then(|| transfer(Some(arrow == "↑"), bits))
    };
    let each = (0..words.len()).filter_map(|at| of_words(words.get(at..)?));
    let content: Vec<Content> = each.collect();
    (!content.is_empty()).then_some(Block {
        lines: 1,
        format: "fast",
        content,
    })
}

const RATES: &[(&str, bool)] = &[
    ("Download", false),
    ("Upload", true),
    ("Downlink capacity", false),
    ("Uplink capacity", true),
    ("Download capacity", false),
    ("Upload capacity", true),
];
const SETTINGS: &[(&str, &str)] = &[
    ("Idle Latency", "Idle Latency"),
    ("Latency", "Idle Latency"),
    ("Ping", "Idle Latency"),
    ("Packet Loss", "Packet Loss"),
    ("Responsiveness", "Responsiveness"),
    ("Uplink Responsiveness", "Uplink Responsiveness"),
    ("Downlink Responsiveness", "Downlink Responsiveness"),
];
const FRAMES: &[&str] = &[
    "Speedtest by Ookla",
    "Retrieving speedtest.net ",
    "Testing from ",
    "Testing download speed",
    "Testing upload speed",
    "Selecting best server based on ",
    "Server: ",
    "ISP: ",
    "Result URL: ",
    "Share results: ",
    "==== SUMMARY ====",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    type Read = (usize, Vec<(Option<bool>, f64)>, Vec<(String, String)>);

    fn known(text: &str, command: Option<&str>) -> Option<Read> {
        let (lines, looked): (Vec<&str>, _) = (text.lines().collect(), Cell::new(0));
        let block = read(Lines::new(&lines, &looked), Hint { command })?;
        let (mut rates, mut settings) = (Vec::new(), Vec::new());
        for content in block.content {
            match content {
                Content::Transfer(one) => rates.push((one.sends, one.bits_per_second / 1e6)),
                Content::Settings(one) => settings = one.values,
                other => panic!("{other:?}"),
            }
        }
        Some((block.lines, rates, settings))
    }

    #[test]
    fn speedtest_cli() {
        let text = "Retrieving speedtest.net configuration...\nTesting from Example ISP (203.0.113.9)...\nHosted by Example (City) [3.21 km]: 12.341 ms\nTesting download speed....\nDownload: 93.25 Mbit/s\nTesting upload speed....\nUpload: 11.5 Mbit/s\nprose\n";
        let latency = ("Idle Latency".to_owned(), "12.341 ms".to_owned());
        let rates = vec![(Some(false), 93.25), (Some(true), 11.5)];
        assert_eq!(
            known(text, None),
            Some((7, rates.clone(), vec![latency.clone()]))
        );
        let simple = "Ping: 12.341 ms\nDownload: 93.25 Mbit/s\nUpload: 11.5 Mbit/s\n";
        assert_eq!(known(simple, None), Some((3, rates, vec![latency])));
    }

    #[test]
    fn ookla() {
        let text = "   Speedtest by Ookla\n\n      Server: Example - City (id: 1)\nIdle Latency:     2.62 ms   (jitter: 0.15ms)\n    Download:   341.5 Mbps (data used: 322.7 MB)\n                 61.95 ms   (jitter: 20.28ms, low: 2.65ms, high: 311.38ms)\n Packet Loss:     3.4%\n";
        let (lines, rates, settings) = known(text, None).unwrap();
        assert_eq!((lines, rates), (7, vec![(Some(false), 341.5)]));
        assert!(settings.contains(&("Packet Loss".to_owned(), "3.4%".to_owned())));
        assert!(
            settings
                .iter()
                .any(|(name, value)| name == "Download Latency" && value.starts_with("61.95 ms"))
        );
    }

    #[test]
    fn fast_and_prose() {
        assert_eq!(
            known("93 Mbps ↓ / 12 Mbps ↑", None),
            Some((1, vec![(Some(false), 93.0), (Some(true), 12.0)], vec![]))
        );
        assert_eq!(
            known("-> 93.5 Mbps", Some("fast")),
            Some((1, vec![(Some(false), 93.5)], vec![]))
        );
        for text in [
            "Download: 100 Mbit/s\nUpload: 40 Mbit/s\n",
            "Server: mine\nhe says 100 Mbps",
            "Ping: 12 ms\n",
        ] {
            assert_eq!(known(text, None), None, "{text}");
        }
    }
}
