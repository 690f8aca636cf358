// SPDX-License-Identifier: MIT OR Apache-2.0
//! `wget`: `2024-03-01 10:13:40 (1.12 MB/s) - 'file.bin' saved [104857600/104857600]`, or where that is missing its
//! progress, `file.bin  100%[======>] 100.00M  1.12MB/s    in 89s`. Bytes count by 1024.

use super::number::{binary_rate, count, decimal};
use super::{Block, Content, Hint, Lines, Protocol, Transfer, bits_per_second};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    (is_heading(first) || result(first).is_some() || progress(first).is_some()).then_some(())?;
    let (mut rate, mut size) = (None, None);
    let found = lines.run(0, |line| {
        let (done, now) = (result(line), progress(line));
        rate = done.map(|(rate, _)| rate).or(now).or(rate);
        size = done.and_then(|(_, size)| size).or(size);
        done.is_some() || now.is_some() || is_heading(line) || belongs(line)
    });
    let Some(bits_per_second) = rate.filter(|rate| *rate > 0.0) else {
        return Block::says_nothing(&found, "wget");
    };
    let transfer = Transfer {
        protocol: Some(Protocol::Tcp),
        sends: Some(false),
        bits_per_second,
        duration_s: size.map(|bytes| 8.0 * bytes as f64 / bits_per_second),
        ..Transfer::default()
    };
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "wget",
        content: vec![Content::Transfer(transfer)],
    })
}

/// `--2024-03-01 10:12:11--  http://192.0.2.1/file.bin`.
fn is_heading(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("--20") && line.contains("--  ") && line.contains("://")
}

fn belongs(line: &str) -> bool {
    let line = line.trim();
    let starts = [
        "Resolving ",
        "Connecting to ",
        "HTTP request sent",
        "Length: ",
        "Saving to: ",
        "Location: ",
        "Reusing ",
    ];
    let is_bar = line.contains("%[") || line.contains("K ....");
    line.len() < 400 && (is_bar || starts.iter().any(|start| line.starts_with(start)))
}

/// The closing line, in any language: rate, and size of the file.
fn result(line: &str) -> Option<(f64, Option<u64>)> {
    let line = line.trim().strip_suffix(']').filter(|_| line.len() < 400)?;
    let (date, rest) = line.split_once(" (")?;
    (date.len() == 19 && date.starts_with("20")).then_some(())?;
    let (rate, rest) = rest.split_once(") - ")?;
    let (number, unit) = rate.split_once(' ')?;
    // `--report-speed=bits` counts by 1000.
    let bits = if unit.ends_with("b/s") {
        bits_per_second(decimal(number)?, unit)?
    } else {
        let word = format!("{}{unit}", number.replace(',', "."));
        binary_rate(&word)?
    };
    let size = rest.rsplit('[').next()?.split('/').next()?;
    Some((bits, count(size)))
}

/// A bar with a rate.
fn progress(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once("%[").filter(|_| line.len() < 400)?;
    let (_, rest) = rest.split_once(']')?;
    let rate = rest.split_whitespace().find(|word| word.ends_with("/s"))?;
    binary_rate(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    fn transfer(text: &str) -> Option<(usize, f64, Option<f64>)> {
        let block = block_of(text, read)?;
        match block.content.first()? {
            Content::Transfer(one) => Some((
                block.lines,
                (one.bits_per_second / 1e5).round() / 10.0,
                one.duration_s.map(f64::round),
            )),
            _ => None,
        }
    }

    const HEAD: &str = "--2024-03-01 10:12:11--  http://192.0.2.1/file.bin\nConnecting to 192.0.2.1:80... connected.\nHTTP request sent, awaiting response... 200 OK\nLength: 104857600 (100M) [application/octet-stream]\nSaving to: 'file.bin'\n\n";
    const BAR: &str =
        "file.bin            100%[===================>] 100.00M  1.12MB/s    in 89s\n";
    const DONE: &str =
        "\n2024-03-01 10:13:40 (1.12 MB/s) - 'file.bin' saved [104857600/104857600]\n";

    #[test]
    fn whole_and_trimmed() {
        let whole = format!("{HEAD}{BAR}{DONE}\nprose\n");
        assert_eq!(transfer(&whole), Some((9, 9.4, Some(89.0))));
        assert_eq!(transfer(BAR), Some((1, 9.4, None)));
        assert_eq!(transfer(DONE.trim()), Some((1, 9.4, Some(89.0))));
        let german =
            "2024-03-01 10:13:40 (1,12 MB/s) - »file.bin« gespeichert [104857600/104857600]";
        assert_eq!(transfer(german), Some((1, 9.4, Some(89.0))));
        let bits = "2024-03-01 10:13:40 (9.40 Mb/s) - 'file.bin' saved [104857600/104857600]";
        assert_eq!(transfer(bits), Some((1, 9.4, Some(89.0))));
    }

    #[test]
    fn what_has_no_rate() {
        assert_eq!(transfer(HEAD), None);
        assert_eq!(
            transfer("2024-03-01 10:13:40 (as he said) - nothing [sic]"),
            None
        );
        assert_eq!(transfer("100%[sure] that it is 3 MB/s"), None);
    }
}
