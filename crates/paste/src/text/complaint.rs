// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of tcpdump that complain, and its closing counts. Each complaint counts one packet.

use super::{Block, Counters, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let line = lines.get(0)?.trim();
    let (name, value) = closing(line).or_else(|| complaint(line))?;
    Some(Block {
        lines: 1,
        format: "tcpdump",
        content: vec![Counters::new(
            "tcpdump",
            None,
            vec![(name.to_owned(), value)],
        )],
    })
}

/// `12 packets dropped by kernel`.
fn closing(line: &str) -> Option<(&'static str, u64)> {
    let (number, words) = line.split_once(' ')?;
    let known = [
        "packets captured",
        "packets received by filter",
        "packets dropped by kernel",
        "packets dropped by interface",
    ];
    let name = known
        .into_iter()
        .find(|name| *name == words.trim() || words.trim() == name.replace("packets", "packet"))?;
    Some((name, number.parse().ok()?))
}

/// `… [bad udp cksum 0x1234 -> 0x5678!] …`, `[|udp]`, `truncated-ip`.
fn complaint(line: &str) -> Option<(&'static str, u64)> {
    let packet = line.contains(" > ") || line.contains("IP ") || line.contains("length ");
    let known = [
        ("bad udp cksum", "bad udp cksum"),
        ("bad cksum", "bad cksum"),
        ("cksum 0x", "incorrect"),
        ("truncated-ip", "truncated"),
        ("[|", "truncated"),
        ("bad-len", "bad length"),
        ("bad length", "bad length"),
    ];
    let (_, name) = known.into_iter().find(|(mark, name)| {
        line.contains(mark) && (*name != "incorrect" || line.contains("(incorrect"))
    })?;
    (packet && line.len() < 600).then_some((name, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_and_counts() {
        assert_eq!(
            complaint(
                "12:00:01.0 IP 192.0.2.1.5001 > 192.0.2.2.5001: [bad udp cksum 0x0000 -> 0xffff!] UDP, length 18"
            ),
            Some(("bad udp cksum", 1))
        );
        assert_eq!(
            complaint("IP 192.0.2.1 > 192.0.2.2: truncated-ip - 20 bytes missing!"),
            Some(("truncated", 1))
        );
        assert_eq!(
            complaint("12:00:01.0 IP a > b: Flags [S], cksum 0x1234 (correct)"),
            None
        );
        assert_eq!(
            closing("71 packets dropped by kernel"),
            Some(("packets dropped by kernel", 71))
        );
    }
}
