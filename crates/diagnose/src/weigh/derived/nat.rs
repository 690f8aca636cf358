// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet filter and translation: what OUTPUT drops, MASQUERADE rules and their interface, entries that contradict rules.

use std::collections::BTreeSet;

use linerate_model::order::Gather as _;

use super::shown::{Shown, word_after};
use super::{Fact, number_after};

pub(super) fn facts(shown: &Shown<'_>) -> Vec<Fact> {
    let one: [fn(&Shown<'_>) -> Option<Fact>; 9] = [
        output_drops,
        legacy_and_nft,
        off,
        flowtable,
        per_bucket,
        contradicts,
        clamped,
        matches_flow,
        forwards,
    ];
    let mut facts: Vec<Fact> = one.iter().filter_map(|read| read(shown)).collect();
    facts.extend(masquerade(shown));
    facts
}

/// A rule's counted packets, of `iptables -nvL`, `iptables-save -c` or `nft`.
fn packets(text: &str) -> Option<f64> {
    if text.contains("counter packets ") {
        return number_after(text, "counter packets ");
    }
    if let Some(rest) = text.trim_start().strip_prefix('[') {
        return number_after(rest, "");
    }
    let mut words = text.split_whitespace();
    let packets = scaled(words.next()?)?;
    scaled(words.next()?)?;
    Some(packets)
}

/// `123`, `12K`, `3M`.
fn scaled(word: &str) -> Option<f64> {
    let (digits, scale) = match word.as_bytes().last()? {
        b'K' => (word.trim_end_matches('K'), 1e3),
        b'M' => (word.trim_end_matches('M'), 1e6),
        b'G' => (word.trim_end_matches('G'), 1e9),
        _ => (word, 1.0),
    };
    Some(digits.parse::<f64>().ok()? * scale)
}

/// Packets that the chain of own packets dropped.
fn output_drops(shown: &Shown<'_>) -> Option<Fact> {
    let mut is_output = false;
    let mut found: Option<(f64, u64)> = None;
    let marks = [
        "Chain ",
        "chain ",
        "hook output",
        "DROP",
        "REJECT",
        " drop",
        " reject",
    ];
    for line in shown.with(&marks) {
        let text = line.text.trim();
        if let Some(chain) = chain(text) {
            is_output = chain.eq_ignore_ascii_case("output")
                || chain.ends_with("-output")
                || chain.ends_with("_output");
        }
        is_output |= text.contains("hook output");
        let drops =
            is_output && (text.contains("DROP") || text.contains("REJECT") || is_nft_drop(text));
        let counted = drops
            .then(|| number_after(text, "(policy DROP ").or_else(|| packets(text)))
            .flatten();
        if let Some(counted) = counted {
            let (sum, _) = found.unwrap_or((0.0, 0));
            found = Some((sum + counted, line.number));
        }
    }
    let (sum, line) = found?;
    Some(Fact::new("output_drop_packets", sum, line))
}

fn is_nft_drop(text: &str) -> bool {
    text.contains("counter packets") && (text.contains(" drop") || text.contains(" reject"))
}

/// `Chain OUTPUT (policy …)`, `chain output {`.
fn chain(text: &str) -> Option<&str> {
    let rest = text
        .strip_prefix("Chain ")
        .or_else(|| text.strip_prefix("chain "))?;
    rest.split_whitespace().next()
}

fn legacy_and_nft(shown: &Shown<'_>) -> Option<Fact> {
    let line = shown
        .lines
        .iter()
        .find(|line| line.text.contains("iptables-legacy tables present"))?;
    Some(Fact::new("legacy_and_nft_rules", true, line.number))
}

/// Whether a front end says that it filters nothing, or all chains are empty and accept.
fn off(shown: &Shown<'_>) -> Option<Fact> {
    let says = shown.lines.iter().find_map(|line| match line.text.trim() {
        "Status: inactive" => Some((true, line.number)),
        "Status: active" => Some((false, line.number)),
        _ => None,
    });
    let (value, line) = says.or_else(|| empty(shown))?;
    Some(Fact::new("firewall_off", value, line))
}

/// INPUT, FORWARD and OUTPUT accept, and the list has no rule.
fn empty(shown: &Shown<'_>) -> Option<(bool, u64)> {
    let mut chains = BTreeSet::new();
    let mut last = None;
    let mut after = 0;
    for line in shown.lines {
        let text = line.text.trim();
        if let Some(name) = text
            .strip_prefix("Chain ")
            .and_then(|rest| rest.strip_suffix(')'))
        {
            let (name, policy) = name.split_once(" (policy ACCEPT")?;
            (policy.is_empty() || policy.starts_with(' ')).then_some(())?;
            chains.insert(name);
            (last, after) = (Some(line.number), 2);
        } else if after > 0 && !text.is_empty() {
            let is_head = text.starts_with("target ") || text.starts_with("pkts ");
            // A rule.
            let is_rule = !is_head
                && (text.contains(" -- ") || packets(text).is_some() || text.contains("anywhere"));
            (!is_rule).then_some(())?;
            after = if is_head { 1 } else { 0 };
        }
    }
    let all = ["INPUT", "FORWARD", "OUTPUT"]
        .iter()
        .all(|name| chains.contains(name));
    all.then_some((true, last?))
}

/// Whether a flowtable names devices that the host does not have.
fn flowtable(shown: &Shown<'_>) -> Option<Fact> {
    let at = shown
        .lines
        .iter()
        .position(|line| line.text.contains("flowtable ") && line.text.contains('{'))?;
    let line = shown
        .lines
        .get(at..)?
        .iter()
        .take(4)
        .find(|line| line.text.contains("devices = {"))?;
    let (_, rest) = line.text.split_once("devices = {")?;
    let (devices, _) = rest.split_once('}')?;
    let known: BTreeSet<&str> = shown.ports.iter().map(|port| port.name).gather();
    let mut named = devices
        .split([',', ' '])
        .map(|name| name.trim_matches('"'))
        .filter(|name| !name.is_empty());
    let is_wrong = named.any(|name| !known.contains(name));
    (known.len() > 2).then(|| Fact::new("flowtable_devices_wrong", is_wrong, line.number))
}

fn per_bucket(shown: &Shown<'_>) -> Option<Fact> {
    let (entries, line) = shown.number("net.netfilter.nf_conntrack_count")?;
    let (buckets, _) = shown.number("net.netfilter.nf_conntrack_buckets")?;
    (buckets > 0.0).then(|| Fact::new("conntrack_entries_per_bucket", entries / buckets, line))
}

/// Whether an entry of a flow to a port has another destination than the rule that translates this port.
fn contradicts(shown: &Shown<'_>) -> Option<Fact> {
    let rules = shown.with(&["DNAT"]);
    let rules: Vec<(&str, &str)> = rules
        .filter_map(|line| translated(line.text))
        .take(RULES_MOST)
        .collect();
    (!rules.is_empty()).then_some(())?;
    let is_odd = |text: &str| {
        let (asked, answered) = text.split_once(" src=")?.1.split_once(" src=")?;
        let (port, server) = (
            word_after(asked, "dport=")?,
            answered.split_whitespace().next()?,
        );
        let (_, to) = rules.iter().find(|(own, _)| *own == port)?;
        let is_first = word_after(asked, "dst=")? == server;
        Some(is_first && *to != server)
    };
    let mut entries = shown.with(&[" dport="]);
    let line = entries.find(|line| is_odd(line.text) == Some(true))?;
    Some(Fact::new(
        "conntrack_entry_contradicts_nat",
        true,
        line.number,
    ))
}

/// The port and the destination of a rule: `--dport 80 … --to-destination 10.0.0.5:80`, `dpt:80 to:10.0.0.5:80`.
fn translated(text: &str) -> Option<(&str, &str)> {
    let port = word_after(text, "--dport ").or_else(|| word_after(text, "dpt:"))?;
    let to = word_after(text, "--to-destination ").or_else(|| word_after(text, " to:"))?;
    Some((port, to.split(':').next()?))
}

fn clamped(shown: &Shown<'_>) -> Option<Fact> {
    let marks = [
        "--clamp-mss-to-pmtu",
        "TCPMSS clamp",
        "TCPMSS set",
        "--set-mss",
        "maxseg size set",
    ];
    let is_rule = |text: &str| {
        marks.iter().any(|mark| text.contains(mark)) || text.trim() == "option mtu_fix '1'"
    };
    let about = ["MSS", "maxseg", "--set-mss", "--clamp-mss", "mtu_fix"];
    let line = shown.with(&about).find(|line| is_rule(line.text))?;
    Some(Fact::new("mss_clamped", true, line.number))
}

/// Whether a rule, or what it logged, drops packets to the port that does not answer.
fn matches_flow(shown: &Shown<'_>) -> Option<Fact> {
    let failed = shown.with(&["efused", "imed out", "imeout", "o route to host"]);
    let failed = failed.filter_map(|line| super::services::failed(line.text));
    let failed: BTreeSet<&str> = failed.map(|failed| failed.port).gather();
    (!failed.is_empty()).then_some(())?;
    let is_dropped = |text: &str| {
        let logged = text.contains(" DPT=")
            && (text.contains("BLOCK") || text.contains("DROP") || text.contains("REJECT"));
        let rule = text.contains("DROP")
            || text.contains("REJECT")
            || text.contains(" drop")
            || text.contains(" reject");
        let port = ["--dport ", "dpt:", " dport ", " DPT="]
            .iter()
            .find_map(|mark| word_after(text, mark));
        let matches = port.is_some_and(|port| failed.contains(port));
        matches && (logged || rule) && packets(text) != Some(0.0)
    };
    let rules = ["DROP", "REJECT", " drop", " reject", " DPT="];
    let line = shown.with(&rules).find(|line| is_dropped(line.text))?;
    Some(Fact::new("firewall_rule_matches_flow", true, line.number))
}

/// Whether this host is a router: the setting says so, or it has forwarded packets.
fn forwards(shown: &Shown<'_>) -> Option<Fact> {
    let counted = shown.with(&["ForwDatagrams"]).find_map(|line| {
        let text = line.text.trim_start();
        let rest = text
            .strip_prefix("IpForwDatagrams")
            .or_else(|| text.strip_prefix("Ip6OutForwDatagrams"))?;
        number_after(rest, "")
            .filter(|count| *count > 0.0)
            .map(|_| (1.0, line.number))
    });
    let (value, line) = counted.or_else(|| shown.number("net.ipv4.ip_forward"))?;
    Some(Fact::new("forwards", value == 1.0, line))
}

/// How many rules translate sources, what they counted, and whether they name the interface that leads out.
fn masquerade(shown: &Shown<'_>) -> Vec<Fact> {
    let is_rule = |text: &str| {
        text.contains("MASQUERADE")
            || text.contains("SNAT")
            || text.contains(" masquerade") && !text.contains("--")
            || text.contains(" snat to ")
    };
    let is_listed = |text: &str| {
        text.contains("-j ")
            || packets(text).is_some()
            || text.contains(" -- ")
            || text.contains("oif")
            || text.trim_start().starts_with("masquerade")
    };
    let lines = shown.with(&["MASQUERADE", "SNAT", " masquerade", " snat to "]);
    let rules: Vec<(&str, u64)> = lines
        .filter(|line| is_rule(line.text) && is_listed(line.text))
        .map(|line| (line.text, line.number))
        .collect();
    let Some((_, line)) = rules.first() else {
        return no_rule(shown).into_iter().collect();
    };
    let mut facts = vec![Fact::new("masquerade_rules", rules.len(), *line)];
    let counted: Vec<f64> = rules.iter().filter_map(|(text, _)| packets(text)).collect();
    if counted.len() == rules.len() {
        facts.push(Fact::new(
            "masquerade_packets",
            counted.iter().sum::<f64>(),
            *line,
        ));
    }
    let outside: BTreeSet<&str> = shown
        .routes
        .iter()
        .filter(|route| route.to.1 == 0)
        .map(|route| route.device)
        .gather();
    if !outside.is_empty() {
        let meets = |text: &str| {
            out_of(text).is_none_or(|device| {
                outside.contains(device) || device.contains(['+', '*', '!', '@', '$'])
            })
        };
        facts.push(Fact::new(
            "masquerade_other_interface",
            !rules.iter().any(|(text, _)| meets(text)),
            *line,
        ));
    }
    facts
}

/// The interface that a rule names; nothing where it is any.
fn out_of(text: &str) -> Option<&str> {
    if let Some(device) = word_after(text, " -o ")
        .or_else(|| word_after(text, "oifname "))
        .or_else(|| word_after(text, "oif "))
    {
        return Some(device.trim_matches('"'));
    }
    let is_column = text.contains(" -- ") || text.contains("  all ") && packets(text).is_some();
    let column = text
        .split_whitespace()
        .nth(6)
        .filter(|_| is_column && packets(text).is_some())?;
    (column != "*" && !column.contains('/')).then_some(column)
}

/// A chain POSTROUTING that was listed and is empty.
fn no_rule(shown: &Shown<'_>) -> Option<Fact> {
    let at = shown
        .lines
        .iter()
        .position(|line| line.text.starts_with("Chain POSTROUTING (policy ACCEPT"))?;
    let after = shown.lines.get(at + 1..)?;
    let is_head = |text: &str| {
        text.trim_start().starts_with("pkts ") || text.trim_start().starts_with("target ")
    };
    let next = after
        .iter()
        .map(|line| line.text)
        .find(|text| !is_head(text));
    let is_empty = next.is_none_or(|text| text.trim().is_empty() || text.starts_with("Chain "));
    // The mangle table has such a chain, too.
    let is_mangle = shown.lines.iter().any(|line| line.text.contains("mangle"));
    let line = shown.lines.get(at)?.number;
    (is_empty && !is_mangle).then(|| Fact::new("masquerade_rules", 0, line))
}

const RULES_MOST: usize = 200;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::super::shown::values;
    use super::*;

    assertions!(has and lacks, values, facts);

    #[test]
    fn chains() {
        has(
            "Chain OUTPUT (policy DROP 812 packets, 61412 bytes)\n pkts bytes target prot opt in out source destination\n   10   600 REJECT udp -- * * 0.0.0.0/0 0.0.0.0/0\n",
            "output_drop_packets",
            "822",
        );
        lacks(
            "Chain INPUT (policy DROP 812 packets, 61412 bytes)\nChain OUTPUT (policy ACCEPT)\n",
            "output_drop_packets",
        );
        let open = "Chain INPUT (policy ACCEPT)\ntarget     prot opt source               destination\n\nChain FORWARD (policy ACCEPT)\ntarget     prot opt source               destination\n\nChain OUTPUT (policy ACCEPT)\ntarget     prot opt source               destination\n";
        has(open, "firewall_off", "true");
        lacks(
            &open.replacen(
                "\n\n",
                "\nDROP       all  --  anywhere             anywhere\n\n",
                1,
            ),
            "firewall_off",
        );
        has("Status: active\n", "firewall_off", "false");
    }

    #[test]
    fn translation() {
        let rule = "Chain POSTROUTING (policy ACCEPT 0 packets, 0 bytes)\n pkts bytes target     prot opt in     out     source               destination\n    0     0 MASQUERADE  all  --  *      eth1    192.168.50.0/24      0.0.0.0/0\n";
        let with = |device: &str| format!("{rule}\ndefault via 203.0.113.1 dev {device}\n");
        has(&with("eth0"), "masquerade_other_interface", "true");
        has(&with("eth1"), "masquerade_other_interface", "false");
        has(&with("eth1"), "masquerade_packets", "0");
        has(
            "Chain POSTROUTING (policy ACCEPT 0 packets, 0 bytes)\n pkts bytes target\n\n",
            "masquerade_rules",
            "0",
        );
        lacks(
            "Chain POSTROUTING (policy ACCEPT 0 packets, 0 bytes)\n pkts bytes target\n 12 720 zone_wan_post all -- * * 0.0.0.0/0 0.0.0.0/0\n",
            "masquerade_rules",
        );
        lacks("does it need a MASQUERADE rule?\n", "masquerade_rules");
        let entry = "udp      17 29 src=192.0.2.50 dst=192.0.2.1 sport=5060 dport=5060 [UNREPLIED] src=192.0.2.1 dst=192.0.2.50 sport=5060 dport=5060 mark=0 use=1\n";
        let rule = "-A PREROUTING -p udp --dport 5060 -j DNAT --to-destination 192.168.1.5\n";
        has(
            &format!("{entry}{rule}"),
            "conntrack_entry_contradicts_nat",
            "true",
        );
        lacks(
            &format!(
                "{}{rule}",
                entry.replace("] src=192.0.2.1", "] src=192.168.1.5")
            ),
            "conntrack_entry_contradicts_nat",
        );
    }

    #[test]
    fn flows_and_settings() {
        let failed =
            "curl: (28) Failed to connect to 198.51.100.5 port 8443: Connection timed out\n";
        let rule = "  812 48720 DROP       tcp  --  *      *       0.0.0.0/0            0.0.0.0/0            tcp dpt:8443\n";
        has(
            &format!("{failed}{rule}"),
            "firewall_rule_matches_flow",
            "true",
        );
        lacks(
            &format!("{failed}{}", rule.replace("8443", "25")),
            "firewall_rule_matches_flow",
        );
        has(
            "net.netfilter.nf_conntrack_buckets = 16384\nnet.netfilter.nf_conntrack_count = 163840\n",
            "conntrack_entries_per_bucket",
            "10",
        );
        has(
            "-A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu\n",
            "mss_clamped",
            "true",
        );
        has("net.ipv4.ip_forward = 0\n", "forwards", "false");
        has(
            "# Warning: iptables-legacy tables present, use iptables-legacy to see them\n",
            "legacy_and_nft_rules",
            "true",
        );
    }

    #[test]
    fn devices_of_a_flowtable() {
        let ports =
            "1: lo: <LOOPBACK,UP> mtu 65536\n2: eth0: <UP> mtu 1500\n3: eth1: <UP> mtu 1500\n";
        let table =
            "flowtable f {\n  hook ingress priority filter\n  devices = { eth0, eth7 }\n}\n";
        has(
            &format!("{ports}{table}"),
            "flowtable_devices_wrong",
            "true",
        );
        has(
            &format!("{ports}{}", table.replace("eth7", "eth1")),
            "flowtable_devices_wrong",
            "false",
        );
    }
}
