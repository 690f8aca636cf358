// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies over a network: `scp` and `sftp` (`big.iso  100% 1200MB  11.2MB/s   01:47`) and `rsync --progress` with its sum
//! (`sent 1,048,832,098 bytes  received 35 bytes  11,716,560.70 bytes/sec`). All count bytes by 1024.

use super::number::{binary_rate, bytes, with_unit};
use super::{Block, Content, FEW, Hint, Lines, Protocol, Settings, Transfer};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    (is_heading(first) || progress(first).is_some() || sum(first).is_some()).then_some(())?;
    let (mut largest, mut total, mut stalled): (Option<Progress>, _, _) = (None, None, false);
    let mut next = 0;
    while let Some(at) = lines.skip_blank(next) {
        let line = lines.get(at).unwrap_or_default();
        if let Some(row) = progress(line) {
            stalled |= row.is_stalled;
            // The last line of the largest file.
            largest = largest
                .filter(|known| known.bytes > row.bytes)
                .or(Some(row));
        } else if let Some(rate) = sum(line) {
            total = Some(rate);
        } else if !(is_heading(line) || lines.get(at + 1).is_some_and(is_file_of)) {
            break;
        }
        next = at + 1;
    }
    let rate = total.or_else(|| Some(largest?.rate));
    let transfer = rate.filter(|rate| *rate > 0.0).map(|bits_per_second| {
        Content::Transfer(Transfer {
            protocol: Some(Protocol::Tcp),
            sends: sends(hint),
            bits_per_second,
            ..Transfer::default()
        })
    });
    let stall = vec![("progress".to_owned(), "stalled".to_owned())];
    let stall = stalled.then(|| Settings::new("copy", None, stall));
    let content: Vec<Content> = transfer.into_iter().chain(stall).collect();
    (!content.is_empty() || next > FEW).then_some(Block {
        lines: next,
        format: "scp or rsync",
        content,
    })
}

/// rsync's progress follows the name of the file.
fn is_file_of(next: &str) -> bool {
    next.starts_with(' ') && progress(next).is_some()
}

fn is_heading(line: &str) -> bool {
    let line = line.trim();
    line.ends_with(" incremental file list")
        || (line.starts_with("total size is ") && line.contains("  speedup is "))
}

/// One line of a file.
struct Progress {
    bytes: f64,
    rate: f64,
    is_stalled: bool,
}

/// `41MB` after the share done (scp) or `1,048,576,000` before it (rsync), then a rate, then a time or that nothing moves.
fn progress(line: &str) -> Option<Progress> {
    (line.len() < 400 && line.contains("% ") && line.contains("/s")).then_some(())?;
    let mut words = line.split_whitespace();
    let mut before = "";
    let done = words.find_map(|word| {
        let before = std::mem::replace(&mut before, word);
        Some((word.strip_suffix('%')?.parse::<u8>().ok()?, before))
    });
    let (percent, before) = done?;
    let after = words.next()?;
    let (size, rate) = if after.ends_with("/s") {
        (before.replace(',', "").parse().ok()?, after)
    } else {
        let (number, unit) = with_unit(after)?;
        (bytes(number, unit)?, words.next()?)
    };
    rate.strip_suffix("B/s")?;
    let time = words.next()?;
    let is_stalled = time == "-" && words.next() == Some("stalled");
    (percent <= 100 && (is_stalled || time.contains(':'))).then_some(Progress {
        bytes: size,
        rate: binary_rate(rate)?,
        is_stalled,
    })
}

/// rsync's closing line, bit/s.
fn sum(line: &str) -> Option<f64> {
    let line = line
        .trim()
        .strip_prefix("sent ")
        .filter(|_| line.len() < 200)?;
    let (_, rest) = line.split_once(" bytes  received ")?;
    let rate = rest.strip_suffix(" bytes/sec")?.rsplit(' ').next()?;
    let rate = rate.replace(',', "");
    let (number, unit) = with_unit(&rate)?;
    let factor = match unit {
        "" => 1.0,
        "K" | "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    };
    Some(8.0 * number * factor)
}

/// `scp file host:/dir` sends, `scp host:/file .` receives.
fn sends(hint: Hint<'_>) -> Option<bool> {
    let words = hint.words().filter(|word| !word.starts_with('-'));
    let remote: Vec<bool> = words.skip(1).map(|word| word.contains(':')).collect();
    let (last, others) = remote.split_last()?;
    (*last != others.contains(&true)).then_some(*last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn content(text: &str, command: Option<&str>) -> Option<(usize, Vec<Content>)> {
        let (lines, looked): (Vec<&str>, _) = (text.lines().collect(), Cell::new(0));
        let block = read(Lines::new(&lines, &looked), Hint { command })?;
        Some((block.lines, block.content))
    }

    fn transfer(text: &str, command: Option<&str>) -> Option<(usize, Option<bool>, f64)> {
        let (lines, content) = content(text, command)?;
        match content.first()? {
            Content::Transfer(one) => {
                Some((lines, one.sends, (one.bits_per_second / 1e5).round() / 10.0))
            }
            _ => None,
        }
    }

    #[test]
    fn scp_with_and_without_its_command() {
        let text = "big.iso                 3%   41MB 612.3KB/s   34:12 ETA\nbig.iso               100% 1200MB  11.2MB/s   01:47\nprose\n";
        assert_eq!(
            transfer(text, Some("scp big.iso host:/tmp")),
            Some((2, Some(true), 94.0))
        );
        assert_eq!(
            transfer(text, Some("scp -p host:/tmp/big.iso .")),
            Some((2, Some(false), 94.0))
        );
        assert_eq!(transfer(text, None), Some((2, None, 94.0)));
    }

    #[test]
    fn rsync_and_its_sum() {
        let progress = "sending incremental file list\nbig.iso\n  1,048,576,000 100%   11.20MB/s    0:01:29 (xfr#1, to-chk=0/1)\n";
        assert_eq!(transfer(progress, None), Some((3, None, 94.0)));
        let sum = "\nsent 1,048,832,098 bytes  received 35 bytes  11,716,560.70 bytes/sec\ntotal size is 1,048,576,000  speedup is 1.00\n";
        assert_eq!(
            transfer(&format!("{progress}{sum}"), None),
            Some((6, None, 93.7))
        );
    }

    #[test]
    fn a_stall() {
        let text = "big.iso     3%   41MB   0.0KB/s - stalled -\n";
        let stalled = vec![("progress".to_owned(), "stalled".to_owned())];
        let expected = Settings::new("copy", None, stalled);
        assert_eq!(content(text, None), Some((1, vec![expected])));
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "about 100% of it, at 11.2MB/s, arrives",
            "I sent 100 bytes  received 3",
            "the load is 40% at 11.2MB/s in the morning: ok",
        ] {
            assert_eq!(content(text, None), None, "{text}");
        }
    }
}
