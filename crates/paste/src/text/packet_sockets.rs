// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/packet`: a row for each packet socket.

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let heading = lines.get(0)?;
    let titled = ["RefCnt", "Iface", "Rmem"]
        .iter()
        .all(|word| heading.contains(word));
    titled.then_some(())?;
    let found = lines.run(1, is_row);
    let sockets = vec![("sockets".to_owned(), found.len().to_string())];
    Some(Block {
        lines: found.last().map_or(1, |(at, _)| at + 1),
        format: SOURCE,
        content: vec![Settings::new(SOURCE, None, sockets)],
    })
}

/// `00000000a1b2c3d4 3      3    0003   2     1 0      0      23456`.
fn is_row(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(10).collect();
    words.len() == 9
        && words
            .iter()
            .all(|word| u64::from_str_radix(word, 16).is_ok())
        && words[0].len() >= 8
}

const SOURCE: &str = "/proc/net/packet";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    #[test]
    fn a_row_a_socket() {
        let lines = [
            "sk       RefCnt Type Proto  Iface R Rmem   User   Inode",
            "00000000a1b2c3d4 3      3    0003   2     1 0      0      23456",
        ];
        let looked = Cell::new(0);
        let sockets = |lines: &[&str]| {
            let block = read(Lines::new(lines, &looked), Hint::default()).unwrap();
            let Content::Settings(settings) = &block.content[0] else {
                panic!()
            };
            settings.values[0].1.clone()
        };
        assert_eq!(
            (sockets(&lines), sockets(&lines[..1])),
            ("1".to_owned(), "0".to_owned())
        );
    }
}
