// SPDX-License-Identifier: MIT OR Apache-2.0
//! `dropwatch`: how many packets each function of the kernel dropped: `1021 drops at __udp4_lib_rcv+bd4 (0xffffffff81a2e9a4) [software]`.

use super::drops::{Drops, function};
use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?.trim();
    if place(first).is_none() && !is_one(first, BEGINS) {
        return None;
    }
    let mut drops = Drops::default();
    let mut nameless = None;
    let found = lines.run(0, |line| {
        let line = line.trim();
        let Some((count, place)) = place(line) else {
            return is_one(line, BEGINS) || is_one(line, DETAILS);
        };
        match function(place) {
            Some(name) => drops.function(name, count),
            None => nameless = nameless.or_else(|| address(line)),
        }
        true
    });
    let lines = found.last()?.0 + 1;
    drops
        .block(lines, FORMAT)
        .or_else(|| Some(without_names(lines, nameless?)))
        .or_else(|| Block::says_nothing(&found, FORMAT))
}

fn without_names(lines: usize, address: &str) -> Block {
    let place = vec![("location".to_owned(), address.to_owned())];
    Block {
        lines,
        format: FORMAT,
        content: vec![Settings::new(FORMAT, None, place)],
    }
}

fn address(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    words.find(|word| word.starts_with("0x"))
}

/// `3 drops at tcp_v4_rcv+7c (0xffffffff81a1b2cc)`, `12 drops at location 0xffffffff81a1b2cc`, `drop at: ip_rcv+0x1de/0x440 (0xffffffff96b6294e)`.
fn place(line: &str) -> Option<(u64, &str)> {
    let (count, rest) = match line.strip_prefix("drop at: ") {
        Some(rest) => (1, rest),
        None => {
            let (count, rest) = line.split_once(" drops at ")?;
            (count.parse().ok()?, rest)
        }
    };
    let mut words = rest.split_whitespace();
    let place = words.next()?;
    let address = words.next()?.trim_start_matches('(').starts_with("0x");
    address.then_some((count, place))
}

fn is_one(line: &str, starts: &[&str]) -> bool {
    line.len() < 100 && starts.iter().any(|start| line.starts_with(start))
}

const FORMAT: &str = "dropwatch";
const BEGINS: &[&str] = &[
    "Initializing kallsyms db",
    "Initalizing kallsyms db",
    "Initializing null lookup method",
    "Initalizing null lookup method",
    "dropwatch>",
    "Enabling monitoring",
    "Kernel monitoring activated",
    "Issue Ctrl-C to stop monitoring",
];
const DETAILS: &[&str] = &[
    "Trying to stop monitoring",
    "Got a stop message",
    "Shutting down",
    "^C",
    "origin: ",
    "input port ",
    "timestamp: ",
    "protocol: 0x",
    "length: ",
    "original length: ",
    "drop reason: ",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, Counters, block_of};

    fn block(text: &str) -> Option<Block> {
        block_of(text, read)
    }

    fn counts(text: &str) -> Vec<(String, u64)> {
        let block = block(text).unwrap();
        assert_eq!(block.lines, text.lines().count());
        let counted = block.content.into_iter().find_map(|content| match content {
            Content::Counters(Counters { values, .. }) => Some(values),
            _ => None,
        });
        counted.unwrap_or_default()
    }

    #[test]
    fn functions_are_summed() {
        let counted = counts(
            "Initializing kallsyms db\ndropwatch> start\nEnabling monitoring...\nKernel monitoring activated.\nIssue Ctrl-C to stop monitoring\n\
             3 drops at tcp_v4_rcv+7c (0xffffffff81a1b2cc) [software]\n21 drops at __udp4_lib_rcv+bd4 (0xffffffff81a2e9a4)\n2 drops at tcp_v4_rcv+7c (0xffffffff81a1b2cc) [software]\n",
        );
        let pair = |name: &str, count| (name.to_owned(), count);
        assert_eq!(counted, [pair("__udp4_lib_rcv", 21), pair("tcp_v4_rcv", 5)]);
        let packets = counts(
            "drop at: ip_rcv_finish_core.isra.0+0x1de/0x440 (0xffffffff96b6294e)\norigin: software\ninput port ifindex: 3\ntimestamp: Thu Dec 22 13:14:21 2022 005165840 nsec\nprotocol: 0x800\nlength: 1358\noriginal length: 1358\n",
        );
        assert_eq!(packets, [pair("ip_rcv_finish_core", 1)]);
    }

    #[test]
    fn addresses_alone() {
        let text = "12 drops at location 0xffffffff81a1b2cc [software]\n";
        assert_eq!(block(text), Some(without_names(1, "0xffffffff81a1b2cc")));
    }

    #[test]
    fn prose_is_not_read() {
        for text in [
            "We see 12 drops at night (0x10 a minute)\n",
            "12 drops at night\n",
            "length: 5\n",
            "I typed dropwatch> start\n",
        ] {
            assert_eq!(block(text), None, "{text}");
        }
    }
}
