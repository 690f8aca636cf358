// SPDX-License-Identifier: MIT OR Apache-2.0
//! Combinations that cannot be, as far as it is known before they are tried. A device that refuses an MTU is found out
//! then.

use super::{Axes, BOTH, CONGESTION, DEFAULT, DIRECTION, FAMILY, MSS, MTU, PROTOCOL, SIZE};

/// Why a combination cannot be measured; `None` if nothing known prevents it.
pub fn impossible(axes: &Axes) -> Option<String> {
    let (udp, ipv6) = (udp(axes), is_ipv6(axes));
    let (mtu, size) = (number(axes, MTU), number(axes, SIZE));
    let is_set = |axis| axes.get(axis).is_some_and(|value| value != DEFAULT);
    match () {
        () if ipv6 && mtu.is_some_and(|mtu| mtu < IPV6_MTU) => {
            Some("IPv6 needs an MTU of at least 1280 bytes (RFC 8200, 5)".to_owned())
        }
        () if !ipv6 && mtu.is_some_and(|mtu| mtu < IPV4_MTU) => {
            Some("IPv4 needs an MTU of at least 68 bytes (RFC 791, 3.2)".to_owned())
        }
        () if udp.is_some() && is_set(CONGESTION) => {
            Some("UDP has no congestion control".to_owned())
        }
        () if udp.is_some() && is_set(MSS) => Some("UDP has no segments".to_owned()),
        () if udp.is_some() && size.is_some_and(|size| size < STAMP) => {
            Some(format!("a datagram carries a stamp of {STAMP} bytes"))
        }
        () if udp.is_some() && size.is_some_and(|size| size > LARGEST) => {
            Some(format!("a datagram carries at most {LARGEST} bytes"))
        }
        () if udp == Some("udp-gso") => fragments(axes).map(|_| {
            "with UDP_SEGMENT, a datagram that exceeds the MTU is not sent (udp(7))".to_owned()
        }),
        () => None,
    }
}

/// What must be known to read the figures of a combination.
pub fn note(axes: &Axes) -> Option<String> {
    let fragments = fragments(axes).map(|count| format!("{count} fragments per datagram"));
    let is_both = axes.get(DIRECTION).is_some_and(|value| value == BOTH);
    let sum = is_both.then(|| "rates and packets are the sum of both directions".to_owned());
    let notes: Vec<String> = fragments.into_iter().chain(sum).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// How many IP fragments carry a datagram; `None` where it is one packet, or the MTU or the size is unknown.
fn fragments(axes: &Axes) -> Option<u32> {
    udp(axes)?;
    let (mtu, size) = (number(axes, MTU)?, number(axes, SIZE)?);
    let (header, extension) = match is_ipv6(axes) {
        true => (40, 8),
        false => (20, 0),
    };
    let data = size.saturating_add(UDP_HEADER);
    if data <= mtu.saturating_sub(header) {
        return None;
    }
    // All but the last fragment carry a multiple of 8 bytes (RFC 791, 2.3; RFC 8200, 4.5).
    let each = mtu.saturating_sub(header + extension) / 8 * 8;
    (each > 0).then(|| data.div_ceil(each))
}

fn udp(axes: &Axes) -> Option<&str> {
    let protocol = axes.get(PROTOCOL)?;
    protocol.starts_with("udp").then_some(protocol)
}

fn is_ipv6(axes: &Axes) -> bool {
    axes.get(FAMILY).is_some_and(|family| family == "6")
}

fn number(axes: &Axes, axis: &str) -> Option<u32> {
    axes.get(axis)?.parse().ok()
}

const IPV6_MTU: u32 = 1280;
const IPV4_MTU: u32 = 68;
const UDP_HEADER: u32 = 8;
/// Sequence number and time of each datagram.
const STAMP: u32 = 16;
/// 65535 bytes of an IPv4 packet, without its headers.
const LARGEST: u32 = 65_507;

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(text: &str) -> Axes {
        let pairs = text
            .split_whitespace()
            .filter_map(|one| one.split_once('='));
        pairs
            .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn what_cannot_be_says_why() {
        for (text, why) in [
            ("family=6 mtu=100", "1280"),
            ("family=6 mtu=1279 protocol=udp", "1280"),
            ("family=4 mtu=67", "68"),
            ("mtu=67", "68"),
            ("protocol=udp congestion=bbr", "congestion"),
            ("protocol=udp-plain mss=500", "segments"),
            ("protocol=udp size=15", "stamp"),
            ("protocol=udp size=65508", "65507"),
            ("protocol=udp-gso mtu=1500 size=1473", "UDP_SEGMENT"),
            (
                "protocol=udp-gso family=6 mtu=1500 size=1453",
                "UDP_SEGMENT",
            ),
        ] {
            let said = impossible(&axes(text)).unwrap_or_default();
            assert!(said.contains(why), "{text}: {said:?}");
        }
        for text in [
            "",
            "family=6 mtu=1280",
            "family=4 mtu=68",
            "protocol=tcp size=1 mtu=100",
            "protocol=udp size=16",
            "protocol=udp congestion=default mss=default",
            "protocol=udp mtu=100 size=1500",
            "protocol=udp-gso mtu=1500 size=1472",
        ] {
            assert_eq!(impossible(&axes(text)), None, "{text}");
        }
    }

    #[test]
    fn what_must_be_known_is_noted() {
        for (text, said) in [
            ("protocol=udp direction=up", None),
            ("direction=both", Some("sum of both directions")),
            (
                "protocol=udp mtu=100 size=73 direction=both",
                Some("2 fragments per datagram; rates and packets are the sum"),
            ),
        ] {
            let note = note(&axes(text));
            let has = |said: &str| note.as_ref().is_some_and(|note| note.contains(said));
            assert!(said.map_or(note.is_none(), has), "{text}: {note:?}");
        }
    }

    /// By hand: 100 − 20 = 80 bytes a fragment; 1508 of them.
    #[test]
    fn fragments_are_possible_and_noted() {
        for (text, count) in [
            ("protocol=udp mtu=100 size=1500", Some(19)),
            ("protocol=udp mtu=100 size=72", None),
            ("protocol=udp mtu=100 size=73", Some(2)),
            ("protocol=udp mtu=1500 size=1473", Some(2)),
            ("protocol=udp family=6 mtu=1280 size=1233", Some(2)),
            ("protocol=udp family=6 mtu=1280 size=1232", None),
            ("protocol=tcp mtu=100 size=1500", None),
            ("protocol=udp size=9000", None),
        ] {
            assert_eq!(fragments(&axes(text)), count, "{text}");
        }
    }
}
