// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lspci -vv`: capability and status of a network card's PCIe link, by sysfs's names.

use super::{Block, Content, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let titled = device(first);
    if titled.is_none()
        && !first.trim_start().starts_with("LnkCap:")
        && !first.trim_start().starts_with("LnkSta:")
    {
        return None;
    }
    let found = lines.run(1, |line| device(line).is_none() && belongs(line));
    let card = titled.is_none_or(|kind| {
        ["Ethernet controller", "Network controller", "Infiniband"]
            .iter()
            .any(|name| kind.starts_with(name))
    });
    let all = std::iter::once(first).chain(found.iter().map(|(_, line)| *line));
    let content = if card { content(all) } else { Vec::new() };
    Some(Block {
        lines: found.last().map_or(1, |(index, _)| index + 1),
        format: "lspci -vv",
        content,
    })
}

/// `01:00.0 Ethernet controller: …`: what kind of device.
fn device(line: &str) -> Option<&str> {
    let (slot, rest) = line.split_once(' ')?;
    let plain = (7..=12).contains(&slot.len())
        && slot.contains('.')
        && slot
            .chars()
            .all(|letter| letter.is_ascii_hexdigit() || ":.".contains(letter));
    (plain && slot.contains(':') && rest.contains(": ")).then_some(rest)
}

fn belongs(line: &str) -> bool {
    let trimmed = line.trim_start();
    let known = [
        "LnkCap",
        "LnkSta",
        "LnkCtl",
        "DevCap",
        "DevSta",
        "DevCtl",
        "Kernel driver in use:",
        "Kernel modules:",
        "Subsystem:",
        "Control:",
        "Status:",
        "Interrupt:",
        "Capabilities:",
        "Latency:",
        "Region",
        "NUMA node:",
        "Flags:",
        "Memory at",
    ];
    trimmed.len() < line.len() || known.iter().any(|start| trimmed.starts_with(start))
}

fn content<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Content> {
    let (mut link, mut driver) = (Vec::new(), Vec::new());
    for line in lines.map(str::trim) {
        let kind = if line.starts_with("LnkCap:") {
            "max"
        } else {
            "current"
        };
        if line.starts_with("LnkCap:") || line.starts_with("LnkSta:") {
            link.extend(speed(line).map(|speed| (format!("{kind}_link_speed"), speed)));
            link.extend(
                number_after(line, "Width x")
                    .map(|width| (format!("{kind}_link_width"), width.to_owned())),
            );
        }
        let named = line.strip_prefix("Kernel driver in use: ");
        driver.extend(named.map(|name| ("driver".to_owned(), name.to_owned())));
        link.extend(
            line.strip_prefix("NUMA node: ")
                .map(|node| ("numa_node".to_owned(), node.to_owned())),
        );
    }
    let named = [("/sys/class/net/device", link), ("ethtool -i", driver)];
    named
        .into_iter()
        .filter(|(_, values)| !values.is_empty())
        .map(|(source, values)| Settings::new(source, None, values))
        .collect()
}

/// `8GT/s` as sysfs writes it: `8.0 GT/s PCIe`.
fn speed(line: &str) -> Option<String> {
    let number: f64 = number_after(line, "Speed ")?.parse().ok()?;
    number.is_finite().then(|| format!("{number:.1} GT/s PCIe"))
}

/// Returns the number after a mark.
fn number_after<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(mark)?;
    let end = rest
        .find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))
        .unwrap_or(rest.len());
    Some(&rest[..end]).filter(|digits| !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    #[test]
    fn a_card_in_a_narrow_slot() {
        let text = "01:00.0 Ethernet controller: Intel Corporation 82599ES (rev 01)\n\tLnkCap:\tPort #0, Speed 5GT/s, Width x8, ASPM L0s\n\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x4 (downgraded)\n\tKernel driver in use: ixgbe\n";
        let block = block_of(text, read).unwrap();
        let Content::Settings(link) = &block.content[0] else {
            panic!()
        };
        for (name, value) in [
            ("max_link_speed", "5.0 GT/s PCIe"),
            ("max_link_width", "8"),
            ("current_link_speed", "2.5 GT/s PCIe"),
            ("current_link_width", "4"),
        ] {
            assert!(
                link.values.contains(&(name.to_owned(), value.to_owned())),
                "{name}"
            );
        }
        assert_eq!(
            block.content[1],
            Settings::new(
                "ethtool -i",
                None,
                vec![("driver".to_owned(), "ixgbe".to_owned())]
            )
        );
    }
}
