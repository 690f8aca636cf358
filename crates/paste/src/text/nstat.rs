// SPDX-License-Identifier: MIT OR Apache-2.0
//! `nstat`: the kernel's names, a value and a rate.

use super::netstat_s::by_file;
use super::{Block, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let titled = lines.get(0)?.trim() == "#kernel";
    if !titled {
        entry(lines.get(0)?)?;
    }
    let found = lines.run(usize::from(titled), |line| entry(line).is_some());
    let all: Vec<(String, u64)> = found.iter().filter_map(|(_, line)| entry(line)).collect();
    (titled || all.len() > 1 || hint.is("nstat", "")).then_some(())?;
    Some(Block {
        lines: found.last().map_or(1, |(index, _)| index + 1),
        format: "nstat",
        content: by_file(all),
    })
}

/// `UdpInErrors                     12                 0.0`, also of `/proc/net/snmp6`, which has no rate.
fn entry(line: &str) -> Option<(String, u64)> {
    let mut words = line.split_whitespace();
    let (name, value) = (words.next()?, words.next()?.parse().ok()?);
    let rate = words.next().is_none_or(|word| word.parse::<f64>().is_ok());
    let groups = ["Ip", "Icmp", "Tcp", "Udp", "MPTcp"];
    let known = groups.iter().any(|group| name.starts_with(group)) && name.len() > 5;
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (known && plain && rate && words.next().is_none()).then(|| (name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Counters;
    use std::cell::Cell;

    #[test]
    fn each_counter_to_its_file() {
        let lines = [
            "#kernel",
            "UdpRcvbufErrors                 12                 0.0",
            "TcpExtTCPTimeouts               2                  0.0",
            "Udp6InErrors 3 0.0",
        ];
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        let one = |source: &str, name: &str, value| {
            Counters::new(source, None, vec![(name.to_owned(), value)])
        };
        assert_eq!(
            block.content,
            [
                one("/proc/net/snmp", "UdpRcvbufErrors", 12),
                one("/proc/net/netstat", "TcpExtTCPTimeouts", 2),
                one("/proc/net/snmp6", "Udp6InErrors", 3)
            ]
        );
    }
}
