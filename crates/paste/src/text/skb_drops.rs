// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets that the kernel dropped, one event per line: `pwru`, `retis`, and the tracepoint `skb:kfree_skb` as `perf`,
//! `trace-cmd` and ftrace show it: `skb:kfree_skb: skbaddr=0xffff protocol=2048 location=0xffff reason: SOCKET_RCVBUFF`.

use super::bpftrace::counts_drops;
use super::drops::{Drops, frame, frees, function};
use super::{Block, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let is_asked = hint.is("pwru", "") || hint.is("retis", "");
    let counts = counts_drops(hint.command.unwrap_or_default());
    let event = |line| {
        let known = event(line).or_else(|| printed(line, counts));
        known.or_else(|| (is_asked && is_notice(line)).then_some(Row::Other))
    };
    event(lines.get(0)?)?;
    let mut drops = Drops::default();
    // A drop without a reason: its stack follows.
    let mut open = false;
    let found = lines.run(0, |line| {
        match event(line).or_else(|| detail(line)) {
            Some(Row::Drop { reason, function }) => {
                if let Some(name) = reason {
                    drops.reason(name, 1);
                }
                let unknown = reason.is_none_or(|name| name == "NOT_SPECIFIED");
                if let Some(name) = function.filter(|_| unknown) {
                    drops.function(name, 1);
                }
                open = unknown && function.is_none();
            }
            Some(Row::Frame(name)) if open && !frees(name) => {
                drops.function(name, 1);
                open = false;
            }
            Some(_) => {}
            None => return false,
        }
        true
    });
    let read = drops.block(found.last()?.0 + 1, FORMAT);
    read.or_else(|| Block::says_nothing(&found, FORMAT))
}

enum Row<'a> {
    Drop {
        reason: Option<&'a str>,
        function: Option<&'a str>,
    },
    Frame(&'a str),
    /// A packet that is not dropped, a heading, a packet's contents.
    Other,
}

fn event(line: &str) -> Option<Row<'_>> {
    let line = line.trim_start();
    if line.len() > 800 {
        return None;
    }
    if line.starts_with("0x") || line.starts_with("SKB ") {
        return pwru(line);
    }
    if line.starts_with(|first: char| first.is_ascii_digit())
        && let Some(row) = retis(line)
    {
        return Some(row);
    }
    (line.contains("skbaddr") && line.contains("kfree_skb")).then(|| tracepoint(line))
}

/// `0xffff9d8b2e5f1200 2 <empty>:0 … 192.0.2.1:40212->192.0.2.5:80(tcp) kfree_skb_reason(SKB_DROP_REASON_NETFILTER_DROP)`.
fn pwru(line: &str) -> Option<Row<'_>> {
    let mut words = line.split_whitespace();
    let (packet, processor) = (words.next()?, words.next()?);
    if packet == "SKB" {
        return (processor == "CPU" && words.next() == Some("PROCESS")).then_some(Row::Other);
    }
    (packet.len() >= 10 && processor.parse::<u16>().is_ok()).then_some(())?;
    match line.split_once("(SKB_DROP_REASON_") {
        Some((_, rest)) => Some(of_reason(rest)),
        None => line.contains("->").then_some(Row::Other),
    }
}

/// `5215277183981 [swapper/2] 0 [tp] skb:kfree_skb drop (NETFILTER_DROP)`.
fn retis(line: &str) -> Option<Row<'_>> {
    let (time, rest) = line.split_once(' ')?;
    let probe = ["[tp] ", "[k] ", "[kr] "]
        .iter()
        .any(|kind| rest.contains(kind));
    (probe && time.len() >= 8 && time.parse::<u64>().is_ok()).then_some(())?;
    match rest.split_once("drop (") {
        Some((_, why)) => Some(of_reason(why.strip_prefix("reason ").unwrap_or(why))),
        None => Some(Row::Other),
    }
}

/// Kernels before 5.17 give no reason, later ones may give the function as location.
fn tracepoint(line: &str) -> Row<'_> {
    let after = |mark| Some(line.split_once(mark)?.1.trim_start());
    let location = after("location=").and_then(|rest| rest.split_whitespace().next());
    Row::Drop {
        reason: after("reason:").and_then(name),
        function: location.and_then(function),
    }
}

/// `kfree_skb: tcp_v4_rcv+0x8e reason=67`, as a program of bpftrace prints it.
fn printed(line: &str, counts: bool) -> Option<Row<'_>> {
    (line.len() < 400 && line.contains("reason=")).then_some(())?;
    let line = line.trim_start();
    (counts || line.contains("kfree_skb:") || line.starts_with("kfree_skb")).then_some(())?;
    let (_, rest) = line.split_once("reason=")?;
    Some(Row::Drop {
        reason: Some(name(rest)?),
        function: line
            .split_whitespace()
            .find_map(function)
            .filter(|name| !frees(name)),
    })
}

fn of_reason(text: &str) -> Row<'_> {
    Row::Drop {
        reason: name(text),
        function: None,
    }
}

/// The kernel's word at the beginning of a text, or its number.
fn name(text: &str) -> Option<&str> {
    let own =
        |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    let (name, _) = text.split_at(text.find(|letter| !own(letter)).unwrap_or(text.len()));
    Some(name).filter(|name| !name.is_empty())
}

/// The tool's own messages: `2026/01/31 12:00:01 Listening for events..`.
fn is_notice(line: &str) -> bool {
    line.len() < 200 && NOTICES.iter().any(|notice| line.contains(notice))
}

/// A line below an event: the stack, or the packet as retis shows it.
fn detail(line: &str) -> Option<Row<'_>> {
    let text = line.trim();
    if let Some(name) = frame(text) {
        return Some(Row::Frame(name));
    }
    let packet = text.len() < 400
        && (text.starts_with("if ") || text.starts_with("ns ") || text.contains(" > "))
        && PACKET.iter().any(|mark| text.contains(mark));
    (packet || text == "<stack trace>").then_some(Row::Other)
}

const FORMAT: &str = "skb:kfree_skb";
const NOTICES: &[&str] = &[
    "Attaching ",
    "Attached ",
    "] 100.00% ",
    "Listening for events",
    "Received signal",
    "Detaching ",
    "probe(s) loaded",
];
const PACKET: &[&str] = &[
    " rxif ",
    " ttl ",
    " hlim ",
    " flags [",
    " len ",
    "ethertype ",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, Counters, block_of};
    use std::cell::Cell;

    fn counts(text: &str) -> Option<(usize, Vec<(String, u64)>)> {
        let block = block_of(text, read)?;
        let counted = block.content.into_iter().find_map(|content| match content {
            Content::Counters(Counters { values, .. }) => Some(values),
            _ => None,
        });
        Some((block.lines, counted.unwrap_or_default()))
    }

    fn expect(text: &str, name: &str, count: u64) {
        let all = text.lines().count();
        let expected = Some((all, vec![(name.to_owned(), count)]));
        assert_eq!(counts(text), expected, "{text}");
    }

    #[test]
    fn one_drop_each() {
        expect(
            "SKB                CPU PROCESS          NETNS      MARK/x IFACE  PROTO  MTU  LEN TUPLE FUNC\n\
             0xffff9d8b2e5f1200 2   <empty>:0        4026531840 0      eth0:2 0x0800 1500 60  192.0.2.1:40212->192.0.2.5:80(tcp) nf_hook_slow\n\
             0xffff9d8b2e5f1200 2   <empty>:0        4026531840 0      eth0:2 0x0800 1500 60  192.0.2.1:40212->192.0.2.5:80(tcp) sk_skb_reason_drop(SKB_DROP_REASON_NETFILTER_DROP)\n",
            "NETFILTER_DROP",
            1,
        );
        expect(
            "5215277183981 [swapper/2] 0 [tp] skb:kfree_skb #4be3d4ba21bffff8a01c7c5c100 (skb 18446616466036285696) n 0 drop (NO_SOCKET)\n\
             \x20 if 2 (eth0) rxif 2 192.0.2.1.40212 > 192.0.2.5.80 ttl 64 tos 0x0 id 27312 off 0 [DF] len 60 proto UDP (17) len 32\n",
            "NO_SOCKET",
            1,
        );
    }

    #[test]
    fn the_tracepoint_with_a_reason_or_a_stack() {
        let line = "swapper 0 [002] 7121.112233: skb:kfree_skb: skbaddr=0xffff88810b5c8a00 protocol=2048 location=0xffffffff81a2e9a4 reason: SOCKET_RCVBUFF\n";
        expect(&line.repeat(3), "SOCKET_RCVBUFF", 3);
        expect(
            "0.000 :0/0 skb:kfree_skb(skbaddr: 0xffff88810b5c8a00, location: 0xffffffff81a2e9a4, protocol: 2048, reason: 3)\n",
            "drop reason 3",
            1,
        );
        expect(
            "java 26982 [026] 330543.363561: skb:kfree_skb: skbaddr=0xffff88803dd83a00 protocol=2048 location=0xffffffff816ea931\n\
             \x20       ffffffff816e9c9b kfree_skb+0x7b ([kernel.kallsyms])\n\
             \x20       ffffffff816ea931 nf_hook_slow+0xb1 ([kernel.kallsyms])\n\
             \x20       ffffffff816ea932 ip_rcv+0xb1 ([kernel.kallsyms])\n",
            "nf_hook_slow",
            1,
        );
        expect(
            "<idle>-0 [002] ..s1. 7121.112: kfree_skb: skbaddr=0xffff rx_sk=0x0 protocol=2048 location=ip_rcv_core+0x19/0x330 reason: NOT_SPECIFIED\n",
            "NOT_SPECIFIED",
            1,
        );
    }

    #[test]
    fn numbers_that_a_program_prints() {
        expect("kfree_skb: reason=67 protocol=2048\n", "drop reason 67", 1);
        let lines = [
            "reason=67 tcp_v4_rcv+142",
            "reason=SKB_DROP_REASON_NO_SOCKET dev=eth0",
        ];
        let looked = Cell::new(0);
        let read_by = |command| read(Lines::new(&lines, &looked), Hint { command });
        assert_eq!(read_by(Some("journalctl")), None);
        let program =
            "bpftrace -e 'tracepoint:skb:kfree_skb { printf(\"reason=%d …\", args.reason); }'";
        let values = [("NO_SOCKET", 1), ("drop reason 67", 1)];
        let values = values
            .map(|(name, count)| (name.to_owned(), count))
            .to_vec();
        let block = Block {
            lines: 2,
            format: FORMAT,
            content: vec![Counters::new("skb:kfree_skb", None, values)],
        };
        assert_eq!(read_by(Some(program)), Some(block));
    }

    #[test]
    fn what_the_tool_says_of_itself() {
        let lines = [
            "2026/01/31 12:00:01 Listening for events..",
            "0xffff936378692ce8 6 [curl] kfree_skb_reason(SKB_DROP_REASON_NO_SOCKET) 192.0.2.1:33918->192.0.2.2:4240(tcp)",
            "^C2026/01/31 12:00:05 Received signal, exiting program..",
        ];
        let looked = Cell::new(0);
        let lines = Lines::new(&lines, &looked);
        let command = Some("pwru --output-tuple tcp");
        let read = read(lines, Hint { command }).map(|block| block.lines);
        assert_eq!(read, Some(3));
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "we see skb:kfree_skb with reason: NETFILTER_DROP\n",
            "we see kfree_skb with reason=67 here\n",
            "wlan0: deauthenticated, reason=67\n",
            "0x1000 5 registers -> dumped\n",
            "0xffff9d8b2e5f1200 is the address\n",
            "2026 [tp] is short\n",
            "    if you ping 192.0.2.1 > all is well\n",
        ] {
            assert_eq!(counts(text), None, "{text}");
        }
    }
}
