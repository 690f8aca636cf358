// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forwarding rates: rows of a table (`64 bytes  21000 pps  10.7 Mb/s`), and sentences about forwarding.

use super::number::{count, with_unit};
use super::{Block, Content, Hint, Lines, Transfer, bits_per_second};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let found = lines.run(0, |line| row(line).is_some());
    let content: Vec<Content> = found
        .iter()
        .filter_map(|(_, line)| row(line))
        .map(Content::Transfer)
        .collect();
    (content.len() > 1).then_some(())?;
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "table of forwarding rates",
        content,
    })
}

/// A row that begins with a frame size and has a rate in packets.
fn row(line: &str) -> Option<Transfer> {
    let first = line
        .trim_start()
        .starts_with(|first: char| first.is_ascii_digit());
    let short = line.len() < 80 && line.split_whitespace().count() < 10;
    let transfer = (first && short).then(|| figures(line))?;
    transfer
        .packets_per_second
        .filter(|_| transfer.packet_bytes.is_some())?;
    Some(transfer)
}

/// Returns the forwarding rates in the sentences of a paragraph.
#[must_use]
pub fn read_prose(paragraph: &str) -> Vec<Transfer> {
    let forwarded = |sentence: &str| {
        let lower = sentence.to_ascii_lowercase();
        let about = ["forward", "rout", "packets/sec performance"]
            .iter()
            .any(|word| lower.contains(word));
        let imagined = [
            "would", "should", "say ", "expect", "hoping", "maybe", " if ", "others",
        ]
        .iter()
        .any(|word| lower.contains(word));
        let figures = figures(sentence);
        let measured = figures.packets_per_second.is_some()
            || (figures.packet_bytes.is_some() && figures.bits_per_second > 0.0);
        (about && !imagined && measured).then_some(Transfer {
            forwarded: true,
            ..figures
        })
    };
    sentences(paragraph).filter_map(forwarded).collect()
}

/// A point followed by a blank, or a semicolon, ends a sentence.
fn sentences(paragraph: &str) -> impl Iterator<Item = &str> {
    paragraph
        .split(';')
        .flat_map(|part| part.split(". "))
        .filter(|sentence| sentence.len() < 1000)
}

/// Size, rate and packet rate in a line: the first of each.
fn figures(text: &str) -> Transfer {
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|letter: char| "()~,;:.[]".contains(letter)))
        .collect();
    let mut transfer = Transfer::default();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let Some((number, unit)) = with_unit(word.trim_start_matches(['~', '>', '<', '≈']))
        else {
            continue;
        };
        let unit = if unit.is_empty() { next } else { unit };
        if let Some(rate) = packets(number, unit, next) {
            transfer.packets_per_second = transfer.packets_per_second.or(Some(rate));
        } else if let Some(rate) =
            bits_per_second(number, unit).filter(|_| transfer.bits_per_second == 0.0)
        {
            transfer.bits_per_second = rate;
        } else if ["byte", "bytes", "B"].contains(&unit) && transfer.packet_bytes.is_none() {
            transfer.packet_bytes = count(word).and_then(|bytes| u32::try_from(bytes).ok());
        }
    }
    transfer
}

/// `9700 pps`, `21K pps`, `1.3M packets per sec`, `12000 packets/sec`.
fn packets(number: f64, unit: &str, next: &str) -> Option<f64> {
    let (factor, rest) = match unit {
        "K" | "k" => (1e3, next),
        "M" => (1e6, next),
        "kpps" | "Kpps" => (1e3, "pps"),
        "Mpps" => (1e6, "pps"),
        unit => (1.0, unit),
    };
    let packets =
        rest == "pps" || rest.starts_with("packets/s") || (factor > 1.0 && rest == "packets");
    packets.then_some(number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_and_what_was_only_imagined() {
        let transfers = read_prose(
            "packets/sec performance max'd out at about 9700 pps, whatever the size.  at a size of 320 bytes, the box was routing some 24Mb/s of data (~8800pps). that would be about 12500 packets/sec when routing 1000 bytes; it forwards at up to 21K pps",
        );
        let of = |transfer: &Transfer| {
            (
                transfer.packet_bytes,
                transfer.bits_per_second,
                transfer.packets_per_second,
            )
        };
        assert_eq!(
            transfers.iter().map(of).collect::<Vec<_>>(),
            [
                (None, 0.0, Some(9700.0)),
                (Some(320), 24e6, Some(8800.0)),
                (None, 0.0, Some(21e3))
            ]
        );
        assert!(transfers.iter().all(|transfer| transfer.forwarded));
        assert_eq!(read_prose("The weather has 20 bytes and 30 pps"), []);
    }

    #[test]
    fn rows() {
        let read = row("64 bytes   21000 pps   10.7 Mb/s").unwrap();
        assert_eq!(
            (
                read.packet_bytes,
                read.packets_per_second,
                read.bits_per_second
            ),
            (Some(64), Some(21e3), 10.7e6)
        );
        assert_eq!(row("64 of them were bytes"), None);
    }
}
