// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lsusb -t`, `lsusb`, the log of USB: the port's speed against the network link, resets, what else is on the bus.

use std::collections::BTreeSet;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;

use super::{Fact, number_after};
use crate::weigh::observed::Line;

/// A device of the tree.
#[derive(Debug)]
struct Device<'t> {
    /// Which tree, and which bus in it.
    bus: u32,
    number: &'t str,
    driver: &'t str,
    mbits: f64,
    line: u64,
}

/// What the log says of the ports: `1-2`, `2-1.4`.
#[derive(Debug, Default)]
struct Logged<'t> {
    mbits: Map<&'t str, f64>,
    resets: Map<&'t str, (u32, u64)>,
    disconnects: Map<&'t str, (u32, u64)>,
    /// Port and driver of a network adapter.
    adapters: Map<&'t str, (&'t str, u64)>,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let tree = tree(lines);
    let log = logged(lines);
    let chips = chips(lines);
    let adapters = adapters(&tree, &log);
    let mut facts: Vec<Fact> = [
        below_nic(&adapters, lines),
        is_usb3(&chips, &adapters),
        neighbour(&tree),
        generic(&chips, &adapters, lines),
    ]
    .into_iter()
    .flatten()
    .collect();
    facts.extend(most(&log, &log.resets, "usb_resets_logged"));
    facts.extend(most(&log, &log.disconnects, "usb_disconnects_logged"));
    facts
}

/// `|__ Port 1: Dev 7, If 0, Class=Vendor Specific Class, Driver=lan78xx, 480M`, below `/:  Bus 01.Port 1: …`.
fn tree<'t>(lines: &[Line<'t>]) -> Vec<Device<'t>> {
    let mut all = Vec::new();
    let mut bus = 0;
    for line in lines
        .iter()
        .filter(|line| line.text.contains("Driver=") && line.text.contains("Class="))
    {
        if line.text.contains("root_hub") {
            bus += 1;
            continue;
        }
        all.extend(leaf(line, bus));
    }
    all
}

fn leaf<'t>(line: &Line<'t>, bus: u32) -> Option<Device<'t>> {
    let number = line.text.split_once("Dev ")?.1.split(',').next()?;
    let (driver, rest) = line.text.split_once("Driver=")?.1.split_once(',')?;
    let driver = driver.split('/').next()?.trim();
    let mbits = rest
        .trim()
        .trim_end_matches(',')
        .strip_suffix('M')?
        .parse()
        .ok()?;
    Some(Device {
        bus,
        number,
        driver,
        mbits,
        line: line.number,
    })
}

fn logged<'t>(lines: &[Line<'t>]) -> Logged<'t> {
    let mut log = Logged::default();
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some((_, rest)) = line
            .text
            .split_once("usb ")
            .filter(|_| line.text.contains("USB device") || line.text.contains("USB disconnect"))
        {
            log.add(line, rest);
        } else if line.text.contains(':') && NETWORK.iter().any(|driver| line.text.contains(driver))
        {
            log.adapters.extend(bound(line));
        }
    }
    log
}

impl<'t> Logged<'t> {
    /// `1-2: new high-speed USB device number 5 using xhci_hcd`.
    fn add(&mut self, line: &Line<'t>, rest: &'t str) -> Option<()> {
        let (port, what) = rest.split_once(": ")?;
        (is_port(port)).then_some(())?;
        if what.starts_with("USB disconnect") {
            self.disconnects.entry(port).or_insert((0, line.number)).0 += 1;
        } else if what.starts_with("reset ") {
            self.resets.entry(port).or_insert((0, line.number)).0 += 1;
        } else {
            let speed = what.strip_prefix("new ")?.split(" USB").next()?;
            let (_, mbits) = SPEEDS
                .iter()
                .find(|(name, _)| speed.eq_ignore_ascii_case(name))?;
            self.mbits.insert(port, *mbits);
        }
        Some(())
    }
}

fn is_port(text: &str) -> bool {
    text.contains('-')
        && text
            .bytes()
            .all(|letter| letter.is_ascii_digit() || letter == b'-' || letter == b'.')
}

/// `r8152 1-2:1.0 eth0: v1.12.13`.
fn bound<'t>(line: &Line<'t>) -> Option<(&'t str, (&'t str, u64))> {
    let mut words = line
        .text
        .split_whitespace()
        .skip_while(|word| !NETWORK.contains(word));
    let driver = words.next()?;
    let (port, _) = words.next()?.trim_end_matches(':').split_once(':')?;
    is_port(port).then_some((port, (driver, line.number)))
}

/// Driver, port's speed and line of each network adapter.
fn adapters<'t>(tree: &[Device<'t>], log: &Logged<'t>) -> Vec<(&'t str, f64, u64)> {
    let listed = tree
        .iter()
        .filter(|one| is_network(one.driver))
        .map(|one| (one.driver, one.mbits, one.line));
    let logged = log
        .adapters
        .iter()
        .filter_map(|(port, (driver, line))| Some((*driver, *log.mbits.get(port)?, *line)));
    listed.chain(logged).collect()
}

/// Whether the port carries less than the network link; nothing where several links leave it open.
fn below_nic(adapters: &[(&str, f64, u64)], lines: &[Line<'_>]) -> Option<Fact> {
    adapters.first()?;
    let speed = |line: &Line<'_>| {
        let rest = line.text.trim_start().strip_prefix("Speed: ")?;
        number_after(rest, "").filter(|_| rest.contains("b/s"))
    };
    let links: Vec<f64> = lines.iter().filter_map(speed).collect();
    let of_driver = |driver: &str| {
        FASTEST
            .iter()
            .find(|(name, _)| *name == driver)
            .map(|(_, mbits)| *mbits)
    };
    let one = |(driver, mbits, line): &(&str, f64, u64)| {
        let nic = if links.is_empty() {
            vec![of_driver(driver)?]
        } else {
            links.clone()
        };
        let below = nic.iter().filter(|nic| *mbits < **nic).count();
        (below == 0 || below == nic.len()).then_some((below > 0, *line))
    };
    let all: Vec<(bool, u64)> = adapters.iter().filter_map(one).collect();
    let (below, line) = all
        .iter()
        .find(|(below, _)| *below)
        .or_else(|| all.first())?;
    Some(Fact::new("usb_below_nic", below, *line))
}

/// Ids of network chips: the first of each pair is whether they can do more than USB 2.
fn chips(lines: &[Line<'_>]) -> Vec<(bool, u64)> {
    let chip = |line: &Line<'_>| {
        let text = line.text;
        let is_listed = text.contains("ID ") || text.contains("idProduct=");
        let id = is_listed.then(|| id(text))??;
        let (_, can) = CHIPS
            .iter()
            .find(|(known, _)| id.eq_ignore_ascii_case(known))?;
        Some((*can, line.number))
    };
    lines.iter().filter_map(chip).collect()
}

/// `ID 0bda:8153`, `idVendor=0bda, idProduct=8153`.
fn id(text: &str) -> Option<String> {
    if let Some((_, rest)) = text.split_once("idVendor=") {
        let product = rest.split_once("idProduct=")?.1;
        return Some(format!("{}:{}", rest.get(..4)?, product.get(..4)?));
    }
    text.split_once("ID ")?.1.get(..9).map(str::to_owned)
}

/// What runs faster than USB 2 or has a chip that can.
fn is_usb3(chips: &[(bool, u64)], adapters: &[(&str, f64, u64)]) -> Option<Fact> {
    let fast = adapters.iter().find(|(_, mbits, _)| *mbits > 480.0);
    let known = fast.map(|(.., line)| (true, *line));
    let able = || chips.iter().find(|(can, _)| *can).copied();
    let (can, line) = known.or_else(able).or_else(|| chips.first().copied())?;
    Some(Fact::new("usb_adapter_is_usb3", can, line))
}

/// Whether a disk, a camera or a second adapter is on the adapter's bus.
fn neighbour(tree: &[Device<'_>]) -> Option<Fact> {
    let adapters: Vec<&Device<'_>> = tree.iter().filter(|one| is_network(one.driver)).collect();
    let first = adapters.first()?.line;
    let beside = |one: &&Device<'_>| {
        let is_busy = BUSY.contains(&one.driver) || is_network(one.driver);
        is_busy
            && adapters
                .iter()
                .any(|other| other.bus == one.bus && other.number != one.number)
    };
    let busy = tree.iter().find(beside);
    Some(Fact::new(
        "usb_busy_neighbour",
        busy.is_some(),
        busy.map_or(first, |one| one.line),
    ))
}

/// A chip with a driver of its own that a driver of the class runs.
fn generic(
    chips: &[(bool, u64)],
    adapters: &[(&str, f64, u64)],
    lines: &[Line<'_>],
) -> Option<Fact> {
    chips.first()?;
    let of_ethtool = lines
        .iter()
        .filter_map(|line| Some((line.text.strip_prefix("driver: ")?.trim(), line.number)));
    let named = adapters.iter().map(|(driver, _, line)| (*driver, *line));
    let all: Vec<(&str, u64)> = named
        .chain(of_ethtool)
        .filter(|(driver, _)| is_network(driver))
        .collect();
    let own = all.iter().any(|(driver, _)| !GENERIC.contains(driver));
    let line = all.first()?.1;
    Some(Fact::new("usb_generic_driver_for_known_chip", !own, line))
}

/// The most of one port: of an adapter's, or of the only one.
fn most(log: &Logged<'_>, counts: &Map<&str, (u32, u64)>, name: &'static str) -> Option<Fact> {
    let known: BTreeSet<&str> = log.adapters.keys().copied().gather();
    let is_one = |port: &str| known.contains(port) || (known.is_empty() && counts.len() == 1);
    let of_adapters = counts.iter().filter(|(port, _)| is_one(port));
    let (count, line) = of_adapters.map(|(_, count)| *count).max()?;
    Some(Fact::new(name, count, line))
}

fn is_network(driver: &str) -> bool {
    NETWORK.contains(&driver)
}

const NETWORK: &[&str] = &[
    "r8152",
    "ax88179_178a",
    "asix",
    "lan78xx",
    "smsc95xx",
    "smsc75xx",
    "cdc_ether",
    "cdc_ncm",
    "aqc111",
    "rtl8150",
    "r8153_ecm",
    "pegasus",
    "mcs7830",
    "dm9601",
    "sr9700",
    "sr9800",
];
const GENERIC: &[&str] = &["cdc_ether", "cdc_ncm"];
const BUSY: &[&str] = &[
    "usb-storage",
    "uas",
    "uvcvideo",
    "em28xx",
    "gspca_main",
    "dvb_usb_rtl28xxu",
];
/// What chips of a driver do at most, Mbit/s, where it drives no slower ones.
const FASTEST: &[(&str, f64)] = &[
    ("lan78xx", 1000.0),
    ("ax88179_178a", 1000.0),
    ("aqc111", 5000.0),
    ("smsc95xx", 100.0),
    ("r8153_ecm", 1000.0),
];
const SPEEDS: &[(&str, f64)] = &[
    ("low-speed", 1.5),
    ("full-speed", 12.0),
    ("high-speed", 480.0),
    ("low speed", 1.5),
    ("full speed", 12.0),
    ("high speed", 480.0),
    ("SuperSpeed", 5000.0),
    ("SuperSpeed Gen 1", 5000.0),
    ("SuperSpeed Plus", 10000.0),
    ("SuperSpeed Plus Gen 2", 10000.0),
    ("SuperSpeed Plus Gen 2x1", 10000.0),
];
/// Chips, and whether they can do more than USB 2.
const CHIPS: &[(&str, bool)] = &[
    ("0bda:8152", false),
    ("0bda:8153", true),
    ("0bda:8155", true),
    ("0bda:8156", true),
    ("0bda:8157", true),
    ("0b95:1790", true),
    ("0b95:178a", false),
    ("0b95:772a", false),
    ("0b95:772b", false),
    ("0b95:7720", false),
    ("0b95:7e2b", false),
    ("2eca:c101", true),
    ("0b95:2790", true),
    ("2357:0601", true),
    ("13b1:0041", true),
    ("045e:07c6", true),
    ("045e:0927", true),
    ("0424:ec00", false),
    ("0424:9514", false),
];
const LINE_MOST: usize = 300;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::*;

    assertions!(is, facts);

    const TREE: &str = "/:  Bus 01.Port 1: Dev 1, Class=root_hub, Driver=dwc_otg/1p, 480M\n    |__ Port 1: Dev 7, If 0, Class=Vendor Specific Class, Driver=lan78xx, 480M\n";

    #[test]
    fn a_slow_port() {
        is(TREE, "usb_below_nic", Some("true"));
        is(
            &format!("{TREE}\tSpeed: 100Mb/s\n"),
            "usb_below_nic",
            Some("false"),
        );
        is(
            &format!("{TREE}\tSpeed: 100Mb/s\n\tSpeed: 1000Mb/s\n"),
            "usb_below_nic",
            None,
        );
        is(
            &TREE.replace("lan78xx", "usb-storage"),
            "usb_below_nic",
            None,
        );
        let log = "usb 1-2: new high-speed USB device number 5 using xhci_hcd\nusb 1-2: New USB device found, idVendor=0bda, idProduct=8153, bcdDevice=31.00\nr8152 1-2:1.0 eth1: v1.12.13\n\tSpeed: 1000Mb/s\n";
        is(log, "usb_below_nic", Some("true"));
        is(log, "usb_adapter_is_usb3", Some("true"));
        is(
            &log.replace("new high-speed", "new SuperSpeed"),
            "usb_below_nic",
            Some("false"),
        );
    }

    #[test]
    fn what_else_is_on_the_bus() {
        is(TREE, "usb_busy_neighbour", Some("false"));
        is(
            &format!(
                "{TREE}    |__ Port 3: Dev 4, If 0, Class=Mass Storage, Driver=usb-storage, 480M\n"
            ),
            "usb_busy_neighbour",
            Some("true"),
        );
        let other = "/:  Bus 02.Port 1: Dev 1, Class=root_hub, Driver=xhci_hcd/4p, 5000M\n    |__ Port 3: Dev 4, If 0, Class=Mass Storage, Driver=uas, 5000M\n";
        is(
            &format!("{TREE}{other}"),
            "usb_busy_neighbour",
            Some("false"),
        );
        is(other, "usb_busy_neighbour", None);
    }

    #[test]
    fn resets_and_disconnects_of_the_adapter() {
        let log = "usb 2-1: USB disconnect, device number 4\nr8152 2-1:1.0 eth1: Stop submitting intr, status -108\nusb 1-4: USB disconnect, device number 9\nusb 2-1: USB disconnect, device number 5\nusb 2-1: reset SuperSpeed USB device number 5 using xhci_hcd\n";
        is(log, "usb_disconnects_logged", Some("2"));
        is(log, "usb_resets_logged", Some("1"));
        is(
            "usb 1-4: USB disconnect, device number 9\nusb 1-5: USB disconnect, device number 3\n",
            "usb_disconnects_logged",
            None,
        );
    }

    #[test]
    fn a_generic_driver() {
        let text = |driver: &str| {
            format!(
                "Bus 002 Device 003: ID 0bda:8156 Realtek Semiconductor Corp. USB 10/100/1G/2.5G LAN\n    |__ Port 1: Dev 3, If 0, Class=Communications, Driver={driver}, 5000M\n"
            )
        };
        is(
            &text("cdc_ncm"),
            "usb_generic_driver_for_known_chip",
            Some("true"),
        );
        is(
            &text("r8152"),
            "usb_generic_driver_for_known_chip",
            Some("false"),
        );
        is(
            "    |__ Port 1: Dev 3, If 0, Class=Communications, Driver=cdc_ncm, 5000M\n",
            "usb_generic_driver_for_known_chip",
            None,
        );
    }
}
