// SPDX-License-Identifier: MIT OR Apache-2.0
//! Maps of `bpftrace` that count the kernel's drops: `@[SOCKET_RCVBUFF]: 12`, and stacks: `@[`, a function a line, `]: 311`.

use super::drops::{Drops, frame, frees, function, is_identifier};
use super::{Block, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let mut maps = Maps::of(hint.command.unwrap_or_default());
    let first = lines.get(0)?.trim_start();
    (first.starts_with('@') || (maps.is_asked && is_notice(first))).then_some(())?;
    let found = lines.run(0, |line| maps.take(line.trim()));
    let drops = maps.drops();
    let read = drops.block(found.last()?.0 + 1, "bpftrace");
    read.or_else(|| Block::says_nothing(&found, "bpftrace"))
}

/// What the lines so far contain.
struct Maps<'a> {
    /// The program counts drops.
    is_asked: bool,
    /// Its keys are reasons: only then a number is one.
    has_reasons: bool,
    entries: Vec<(&'a str, u64)>,
    functions: Vec<(&'a str, u64)>,
    /// Inside of a stack: whether it frees a packet, and for which function.
    stack: Option<(bool, Option<&'a str>)>,
}

impl<'a> Maps<'a> {
    fn of(program: &str) -> Self {
        let is_asked = ["kfree_skb", "skb_reason_drop"]
            .iter()
            .any(|probe| program.contains(probe));
        Self {
            is_asked,
            has_reasons: is_asked
                && ["args->reason", "args.reason"]
                    .iter()
                    .any(|key| program.contains(key)),
            entries: Vec::new(),
            functions: Vec::new(),
            stack: None,
        }
    }

    /// False if the line does not belong to a map.
    fn take(&mut self, line: &'a str) -> bool {
        if self.stack.is_some() {
            return self.in_stack(line);
        }
        if let Some((key, count)) = entry(line) {
            self.entries.push((key, count));
            return true;
        }
        let opens = line.len() < 80 && line.starts_with('@') && line.ends_with('[');
        self.stack = opens.then_some((false, None));
        opens || (self.is_asked && is_notice(line))
    }

    fn in_stack(&mut self, line: &'a str) -> bool {
        let Some((is_free, place)) = &mut self.stack else {
            return false;
        };
        if let Some(name) = frame(line) {
            *is_free |= frees(name);
            *place = place.or_else(|| Some(name).filter(|name| !frees(name)));
            return true;
        }
        // A key after the stack: `, iperf3]: 311`.
        let Some(count) = line.strip_prefix([']', ',']).and_then(|_| after_key(line)) else {
            return false;
        };
        let counted = place.filter(|_| *is_free || self.is_asked);
        self.functions.extend(counted.map(|name| (name, count.1)));
        self.stack = None;
        true
    }

    /// Without the program, some key must be a usual reason.
    fn drops(self) -> Drops {
        let mut drops = Drops::default();
        for (name, count) in &self.functions {
            drops.function(name, *count);
        }
        let usual =
            |(key, _): &(&str, u64)| key.starts_with("SKB_DROP_REASON_") || USUAL.contains(key);
        if !self.is_asked && !self.entries.iter().any(usual) {
            return drops;
        }
        for (key, count) in self.entries {
            let is_number = key.bytes().all(|byte| byte.is_ascii_digit());
            if is_reason(key) && (self.has_reasons || !is_number) {
                drops.reason(key, count);
            } else if let Some(name) = function(key).or(Some(key).filter(|key| is_identifier(key)))
            {
                drops.function(name, count);
            }
        }
        drops
    }
}

/// `@[SOCKET_RCVBUFF]: 12`, `@drops[8, udp]: 5`: the first key and the count.
fn entry(line: &str) -> Option<(&str, u64)> {
    let (_, rest) = line.strip_prefix('@')?.split_once('[')?;
    let (keys, count) = after_key(rest)?;
    Some((keys.split(',').next()?.trim(), count))
}

/// Of `8, udp]: 5`.
fn after_key(text: &str) -> Option<(&str, u64)> {
    let (keys, count) = text.rsplit_once("]:")?;
    (text.len() < 200).then_some((keys, count.trim().parse().ok()?))
}

fn is_reason(key: &str) -> bool {
    let own = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    !key.is_empty() && key.bytes().all(own)
}

fn is_notice(line: &str) -> bool {
    let attached = ["Attaching ", "Attached "]
        .iter()
        .any(|word| line.starts_with(word));
    (attached && line.contains(" probe")) || line == "^C" || line.contains("Hit Ctrl-C")
}

const USUAL: &[&str] = &[
    "NOT_SPECIFIED",
    "NO_SOCKET",
    "NETFILTER_DROP",
    "SOCKET_RCVBUFF",
    "SOCKET_FILTER",
    "OTHERHOST",
    "QDISC_DROP",
    "CPU_BACKLOG",
    "TCP_OLD_DATA",
    "UNHANDLED_PROTO",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, Counters};
    use std::cell::Cell;

    fn counts(text: &str, command: Option<&str>) -> Option<(usize, Vec<(String, u64)>)> {
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint { command })?;
        let counted = block
            .content
            .into_iter()
            .filter_map(|content| match content {
                Content::Counters(Counters { values, .. }) => Some(values),
                _ => None,
            });
        Some((block.lines, counted.flatten().collect()))
    }

    fn pair(name: &str, count: u64) -> (String, u64) {
        (name.to_owned(), count)
    }

    #[test]
    fn reasons_and_their_numbers() {
        let named = "@[SOCKET_RCVBUFF]: 12\n@[SKB_DROP_REASON_NO_SOCKET]: 40\n";
        let read = vec![pair("NO_SOCKET", 40), pair("SOCKET_RCVBUFF", 12)];
        assert_eq!(counts(named, None), Some((2, read)));
        let numbers = "Attaching 1 probe...\n^C\n\n@[2]: 12\n";
        let program = "bpftrace -e 'tracepoint:skb:kfree_skb { @[args->reason] = count(); }'";
        let read = vec![pair("drop reason 2", 12)];
        assert_eq!(counts(numbers, Some(program)), Some((4, read)));
        assert_eq!(counts("@[2]: 12\n", Some("bpftrace -e '…'")), None);
    }

    #[test]
    fn stacks_and_functions() {
        let stack = "@[\n    kfree_skb_reason+1\n    tcp_v4_rcv+89\n    ip_local_deliver_finish+117\n]: 311\n";
        let read = Some((5, vec![pair("tcp_v4_rcv", 311)]));
        assert_eq!(counts(stack, None), read);
        let program = "bpftrace -e 'kprobe:kfree_skb_reason { @[ksym(arg1)] = count(); }'";
        let read = Some((1, vec![pair("nf_hook_slow", 4)]));
        assert_eq!(counts("@[nf_hook_slow]: 4\n", Some(program)), read);
    }

    #[test]
    fn other_programs_are_not_read() {
        for text in [
            "@[nginx]: 12\n",
            "@[TCP_ESTABLISHED]: 12\n",
            "@[\n    vfs_read+1\n    ksys_read+89\n]: 311\n",
            "@[\n    kfree_skb_reason+1\n",
            "@home [12]: 5\n",
        ] {
            assert_eq!(counts(text, None), None, "{text}");
        }
    }
}
