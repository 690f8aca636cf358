// SPDX-License-Identifier: MIT OR Apache-2.0
//! Networks of clouds and of virtual machines: routes of a subnet, the check of sources, clones with one identity; NAT in
//! front of IPsec.

use linerate_model::map::Map;

use super::Fact;
use crate::weigh::observed::Line;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let readers = [internet_route, source_check, machine_ids, nat_before_ipsec];
    readers.iter().filter_map(|read| read(lines)).collect()
}

/// A route table of a subnet without a default route; `false` where it has one that works.
fn internet_route(lines: &[Line<'_>]) -> Option<Fact> {
    let routes = || {
        lines
            .iter()
            .filter(|line| line.text.contains("DestinationCidrBlock"))
    };
    let first = routes().next()?;
    let is_table = lines.iter().any(|line| line.text.contains("RouteTable"));
    let default = routes().any(|line| line.text.contains("0.0.0.0/0"));
    let broken = lines.iter().any(|line| line.text.contains("blackhole"));
    (is_table && !(default && broken))
        .then(|| Fact::new("subnet_without_internet_route", !default, first.number))
}

/// `"SourceDestCheck": true`, `Source/destination check: enabled`
fn source_check(lines: &[Line<'_>]) -> Option<Fact> {
    let rest = |line: &Line<'_>| {
        let marks = [
            "SourceDestCheck",
            "ource/dest. check",
            "ource/dest check",
            "ource/destination check",
            "ource / destination check",
        ];
        let (_, rest) = marks.iter().find_map(|mark| line.text.split_once(mark))?;
        Some((
            rest.trim_start_matches(|letter: char| !letter.is_alphanumeric())
                .to_ascii_lowercase(),
            line.number,
        ))
    };
    let is = |rest: &str, words: &[&str]| words.iter().any(|word| rest.starts_with(word));
    let known = |(rest, line): (String, u64)| {
        let (on, off) = (
            is(&rest, &["true", "enabled", "is on", "is enabled"]),
            is(&rest, &["false", "disabled", "is off", "is disabled"]),
        );
        (on != off).then(|| Fact::new("source_dest_check_on", on, line))
    };
    lines.iter().filter_map(rest).find_map(known)
}

/// One `/etc/machine-id` on two hosts; `false` where they differ.
fn machine_ids(lines: &[Line<'_>]) -> Option<Fact> {
    let mut hosts: Map<&str, &str> = Map::new();
    let (mut above, mut first) = ("", None);
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some((_, name)) = line.text.split_once("hostname:") {
            above = name.trim();
        }
        let Some((id, label)) = machine_id(line.text) else {
            continue;
        };
        let host = if label.is_empty() { above } else { label };
        if host.is_empty() {
            continue;
        }
        if hosts.get(id).is_some_and(|known| *known != host) {
            return Some(Fact::new("same_machine_id_on_two_hosts", true, line.number));
        }
        hosts.insert(id, host);
        first = first.or(Some(line.number));
    }
    (hosts.len() > 1)
        .then(|| first.map(|line| Fact::new("same_machine_id_on_two_hosts", false, line)))?
}

/// `vm1: 9f0c… /etc/machine-id`, `Machine ID: 9f0c…`: the number and whose it is, if the line says it.
fn machine_id(text: &str) -> Option<(&str, &str)> {
    let is_its = text.contains("machine-id") || text.contains("Machine ID:");
    let is_id = |word: &&str| word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = is_its.then(|| text.split([' ', '\t', ':']).find(is_id))??;
    let first = text.split([' ', '\t', ':']).find(|word| !word.is_empty())?;
    let is_label = !is_id(&first)
        && !first.starts_with('/')
        && !matches!(first, "Machine" | "cat" | "$" | "#");
    Some((id, if is_label { first } else { "" }))
}

/// Addresses are translated before a tunnel's selectors see them; nothing where a rule spares the tunnel.
fn nat_before_ipsec(lines: &[Line<'_>]) -> Option<Fact> {
    let is_tunnel = |line: &Line<'_>| {
        let text = line.text;
        text.contains("INSTALLED, TUNNEL")
            || (text.trim_start().starts_with("dir out") && text.contains("priority"))
    };
    let rule = first_translation(lines)?;
    lines
        .iter()
        .any(is_tunnel)
        .then(|| Fact::new("nat_before_ipsec", true, rule))
}

/// The line of a rule that translates sources, with none before it that spares some.
fn first_translation(lines: &[Line<'_>]) -> Option<u64> {
    let mut in_chain = false;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let text = line.text;
        if text.starts_with("Chain ") {
            in_chain = text.starts_with("Chain POSTROUTING");
        }
        let is_rule = in_chain || text.contains("-A POSTROUTING");
        let spares = text.contains("ACCEPT") || text.contains("RETURN") || text.contains("pol ");
        if is_rule && spares && !text.starts_with("Chain ") {
            return None;
        }
        if is_rule && (text.contains("MASQUERADE") || text.contains("SNAT")) {
            return Some(line.number);
        }
    }
    None
}

const LINE_MOST: usize = 400;

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    #[test]
    fn routes_of_a_subnet() {
        let local = "{ \"RouteTables\": [ { \"Routes\": [\n{ \"DestinationCidrBlock\": \"10.0.0.0/16\", \"GatewayId\": \"local\" }\n";
        let name = "subnet_without_internet_route";
        assert_eq!(values(local, facts), [(name, "true".to_owned())]);
        let whole = format!(
            "{local}{{ \"DestinationCidrBlock\": \"0.0.0.0/0\", \"GatewayId\": \"igw-1\" }}\n"
        );
        assert_eq!(values(&whole, facts), [(name, "false".to_owned())]);
        assert_eq!(values("default via 10.0.0.1 dev eth0\n", facts), []);
    }

    #[test]
    fn the_check_of_sources() {
        let name = "source_dest_check_on";
        assert_eq!(
            values("\"SourceDestCheck\": true,\n", facts),
            [(name, "true".to_owned())]
        );
        assert_eq!(
            values("Source/destination check: disabled\n", facts),
            [(name, "false".to_owned())]
        );
        assert_eq!(values("What is the source/dest check?\n", facts), []);
    }

    #[test]
    fn clones() {
        let id = "9f0c1d2e3a4b5c6d7e8f9a0b1c2d3e4f";
        let name = "same_machine_id_on_two_hosts";
        let same = format!("vm1: {id} /etc/machine-id\nvm2: {id} /etc/machine-id\n");
        assert_eq!(values(&same, facts), [(name, "true".to_owned())]);
        let differ = format!(
            "Static hostname: a\nMachine ID: {id}\nStatic hostname: b\nMachine ID: 0{}\n",
            &id[1..]
        );
        assert_eq!(values(&differ, facts), [(name, "false".to_owned())]);
        assert_eq!(
            values(&format!("Machine ID: {id}\nBoot ID: {id}\n"), facts),
            []
        );
    }

    #[test]
    fn translation_before_a_tunnel() {
        let tunnel = "net-net{1}:  INSTALLED, TUNNEL, reqid 1, ESP SPIs: c1_i c2_o\n";
        let rule = "-A POSTROUTING -o eth0 -j MASQUERADE\n";
        assert_eq!(
            values(&format!("{rule}{tunnel}"), facts),
            [("nat_before_ipsec", "true".to_owned())]
        );
        let spared = "-A POSTROUTING -d 10.2.0.0/16 -j ACCEPT\n";
        assert_eq!(values(&format!("{spared}{rule}{tunnel}"), facts), []);
        assert_eq!(values(rule, facts), []);
    }
}
