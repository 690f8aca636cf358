// SPDX-License-Identifier: MIT OR Apache-2.0
//! Maps of `bpftrace` that count the kernel's drops: `@[SOCKET_RCVBUFF]: 12`, and stacks: `@[`, a function a line, `]: 311`.
//! A number is a reason where the program or the map's name says so: `@drops[6]: 12`. It keeps its number, which differs
//! between versions of the kernel.

use super::drops::{Drops, frame, frees, function, is_identifier};
use super::{Block, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let mut maps = Maps::of(hint.command.unwrap_or_default());
    let first = lines.get(0)?.trim_start();
    let begins = first.starts_with('@') || is_program(first) || (maps.is_asked && is_notice(first));
    begins.then_some(())?;
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
    /// The name of a map says that it counts drops.
    is_named: bool,
    entries: Vec<(&'a str, u64)>,
    functions: Vec<(&'a str, u64)>,
    /// Inside of a stack: whether it frees a packet, and for which function.
    stack: Option<(bool, Option<&'a str>)>,
}

impl<'a> Maps<'a> {
    fn of(program: &str) -> Self {
        let is_asked = counts_drops(program);
        Self {
            is_asked,
            // Of a script only its name is known.
            has_reasons: is_asked && (has_reasons(program) || !program.contains('{')),
            is_named: false,
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
        if is_program(line) {
            self.is_asked = true;
            self.has_reasons |= has_reasons(line);
            return true;
        }
        if let Some((key, count)) = entry(line) {
            self.is_named |= is_named(line);
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
        // Without the program: no packet is dropped for reason 0, but processors and queues are counted from there.
        let small = |(key, _): &(&str, u64)| {
            is_number(key) && (1..REASONS_MOST).contains(&key.parse().unwrap_or(0))
        };
        let are_reasons = !self.is_asked && self.is_named && self.entries.iter().all(small);
        if !self.is_asked && !are_reasons && !self.entries.iter().any(usual) {
            return drops;
        }
        for (key, count) in self.entries {
            if is_reason(key) && (self.has_reasons || are_reasons || !is_number(key)) {
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

fn is_number(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit())
}

/// Of `@drops[6]: 12`, `@reasons[6]: 12`.
fn is_named(line: &str) -> bool {
    let name = line.split('[').next().unwrap_or_default();
    ["drop", "reason", "kfree_skb"]
        .iter()
        .any(|word| name.contains(word))
}

/// Whether a program's probe sees packets that the kernel drops.
pub(super) fn counts_drops(program: &str) -> bool {
    ["kfree_skb", "skb_reason_drop"]
        .iter()
        .any(|probe| program.contains(probe))
}

/// Whether the keys of a program are reasons: of the tracepoint, or the argument of the functions.
fn has_reasons(program: &str) -> bool {
    let of_function = |(name, key): &(&str, &str)| program.contains(name) && program.contains(key);
    let functions = [
        ("kfree_skb_reason", "[arg1"),
        ("sk_skb_reason_drop", "[arg2"),
    ];
    is_reason_named(program) || functions.iter().any(of_function)
}

fn is_reason_named(program: &str) -> bool {
    program.contains("args->reason") || program.contains("args.reason")
}

/// A line of a program that spans several: `tracepoint:skb:kfree_skb {`, `@[args->reason] = count();`, `}'`.
fn is_program(line: &str) -> bool {
    let line = line.trim();
    let probe = [
        "tracepoint:",
        "kprobe:",
        "rawtracepoint:",
        "fentry:",
        "kfunc:",
        "t:",
    ];
    let is_probe = probe.iter().any(|kind| line.starts_with(kind)) && counts_drops(line);
    let is_count = line.starts_with('@') && is_reason_named(line) && line.contains("count()");
    line.len() < 200 && (is_probe || is_count)
}

fn is_reason(key: &str) -> bool {
    let own = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    !key.is_empty() && key.bytes().all(own)
}

fn is_notice(line: &str) -> bool {
    let attached = ["Attaching ", "Attached "]
        .iter()
        .any(|word| line.starts_with(word));
    let closes = ["}", "}'", "'", "{"].contains(&line);
    (attached && line.contains(" probe")) || closes || line == "^C" || line.contains("Hit Ctrl-C")
}

/// No kernel's core has this many reasons (include/net/dropreason-core.h: about 120 in 6.12).
const REASONS_MOST: u32 = 256;
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
    fn numbers_where_only_the_map_or_the_script_says_so() {
        let read = |lines| {
            Some((
                lines,
                vec![pair("drop reason 2", 145), pair("drop reason 6", 12)],
            ))
        };
        let maps = "@drops[6]: 12\n@drops[2]: 145\n";
        assert_eq!(counts(maps, None), read(2));
        assert_eq!(counts(&maps.replace("drops", "reason"), None), read(2));
        let bare = maps.replace("drops", "");
        assert_eq!(counts(&bare, None), None);
        assert_eq!(counts(&bare, Some("bpftrace kfree_skb.bt")), read(2));
        let program = "kprobe:kfree_skb_reason { @[arg1] = count(); }";
        assert_eq!(counts(&bare, Some(program)), read(2));
        let script = "tracepoint:skb:kfree_skb\n{\n    @[args.reason] = count();\n}\n";
        let attached = format!("{script}Attached 1 probe\n^C\n\n{bare}");
        assert_eq!(counts(&attached, None), read(9));
    }

    #[test]
    fn numbers_of_other_things() {
        let processors = "@drops[0]: 12\n@drops[1]: 145\n";
        assert_eq!(counts(processors, None), None);
        assert_eq!(counts("@drops[40123]: 12\n", None), None);
        let program = "tracepoint:skb:kfree_skb { @drops[cpu] = count(); }";
        assert_eq!(counts("@drops[3]: 12\n", Some(program)), None);
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
