// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -n IFACE rx-flow-hash udp4`: the fields that select a packet's queue (RSS).

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let kind = kind(lines.get(0)?)?;
    let found = lines.run(1, is_field);
    let fields: Vec<&str> = found.iter().map(|(_, line)| line.trim()).collect();
    let last = found.last()?.0;
    let interface = hint.is("ethtool", "").then(|| hint.interface()).flatten();
    let values = vec![(kind.to_owned(), fields.join(", "))];
    Some(Block {
        lines: last + 1,
        format: "ethtool -n",
        content: vec![Settings::new("ethtool -n", interface, values)],
    })
}

/// `UDP over IPV4 flows use these fields for computing Hash flow key:` → `udp4`.
fn kind(line: &str) -> Option<&'static str> {
    let line = line.trim().to_ascii_lowercase();
    let flows = line.strip_suffix("flows use these fields for computing hash flow key:")?;
    let (_, kind) = KINDS.iter().find(|(phrase, _)| flows.trim() == *phrase)?;
    Some(kind)
}

fn is_field(line: &str) -> bool {
    FIELDS.iter().any(|field| line.trim().starts_with(field))
}

/// ethtool's `dump_rxfhash`, and its own names for them.
const KINDS: [(&str, &str); 8] = [
    ("tcp over ipv4", "tcp4"),
    ("udp over ipv4", "udp4"),
    ("sctp over ipv4", "sctp4"),
    ("tcp over ipv6", "tcp6"),
    ("udp over ipv6", "udp6"),
    ("sctp over ipv6", "sctp6"),
    ("ipv4", "ip4"),
    ("ipv6", "ip6"),
];
const FIELDS: [&str; 9] = [
    "IP SA",
    "IP DA",
    "L2DA",
    "VLAN tag",
    "L3 proto",
    "L4 bytes 0 & 1",
    "L4 bytes 2 & 3",
    "GTP",
    "None",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    #[test]
    fn the_fields_of_one_kind_of_flow() {
        let lines = [
            "UDP over IPV4 flows use these fields for computing Hash flow key:",
            "IP SA",
            "IP DA",
            "L4 bytes 0 & 1 [TCP/UDP src port]",
            "and so on",
        ];
        let looked = Cell::new(0);
        let command = "ethtool -n eth0 rx-flow-hash udp4";
        let hint = Hint {
            command: Some(command),
        };
        let block = read(Lines::new(&lines, &looked), hint).unwrap();
        assert_eq!(block.lines, 4);
        let Content::Settings(settings) = &block.content[0] else {
            panic!()
        };
        assert_eq!(settings.interface.as_deref(), Some("eth0"));
        let fields = "IP SA, IP DA, L4 bytes 0 & 1 [TCP/UDP src port]";
        assert_eq!(settings.values, [("udp4".to_owned(), fields.to_owned())]);
        assert_eq!(read(Lines::new(&lines[1..], &looked), hint), None);
    }
}
