// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets that the kernel dropped, by reason and by function, whatever tool lists them; frames of a stack:
//! `nf_hook_slow+0x9e/0x120`.

use std::collections::BTreeMap;

use super::{Block, Content, Counters};

/// Counts by name.
#[derive(Debug, Default)]
pub(super) struct Drops {
    reasons: BTreeMap<String, u64>,
    functions: BTreeMap<String, u64>,
}

impl Drops {
    /// Adds packets of one reason: the kernel's word, or its number, which differs between versions.
    pub(super) fn reason(&mut self, name: &str, count: u64) {
        let name = name.strip_prefix("SKB_DROP_REASON_").unwrap_or(name);
        let numeric = name.bytes().all(|byte| byte.is_ascii_digit());
        let prefix = if numeric { "drop reason " } else { "" };
        add(&mut self.reasons, format!("{prefix}{name}"), count);
    }

    /// Adds packets that one function dropped.
    pub(super) fn function(&mut self, name: &str, count: u64) {
        add(&mut self.functions, name.to_owned(), count);
    }

    /// All of them; `None` if there are none.
    pub(super) fn block(self, lines: usize, format: &'static str) -> Option<Block> {
        let counted = [
            ("skb:kfree_skb", self.reasons),
            ("dropwatch", self.functions),
        ];
        let counted = counted.into_iter().filter(|(_, all)| !all.is_empty());
        let counters = |(source, all): (&str, BTreeMap<String, u64>)| -> Content {
            Counters::new(source, None, all.into_iter().collect())
        };
        let content: Vec<Content> = counted.map(counters).collect();
        (!content.is_empty()).then_some(Block {
            lines,
            format,
            content,
        })
    }
}

fn add(all: &mut BTreeMap<String, u64>, name: String, count: u64) {
    let sum = all.entry(name).or_default();
    *sum = sum.saturating_add(count);
}

/// The function of a stack's line: `=> nf_hook_slow`, `ffffffff8178619e tcp_v4_rcv+0x8e ([kernel.kallsyms])`.
pub(super) fn frame(line: &str) -> Option<&str> {
    if line.len() > 300 {
        return None;
    }
    let arrow = line.trim_start().starts_with("=> ");
    let mut words = line
        .split_whitespace()
        .filter(|word| *word != "=>" && !is_address(word));
    let word = words.next()?;
    let name = function(word).or_else(|| Some(word).filter(|word| arrow && is_identifier(word)))?;
    let ends = words.next().is_none_or(|word| word.starts_with(['(', '[']));
    ends.then_some(name)
}

/// Of `ip_rcv_finish_core.isra.0+0x1de/0x440`, `tcp_v4_rcv+7c`: without the compiler's suffixes.
pub(super) fn function(word: &str) -> Option<&str> {
    let (name, offset) = word.split_once('+')?;
    let offset = offset.split('/').next()?.trim_start_matches("0x");
    let name = name.split('.').next()?;
    (is_hex(offset) && is_identifier(name)).then_some(name)
}

/// Whether a function only frees what its caller dropped, or observes that.
pub(super) fn frees(name: &str) -> bool {
    FREES.iter().any(|part| name.contains(part))
}

fn is_address(word: &str) -> bool {
    word.len() >= 8 && is_hex(word.trim_start_matches("0x"))
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn is_identifier(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (3..=80).contains(&name.len())
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(plain)
}

const FREES: &[&str] = &[
    "kfree_skb",
    "skb_reason_drop",
    "skb_release",
    "tcp_drop",
    "bpf_",
    "trace_",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_every_tool() {
        for line in [
            "    tcp_v4_rcv+89",
            "        ffffffff8178619e tcp_v4_rcv+0x8e ([kernel.kallsyms])",
            " => tcp_v4_rcv",
            "tcp_v4_rcv.isra.0+0x1de/0x440",
        ] {
            assert_eq!(frame(line), Some("tcp_v4_rcv"), "{line}");
        }
        for line in [
            "C++ is slow",
            "a+1",
            "1+1",
            "tcp_v4_rcv",
            "loss+delay of both",
        ] {
            assert_eq!(frame(line), None, "{line}");
        }
    }
}
