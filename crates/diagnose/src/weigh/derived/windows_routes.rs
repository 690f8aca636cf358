// SPDX-License-Identifier: MIT OR Apache-2.0
//! `route print` of Windows: how many ways lead out, and gateways that no network of their interface has.

use std::net::Ipv4Addr;

use linerate_paste::text::{WindowsRoute, windows_ipv6_gateway};

use super::Fact;
use super::shown::contains;
use crate::weigh::observed::Line;

/// The active routes of IPv4 of one output.
type Table = Vec<(WindowsRoute, u64)>;

/// Each table that is shown; other lines between two rows end it.
fn tables(lines: &[Line<'_>]) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut last = None;
    for line in lines {
        let Some(route) = WindowsRoute::of(line.text) else {
            continue;
        };
        let goes_on = last.is_some_and(|last| line.number.saturating_sub(last) <= 2);
        last = Some(line.number);
        match tables.last_mut().filter(|_| goes_on) {
            Some(table) => table.push((route, line.number)),
            None => tables.push(vec![(route, line.number)]),
        }
    }
    tables
}

/// How many default routes the table with most of them has, with a line of it. Only a whole table shows that there is none.
pub(super) fn defaults(lines: &[Line<'_>]) -> Option<(usize, u64)> {
    let counted = tables(lines).into_iter().filter_map(|table| {
        let mut default = table.iter().filter(|(route, _)| route.is_default());
        let count = default.clone().count();
        let (_, line) = default.next_back().or(table.last())?;
        (count > 0 || is_whole(&table)).then_some((count, *line))
    });
    counted.max_by_key(|(count, _)| *count)
}

/// Whether the first and the last rows that every Windows has are there, so that nothing was filtered or cut off.
fn is_whole(table: &Table) -> bool {
    let has = |network: (Ipv4Addr, u32)| table.iter().any(|(route, _)| route.to == network);
    has((Ipv4Addr::new(127, 0, 0, 0), 8)) && has((Ipv4Addr::BROADCAST, 32))
}

/// Default routes of IPv6 that have a gateway: Teredo's has none.
pub(super) fn ipv6_defaults(lines: &[Line<'_>]) -> Option<(usize, u64)> {
    let mut found = lines
        .iter()
        .filter(|line| line.text.contains("::/0") && windows_ipv6_gateway(line.text).is_some());
    let count = found.clone().count();
    Some((count, found.next_back()?.number))
}

/// The gateways that routes name; none where a default route needs no gateway, as that of a tunnel.
pub(super) fn gateways(lines: &[Line<'_>]) -> Vec<Ipv4Addr> {
    let routes = lines.iter().filter_map(|line| WindowsRoute::of(line.text));
    let routes: Vec<WindowsRoute> = routes.collect();
    let is_tunnel = |route: &WindowsRoute| route.is_default() && route.via.is_none();
    if routes.iter().any(is_tunnel) {
        return Vec::new();
    }
    routes.iter().filter_map(|route| route.via).collect()
}

/// Whether no network of a default route's interface has its gateway: the first that is outside, else the first inside.
pub(super) fn gateway_outside(lines: &[Line<'_>]) -> Option<Fact> {
    let tables = tables(lines);
    let judged = |table: &Table| -> Vec<(bool, u64)> {
        let default = table.iter().filter(|(route, _)| route.is_default());
        default
            .filter_map(|(route, line)| Some((is_outside(table, route)?, *line)))
            .collect()
    };
    let judged: Vec<(bool, u64)> = tables.iter().flat_map(judged).collect();
    let first = judged.iter().find(|(is_outside, _)| *is_outside);
    let (value, line) = first.or(judged.first())?;
    Some(Fact::new("gateway_outside_prefix", *value, *line))
}

/// Unknown for an interface whose network is not shown, or which has a single address.
fn is_outside(table: &Table, route: &WindowsRoute) -> Option<bool> {
    let via = route.via?;
    let direct = table.iter().map(|(other, _)| other);
    let direct = direct.filter(|other| other.via.is_none() && other.interface == route.interface);
    let direct: Vec<(Ipv4Addr, u32)> = direct
        .map(|other| other.to)
        .filter(|(network, length)| *length > 0 && !network.is_multicast())
        .collect();
    let has_network = direct
        .iter()
        .any(|network| (8..=30).contains(&network.1) && contains(*network, route.interface));
    let leads = direct.iter().any(|network| contains(*network, via));
    has_network.then_some(!leads)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(text: &str, read: impl Fn(&[Line<'_>]) -> T) -> T {
        let lines = text.lines().zip(1..);
        let lines: Vec<Line<'_>> = lines.map(|(text, number)| Line { number, text }).collect();
        read(&lines)
    }

    const LOCAL: &str = "  127.0.0.0        255.0.0.0         On-link         127.0.0.1    331\n  192.0.2.0    255.255.255.0         On-link         192.0.2.7    281\n  192.0.2.7  255.255.255.255         On-link         192.0.2.7    281\n  224.0.0.0        240.0.0.0         On-link         192.0.2.7    281\n  255.255.255.255  255.255.255.255         On-link         192.0.2.7    281\n";

    fn default(via: &str) -> String {
        format!("  0.0.0.0          0.0.0.0        {via}        192.0.2.7     25\n")
    }

    fn outside(text: &str) -> Option<(String, Option<u64>)> {
        with(text, |lines| {
            gateway_outside(lines).map(|fact| (fact.value, fact.line))
        })
    }

    #[test]
    fn ways_out() {
        let one = default("192.0.2.1") + LOCAL;
        let two = default("192.0.2.9") + &one;
        assert_eq!(with(&one, defaults), Some((1, 1)));
        assert_eq!(with(&two, defaults), Some((2, 2)));
        let again = format!("{one}later:\nagain\n{one}");
        assert_eq!(with(&again, defaults).map(|(count, _)| count), Some(1));
        assert_eq!(with(LOCAL, defaults), Some((0, 5)));
        let (cut, _) = LOCAL.split_once("  224").unwrap_or_default();
        assert_eq!(with(cut, defaults), None);
        let kept = "  0.0.0.0          0.0.0.0        192.0.2.1  Default\n";
        assert_eq!(with(kept, defaults), None);
    }

    #[test]
    fn ways_out_of_ipv6() {
        let text = " 12    281 ::/0                     fe80::1\n  9     18 ::/0                     On-link\n";
        assert_eq!(with(text, ipv6_defaults), Some((1, 1)));
    }

    #[test]
    fn gateways_inside_and_outside() {
        let text = |via: &str| default(via) + LOCAL;
        let is = |value: &str| Some((value.to_owned(), Some(1)));
        assert_eq!(outside(&text("192.0.2.1")), is("false"));
        assert_eq!(outside(&text("198.51.100.1")), is("true"));
        assert_eq!(outside(&text("On-link")), None);
        assert_eq!(outside(&default("198.51.100.1")), None);
        let own = "  198.51.100.1  255.255.255.255         On-link         192.0.2.7    281\n";
        assert_eq!(outside(&(text("198.51.100.1") + own)), is("false"));
        assert_eq!(
            with(&text("192.0.2.1"), gateways),
            [Ipv4Addr::new(192, 0, 2, 1)]
        );
        assert_eq!(with(&text("On-link"), gateways), Vec::<Ipv4Addr>::new());
    }
}
