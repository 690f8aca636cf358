// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/route` and `/proc/net/ipv6_route`: which interfaces a default route leaves through, and which a router advertised.

/// The interfaces of the default routes in either table; unreadable lines are left out.
#[must_use]
pub fn default_route_interfaces(text: &str) -> Vec<String> {
    let found = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        ipv4(&words).or_else(|| ipv6(&words))
    });
    found.map(str::to_owned).collect()
}

/// The interfaces of routes of `/proc/net/ipv6_route` that a router advertised, each once: the kernel deletes these routes when
/// it begins to forward (net/ipv6/route.c, `rt6_purge_dflt_routers`).
#[must_use]
pub fn advertised_route_interfaces(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(name) = advertised(&words) else {
            continue;
        };
        if !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found
}

fn advertised<'a>(words: &[&'a str]) -> Option<&'a str> {
    let [.., flags, interface] = words else {
        return None;
    };
    let flags = u32::from_str_radix(flags, 16).ok()?;
    let is_advertised = words.len() == IPV6_WORDS && flags & (DEFAULT | ADVERTISED) != 0;
    (is_advertised && flags & (UP | REJECT) == UP).then_some(*interface)
}

/// Interface, destination, gateway, flags, …, mask at 7: all hexadecimal.
fn ipv4<'a>(words: &[&'a str]) -> Option<&'a str> {
    let [interface, destination, _gateway, flags, _, _, _, mask, ..] = words else {
        return None;
    };
    let usable = u32::from_str_radix(flags, 16).ok()? & (UP | REJECT) == UP;
    let everything = [destination, mask]
        .into_iter()
        .all(|word| *word == "00000000");
    (usable && everything).then_some(*interface)
}

/// Destination, its prefix, …, flags at 8, interface at 9.
fn ipv6<'a>(words: &[&'a str]) -> Option<&'a str> {
    let [destination, prefix, _, _, _, _, _, _, flags, interface] = words else {
        return None;
    };
    let usable = u32::from_str_radix(flags, 16).ok()? & (UP | REJECT) == UP;
    let everything = *prefix == "00" && destination.bytes().all(|byte| byte == b'0');
    (usable && everything).then_some(*interface)
}

/// `RTF_UP`, `RTF_REJECT` (include/uapi/linux/route.h).
const UP: u32 = 0x1;
const REJECT: u32 = 0x200;
/// `RTF_DEFAULT`, `RTF_ADDRCONF` (include/uapi/linux/ipv6_route.h).
const DEFAULT: u32 = 0x0001_0000;
const ADVERTISED: u32 = 0x0004_0000;
/// In a line of `/proc/net/ipv6_route`.
const IPV6_WORDS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_default_routes_count() {
        let ipv4 = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
             eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
             eth1\t0000FEA9\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n";
        assert_eq!(default_route_interfaces(ipv4), ["eth0"]);
        let zero = "0".repeat(32);
        let line = |prefix: &str, flags: &str, name: &str| {
            format!("{zero} {prefix} {zero} 00 {zero} 00000400 00000001 00000000 {flags} {name}\n")
        };
        let ipv6 = line("00", "00000003", "eth2")
            + &line("00", "00200200", "lo")
            + &line("40", "00000001", "eth3");
        assert_eq!(
            default_route_interfaces(&ipv6),
            ["eth2"],
            "not the rejecting one, not a prefix"
        );
    }

    #[test]
    fn advertised_routes_are_told_from_configured_ones() {
        let zero = "0".repeat(32);
        let line = |prefix: &str, flags: &str, name: &str| {
            format!("{zero} {prefix} {zero} 00 {zero} 00000400 00000001 00000000 {flags} {name}\n")
        };
        let table = line("00", "00450003", "eth0")
            + &line("40", "00040001", "eth0")
            + &line("00", "00000003", "eth1")
            + &line("40", "00040001", "eth2")
            + &line("00", "00240200", "lo");
        assert_eq!(advertised_route_interfaces(&table), ["eth0", "eth2"]);
        assert!(advertised_route_interfaces("a zz\n00040001 eth0\n").is_empty());
    }

    #[test]
    fn nonsense_has_no_routes() {
        for text in ["", "\0", "a b c d e f g h", "0 00 0 0 0 0 0 0 zz eth0"] {
            assert!(default_route_interfaces(text).is_empty(), "{text:?}");
        }
    }
}
