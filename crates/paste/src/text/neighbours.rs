// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip neigh`, `arp -an`, `arp -n`, `/proc/net/arp`: how many neighbours are known, and how many of them do not answer:
//! `192.0.2.20 dev eth0  FAILED`.

use std::net::IpAddr;

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let start = usize::from(is_heading(first));
    (start == 1 || is_neighbour(first)).then_some(())?;
    let found = lines.run(start, |line| {
        is_neighbour(line) || (start == 1 && is_row(line))
    });
    let silent = |line: &str| SILENT.iter().any(|state| line.contains(state));
    let silent = found.iter().filter(|(_, line)| silent(line)).count();
    let values = [("entries", found.len()), ("without answer", silent)];
    let values = values.map(|(name, count)| (name.to_owned(), count.to_string()));
    Some(Block {
        lines: found.last().map_or(1, |(at, _)| at + 1),
        format: "ip neigh",
        content: vec![Settings::new("ip neigh", None, values.to_vec())],
    })
}

/// Of `arp -n` and `/proc/net/arp`.
fn is_heading(line: &str) -> bool {
    let has = |words: [&str; 3]| line.len() < 120 && words.iter().all(|word| line.contains(word));
    has(["HWtype", "HWaddress", "Iface"]) || has(["IP address", "HW type", "HW address"])
}

fn is_neighbour(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let Some(first) = words.next().filter(|_| line.len() < 200) else {
        return false;
    };
    let second = words.next().unwrap_or_default();
    let in_brackets = second
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    if in_brackets.is_some_and(|address| address.parse::<IpAddr>().is_ok()) {
        // `? (192.0.2.7) at <incomplete> on eth0`
        return words.next() == Some("at") && line.contains(" on ");
    }
    let last = words.next_back().unwrap_or_default();
    let listed =
        (second == "dev" && STATES.contains(&last)) || ["ether", "(incomplete)"].contains(&second);
    listed && first.parse::<IpAddr>().is_ok()
}

/// A row below its heading, whose host may have a name.
fn is_row(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(8).collect();
    let of_kernel = words.len() == 6
        && words
            .iter()
            .skip(1)
            .take(2)
            .all(|word| word.starts_with("0x"));
    of_kernel
        || words
            .get(1)
            .is_some_and(|word| ["ether", "(incomplete)"].contains(word))
}

/// iproute2 `ip/ipneigh.c`; a proxy entry has no state.
const STATES: [&str; 9] = [
    "INCOMPLETE",
    "REACHABLE",
    "STALE",
    "DELAY",
    "PROBE",
    "FAILED",
    "NOARP",
    "PERMANENT",
    "proxy",
];
const SILENT: [&str; 4] = ["FAILED", "INCOMPLETE", "<incomplete>", "(incomplete)"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    fn counts(text: &str) -> Option<(usize, Vec<String>)> {
        let mut block = block_of(text, read)?;
        match block.content.pop()? {
            Content::Settings(settings) => {
                let values = settings.values.into_iter().map(|(_, value)| value);
                Some((block.lines, values.collect()))
            }
            _ => None,
        }
    }

    #[test]
    fn neighbours_of_every_tool() {
        for text in [
            "192.0.2.1 dev eth0 lladdr 02:00:00:11:22:33 REACHABLE\n192.0.2.20 dev eth0  FAILED\n2001:db8::1 dev eth0 lladdr 02:00:00:11:22:33 router STALE\nwhy?\n",
            "? (192.0.2.1) at 02:00:00:11:22:33 [ether] on eth0\n? (192.0.2.7) at <incomplete> on eth0\ngateway (192.0.2.9) at 02:00:00:11:22:34 [ether] PERM on eth0\n",
            "192.0.2.1   ether   02:00:00:11:22:33   C   eth0\n192.0.2.2 (incomplete)   eth0\n192.0.2.3  ether 02:00:00:11:22:34 C eth0\n",
        ] {
            assert_eq!(
                counts(text),
                Some((3, vec!["3".to_owned(), "1".to_owned()])),
                "{text}"
            );
        }
        let named = "Address                  HWtype  HWaddress           Flags Mask            Iface\nbox.example              ether   02:00:00:11:22:33   C                     eth0\n";
        assert_eq!(
            counts(named),
            Some((2, vec!["1".to_owned(), "0".to_owned()]))
        );
        let file = "IP address       HW type     Flags       HW address            Mask     Device\n192.0.2.1      0x1         0x2         02:00:00:11:22:33     *        eth0\n";
        assert_eq!(
            counts(file),
            Some((2, vec!["1".to_owned(), "0".to_owned()]))
        );
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "192.0.2.1 dev eth0 proto kernel scope link\n",
            "192.0.2.20 has FAILED\n",
            "the box (192.0.2.1) at home\n",
        ] {
            assert_eq!(counts(text), None, "{text}");
        }
    }
}
