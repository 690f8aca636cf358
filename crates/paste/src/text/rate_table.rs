// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table of packet rates by frame size, whose first line names the columns: `frame bytes  pps  Mb/s`.

use super::{Block, Content, Hint, Lines, Transfer, bits_per_second};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let columns = header(lines.get(0)?)?;
    let mut content = Vec::new();
    while let Some(transfer) = lines
        .get(content.len() + 1)
        .and_then(|line| row(line, &columns))
    {
        content.push(Content::Transfer(transfer));
    }
    (content.len() > 1).then_some(())?;
    Some(Block {
        lines: content.len() + 1,
        format: "table of packet rates",
        content,
    })
}

/// The content of a column.
#[derive(Clone, Debug, PartialEq)]
enum Column {
    Size,
    Packets(f64),
    Bits(String),
    Other,
}

/// Names of columns; one has to be a size and one a packet rate.
fn header(line: &str) -> Option<Vec<Column>> {
    (line.len() < 120).then_some(())?;
    let qualifies = |word: &&str| !["frame", "packet", "size", "(bytes)"].contains(word);
    let lower = line.to_ascii_lowercase();
    let words = lower.split_whitespace().filter(qualifies);
    let mut columns: Vec<Column> = words.map(column).collect();
    // `frame size  pps`: no word for a size qualifies as a column.
    if !columns.contains(&Column::Size) && lower.trim_start().starts_with(['f', 'p', 's']) {
        columns.insert(0, Column::Size);
    }
    let packets = columns
        .iter()
        .any(|column| matches!(column, Column::Packets(_)));
    (packets && columns.first() == Some(&Column::Size) && lower.contains(['z', 'y']))
        .then_some(columns)
}

fn column(word: &str) -> Column {
    let unit = word.trim_matches(['(', ')', ',']);
    match unit {
        "bytes" | "byte" | "b" => Column::Size,
        "pps" | "packets/s" | "frames/s" | "fps" => Column::Packets(1.0),
        "kpps" => Column::Packets(1e3),
        "mpps" => Column::Packets(1e6),
        _ if bits_per_second(1.0, unit).is_some() => Column::Bits(unit.to_owned()),
        _ => Column::Other,
    }
}

fn row(line: &str, columns: &[Column]) -> Option<Transfer> {
    let words: Vec<&str> = line.split_whitespace().take(columns.len() + 1).collect();
    (words.len() == columns.len()).then_some(())?;
    let mut transfer = Transfer::default();
    for (word, column) in words.iter().zip(columns) {
        let number = || word.trim_end_matches(',').parse::<f64>().ok();
        match column {
            Column::Size => transfer.packet_bytes = Some(word.parse().ok()?),
            Column::Packets(factor) => transfer.packets_per_second = Some(number()? * factor),
            Column::Bits(unit) => transfer.bits_per_second = bits_per_second(number()?, unit)?,
            Column::Other => {}
        }
    }
    Some(transfer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    fn rates(text: &str) -> Vec<(Option<u32>, Option<f64>, f64)> {
        let block = block_of(text, read);
        let content = block.map(|block| block.content).unwrap_or_default();
        let figures = content.iter().map(|content| match content {
            Content::Transfer(transfer) => (
                transfer.packet_bytes,
                transfer.packets_per_second,
                transfer.bits_per_second,
            ),
            _ => (None, None, 0.0),
        });
        figures.collect()
    }

    #[test]
    fn columns_in_any_order_after_the_size() {
        let expected = [
            (Some(64), Some(9700.0), 6.5e6),
            (Some(320), Some(8800.0), 24e6),
        ];
        assert_eq!(
            rates("frame bytes   pps   Mb/s\n64   9700   6.5\n320  8800  24\nend"),
            expected
        );
        assert_eq!(
            rates("size Mbit/s kpps\n64 6.5 9.7\n320 24 8.8\n"),
            expected
        );
    }

    #[test]
    fn what_is_no_such_table() {
        for text in [
            "frame bytes pps\n64 9700\n",
            "pps\n64\n128\n",
            "bytes here\n1 2\n3 4\n",
            "packets bytes\n1 2\n3 4\n",
        ] {
            assert_eq!(rates(text), [], "{text}");
        }
    }
}
