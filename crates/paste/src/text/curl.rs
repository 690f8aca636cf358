// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of `curl`: its last row has the average rates, in bytes by 1024:
//! `100  100M  100  100M    0     0  1123k      0  0:01:31  0:01:31 --:--:-- 1201k`.

use super::number::binary_rate;
use super::{Block, Content, Hint, Lines, Protocol, Transfer};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    is_heading(lines.get(0)?).then_some(())?;
    let mut rates = None;
    let found = lines.run(0, |line| {
        let row = row(line);
        rates = row.or(rates);
        row.is_some() || is_heading(line)
    });
    let (down, up) = rates.unwrap_or_default();
    let transfer = |sends, bits_per_second| {
        Content::Transfer(Transfer {
            protocol: Some(Protocol::Tcp),
            sends: Some(sends),
            bits_per_second,
            ..Transfer::default()
        })
    };
    let content: Vec<Content> = [(false, down), (true, up)]
        .into_iter()
        .filter(|(_, rate)| *rate > 0.0)
        .map(|(sends, rate)| transfer(sends, rate))
        .collect();
    if content.is_empty() {
        return Block::says_nothing(&found, "curl");
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "curl",
        content,
    })
}

/// One of the two lines of the heading.
fn is_heading(line: &str) -> bool {
    let line = line.trim();
    (line.starts_with("% Total") && line.contains("% Received"))
        || (line.starts_with("Dload ") && line.contains(" Upload "))
}

/// The average rates down and up; of several rows in one line, that a terminal writes over each other, the last.
fn row(line: &str) -> Option<(f64, f64)> {
    let line = line.trim_end().rsplit('\r').next()?;
    let words: Vec<&str> = line.split_whitespace().take(13).collect();
    let &[percent, .., down, up, total, _, left, now] = words.as_slice() else {
        return None;
    };
    percent.parse::<u8>().ok()?;
    let times = [total, left].iter().all(|time| time.contains(':'));
    (words.len() == 12 && times && binary_rate(now).is_some()).then_some(())?;
    Some((binary_rate(down)?, binary_rate(up)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    type Rates = Vec<(Option<bool>, f64)>;

    fn rates(text: &str) -> Option<(usize, Rates)> {
        let block = block_of(text, read)?;
        let rate = |content: &Content| match content {
            Content::Transfer(one) => (one.sends, (one.bits_per_second / 1e5).round() / 10.0),
            other => panic!("{other:?}"),
        };
        Some((block.lines, block.content.iter().map(rate).collect()))
    }

    const HEADING: &str = "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n                                 Dload  Upload   Total   Spent    Left  Speed\n";

    #[test]
    fn the_last_row() {
        let rows = "  3  100M    3 3072k    0     0   512k      0  0:03:20  0:00:06  0:03:14  600k\n100  100M  100  100M    0     0  1123k      0  0:01:31  0:01:31 --:--:-- 1201k\nprose\n";
        let down = vec![(Some(false), 9.2)];
        assert_eq!(rates(&format!("{HEADING}{rows}")), Some((4, down.clone())));
        let over = rows.replace("600k\n", "600k\r");
        assert_eq!(rates(&format!("{HEADING}{over}")), Some((3, down)));
        let up = "100  100M    0     0  100  100M      0  1123k  0:01:31  0:01:31 --:--:-- 1201k\n";
        assert_eq!(
            rates(&format!("{HEADING}{up}")),
            Some((3, vec![(Some(true), 9.2)]))
        );
    }

    #[test]
    fn no_data_and_no_table() {
        assert_eq!(rates(HEADING), None);
        assert_eq!(rates("% Total of it\n100 100M\n"), None);
    }
}
