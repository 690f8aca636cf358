// SPDX-License-Identifier: MIT OR Apache-2.0
//! `iptables -nvL`, `nft list ruleset`, conntrack: what a packet filter dropped, and how full its table is.

use super::{Fact, number_after};
use crate::weigh::observed::{Field, Line, normal};

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let readers = [dropped, invalid, forward_policy, notrack, fill];
    readers.iter().filter_map(|read| read(lines)).collect()
}

/// Packets that rules and policies dropped or refused; nothing without a rule that does.
fn dropped(lines: &[Line<'_>]) -> Option<Fact> {
    let counted = lines
        .iter()
        .filter_map(|line| Some((dropped_by(line.text)?, line.number)));
    let counted: Vec<(f64, u64)> = counted.collect();
    let (_, line) = *counted
        .iter()
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    let all: f64 = counted.iter().map(|(packets, _)| packets).sum();
    Some(Fact::new("firewall_drop_packets", all, line))
}

/// ` 123 7380 DROP tcp -- …`, `Chain INPUT (policy DROP 12 packets, 720 bytes)`, `counter packets 12 bytes 720 drop`.
fn dropped_by(text: &str) -> Option<f64> {
    if let Some((_, rest)) = text.split_once("(policy DROP ") {
        return number_after(rest, "");
    }
    if text.contains("counter packets ") && (text.contains(" drop") || text.contains(" reject")) {
        return number_after(text, "counter packets ");
    }
    let mut words = text.split_whitespace();
    let packets = scaled(words.next()?)?;
    scaled(words.next()?)?;
    matches!(words.next()?, "DROP" | "REJECT").then_some(packets)
}

/// `123`, `12K`, `3M`.
fn scaled(word: &str) -> Option<f64> {
    let digits = word.trim_end_matches(['K', 'M', 'G']);
    let number: f64 = digits.parse().ok()?;
    let scale = match &word[digits.len()..] {
        "" => 1.0,
        "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    };
    Some(number * scale)
}

fn invalid(lines: &[Line<'_>]) -> Option<Fact> {
    let is_invalid = |line: &&Line<'_>| line.text.to_ascii_lowercase().contains("invalid");
    let counted = lines.iter().filter(is_invalid);
    let (packets, line) = counted
        .filter_map(|line| Some((dropped_by(line.text)?, line.number)))
        .next()?;
    Some(Fact::new("iptables_invalid_drops", packets, line))
}

fn forward_policy(lines: &[Line<'_>]) -> Option<Fact> {
    let marks = [
        "Chain FORWARD (policy ",
        ":FORWARD ",
        "-P FORWARD ",
        "hook forward priority",
    ];
    let line = lines
        .iter()
        .find(|line| marks.iter().any(|mark| line.text.contains(mark)))?;
    let drops = line.text.contains("DROP") || line.text.contains("policy drop");
    Some(Fact::new("forward_policy_drops", drops, line.number))
}

/// `[12:720] -A PREROUTING … -j CT --notrack`.
fn notrack(lines: &[Line<'_>]) -> Option<Fact> {
    let is_rule =
        |line: &&Line<'_>| line.text.contains("--notrack") || line.text.contains("-j NOTRACK");
    let line = lines.iter().find(is_rule)?;
    let packets = line
        .text
        .strip_prefix('[')
        .and_then(|rest| number_after(rest, ""));
    Some(Fact::new(
        "notrack_rule_packets",
        packets.unwrap_or(1.0),
        line.number,
    ))
}

/// Entries of the connection tracking table over the most that it takes.
fn fill(lines: &[Line<'_>]) -> Option<Fact> {
    let value = |name: &str| {
        let mut named = lines.iter().filter(|line| line.text.contains(name));
        named.find_map(|line| {
            let (_, rest) = line.text.split_once(name)?;
            let rest = rest.trim_start_matches(|letter: char| " =:\t".contains(letter));
            Some((number_after(rest, "")?, line.number))
        })
    };
    let (count, line) = value("nf_conntrack_count")?;
    let (most, _) = value("nf_conntrack_max")?;
    (most > 0.0).then(|| Fact::new("conntrack_fill", count / most, line))
}

/// The same of outputs that print numbers alone. Without a maximum: whether the count is at one of the usual ones.
pub(super) fn of_fields(fields: &[Field]) -> Option<Fact> {
    let value = |name: &str| {
        let name = normal(&format!("sysctl net.netfilter.nf_conntrack_{name}"));
        let field = fields.iter().find(|field| field.name == name)?;
        Some((field.value.parse::<f64>().ok()?, field.line))
    };
    let (count, line) = value("count")?;
    let fact = match value("max") {
        Some((most, _)) if most > 0.0 => Fact::new("conntrack_fill", count / most, 0),
        Some(_) => return None,
        None => {
            let is_full = |most: &f64| (AT_MOST * most..=*most).contains(&count);
            let is_at_most = USUAL_MOST.iter().any(is_full);
            Fact::new("conntrack_count_at_usual_max", is_at_most, 0)
        }
    };
    Some(Fact { line, ..fact })
}

/// Defaults of nf_conntrack_max by memory and version, and what people set instead.
const USUAL_MOST: [f64; 6] = [
    32768.0,
    65536.0,
    131_072.0,
    262_144.0,
    524_288.0,
    1_048_576.0,
];
/// Of a full table, entries come and go.
const AT_MOST: f64 = 0.995;

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    #[test]
    fn a_count_alone() {
        let field = |name: &str, value: &str| Field {
            interface: None,
            name: normal(&format!("sysctl net.netfilter.nf_conntrack_{name}")),
            title: String::new(),
            value: value.to_owned(),
            line: Some(2),
        };
        let fact = |fields: &[Field]| of_fields(fields).map(|fact| (fact.name, fact.value));
        let at_most = |is: bool| Some(("conntrack_count_at_usual_max", is.to_string()));
        assert_eq!(fact(&[field("count", "65530")]), at_most(true));
        assert_eq!(fact(&[field("count", "61234")]), at_most(false));
        let both = [field("count", "500"), field("max", "1000")];
        assert_eq!(fact(&both), Some(("conntrack_fill", "0.5".to_owned())));
        assert_eq!(fact(&[field("max", "1000")]), None);
    }

    #[test]
    fn rules_and_policies_that_drop() {
        let text = "Chain INPUT (policy DROP 12 packets, 720 bytes)\n pkts bytes target prot\n   3K  180K DROP  tcp  --  * * 0.0.0.0/0 0.0.0.0/0 ctstate INVALID\n    5   300 ACCEPT all  --  *\nChain FORWARD (policy ACCEPT 0 packets, 0 bytes)\n";
        let found = values(text, facts);
        for (name, value) in [
            ("firewall_drop_packets", "3012"),
            ("iptables_invalid_drops", "3000"),
            ("forward_policy_drops", "false"),
        ] {
            assert!(
                found.contains(&(name, value.to_owned())),
                "{name} {found:?}"
            );
        }
    }

    #[test]
    fn a_table_and_its_size() {
        let text =
            "net.netfilter.nf_conntrack_count = 65000\nnet.netfilter.nf_conntrack_max = 65536\n";
        let fill = &values(text, facts)[0];
        assert_eq!(fill.0, "conntrack_fill");
        assert!(fill.1.parse::<f64>().unwrap() > 0.99);
        assert_eq!(values("nothing is dropped", facts), []);
    }
}
