// SPDX-License-Identifier: MIT OR Apache-2.0
//! `sysctl -a` and `/etc/sysctl.conf` lines, and `grep . /proc/sys/…`: a dotted name and its value.

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    pair(lines.get(0)?)?;
    let found = lines.run(0, |line| pair(line).is_some());
    let values = found.iter().filter_map(|(_, line)| pair(line)).collect();
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "sysctl",
        content: vec![Settings::new("sysctl", None, values)],
    })
}

/// `net.ipv4.tcp_mem = 1 2 3`, `/proc/sys/net/ipv4/tcp_mem:1 2 3`.
fn pair(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("sysctl -w ").unwrap_or(line);
    if line.len() > 300 {
        return None;
    }
    let (name, value) = match line.strip_prefix("/proc/sys/") {
        Some(line) => {
            let (file, value) = line.split_once([':', '='])?;
            (file.trim().replace('/', "."), value)
        }
        None => {
            let (name, value) = line.split_once('=')?;
            (name.trim().to_owned(), value)
        }
    };
    let known = ["net.", "vm.", "kernel.", "fs.", "dev."]
        .iter()
        .any(|start| name.starts_with(start));
    let plain = name
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter));
    let value: Vec<&str> = value
        .trim()
        .trim_matches(['"', '\''])
        .split_whitespace()
        .collect();
    let value = value.join(" ");
    (known && plain && is_value(&value)).then_some((name, value))
}

/// Numbers or one word: what a sysctl holds.
pub(super) fn is_value(value: &str) -> bool {
    let mut words = value.split_whitespace();
    let number = |word: &str| word.parse::<i64>().is_ok();
    let one = value.len() <= 64 && !value.is_empty() && !value.contains(' ');
    one || (value.len() <= 80 && words.clone().next().is_some() && words.all(number))
        || (value.len() <= 80
            && value.split_whitespace().all(|word| {
                word.chars()
                    .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
            })
            && value.split_whitespace().count() <= 6)
}

#[cfg(test)]
mod tests {
    use super::pair;

    #[test]
    fn every_form() {
        let expected = Some(("net.ipv4.tcp_mem".to_owned(), "1824 2432 3648".to_owned()));
        for line in [
            "net.ipv4.tcp_mem = 1824\t2432\t3648",
            "net.ipv4.tcp_mem=\"1824 2432 3648\"",
            "sysctl -w net.ipv4.tcp_mem=\"1824 2432 3648\"",
            "/proc/sys/net/ipv4/tcp_mem:1824 2432 3648",
        ] {
            assert_eq!(pair(line), expected, "{line}");
        }
        assert_eq!(pair("limit = max(limit, 128UL);"), None);
        assert_eq!(pair("net.core = (what a nice idea, really)"), None);
    }
}
