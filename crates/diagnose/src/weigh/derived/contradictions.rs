// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that cannot be, or that contradict each other: rates below zero, counters that wrapped, a dashboard that shows
//! something else than the kernel, names that fail where addresses answer.

use super::Fact;
use super::rate::rate_of;
use crate::weigh::observed::Line;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let short = || lines.iter().filter(|line| line.text.len() < LINE_MOST);
    let absurd = short().find(|line| is_absurd(line.text));
    let wrapped = short().find(|line| is_wrapped(line.text));
    let mut facts: Vec<Fact> = Vec::new();
    facts.extend(absurd.map(|line| Fact::new("negative_or_absurd_rate", true, line.number)));
    facts.extend(wrapped.map(|line| Fact::new("counter_wrapped_or_reset", true, line.number)));
    facts.extend(short().find_map(disagree));
    facts.extend(names_only(lines));
    facts
}

/// `received: -8.1 Gbit/s`, or more than any link carries.
fn is_absurd(text: &str) -> bool {
    if !names_rate(text)
        || (text.starts_with('[') && !(text.contains("1844674407") || text.contains(" -")))
    {
        return false;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let below_zero = |at: usize| {
        let digits = words.get(at).and_then(|word| word.strip_prefix('-'));
        let begins =
            digits.is_some_and(|word| word.starts_with(|letter: char| letter.is_ascii_digit()));
        let before = at
            .checked_sub(1)
            .and_then(|at| words.get(at))
            .copied()
            .unwrap_or_default();
        let rest: Vec<&str> = digits
            .into_iter()
            .chain(words.get(at + 1).copied())
            .collect();
        begins && tells(before) && rate_of(&rest).is_some_and(|rate| rate > 0.0)
    };
    rate_of(&words).is_some_and(|rate| rate > MOST_BITS) || (0..words.len()).any(below_zero)
}

fn names_rate(text: &str) -> bool {
    text.contains("/s") || text.contains("bps")
}

/// Whether a word stands before a value.
fn tells(word: &str) -> bool {
    word.ends_with([':', '=']) || TELLING.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// A counter just below 2^64 or at 2^32 - 1 counted down from 0.
fn is_wrapped(text: &str) -> bool {
    if !(text.contains("18446744073") || text.contains("4294967295")) {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let is_counter = COUNTERS.iter().any(|word| lower.contains(word));
    let is_limit = LIMITS.iter().any(|word| lower.contains(word));
    let numbers = lower.split(|letter: char| !letter.is_ascii_digit());
    let mut huge = numbers
        .filter(|one| *one == "4294967295" || (one.len() == 20 && one.starts_with("18446744073")));
    is_counter && !is_limit && huge.next().is_some()
}

/// A display of rates and a tool of the kernel in one line; `false` where they agree.
fn disagree(line: &Line<'_>) -> Option<Fact> {
    let has = |text: &str, marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
    let is_said = !line.text.starts_with('[') && names_rate(line.text);
    (is_said && has(line.text, MONITORS)).then_some(())?;
    let lower = line
        .text
        .replace(" but ", ";")
        .replace(" while ", ";")
        .replace(" whereas ", ";");
    let rate = |marks: &[&str], others: &[&str]| {
        let mut parts = lower
            .split([';', ','])
            .filter(|part| has(part, marks) && !has(part, others));
        parts.find_map(|part| {
            rate_of(
                &part
                    .replace(" -", " ")
                    .split_whitespace()
                    .collect::<Vec<_>>(),
            )
        })
    };
    let (shown, real) = (rate(MONITORS, TOOLS)?, rate(TOOLS, MONITORS)?);
    let ratio = shown.max(real) / shown.min(real).max(1.0);
    (!(1.1..=3.0).contains(&ratio))
        .then(|| Fact::new("two_tools_disagree", ratio > 3.0, line.number))
}

/// Public addresses answer and names are not found; `false` where such an address does not answer, either.
fn names_only(lines: &[Line<'_>]) -> Option<Fact> {
    let has = |line: &&Line<'_>, marks: &[&str]| marks.iter().any(|mark| line.text.contains(mark));
    let may = |line: &&Line<'_>| has(line, UNRESOLVED_HEADS) && has(line, UNRESOLVED);
    let failed = lines.iter().find(may)?;
    if lines.iter().any(|line| answers(line.text)) {
        return Some(Fact::new("address_works_name_fails", true, failed.number));
    }
    let asked = lines
        .iter()
        .any(|line| pinged(line.text).is_some_and(is_public));
    let lost = lines.iter().any(|line| {
        line.text.contains(" 100% packet loss") || line.text.contains("Network is unreachable")
    });
    (asked && lost).then(|| Fact::new("address_works_name_fails", false, failed.number))
}

/// `64 bytes from 198.51.100.80: icmp_seq=1 …`
fn answers(text: &str) -> bool {
    let rest = text.split_once(" bytes from ").map(|(_, rest)| rest);
    let address = rest.and_then(|rest| rest.split([':', ' ']).next());
    address.is_some_and(is_public)
}

/// `PING 198.51.100.5 (198.51.100.5) 56(84) bytes`, `ping 198.51.100.5`
fn pinged(text: &str) -> Option<&str> {
    let (_, rest) = text
        .split_once("PING ")
        .or_else(|| text.split_once("ping "))?;
    rest.split_whitespace()
        .find(|word| word.split('.').count() == 4)
}

/// Whether it is a numeric address of the Internet.
fn is_public(address: &str) -> bool {
    let address: Option<std::net::Ipv4Addr> = address.trim_matches(['(', ')', ',']).parse().ok();
    address.is_some_and(|one| {
        !(one.is_private() || one.is_loopback() || one.is_link_local() || one.is_unspecified())
    })
}

const LINE_MOST: usize = 400;
/// Ten times the fastest Ethernet, bits a second.
const MOST_BITS: f64 = 1.6e13;
const TELLING: &[&str] = &[
    "is", "shows", "show", "reports", "rate", "rx", "tx", "in", "out", "received", "sent",
    "displays", "says",
];
const COUNTERS: &[&str] = &[
    "packets", "bytes", "errors", "dropped", "drops", "rx", "tx", "overrun", "missed", "octets",
];
const LIMITS: &[&str] = &[
    "limit", "max", "lft", "mem", "timeout", "mark", "quota", "ssthresh",
];
const MONITORS: &[&str] = &[
    "dashboard",
    "Dashboard",
    "grafana",
    "Grafana",
    "exporter",
    "rometheus",
    "abbix",
    "SNMP",
    "snmp",
    "acti",
    "vnstat",
    "nload",
    "iftop",
    "bmon",
    "conky",
    "etdata",
    "munin",
    "graph",
    "MRTG",
    "mrtg",
    "LibreNMS",
    "task manager",
    "monitoring",
];
const TOOLS: &[&str] = &[
    "ip -s",
    "ifconfig",
    "ethtool",
    "iperf",
    "/proc/net/dev",
    "sar ",
    "tcpdump",
    "switch port",
];
/// What one of the following has in any case.
const UNRESOLVED_HEADS: &[&str] = &[
    "esol",
    "not known",
    "no servers",
    "bad addr",
    "own host",
    "find host",
];
const UNRESOLVED: &[&str] = &[
    "emporary failure in name resolution",
    "emporary failure resolving",
    "ould not resolve host",
    "ame or service not known",
    "no servers could be reached",
    "bad address '",
    "unknown host",
    "could not find host",
    "nable to resolve host address",
    "ould not resolve hostname",
];

#[cfg(test)]
mod tests {
    use super::super::value_of;
    use super::*;

    fn shows(text: &str, name: &str) -> Option<String> {
        value_of(text, facts, name)
    }

    #[test]
    fn rates_that_cannot_be() {
        let name = "negative_or_absurd_rate";
        for text in [
            "dashboard: -8.1 Gbit/s received",
            "RX rate is -120.5 MB/s",
            "[  5]   0.00-1.00   sec  18446744073 Gbits/sec",
        ] {
            assert_eq!(shows(text, name).as_deref(), Some("true"), "{text}");
        }
        for text in [
            "iperf3 -u -b 10 Mbit/s",
            "- 100 Mbit/s full duplex",
            "between 1-10 Mbit/s",
            "-100Mbit/s",
            "800 Gbit/s",
        ] {
            assert_eq!(shows(text, name), None, "{text}");
        }
    }

    #[test]
    fn counters_that_wrapped() {
        let name = "counter_wrapped_or_reset";
        assert_eq!(
            shows("     rx_dropped: 18446744073709551611", name).as_deref(),
            Some("true")
        );
        assert_eq!(
            shows("RX errors 0  dropped 4294967295  overruns 0", name).as_deref(),
            Some("true")
        );
        for text in [
            "valid_lft 4294967295sec tx",
            "net.ipv4.tcp_limit_output_bytes = 18446744073709551615",
            "RX bytes 1844674",
        ] {
            assert_eq!(shows(text, name), None, "{text}");
        }
    }

    #[test]
    fn a_display_and_the_kernel() {
        let name = "two_tools_disagree";
        let text = "dashboard: -8.1 Gbit/s received;  ip -s link: 812 Mbit/s over the same minute";
        assert_eq!(shows(text, name).as_deref(), Some("true"));
        assert_eq!(
            shows(
                "grafana shows 810 Mbit/s while ifconfig gives 812 Mbit/s",
                name
            )
            .as_deref(),
            Some("false")
        );
        assert_eq!(
            shows("ifconfig shows 810 Mbit/s, iperf3 shows 100 Mbit/s", name),
            None
        );
    }

    #[test]
    fn addresses_answer_and_names_do_not() {
        let name = "address_works_name_fails";
        let failed = "ping: example.org: Temporary failure in name resolution\n";
        let public = "64 bytes from 198.51.100.80: icmp_seq=1 ttl=57 time=9.1 ms\n";
        assert_eq!(
            shows(&format!("{failed}{public}"), name).as_deref(),
            Some("true")
        );
        let inside = "64 bytes from 192.168.1.1: icmp_seq=1 ttl=64 time=0.4 ms\n";
        assert_eq!(shows(&format!("{failed}{inside}"), name), None);
        let lost = "PING 8.8.8.8 (8.8.8.8) 56(84) bytes of data.\n3 packets transmitted, 0 received, 100% packet loss\n";
        assert_eq!(
            shows(&format!("{lost}{failed}"), name).as_deref(),
            Some("false")
        );
    }
}
