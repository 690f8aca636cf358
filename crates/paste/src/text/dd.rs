// SPDX-License-Identifier: MIT OR Apache-2.0
//! `dd`: `1048576000 bytes (1.0 GB, 1000 MiB) copied, 93.1771 s, 11.3 MB/s`, also of busybox, BSD and in other languages.
//! It is a transfer where its command passes the data to a network; otherwise a disk decided the rate.

use super::number::decimal;
use super::{Block, Content, Hint, Lines, Protocol, Settings, Transfer};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    (is_records(first) || copied(first).is_some()).then_some(())?;
    let mut last = None;
    let found = lines.run(0, |line| {
        let row = copied(line);
        last = row.or(last);
        row.is_some() || is_records(line)
    });
    let Some((bytes, seconds)) = last else {
        return Block::says_nothing(&found, "dd");
    };
    let bits_per_second = 8.0 * bytes / seconds;
    let transfer = Transfer {
        protocol: Some(Protocol::Tcp),
        bits_per_second,
        duration_s: Some(seconds),
        ..Transfer::default()
    };
    let rate = || {
        vec![(
            "rate".to_owned(),
            format!("{:.1} Mbit/s", bits_per_second / 1e6),
        )]
    };
    let content = if reaches_network(hint) {
        Content::Transfer(transfer)
    } else {
        Settings::new("dd", None, rate())
    };
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "dd",
        content: vec![content],
    })
}

/// `1000+0 records in`.
fn is_records(line: &str) -> bool {
    let mut words = line.split_whitespace().take(5);
    let whole = words.next().and_then(|word| word.split_once('+'));
    let counts = whole.is_some_and(|(whole, partial)| {
        whole.parse::<u64>().is_ok() && partial.parse::<u64>().is_ok()
    });
    counts && (1..=3).contains(&words.count())
}

/// Bytes and seconds: the numbers before the first and the last but one unit, whatever the language.
fn copied(line: &str) -> Option<(f64, f64)> {
    let line = line.trim();
    (line.len() < 200 && line.starts_with(|first: char| first.is_ascii_digit())).then_some(())?;
    let (count, rest) = line.split_once(' ')?;
    rest.get(..5)?.eq_ignore_ascii_case("bytes").then_some(())?;
    let seconds = if rest.contains(" bytes/sec)") {
        let (_, after) = rest.split_once(" transferred in ")?;
        after.split(' ').next()?
    } else {
        rest.ends_with("/s").then_some(())?;
        let mut parts = rest.rsplit(", ").skip(1);
        parts.next()?.split(' ').next()?
    };
    let (bytes, seconds) = (decimal(count)?, decimal(seconds)?);
    (bytes > 0.0 && seconds > 0.0).then_some((bytes, seconds))
}

fn reaches_network(hint: Hint<'_>) -> bool {
    let programs = [
        "nc", "ncat", "netcat", "socat", "ssh", "mbuffer", "rsh", "nbdcopy",
    ];
    hint.words()
        .any(|word| programs.contains(&word) || word.contains("/dev/tcp/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn content(text: &str, command: Option<&str>) -> Option<(usize, Content)> {
        let (lines, looked): (Vec<&str>, _) = (text.lines().collect(), Cell::new(0));
        let mut block = read(Lines::new(&lines, &looked), Hint { command })?;
        Some((block.lines, block.content.remove(0)))
    }

    #[test]
    fn every_form_into_a_network() {
        for line in [
            "1048576000 bytes (1.0 GB, 1000 MiB) copied, 93.1771 s, 11.3 MB/s",
            "1048576000 bytes (1.0 GB) copied, 93.1771 seconds, 11.3 MB/s",
            "1048576000 bytes (1000.0MB) copied, 93.1771 seconds, 10.7MB/s",
            "1048576000 Bytes (1,0 GB, 1000 MiB) kopiert, 93,1771 s, 11,3 MB/s",
            "1048576000 bytes transferred in 93.177100 secs (11253580 bytes/sec)",
        ] {
            let text = format!("1000+0 records in\n1000+0 records out\n{line}\nprose\n");
            let command = "dd if=/dev/zero bs=1M count=1000 | nc 192.0.2.1 5000";
            let Some((3, Content::Transfer(transfer))) = content(&text, Some(command)) else {
                panic!("{line}");
            };
            let wrong = (transfer.bits_per_second - 90.03e6).abs();
            assert!(wrong < 0.1e6, "{line}: {}", transfer.bits_per_second);
        }
    }

    #[test]
    fn a_disk_is_no_network() {
        let line = "1048576000 bytes (1.0 GB, 1000 MiB) copied, 10 s, 105 MB/s";
        for command in [None, Some("dd if=/dev/zero of=/mnt/disk/file bs=1M")] {
            let Some((_, Content::Settings(settings))) = content(line, command) else {
                panic!("{command:?}");
            };
            assert_eq!(
                settings.values,
                [("rate".to_owned(), "838.9 Mbit/s".to_owned())]
            );
        }
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "1000 bytes were copied, then it hung",
            "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.2 ms",
            "1000+0 records in\n",
            "2+2 is four, of course, as all of us know",
        ] {
            assert_eq!(content(text, None), None, "{text}");
        }
    }
}
