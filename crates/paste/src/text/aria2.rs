// SPDX-License-Identifier: MIT OR Apache-2.0
//! `aria2c`: its table of results, `605762|OK  |   4.7MiB/s|out/big.bin`, or where that is missing its last progress,
//! `[#605762 15MiB/28MiB(53%) CN:1 DL:3.7MiB ETA:3s]`. Bytes count by 1024.

use super::number::{binary_rate, bytes, with_unit};
use super::{Block, Content, Hint, Lines, Protocol, Settings, Transfer};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    row(first).filter(|_| !is_rule(first.trim()))?;
    let mut seen = Seen::default();
    let found = lines.run(0, |line| row(line).is_some_and(|row| seen.take(row)));
    let content = seen.content();
    if content.is_empty() {
        return Block::says_nothing(&found, "aria2c");
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "aria2c",
        content,
    })
}

/// A line of aria2c.
enum Row {
    /// The rate now, bit/s, and whether a connection that brought data before brings none.
    Progress { rate: f64, is_stalled: bool },
    /// The average rate of a file in the table of results.
    Result { rate: f64, is_complete: bool },
    /// A heading, a notice, the name of a file.
    Other,
}

/// What the lines so far contain.
#[derive(Default)]
struct Seen {
    progress: Option<f64>,
    is_stalled: bool,
    is_complete: bool,
    results: Vec<f64>,
}

impl Seen {
    fn take(&mut self, row: Row) -> bool {
        match row {
            Row::Progress { rate, is_stalled } => {
                self.progress = Some(rate);
                self.is_stalled = is_stalled;
            }
            Row::Result { rate, is_complete } => {
                self.results.push(rate);
                self.is_complete |= is_complete;
            }
            Row::Other => {}
        }
        true
    }

    /// Averages before a rate of one moment.
    fn content(self) -> Vec<Content> {
        let rates = if self.results.iter().any(|rate| *rate > 0.0) {
            self.results
        } else {
            self.progress.into_iter().collect()
        };
        let transfer = |bits_per_second| {
            Content::Transfer(Transfer {
                protocol: Some(Protocol::Tcp),
                sends: Some(false),
                bits_per_second,
                ..Transfer::default()
            })
        };
        let stall = vec![("progress".to_owned(), "stalled".to_owned())];
        let stall = (self.is_stalled && !self.is_complete).then_some(stall);
        let rates = rates.into_iter().filter(|rate| *rate > 0.0).map(transfer);
        rates
            .chain(stall.map(|stall| Settings::new("copy", None, stall)))
            .collect()
    }
}

fn row(line: &str) -> Option<Row> {
    let line = line.trim();
    (line.len() < 800).then_some(())?;
    if line.starts_with("[#") || line.starts_with("[DL:") {
        return progress(line);
    }
    result(line).or_else(|| is_notice(line).then_some(Row::Other))
}

/// `[#605762 15MiB/28MiB(53%) CN:1 DL:3.7MiB ETA:3s]`; of several files `[DL:2.0MiB][#9a52ca 2.0MiB/2.8MiB(70%)]…`; of
/// versions before 1.17 `[#1 SIZE:15MiB/28MiB(53%) CN:1 SPD:3.7MiBs ETA:3s]`.
fn progress(line: &str) -> Option<Row> {
    let mut words = line.split([' ', '[', ']']).filter(|word| !word.is_empty());
    let after = |word: &str, mark| word.strip_prefix(mark).map(str::to_owned);
    let (mut rate, mut has_data, mut is_connected) = (None, false, false);
    let is_file = words.by_ref().take(40).fold(false, |is_file, word| {
        let speed = after(word, "DL:").or_else(|| after(word, "SPD:"));
        let speed = speed.and_then(|speed| binary_rate(speed.trim_end_matches('s')));
        rate = rate.or(speed);
        has_data |= done(word).is_some_and(|bytes| bytes > 0.0);
        is_connected |= after(word, "CN:").is_some_and(|count| count != "0");
        is_file || done(word).is_some()
    });
    let rate = rate.filter(|_| is_file)?;
    Some(Row::Progress {
        rate,
        is_stalled: rate <= 0.0 && has_data && is_connected,
    })
}

/// Bytes of `15MiB/28MiB(53%)` that are there.
fn done(word: &str) -> Option<f64> {
    let word = word.strip_prefix("SIZE:").unwrap_or(word);
    let (done, whole) = word.split_once('/')?;
    let (whole, _) = whole.split_once('(').unwrap_or((whole, ""));
    let size = |word| with_unit(word).and_then(|(number, unit)| bytes(number, unit));
    size(whole)?;
    size(done)
}

/// `605762|OK  |   4.7MiB/s|out/big.bin`.
fn result(line: &str) -> Option<Row> {
    let mut cells = line.splitn(4, '|').map(str::trim);
    let (id, state, speed, _) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
    let is_id = (1..=16).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id && STATES.contains(&state)).then_some(())?;
    let rate = speed.strip_suffix("/s").and_then(binary_rate);
    Some(Row::Result {
        rate: rate.or((speed == "n/a").then_some(0.0))?,
        is_complete: state == "OK",
    })
}

/// Lines around them: `11/24 03:21:15 [NOTICE] Downloading 1 item(s)`.
fn is_notice(line: &str) -> bool {
    let is_table = line.starts_with("gid") && line.contains("|stat|avg speed");
    is_table
        || is_rule(line)
        || is_logged(line)
        || line.contains("Download Progress Summary as of ")
        || NOTICES.iter().any(|notice| line.starts_with(notice))
}

/// `======+====+===========+=====`, `-----…`.
fn is_rule(line: &str) -> bool {
    line.len() > 20 && line.bytes().all(|byte| b"=-+".contains(&byte))
}

/// Of aria2c's own log: the errors also count as messages of their lines.
fn is_logged(line: &str) -> bool {
    let level = ["[NOTICE] ", "[ERROR] CUID#", "[WARN] ", "[INFO] "];
    let date = |text: &str| {
        let digits = |byte: u8| byte.is_ascii_digit() || b"/-:. ".contains(&byte);
        (11..=26).contains(&text.len()) && text.bytes().all(digits)
    };
    let mut at = level.iter().filter_map(|level| line.find(level));
    at.next().is_some_and(|at| line.get(..at).is_some_and(date))
}

/// What became of a file: Download.cc, RequestGroupMan.cc.
const STATES: &[&str] = &["OK", "INPR", "ERR", "RM"];
const NOTICES: &[&str] = &[
    "Download Results:",
    "Status Legend:",
    "(OK):download",
    "(INPR):download",
    "(ERR):error",
    "(RM):download",
    "FILE: ",
    "Exception: [",
    "-> [",
    "aria2 will resume download",
    "If there are any errors, then see the log",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    fn content(text: &str) -> Option<(usize, Vec<Content>)> {
        let block = block_of(text, read)?;
        Some((block.lines, block.content))
    }

    /// Lines, rates in tenths of Mbit/s, and whether it stalled.
    fn rates(text: &str) -> Option<(usize, Vec<f64>, bool)> {
        let (lines, content) = content(text)?;
        let rate = |one: &Content| match one {
            Content::Transfer(one) => {
                assert_eq!(
                    (one.sends, one.protocol),
                    (Some(false), Some(Protocol::Tcp))
                );
                Some((one.bits_per_second / 1e5).round() / 10.0)
            }
            _ => None,
        };
        let stall = vec![("progress".to_owned(), "stalled".to_owned())];
        let is_stalled = content.contains(&Settings::new("copy", None, stall));
        Some((lines, content.iter().filter_map(rate).collect(), is_stalled))
    }

    // aria2 1.36.0.
    const PROGRESS: &str = "11/24 03:21:15 [NOTICE] Downloading 1 item(s)\n[#605762 16KiB/28MiB(0%) CN:1 DL:15KiB ETA:30m39s]\n *** Download Progress Summary as of Tue Nov 24 03:21:17 2026 ***\n===============================================================================\n[#605762 5.0MiB/28MiB(17%) CN:1 DL:2.5MiB ETA:9s]\nFILE: out/big.bin\n-------------------------------------------------------------------------------\n\n[#605762 25MiB/28MiB(88%) CN:1 DL:4.1MiB]\n";
    const RESULTS: &str = "\n11/24 03:21:21 [NOTICE] Download complete: out/big.bin\n\nDownload Results:\ngid   |stat|avg speed  |path/URI\n======+====+===========+=======================================================\n605762|OK  |   4.7MiB/s|out/big.bin\n";

    #[test]
    fn the_average_or_the_last_progress() {
        let whole =
            format!("{PROGRESS}{RESULTS}\nStatus Legend:\n(OK):download completed.\nprose\n");
        assert_eq!(rates(&whole), Some((19, vec![39.4], false)));
        assert_eq!(rates(PROGRESS), Some((9, vec![34.4], false)));
        for line in [
            "[#2089b0 400.0KiB/33.2MiB(1%) CN:1 DL:115.7KiB ETA:4m51s]",
            "[DL:115.7KiB][#2089b0 400.0KiB/33.2MiB(1%)][#9a52ca 0B/2.8MiB(0%)]",
            "[#2089b0 400.0KiB/33.2MiB(1%) CN:44 SD:5 DL:115.7KiB UL:12KiB(120KiB) ETA:4m51s]",
            "[#1 SIZE:400.0KiB/33.2MiB(1%) CN:5 SPD:115.7KiBs ETA:4m51s]",
            "2089b0|INPR| 115.7KiB/s|http://192.0.2.1/a|b",
        ] {
            assert_eq!(rates(line), Some((1, vec![0.9], false)), "{line}");
        }
    }

    #[test]
    fn files_of_one_table() {
        let text = "gid   |stat|avg speed  |path/URI\n======+====+===========+=======================================================\n9a52ca|OK  |   1.0MiB/s|out/two.bin\nf59b5e|ERR |       0B/s|http://192.0.2.1/none.bin\n0d0983|OK  |   2.0MiB/s|out/big.bin\n";
        assert_eq!(rates(text), Some((5, vec![8.4, 16.8], false)));
    }

    #[test]
    fn a_stall_that_does_not_end() {
        let stalled = "[#605762 5.0MiB/28MiB(17%) CN:1 DL:0B]\n";
        assert_eq!(rates(stalled), Some((1, vec![], true)));
        let goes_on = format!("{stalled}[#605762 6.0MiB/28MiB(17%) CN:1 DL:115.7KiB]\n");
        assert_eq!(rates(&goes_on), Some((2, vec![0.9], false)));
        let begins = "[#605762 0B/28MiB(0%) CN:1 DL:0B]\n";
        assert_eq!(rates(begins), None);
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "[#12 is the number of the bug] DL: 5MiB",
            "[#605762 DL:5MiB]",
            "[DL:5MiB]",
            "one|OK|5MiB/s|file",
            "12|OK|fast|file",
            "Download Results:\nit is slow\n",
            "gid   |stat|avg speed  |path/URI\nno rows\n",
        ] {
            assert_eq!(content(text), None, "{text}");
        }
    }
}
