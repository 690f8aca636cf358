// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ports that refuse or do not answer, against what listens, what is published of containers, and what else answers.

use std::collections::BTreeSet;

use linerate_model::order::Gather as _;

use super::Fact;
use super::shown::word_after;
use crate::weigh::observed::Line;

/// A connection that failed.
#[derive(Debug, PartialEq)]
pub(super) struct Failed<'t> {
    pub(super) host: &'t str,
    pub(super) port: &'t str,
    is_refused: bool,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let failed = || lines.iter().filter_map(|line| failed(line.text));
    let failed: Vec<Failed<'_>> = failed().take(FAILED_MOST).collect();
    let mut facts = Vec::new();
    facts.extend(listeners(lines, &failed));
    facts.extend(published(lines, &failed));
    facts.extend(some_work(lines, &failed));
    facts.extend(pods(lines));
    facts.extend(policies(lines));
    facts
}

/// `Failed to connect to HOST port 8080 …`, `connect to host HOST port 22: …`, `dial tcp HOST:443: …`, `connect to address
/// HOST: …`, `nc: connect to HOST port 80 (tcp) failed: …`.
pub(super) fn failed(text: &str) -> Option<Failed<'_>> {
    let is_refused = text.contains("efused");
    let is_silent =
        text.contains("timed out") || text.contains("imeout") || text.contains("No route to host");
    ((is_refused || is_silent) && text.len() < LINE_MOST).then_some(())?;
    let (host, port) = named(text).or_else(|| joined(text))?;
    let port = port.split(|letter: char| !letter.is_ascii_digit()).next()?;
    let host = host.trim_matches(['[', ']', '(', ')', '\'', '"', ',']);
    (!port.is_empty() && !host.is_empty()).then_some(Failed {
        host,
        port,
        is_refused,
    })
}

fn named(text: &str) -> Option<(&str, &str)> {
    let rest = ["connect to host ", "connect to "]
        .iter()
        .find_map(|mark| Some(text.split_once(mark)?.1))?;
    let host = rest.split_whitespace().next()?;
    Some((host, word_after(rest, " port ")?))
}

fn joined(text: &str) -> Option<(&str, &str)> {
    let marks = [
        "dial tcp ",
        "connect() to ",
        "connecting to upstream ",
        "connect to ",
    ];
    let word = marks.iter().find_map(|mark| word_after(text, mark))?;
    // Of `10.0.0.5:40000->10.0.0.9:443` the far end.
    let word = word.rsplit("->").next()?.trim_end_matches(':');
    word.rsplit_once(':')
}

/// Whether no socket listens for the port that refuses, or only one of IPv6.
fn listeners(lines: &[Line<'_>], failed: &[Failed<'_>]) -> Vec<Fact> {
    let refused = || {
        failed
            .iter()
            .filter(|one| one.is_refused && !is_loopback(one.host))
    };
    let listed = lines
        .iter()
        .filter_map(|line| Some((local(line.text)?, line.number)));
    let listed: Vec<(&str, u64)> = if failed.is_empty() {
        Vec::new()
    } else {
        listed.take(LISTED_MOST).collect()
    };
    let (Some((_, line)), Some(_)) = (listed.first(), refused().next()) else {
        return Vec::new();
    };
    let at = |port: &str| {
        listed
            .iter()
            .filter_map(move |(local, line)| {
                Some((
                    local.rsplit_once(':').filter(|(_, own)| *own == port)?.0,
                    *line,
                ))
            })
            .collect::<Vec<_>>()
    };
    let open = |one: &Failed<'_>| {
        at(one.port)
            .iter()
            .any(|(address, _)| !is_loopback(address))
    };
    let mut facts = vec![Fact::new(
        "port_has_no_listener",
        !refused().any(open),
        *line,
    )];
    let is_six = |one: &&Failed<'_>| {
        let own = at(one.port);
        let asks_four = one.host.parse::<std::net::Ipv4Addr>().is_ok();
        asks_four && !own.is_empty() && own.iter().all(|(address, _)| address.starts_with('['))
    };
    if let Some(one) = refused().find(is_six) {
        facts.extend(
            at(one.port)
                .first()
                .map(|(_, line)| Fact::new("listens_ipv6_only", true, *line)),
        );
    }
    facts
}

fn is_loopback(host: &str) -> bool {
    host.starts_with("127.") || host.starts_with("[::1") || ["::1", "localhost"].contains(&host)
}

/// The local end of a listening socket.
fn local(text: &str) -> Option<&str> {
    text.contains("LISTEN").then_some(())?;
    let is_row = text.trim_start().starts_with("LISTEN") || text.trim_start().starts_with("tcp");
    let mut words = text.split_whitespace();
    words.find(|word| {
        is_row
            && word.contains(':')
            && word
                .rsplit_once(':')
                .is_some_and(|(_, port)| port.parse::<u16>().is_ok())
    })
}

/// A port that does not answer, against the column PORTS of `docker ps`.
fn published(lines: &[Line<'_>], failed: &[Failed<'_>]) -> Vec<Fact> {
    let rows = lines
        .iter()
        .filter_map(|line| Some((ports(line.text)?, line.number)));
    let rows: Vec<(Vec<&str>, u64)> = if failed.is_empty() {
        Vec::new()
    } else {
        rows.take(LISTED_MOST).collect()
    };
    let mut facts = Vec::new();
    for one in failed {
        let mine = rows
            .iter()
            .flat_map(|(ports, line)| ports.iter().map(move |port| (Published::of(port), *line)));
        let all: Vec<(Published<'_>, u64)> = mine.collect();
        let at = |outer: &Published<'_>| outer.outer == Some(one.port);
        let inner = |other: &Published<'_>| other.inner == one.port;
        if let Some((found, line)) = all.iter().find(|(found, _)| at(found)) {
            let is_inside = is_loopback(found.address) && one.is_refused && !is_loopback(one.host);
            facts.extend(
                is_inside.then(|| Fact::new("refused_port_published_on_loopback", true, *line)),
            );
        } else if let Some((found, line)) = all.iter().find(|(found, _)| inner(found)) {
            let name = if found.outer.is_some() {
                "published_port_differs"
            } else {
                "docker_ps_port_without_arrow"
            };
            facts.push(Fact::new(name, true, *line));
        }
    }
    facts
}

/// `127.0.0.1:8080->80/tcp`, `80/tcp`.
struct Published<'t> {
    address: &'t str,
    outer: Option<&'t str>,
    inner: &'t str,
}

impl<'t> Published<'t> {
    fn of(text: &'t str) -> Self {
        let (before, inner) = text.split_once("->").unwrap_or(("", text));
        let (address, outer) = before.rsplit_once(':').unzip();
        let inner = inner.split('/').next().unwrap_or(inner);
        Self {
            address: address.unwrap_or_default(),
            outer,
            inner,
        }
    }
}

fn ports(text: &str) -> Option<Vec<&str>> {
    (text.contains("/tcp") && text.len() < LINE_MOST).then_some(())?;
    let first = text.split_whitespace().next()?;
    let is_container =
        (8..=64).contains(&first.len()) && first.bytes().all(|letter| letter.is_ascii_hexdigit());
    let words = text
        .split([' ', ',', '\t'])
        .filter(|word| word.ends_with("/tcp"));
    is_container.then(|| words.collect())
}

/// Whether another port of the same host answers.
fn some_work(lines: &[Line<'_>], failed: &[Failed<'_>]) -> Option<Fact> {
    let hosts: BTreeSet<&str> = failed
        .iter()
        .filter(|one| !one.is_refused)
        .map(|one| one.host)
        .gather();
    let of_nmap = |state: &str| {
        lines
            .iter()
            .find(|line| scanned(line.text) == Some(state))
            .map(|line| line.number)
    };
    let of_scan = || of_nmap("filtered").filter(|_| of_nmap("open").is_some());
    let succeeds = |text: &str| {
        let host = word_after(text, "onnection to ").filter(|_| text.contains("succeeded!"));
        host.or_else(|| word_after(text, "Connected to "))
            .is_some_and(|host| hosts.contains(host.trim_end_matches([':', '.', ','])))
    };
    let of_connection = || {
        lines
            .iter()
            .find(|line| !hosts.is_empty() && succeeds(line.text))
            .map(|line| line.number)
    };
    let line = of_scan().or_else(of_connection)?;
    Some(Fact::new("some_ports_work", true, line))
}

/// `8443/tcp filtered https-alt` of nmap.
fn scanned(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    let (port, kind) = words.next()?.split_once('/')?;
    (port.parse::<u16>().is_ok() && ["tcp", "udp"].contains(&kind)).then(|| words.next())?
}

/// Pods that `kubectl get pods` shows as not ready.
fn pods(lines: &[Line<'_>]) -> Option<Fact> {
    let is_head = |line: &Line<'_>| {
        line.text.contains("READY")
            && line.text.contains("STATUS")
            && line.text.contains("RESTARTS")
    };
    let head = lines.iter().position(is_head)?;
    let rows = lines.get(head + 1..)?.iter();
    let ready = |text: &str| {
        let mut words = text.split_whitespace();
        let (now, all) = words.find_map(|word| word.split_once('/'))?;
        let (now, all): (u32, u32) = (now.parse().ok()?, all.parse().ok()?);
        Some(now >= all || words.next() == Some("Completed"))
    };
    let known: Vec<bool> = rows.map_while(|line| ready(line.text)).collect();
    let silent = known.iter().filter(|ready| !**ready).count();
    (!known.is_empty()).then(|| {
        Fact::new(
            "pods_not_ready",
            silent,
            lines.get(head).map_or(0, |line| line.number),
        )
    })
}

/// How many network policies are listed; 0 where a listing of them says that there is none.
fn policies(lines: &[Line<'_>]) -> Option<Fact> {
    let kinds = lines
        .iter()
        .filter(|line| line.text.trim() == "kind: NetworkPolicy");
    let kinds: Vec<u64> = kinds.map(|line| line.number).collect();
    let head = lines
        .iter()
        .position(|line| line.text.contains("POD-SELECTOR"));
    if let Some(at) = head {
        let rows = lines
            .get(at + 1..)?
            .iter()
            .take_while(|line| line.text.split_whitespace().count() >= 3);
        return Some(Fact::new(
            "network_policies",
            rows.count(),
            lines.get(at)?.number,
        ));
    }
    if let Some(line) = kinds.first() {
        return Some(Fact::new("network_policies", kinds.len(), *line));
    }
    let asks = |text: &str| {
        text.contains("kubectl") && (text.contains("netpol") || text.contains("networkpolic"))
    };
    let at = lines.iter().position(|line| asks(line.text))?;
    let none = lines
        .get(at + 1)
        .filter(|line| line.text.starts_with("No resources found"))?;
    Some(Fact::new("network_policies", 0, none.number))
}

const LINE_MOST: usize = 400;
const FAILED_MOST: usize = 50;
const LISTED_MOST: usize = 1000;

#[cfg(test)]
mod tests {
    use super::super::{assertions, values};
    use super::*;

    assertions!(has, values, facts);

    const REFUSED: &str =
        "curl: (7) Failed to connect to 192.0.2.10 port 8080: Connection refused\n";

    #[test]
    fn failures_of_several_programs() {
        for text in [
            REFUSED.trim_end(),
            "ssh: connect to host 192.0.2.10 port 8080: Connection refused",
            "dial tcp 192.0.2.10:8080: connect: connection refused",
            "connect() to 192.0.2.10:8080 failed (111: Connection refused) while connecting to upstream",
            "nc: connect to 192.0.2.10 port 8080 (tcp) failed: Connection refused",
        ] {
            let found = failed(text);
            assert_eq!(
                found,
                Some(Failed {
                    host: "192.0.2.10",
                    port: "8080",
                    is_refused: true
                }),
                "{text}"
            );
        }
        assert_eq!(failed("the connection to port 80 was refused"), None);
    }

    #[test]
    fn what_listens() {
        let with = |local: &str| {
            format!("{REFUSED}LISTEN 0 511 {local} 0.0.0.0:* users:((\"node\",pid=812,fd=18))\n")
        };
        has(&with("127.0.0.1:8080"), "port_has_no_listener", "true");
        has(&with("0.0.0.0:22"), "port_has_no_listener", "true");
        has(&with("0.0.0.0:8080"), "port_has_no_listener", "false");
        has(&with("[::]:8080"), "listens_ipv6_only", "true");
        assert_eq!(values(REFUSED, facts), []);
    }

    #[test]
    fn what_is_published() {
        let row = |ports: &str| {
            format!("{REFUSED}CONTAINER ID  IMAGE  PORTS  NAMES\n812231aa4f21  web  {ports}  web\n")
        };
        has(
            &row("127.0.0.1:8080->80/tcp"),
            "refused_port_published_on_loopback",
            "true",
        );
        has(&row("8080/tcp"), "docker_ps_port_without_arrow", "true");
        has(
            &row("0.0.0.0:9090->8080/tcp"),
            "published_port_differs",
            "true",
        );
        assert_eq!(values(&row("0.0.0.0:8080->80/tcp, 443/tcp"), facts), []);
    }

    #[test]
    fn ports_pods_and_policies() {
        has(
            "PORT STATE SERVICE\n22/tcp open ssh\n8443/tcp filtered https-alt\n",
            "some_ports_work",
            "true",
        );
        has(
            "Connection to 198.51.100.9 22 port [tcp/ssh] succeeded!\nnc: connect to 198.51.100.9 port 8443 (tcp) failed: Connection timed out\n",
            "some_ports_work",
            "true",
        );
        has(
            "NAME   READY   STATUS    RESTARTS   AGE\nweb-1  0/1  Running  5  3m\nweb-2  1/1  Running  0  3m\njob-1  0/1  Completed 0 1d\n",
            "pods_not_ready",
            "1",
        );
        has(
            "kubectl get networkpolicy -A\nNo resources found\n",
            "network_policies",
            "0",
        );
        has(
            "apiVersion: v1\nkind: NetworkPolicy\n",
            "network_policies",
            "1",
        );
    }
}
