// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of the kernel's log, with every form of time before them. Those about the network are kept.

use super::syslog::{MONTHS, is_of_journal, logged};
use super::{Block, Content, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let line = lines.get(0)?.trim();
    if is_of_journal(line) {
        return Some(Block {
            lines: 1,
            format: "dmesg",
            content: vec![Settings::new("dmesg", None, Vec::new())],
        });
    }
    let stamped = message(line);
    let asked = hint.is("dmesg", "");
    let text = stamped.or_else(|| (asked || is_unmistakable(line)).then_some(line))?;
    let kept = is_network(text).then(|| {
        Settings::new(
            "dmesg",
            None,
            vec![("line".to_owned(), text.chars().take(400).collect())],
        )
    });
    (kept.is_some() || stamped.is_some()).then_some(())?;
    let also = super::boot::read(lines, hint).filter(|_| text != line);
    let mut content: Vec<Content> = kept.into_iter().collect();
    content.extend(driver(text));
    content.extend(also.into_iter().flat_map(|block| block.content));
    Some(Block {
        lines: 1,
        format: "dmesg",
        content,
    })
}

/// Strips the time: `[   12.345678]`, `[Mar23 13:30]`, `[  +3.070000]`, `[Mon Mar 23 13:30:01 2020]`,
/// `Mar 23 13:30:01 host kernel: …`, `2020-03-23T13:30:01+0000 host kernel: …`, `<6>[ 12.3]`.
fn message(line: &str) -> Option<&str> {
    let after_time = logged(line);
    let line = after_time.unwrap_or(line);
    let level = line
        .strip_prefix('<')
        .and_then(|rest| rest.split_once('>'))
        .filter(|(digits, _)| digits.parse::<u32>().is_ok());
    let line = level.map_or(line, |(_, rest)| rest);
    let bracket = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .filter(|(time, _)| is_time(time.trim()));
    match bracket {
        Some((_, rest)) => Some(rest.trim_start()),
        None => after_time,
    }
}

/// `12.345678`, `+3.07`, `Mar23 13:30`, `Mon Mar 23 13:30:01 2020`.
fn is_time(time: &str) -> bool {
    let seconds = time.trim_start_matches('+');
    let number = seconds.contains('.') && seconds.parse::<f64>().is_ok();
    let clock = time.len() <= 30
        && time.contains(':')
        && time
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || " :.".contains(letter))
        && MONTHS.iter().any(|month| time.contains(month));
    number || clock
}

/// The driver of `DRIVER BUS-ADDRESS INTERFACE: …`, as a network driver's lines begin (netdev_printk in net/core/dev.c).
fn driver(text: &str) -> Option<Content> {
    let mut words = text.split_whitespace();
    let (driver, address, interface) = (
        words.next()?,
        words.next()?,
        words.next()?.strip_suffix(':')?,
    );
    let plain = driver.len() <= 32
        && driver
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter));
    let bus = address.contains([':', '.', '-'])
        && address.contains(|letter: char| letter.is_ascii_digit());
    let named =
        plain && bus && super::lines::is_interface(interface) && !text.contains("renamed from");
    named.then(|| {
        Settings::new(
            "ethtool -i",
            Some(interface),
            vec![("driver".to_owned(), driver.to_owned())],
        )
    })
}

/// Phrases that only the kernel prints, recognised without a time.
fn is_unmistakable(line: &str) -> bool {
    const SAYS: &[&str] = &[
        "NETDEV WATCHDOG:",
        "link becomes ready",
        "Link is Up - ",
        "Link is up - ",
        "transmit queue 0 timed out",
        "rcv is not +last",
        "page allocation failure",
    ];
    line.len() <= 300 && SAYS.iter().any(|words| line.contains(words))
}

/// Whether the line is about an interface, its driver, or a lack of memory or CPU time.
fn is_network(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let named = text
        .split(|letter: char| letter.is_whitespace() || ":()[],".contains(letter))
        .any(|word| word != "lo" && super::lines::is_interface(word));
    named || WORDS.iter().any(|word| lower.contains(word))
}

const WORDS: &[&str] = &[
    "netdev watchdog",
    "link is up",
    "link is down",
    "link up",
    "link down",
    "link becomes ready",
    "nic link",
    "timed out",
    "page allocation failure",
    "swiotlb",
    "pcie bandwidth",
    "flow control",
    "ethernet",
    " phy",
    "mdio",
    "fec ",
    "stmmac",
    "dwmac",
    "igb",
    "igc",
    "e1000",
    "ixgbe",
    "i40e",
    "mlx5",
    "mlx4",
    "r8169",
    "tg3",
    "bcmgenet",
    "lan78xx",
    "smsc95xx",
    "r8152",
    "macb",
    "mvneta",
    "mvpp2",
    "dpaa2",
    "fsl_dpaa",
    "virtio_net",
    "bonding",
    "nf_conntrack",
    "neighbour",
    "softirq",
    "iommu",
    "aer:",
    "rcv is not +last",
    "tx fifo",
    "rx fifo",
    "overrun",
    "underrun",
    "clock throttled",
    "temperature above threshold",
    "dnsmasq",
    "hostapd",
    "netifd",
    "networkmanager",
    "systemd-networkd",
    "wpa_supplicant",
    "dhclient",
    "dhcpcd",
    "udhcpc",
    "odhcp",
    "pppd",
    "openvpn",
    "charon",
    "keepalived",
    "kernel command line",
    "linux version",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn kept(line: &str) -> Option<Option<String>> {
        let looked = Cell::new(0);
        let block = read(Lines::new(&[line], &looked), Hint::default())?;
        Some(block.content.into_iter().find_map(|content| match content {
            Content::Settings(settings) if settings.source == "dmesg" => {
                Some(settings.values[0].1.clone())
            }
            _ => None,
        }))
    }

    #[test]
    fn the_driver_before_the_interface() {
        let named = |text: &str| match driver(text) {
            Some(Content::Settings(settings)) => Some((
                settings.interface.unwrap_or_default(),
                settings.values[0].1.clone(),
            )),
            _ => None,
        };
        let expected =
            |interface: &str, driver: &str| Some((interface.to_owned(), driver.to_owned()));
        assert_eq!(
            named("e1000e 0000:03:00.0 enp3s0: NIC Link is Up 100 Mbps"),
            expected("enp3s0", "e1000e")
        );
        assert_eq!(
            named("fec 2188000.ethernet eth0: Link is Up - 1Gbps/Full"),
            expected("eth0", "fec")
        );
        assert_eq!(
            named("IPv6: ADDRCONF(NETDEV_UP): eth0: link is not ready"),
            None
        );
    }

    #[test]
    fn every_form_of_time() {
        let text = "fec 2188000.ethernet eth0: Link is Up - 1Gbps/Full - flow control rx/tx";
        for time in [
            "[   12.345678] ",
            "[Mar23 13:30] ",
            "[  +3.070000] ",
            "[Mon Mar 23 13:30:01 2020] ",
            "Mar 23 13:30:01 box kernel: ",
            "Mar 23 13:30:01 box kernel: [   12.3] ",
            "2020-03-23T13:30:01+0000 box kernel: ",
            "Fri Mar  1 10:11:12 2024 kern.info kernel: [  812.112233] ",
            "<6>[   12.3] ",
            "",
        ] {
            assert_eq!(
                kept(&format!("{time}{text}")),
                Some(Some(text.to_owned())),
                "{time}"
            );
        }
        assert_eq!(
            kept("[   12.345678] usb 1-1: new full-speed device"),
            Some(None)
        );
        assert_eq!(kept("[  4] 0.0-10.0 sec  1 MBytes"), None);
        assert_eq!(kept("We saw that the link is up"), None);
    }
}
