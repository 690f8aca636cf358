// SPDX-License-Identifier: MIT OR Apache-2.0
//! `nft list ruleset`: the numbers of rules, sets and flow tables, and the counters of rules that drop.

use super::{Block, Counters, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    is_table(lines.get(0)?).then_some(())?;
    let mut tally = Tally::default();
    let found = lines.run(0, |line| tally.take(line));
    // `nft list flowtables` shows no chains.
    let rules = (tally.chains > 0).then_some(("rules", tally.rules));
    let counts = [("sets", tally.sets), ("flowtables", tally.flow_tables)];
    let counts = rules.into_iter().chain(counts);
    let values = counts.map(|(name, count)| (name.to_owned(), count.to_string()));
    let mut content = vec![Settings::new(SOURCE, None, values.collect())];
    if let Some(dropped) = tally.dropped {
        let values = vec![("drop.packets".to_owned(), dropped)];
        content.push(Counters::new(SOURCE, None, values));
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: SOURCE,
        content,
    })
}

/// The counts, and the blocks that enclose the current line.
#[derive(Debug, Default)]
struct Tally {
    chains: u64,
    rules: u64,
    sets: u64,
    flow_tables: u64,
    dropped: Option<u64>,
    /// The innermost block last.
    within: Vec<Within>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Table,
    Chain,
    Other,
}

impl Tally {
    /// Whether a line belongs to a ruleset.
    fn take(&mut self, line: &str) -> bool {
        let line = line.trim();
        if self.within.is_empty() && !is_table(line) {
            return false;
        }
        if self.within.last() == Some(&Within::Chain) && is_rule(line) {
            self.rules += 1;
            self.dropped = self
                .dropped
                .into_iter()
                .chain(dropped(line))
                .reduce(u64::saturating_add);
        }
        self.enter_and_leave(line);
        true
    }

    /// A rule's own braces, over several lines too, are blocks like others.
    fn enter_and_leave(&mut self, line: &str) {
        for letter in line.bytes() {
            match letter {
                b'{' if self.within.len() < DEEPEST => {
                    let inner = self.begins(line);
                    self.within.push(inner);
                }
                b'}' => drop(self.within.pop()),
                _ => {}
            }
        }
    }

    fn begins(&mut self, line: &str) -> Within {
        match (self.within.last(), line.split_whitespace().next()) {
            (None, _) => Within::Table,
            (Some(Within::Table), Some("chain")) => {
                self.chains += 1;
                Within::Chain
            }
            (Some(Within::Table), Some("set" | "map")) => {
                self.sets += 1;
                Within::Other
            }
            (Some(Within::Table), Some("flowtable")) => {
                self.flow_tables += 1;
                Within::Other
            }
            _ => Within::Other,
        }
    }
}

/// `table inet filter {`, with or without its handle.
fn is_table(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let family = |word| ["ip", "ip6", "inet", "arp", "bridge", "netdev"].contains(&word);
    line.len() < 200
        && words.next() == Some("table")
        && words.next().is_some_and(family)
        && words.next().is_some()
        && words.next() == Some("{")
}

/// Whether the line is a rule: not the chain's hook and policy, a brace or a comment.
fn is_rule(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let own = line.starts_with("type ") && line.contains(" hook ");
    !own && !line.is_empty()
        && !first.starts_with(['}', '#'])
        && !["policy", "comment", "devices"].contains(&first)
}

/// `… counter packets 686 bytes 9000 drop`.
fn dropped(line: &str) -> Option<u64> {
    let words: Vec<&str> = line.split_whitespace().take(128).collect();
    let verdict = words.iter().any(|word| ["drop", "reject"].contains(word));
    let at = words
        .windows(2)
        .position(|pair| pair == ["counter", "packets"])?;
    words.get(at + 2)?.parse().ok().filter(|_| verdict)
}

const SOURCE: &str = "nft list ruleset";
/// nft itself nests less.
const DEEPEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    const RULESET: &str = "table inet filter { # handle 1\n\
        \tset blocked {\n\t\ttype ipv4_addr\n\t\telements = { 192.0.2.1,\n\t\t\t     192.0.2.2 }\n\t}\n\n\
        \tflowtable f {\n\t\thook ingress priority filter\n\t\tdevices = { eth0, eth1 }\n\t}\n\n\
        \tchain input {\n\t\ttype filter hook input priority filter; policy accept;\n\
        \t\tct state vmap { established : accept,\n\t\t\t\tinvalid : drop }\n\
        \t\tudp dport 5201 counter packets 686 bytes 1000000 drop\n\
        \t\ttcp dport { 22, 80 } accept\n\t\tip saddr 192.0.2.9 counter packets 4 bytes 400 reject # handle 9\n\t}\n}\n\
        table ip nat {\n\tchain post {\n\t\toifname \"eth0\" masquerade\n\t}\n}\nand that is all\n";

    fn block(text: &str) -> Option<Block> {
        block_of(text, read)
    }

    #[test]
    fn every_table_of_a_ruleset() {
        let block = block(RULESET).unwrap();
        assert_eq!(block.lines, RULESET.lines().count() - 1);
        let Content::Settings(settings) = &block.content[0] else {
            panic!()
        };
        let counts: Vec<&str> = settings
            .values
            .iter()
            .map(|(_, value)| value.as_str())
            .collect();
        assert_eq!(counts, ["5", "1", "1"]);
        let Content::Counters(counters) = &block.content[1] else {
            panic!()
        };
        assert_eq!(counters.values, [("drop.packets".to_owned(), 690)]);
    }

    #[test]
    fn what_only_sounds_like_it() {
        for text in [
            "table inet filter",
            "table of flows {",
            "the table ip x {",
            "}",
        ] {
            assert_eq!(block(text), None, "{text}");
        }
        assert!(block("table ip x {").is_some_and(|block| block.lines == 1));
    }
}
