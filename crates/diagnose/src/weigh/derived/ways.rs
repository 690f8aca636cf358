// SPDX-License-Identifier: MIT OR Apache-2.0
//! Routes against addresses: another interface or source than expected, networks that overlap, gateways out of reach.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use linerate_model::order::Gather as _;

use super::shown::{
    Chosen, LOCAL_BRIDGES, Route, Shown, TUNNELS, contains, is_one_of, is_public, word_after,
};
use super::{Fact, windows_routes};
use crate::weigh::observed::Line;

pub(super) fn facts(shown: &Shown<'_>) -> Vec<Fact> {
    let one: [fn(&Shown<'_>) -> Option<Fact>; 9] = [
        other_interface,
        other_source,
        gateway_outside,
        overlap,
        in_local_bridge,
        into_tunnel,
        test_interface,
        multicast,
        expiring,
    ];
    one.iter().filter_map(|read| read(shown)).collect()
}

/// Whether `ip route get` leaves by another interface than that whose network the destination is in.
fn other_interface(shown: &Shown<'_>) -> Option<Fact> {
    let judged = |one: &Chosen<'_>| {
        let expected = shown.connected(one.to);
        let is_known = !expected.is_empty() && one.device != "lo";
        is_known.then(|| (!expected.contains(&one.device), one.line))
    };
    // A route of another prefix explains itself: the way that was listed for it.
    let has_own = |one: &&Chosen<'_>| {
        let routes = shown.routes.iter().filter(|route| route.via.is_some());
        !routes
            .into_iter()
            .any(|route| route.to.1 > 0 && contains(route.to, one.to))
    };
    worst(
        "route_uses_other_interface",
        shown.chosen.iter().filter(has_own).filter_map(judged),
    )
}

/// Whether the source that the kernel takes is the address of another interface.
fn other_source(shown: &Shown<'_>) -> Option<Fact> {
    let judged = |one: &Chosen<'_>| {
        (one.device != "lo").then_some(())?;
        if let Some(owner) = shown.owner(one.source) {
            return (owner.name != "lo").then_some((owner.name != one.device, one.line));
        }
        let is_tunnel = is_one_of(one.device, TUNNELS);
        let is_odd = is_tunnel && is_public(one.source) && one.to.is_private();
        is_odd.then_some((true, one.line))
    };
    worst(
        "source_address_of_other_interface",
        shown.chosen.iter().filter_map(judged),
    )
}

/// The first that is true, else the first that is false.
fn worst(name: &'static str, judged: impl Iterator<Item = (bool, u64)>) -> Option<Fact> {
    let all: Vec<(bool, u64)> = judged.collect();
    let (value, line) = all.iter().find(|(value, _)| *value).or(all.first())?;
    Some(Fact::new(name, value, *line))
}

/// Whether no network of the interface has the gateway, and no route leads to it.
fn gateway_outside(shown: &Shown<'_>) -> Option<Fact> {
    let refused = || {
        let marks = ["invalid gateway", "etwork is unreachable"];
        shown
            .lines
            .iter()
            .any(|line| marks.iter().any(|mark| line.text.contains(mark)))
    };
    let judged = |route: &Route<'_>| {
        let via = route
            .via
            .filter(|_| route.to.1 == 0 && !route.text.contains("onlink"))?;
        let own = shown.ports.iter().filter(|port| port.name == route.device);
        let own: Vec<(Ipv4Addr, u32)> = own.flat_map(|port| port.addresses.clone()).collect();
        let leads =
            |other: &&Route<'_>| other.via.is_none() && other.to.1 > 0 && contains(other.to, via);
        let is_known = !own.is_empty() && !is_one_of(route.device, TUNNELS);
        let inside = own.iter().any(|network| contains(*network, via))
            || shown.routes.iter().any(|other| leads(&other));
        // A single address as cloud providers give it has a route to the gateway that few paste.
        let is_single = own.iter().any(|(_, length)| *length >= 31);
        (is_known && (inside || !is_single || refused())).then_some((!inside, route.line))
    };
    worst(
        "gateway_outside_prefix",
        shown.routes.iter().filter_map(judged),
    )
    .or_else(|| windows_routes::gateway_outside(shown.lines))
    .or_else(|| gateway_configured(shown))
}

/// `address`, `netmask` and `gateway` of one stanza of a configuration.
fn gateway_configured(shown: &Shown<'_>) -> Option<Fact> {
    let mut network: Option<(Ipv4Addr, u32)> = None;
    let mut judged = None;
    for line in shown.with(&["address ", "netmask ", "gateway "]) {
        let mut words = line.text.split_whitespace();
        let (Some(key), Some(value)) = (words.next(), words.next()) else {
            continue;
        };
        match key {
            "address" => network = super::shown::network(value),
            "netmask" => {
                let length = super::shown::mask_length(value);
                network = network
                    .zip(length)
                    .map(|((address, _), length)| (address, length));
            }
            "gateway" => {
                let inside = network
                    .filter(|(_, length)| *length < 31)
                    .zip(value.parse().ok());
                judged =
                    judged.or(inside.map(|(network, via)| (!contains(network, via), line.number)));
            }
            _ => {}
        }
    }
    let (value, line) = judged?;
    Some(Fact::new("gateway_outside_prefix", value, line))
}

/// Whether the network of a local bridge is also reached by another interface.
fn overlap(shown: &Shown<'_>) -> Option<Fact> {
    let is_local = |route: &&Route<'_>| {
        is_one_of(route.device, LOCAL_BRIDGES) && (8..31).contains(&route.to.1)
    };
    let others: Vec<&Route<'_>> = shown
        .routes
        .iter()
        .filter(|route| route.to.1 >= 8 && !is_one_of(route.device, LOCAL_BRIDGES))
        .take(ROUTES_MOST)
        .collect();
    let meets = |local: &Route<'_>| {
        let other = others.iter().find(|other| {
            contains(other.to, local.to.0) && other.to.1 <= local.to.1
                || contains(local.to, other.to.0) && other.to.1 >= local.to.1
        });
        (
            other.is_some(),
            other.map_or(local.line, |other| other.line),
        )
    };
    let locals = shown.routes.iter().filter(is_local).take(ROUTES_MOST);
    (!others.is_empty()).then_some(())?;
    worst("routes_overlap", locals.map(meets))
}

/// Whether a destination that does not answer is in the network of a local bridge.
fn in_local_bridge(shown: &Shown<'_>) -> Option<Fact> {
    let failing: Vec<&Line<'_>> = shown.with(FAILS).collect();
    let fails = |one: &Chosen<'_>| {
        let address = one.to.to_string();
        let fails = |text: &str| {
            text.contains(&address)
                && (!text.contains("% packet loss") || text.contains("100% packet loss"))
        };
        failing.iter().any(|line| fails(line.text))
    };
    let is_other = |one: &&Chosen<'_>| {
        shown.owner(one.to).is_none() && one.to != one.source && one.device != "lo"
    };
    let has_bridge = shown
        .routes
        .iter()
        .any(|route| is_one_of(route.device, LOCAL_BRIDGES));
    let judged = |one: &Chosen<'_>| {
        let is_local = is_one_of(one.device, LOCAL_BRIDGES);
        ((is_local || has_bridge) && fails(one)).then_some((is_local, one.line))
    };
    let chosen = shown.chosen.iter().filter(is_other).take(CHOSEN_MOST);
    worst("peer_in_local_bridge_network", chosen.filter_map(judged))
}

/// Whether the way to a tunnel's far end is the tunnel. A mark or another table may lead it elsewhere.
fn into_tunnel(shown: &Shown<'_>) -> Option<Fact> {
    shown.chosen.first()?;
    let ends = shown.with(&["ndpoint", "[AF_INET]", "remote "]);
    let ends: BTreeSet<Ipv4Addr> = ends.filter_map(|line| endpoint(line.text)).gather();
    let has_mark = || {
        let mut marks = shown.with(&["fwmark: "]);
        marks.any(|line| line.text.trim_start().starts_with("fwmark: 0x"))
    };
    let judged = |one: &Chosen<'_>| {
        let is_end = ends.contains(&one.to) && !one.is_of_other_table;
        is_end.then(|| (is_one_of(one.device, TUNNELS), one.line))
    };
    let found = worst(
        "endpoint_routed_into_tunnel",
        shown.chosen.iter().filter_map(judged),
    )?;
    (found.value == "false" || !has_mark()).then_some(found)
}

/// `endpoint: 203.0.113.7:51820`, `Endpoint = 203.0.113.7:51820`, `[AF_INET]203.0.113.7:1194`, `remote 203.0.113.7 1194`.
fn endpoint(text: &str) -> Option<Ipv4Addr> {
    let marks = ["ndpoint: ", "ndpoint = ", "ndpoint=", "[AF_INET]"];
    let after = marks.iter().find_map(|mark| word_after(text, mark));
    let after = after.or_else(|| {
        text.trim_start()
            .strip_prefix("remote ")?
            .split_whitespace()
            .next()
    })?;
    after.split(':').next()?.parse().ok()
}

/// Whether a test uses the address of another interface than that in the network of the other end.
fn test_interface(shown: &Shown<'_>) -> Option<Fact> {
    let judged = |(own, other, line): (Ipv4Addr, Ipv4Addr, u64)| {
        let owner = shown.owner(own).filter(|_| shown.owner(other).is_none())?;
        let expected = shown.connected(other);
        let is_known = !expected.is_empty();
        is_known.then(|| (!expected.contains(&owner.name), line))
    };
    let tests = shown.with(&["] local "]).filter_map(|line| {
        let (own, other) = connected(line.text)?;
        Some((own, other, line.number))
    });
    worst("test_interface_differs", tests.filter_map(judged))
}

/// `[  5] local 192.0.2.7 port 40000 connected to 192.0.2.9 port 5201` of iperf, `… connected with …` of iperf 2.
fn connected(text: &str) -> Option<(Ipv4Addr, Ipv4Addr)> {
    let own = word_after(text, "] local ")?;
    let other =
        word_after(text, " connected to ").or_else(|| word_after(text, " connected with "))?;
    Some((own.parse().ok()?, other.parse().ok()?))
}

/// Whether a group is reached by a network of containers or a tunnel.
fn multicast(shown: &Shown<'_>) -> Option<Fact> {
    let mut groups = shown.chosen.iter().filter(|one| one.to.is_multicast());
    let is_odd = |one: &Chosen<'_>| {
        is_one_of(one.device, LOCAL_BRIDGES) || is_one_of(one.device, TUNNELS) || one.device == "lo"
    };
    let found = groups.find(|one| is_odd(one))?;
    Some(Fact::new(
        "multicast_leaves_other_interface",
        true,
        found.line,
    ))
}

/// Whether the default route that a router advertised ends within a minute: it is advertised sooner than that.
fn expiring(shown: &Shown<'_>) -> Option<Fact> {
    let listed = shown.with(&[" expires "]);
    let listed = listed.filter(|line| line.text.trim_start().starts_with("default "));
    let mut left = listed.filter_map(|line| {
        let word = word_after(line.text, " expires ")?.trim_end_matches("sec");
        Some((word.parse::<f64>().ok()?, line.number))
    });
    let (_, line) = left.find(|(seconds, _)| *seconds <= EXPIRES_S)?;
    Some(Fact::new("ipv6_route_expires", true, line))
}

const FAILS: &[&str] = &[
    "nreachable",
    "o route to host",
    "imed out",
    "% packet loss",
    "FAILED",
    "INCOMPLETE",
    "imeout",
];
const EXPIRES_S: f64 = 60.0;
const ROUTES_MOST: usize = 200;
const CHOSEN_MOST: usize = 20;

#[cfg(test)]
mod tests {
    use super::super::shown::values;
    use super::*;

    fn has(text: &str, name: &str, value: &str) {
        let found = values(text, facts);
        assert!(
            found.contains(&(name_of(&found, name), value.to_owned())),
            "{name} {found:?}"
        );
    }

    fn name_of(found: &[(&'static str, String)], name: &str) -> &'static str {
        found
            .iter()
            .map(|(one, _)| *one)
            .find(|one| *one == name)
            .unwrap_or("")
    }

    const TWO: &str = "2: eth0    inet 192.0.2.10/24 scope global eth0\n3: eth1    inet 198.51.100.10/24 scope global eth1\n";

    #[test]
    fn ways_and_sources() {
        let get = |device: &str, source: &str| {
            format!("{TWO}198.51.100.9 dev {device} src {source} uid 0\n")
        };
        has(
            &get("eth0", "192.0.2.10"),
            "route_uses_other_interface",
            "true",
        );
        has(
            &get("eth1", "198.51.100.10"),
            "route_uses_other_interface",
            "false",
        );
        has(
            &get("eth1", "192.0.2.10"),
            "source_address_of_other_interface",
            "true",
        );
        has(
            "10.20.0.5 dev wg0 src 203.0.113.10 uid 0\n",
            "source_address_of_other_interface",
            "true",
        );
        assert_eq!(values("1.2.3.4 dev eth0 src 192.0.2.10 uid 0\n", facts), []);
    }

    #[test]
    fn gateways() {
        let with = |via: &str, rest: &str| format!("{TWO}default via {via} dev eth0 {rest}\n");
        has(&with("192.0.3.1", ""), "gateway_outside_prefix", "true");
        has(&with("192.0.2.1", ""), "gateway_outside_prefix", "false");
        assert_eq!(values(&with("192.0.3.1", "onlink"), facts), []);
        has(
            "  0.0.0.0  0.0.0.0  192.0.3.1  192.0.2.7  25\n  192.0.2.0  255.255.255.0  On-link  192.0.2.7  281\n",
            "gateway_outside_prefix",
            "true",
        );
        let single =
            "2: eth0    inet 192.0.2.10/32 scope global eth0\ndefault via 192.0.2.1 dev eth0\n";
        assert_eq!(values(single, facts), []);
        has(
            &format!("{single}Error: Nexthop has invalid gateway.\n"),
            "gateway_outside_prefix",
            "true",
        );
        has(
            "iface eth0 inet static\n  address 192.0.2.10\n  netmask 255.255.255.0\n  gateway 192.0.3.1\n",
            "gateway_outside_prefix",
            "true",
        );
    }

    #[test]
    fn networks_that_overlap() {
        let docker = "172.18.0.0/16 dev br-5d2c1f proto kernel scope link src 172.18.0.1\n192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.10\n";
        has(docker, "routes_overlap", "false");
        has(
            &format!("{docker}172.18.4.0/24 via 192.0.2.1 dev eth0\n"),
            "routes_overlap",
            "true",
        );
        let get = "172.18.4.20 dev br-5d2c1f src 172.18.0.1 uid 1000\n";
        has(
            &format!("{docker}{get}From 172.18.0.1 to 172.18.4.20 Destination Host Unreachable\n"),
            "peer_in_local_bridge_network",
            "true",
        );
        assert!(
            !values(get, facts)
                .iter()
                .any(|(name, _)| *name == "peer_in_local_bridge_network")
        );
    }

    #[test]
    fn a_tunnel_in_itself() {
        let text = |rest: &str| {
            format!("  endpoint: 203.0.113.7:51820\n203.0.113.7 dev wg0 {rest}src 10.8.0.6 uid 0\n")
        };
        has(&text(""), "endpoint_routed_into_tunnel", "true");
        assert!(
            !values(&text("table 51820 "), facts)
                .iter()
                .any(|(name, _)| name.starts_with("endpoint"))
        );
        has(
            "remote 203.0.113.7 1194\n203.0.113.7 via 192.0.2.1 dev eth0 src 192.0.2.7 uid 0\n",
            "endpoint_routed_into_tunnel",
            "false",
        );
    }

    #[test]
    fn tests_and_groups() {
        let test = |own: &str| {
            format!("{TWO}[  5] local {own} port 40000 connected to 198.51.100.9 port 5201\n")
        };
        has(&test("192.0.2.10"), "test_interface_differs", "true");
        has(&test("198.51.100.10"), "test_interface_differs", "false");
        has(
            "multicast 239.1.1.1 dev docker0 src 172.17.0.1 uid 0\n",
            "multicast_leaves_other_interface",
            "true",
        );
        assert_eq!(
            values("multicast 239.1.1.1 dev eth0 src 192.0.2.10 uid 0\n", facts),
            []
        );
        has(
            "default via fe80::1 dev eth0 proto ra metric 1024 expires 12sec\n",
            "ipv6_route_expires",
            "true",
        );
        assert_eq!(
            values(
                "default via fe80::1 dev eth0 proto ra metric 1024 expires 1712sec\n",
                facts
            ),
            []
        );
    }
}
