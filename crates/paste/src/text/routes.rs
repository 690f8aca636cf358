// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip route`, `route -n`, `ip rule`: how many there are, and what refuses or cannot be used:
//! `blackhole 10.99.0.0/16`, `default via 192.0.2.1 dev eth0 linkdown`.

use std::net::{IpAddr, Ipv4Addr};

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    if is_rule(first) {
        let found = lines.run(0, is_rule);
        return Some(block(
            "ip rule",
            found.last()?.0,
            vec![count("rules", found.len())],
        ));
    }
    let titled = first.trim() == "Kernel IP routing table";
    (titled || is_columns(first) || is_route(first)).then_some(())?;
    let found = lines.run(0, |line| {
        is_route(line) || is_part(line) || is_columns(line) || (titled && line == first)
    });
    let routes = found.iter().filter(|(_, line)| is_route(line)).count();
    let mut values = vec![count("routes", routes)];
    values.extend(MARKS.iter().filter_map(|mark| {
        let (_, line) = found.iter().find(|(_, line)| has(line, mark))?;
        let network = line.split_whitespace().find(|word| *word != *mark)?;
        Some(((*mark).to_owned(), network.to_owned()))
    }));
    Some(block("ip route", found.last()?.0, values))
}

fn block(format: &'static str, last: usize, values: Vec<(String, String)>) -> Block {
    Block {
        lines: last + 1,
        format,
        content: vec![Settings::new(format, None, values)],
    }
}

fn count(name: &str, count: usize) -> (String, String) {
    (name.to_owned(), count.to_string())
}

/// Whether a route has this mark. Bridges of containers without containers have no link, IPv6 has an unreachable default
/// route of its own, and a routing daemon refuses what its host has no container for.
fn has(line: &str, mark: &str) -> bool {
    let usual = [
        " dev docker",
        " dev br-",
        " dev virbr",
        " dev lxdbr",
        " dev lo ",
        " proto bird",
        " proto 80",
    ];
    line.split_whitespace().any(|word| word == mark)
        && !usual.iter().any(|name| line.contains(name))
}

/// `default via 192.0.2.1 dev eth0`, `blackhole 10.99.0.0/16`, `192.0.2.0 0.0.0.0 255.255.255.0 U 0 0 0 eth0`.
fn is_route(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(9).collect();
    if line.len() > 300 || words.len() < 2 {
        return false;
    }
    if let [_, _, mask, flags, _, _, _, _] = words.as_slice()
        && flags.starts_with(['U', '!'])
        && mask.parse::<Ipv4Addr>().is_ok()
    {
        return true;
    }
    let kind = words.first().is_some_and(|word| KINDS.contains(word));
    let [network, rest @ ..] = words.get(usize::from(kind)..).unwrap_or_default() else {
        return false;
    };
    let follows = rest.first().is_some_and(|word| FOLLOW.contains(word));
    let device = ["dev", "proto", "metric", "nhid", "table"]
        .iter()
        .any(|word| rest.contains(word));
    is_network(network) && ((kind && rest.is_empty()) || (follows && device))
}

fn is_network(word: &str) -> bool {
    let address = word.split_once('/').map_or(word, |(address, _)| address);
    word == "default" || address.parse::<IpAddr>().is_ok()
}

/// A further line of a route: `nexthop via 192.0.2.1 dev eth0 weight 1`, `cache expires 511sec mtu 552`.
fn is_part(line: &str) -> bool {
    let text = line.trim();
    text == "cache"
        || text.starts_with("cache ")
        || (text.starts_with("nexthop ") && text.contains(" dev "))
}

/// The heading of `route -n` and `netstat -rn`.
fn is_columns(line: &str) -> bool {
    line.len() < 120
        && ["Destination", "Genmask", "Iface"]
            .iter()
            .all(|word| line.contains(word))
}

/// `100:  from 10.0.0.0/8 lookup 100`.
fn is_rule(line: &str) -> bool {
    let Some((priority, rule)) = line
        .trim_start()
        .split_once(':')
        .filter(|_| line.len() < 200)
    else {
        return false;
    };
    let rule = rule.trim_start();
    let action = [
        " lookup ",
        " goto ",
        " unreachable",
        " blackhole",
        " prohibit",
        " nat ",
    ];
    let begins = rule.starts_with("from ") || rule.starts_with("not from ");
    priority.parse::<u32>().is_ok() && begins && action.iter().any(|word| rule.contains(word))
}

/// iproute2 `ip/rtm_map.c`.
const KINDS: [&str; 10] = [
    "unicast",
    "local",
    "broadcast",
    "multicast",
    "anycast",
    "throw",
    "unreachable",
    "prohibit",
    "blackhole",
    "nat",
];
/// What follows the network.
const FOLLOW: [&str; 10] = [
    "via", "dev", "proto", "src", "nhid", "metric", "table", "scope", "from", "encap",
];
/// What makes a route refuse, or out of use.
const MARKS: [&str; 5] = ["blackhole", "unreachable", "prohibit", "linkdown", "dead"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    fn of(text: &str) -> Option<(usize, Vec<(String, String)>)> {
        let mut block = block_of(text, read)?;
        match block.content.pop()? {
            Content::Settings(settings) => Some((block.lines, settings.values)),
            _ => None,
        }
    }

    fn values(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn routes_and_what_refuses() {
        let text = "default via 192.0.2.1 dev eth0 proto dhcp metric 100\n192.0.2.0/24 dev eth1 proto kernel scope link src 192.0.2.7 linkdown\n172.17.0.0/16 dev docker0 proto kernel scope link linkdown\nblackhole 10.99.0.0/16\ndefault proto static\n\tnexthop via 192.0.2.1 dev eth0 weight 1\nthat is all\n";
        let expected = [
            ("routes", "5"),
            ("blackhole", "10.99.0.0/16"),
            ("linkdown", "192.0.2.0/24"),
        ];
        assert_eq!(of(text), Some((6, values(&expected))));
        let six = "2001:db8::/64 dev eth0 proto ra metric 100 pref medium\nunreachable default dev lo metric 4294967295 error -101\n";
        assert_eq!(of(six), Some((2, values(&[("routes", "2")]))));
    }

    #[test]
    fn tables_and_rules() {
        let table = "Kernel IP routing table\nDestination     Gateway         Genmask         Flags Metric Ref    Use Iface\n0.0.0.0         192.0.2.1       0.0.0.0         UG    100    0        0 eth0\n192.0.2.0       0.0.0.0         255.255.255.0   U     100    0        0 eth0\n";
        assert_eq!(of(table), Some((4, values(&[("routes", "2")]))));
        let rules = "0:\tfrom all lookup local\n100:\tfrom 10.0.0.0/8 lookup 100\n32765:\tnot from all fwmark 0xca6c lookup 51820\n";
        assert_eq!(of(rules), Some((3, values(&[("rules", "3")]))));
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "default via our router\n",
            "192.0.2.1 via the other one\n",
            "blackhole somewhere\n",
            "10: from here you can look\n",
            "local 192.0.2.1 port 5001 connected\n",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
