// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lspci`, the log of PCIe drivers: what the bus carries against what the network link brings, the old bus, cards without
//! driver, emulated cards.

use super::{Fact, number_after};
use crate::weigh::observed::Line;

/// A network card of a listing.
#[derive(Debug, Default)]
struct Card<'t> {
    title: &'t str,
    slot: &'t str,
    /// The fastest and the present rate of its PCIe link, bit/s.
    most: Option<f64>,
    now: Option<f64>,
    /// How many states of a link were listed for it.
    links: u32,
    latency: f64,
    is_express: bool,
    has_driver: bool,
    has_modules: bool,
    line: u64,
    /// The line that says it best.
    telling: u64,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let cards = cards(lines);
    let logged = lines.iter().filter_map(logged);
    let logged: Vec<(f64, u64)> = logged.collect();
    let mut facts: Vec<Fact> = [
        below_max(&cards),
        old_bus(&cards, lines),
        without_driver(&cards),
        virtual_function(&cards, lines),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !logged.is_empty() || cards.iter().any(|card| card.now.is_some()) {
        facts.extend(below_nic(&cards, &logged, links(lines)));
    }
    facts.extend(lines.iter().find_map(emulated));
    facts.extend(
        lines
            .iter()
            .filter_map(command_line)
            .take(COMMAND_LINES_MOST),
    );
    facts.extend(lines.iter().find_map(saving));
    facts
}

/// The network cards of `lspci`, with its lines below; lines without a title belong to one unnamed card.
fn cards<'t>(lines: &[Line<'t>]) -> Vec<Card<'t>> {
    let mut all: Vec<Card<'t>> = Vec::new();
    let mut is_card = true;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some((slot, title)) = device(line.text) {
            is_card = KINDS.iter().any(|kind| title.starts_with(kind));
            if is_card {
                all.push(Card {
                    title,
                    slot,
                    line: line.number,
                    telling: line.number,
                    ..Card::default()
                });
            }
            continue;
        }
        let text = line.text.trim_start();
        let tells = TELLING.iter().any(|start| text.starts_with(start));
        if !(is_card && tells) {
            continue;
        }
        if all.is_empty() {
            all.push(Card::default());
        }
        if let Some(card) = all.last_mut() {
            card.add(text, line.number);
        }
    }
    // Several links without a title are of anything.
    all.retain(|card| !card.title.is_empty() || card.links < 2);
    all
}

/// `01:00.0 Ethernet controller [0200]: Intel …`.
fn device(text: &str) -> Option<(&str, &str)> {
    text.as_bytes().first()?.is_ascii_hexdigit().then_some(())?;
    let (slot, title) = text.split_once(' ')?;
    let letters = slot
        .bytes()
        .all(|letter| letter.is_ascii_hexdigit() || letter == b':' || letter == b'.');
    let plain =
        (7..=12).contains(&slot.len()) && letters && slot.contains(':') && slot.contains('.');
    (plain && title.contains(": ")).then_some((slot, title))
}

impl Card<'_> {
    fn add(&mut self, text: &str, line: u64) {
        if text.starts_with("LnkCap:") {
            self.most = self.most.or_else(|| rate(text));
        } else if text.starts_with("LnkSta:") {
            // A grep leaves the titles of other devices out.
            if self.now.is_none() {
                (self.now, self.telling) = (rate(text), line);
            }
            self.links += 1;
        } else if text.starts_with("Latency:") {
            self.latency = number_after(text, "Latency:").unwrap_or(0.0);
        } else if let Some(latency) = number_after(text, ", latency ") {
            self.latency = latency;
        }
        self.is_express |= text.starts_with("Lnk") || text.contains("Express");
        self.has_driver |= text.starts_with("Kernel driver in use");
        self.has_modules |= text.starts_with("Kernel modules");
    }
}

/// What a PCIe link of `Speed 5GT/s, Width x8` carries in one direction, bit/s.
fn rate(text: &str) -> Option<f64> {
    let speed = number_after(text, "Speed ").or_else(|| number_after(text, "Speed:"))?;
    let width = number_after(text, "Width x").or_else(|| number_after(text, "Width: x"))?;
    (width > 0.0).then(|| carried(speed, width))
}

fn carried(speed: f64, width: f64) -> f64 {
    let of_code = if speed > 6.0 { 128.0 / 130.0 } else { 0.8 };
    speed * 1e9 * of_code * width
}

/// `ixgbe 0000:03:00.0: 4.000 Gb/s available PCIe bandwidth, limited by …`, `i40e: PCI-Express: Speed 8.0GT/s Width x4`.
fn logged(line: &Line<'_>) -> Option<(f64, u64)> {
    let text = line.text;
    text.contains("PCI").then_some(())?;
    if let Some((before, _)) = text.split_once(" Gb/s available PCIe bandwidth") {
        let other = OTHERS.iter().any(|driver| before.contains(driver));
        let rate: f64 = before.rsplit([' ', '(']).next()?.parse().ok()?;
        return (!other).then_some((rate * 1e9, line.number));
    }
    let is_of_driver =
        text.contains("GT/s") && (text.contains("PCI-Express: Speed") || text.contains("(Speed:"));
    let speed = is_of_driver.then(|| {
        rate(
            &text
                .replace(":Speed", ": Speed")
                .replace("(Speed:", "(Speed "),
        )
    })?;
    Some((speed?, line.number))
}

/// The rates of network links that a text names, bit/s.
fn links(lines: &[Line<'_>]) -> Vec<f64> {
    let link = |line: &Line<'_>| {
        let text = line.text;
        if let Some(rest) = text.trim_start().strip_prefix("Speed: ") {
            let rate = number_after(rest, "").filter(|_| rest.contains("b/s"))?;
            return Some(rate * 1e6);
        }
        let (_, rest) = text
            .split_once("ink is Up")
            .or_else(|| text.split_once("ink is up"))?;
        let rate = number_after(rest.trim_start_matches([' ', '-', ':', ',', 'a', 't']), "")?;
        Some(rate * if rest.contains("Gbps") { 1e9 } else { 1e6 })
    };
    let all = lines.iter().filter(|line| line.text.len() < LINE_MOST);
    all.filter_map(link).filter(|rate| *rate >= 1e7).collect()
}

/// The rate in the name of a card, bit/s: `10-Gigabit SFI/SFP+`, `25GbE`, `2.5GbE Controller`.
fn named(title: &str) -> Option<f64> {
    let places = ["Gigabit", "GbE", "Gbase", "GBASE", "GBase"];
    let (before, _) = places.iter().find_map(|unit| title.split_once(unit))?;
    let digits = before.trim_end_matches([' ', '-']);
    let start = digits.rfind(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let number = digits.get(start.map_or(0, |at| at + 1)..)?;
    let is_number = before.len() - digits.len() < 2 && !number.is_empty();
    // `I350 Gigabit`: a name ends in digits, too.
    let number = if is_number {
        number.parse().ok().filter(|rate| RATES.contains(rate))
    } else {
        None
    };
    Some(number.unwrap_or(1.0) * 1e9)
}

fn below_max(cards: &[Card<'_>]) -> Option<Fact> {
    let known = || {
        cards
            .iter()
            .filter_map(|card| Some((card.now? < card.most?, card.telling)))
    };
    let (below, line) = known()
        .find(|(below, _)| *below)
        .or_else(|| known().next())?;
    Some(Fact::new("pcie_below_max", below, line))
}

/// Whether the bus carries less than the network link brings. Where links of several speeds are named, all must agree.
fn below_nic(cards: &[Card<'_>], logged: &[(f64, u64)], links: Vec<f64>) -> Option<Fact> {
    let fastest = links.iter().copied().fold(0.0, f64::max);
    let known = (fastest > 0.0).then_some(fastest);
    let of_card = |card: &Card<'_>| {
        let named = named(card.title);
        let nic = match (known, named) {
            (Some(link), Some(name)) => link.min(name),
            (link, name) => link.or(name)?,
        };
        Some((card.now? < nic, card.telling))
    };
    let of_log = |(rate, line): &(f64, u64)| Some((*rate < known?, *line));
    let all: Vec<(bool, u64)> = cards
        .iter()
        .filter_map(of_card)
        .chain(logged.iter().filter_map(of_log))
        .collect();
    let (below, line) = all
        .iter()
        .find(|(below, _)| *below)
        .or_else(|| all.first())?;
    Some(Fact::new("pcie_below_nic", below, *line))
}

/// A latency timer and no Express capability, `(PCI:33MHz:32-bit)`: false where every card is on Express.
fn old_bus(cards: &[Card<'_>], lines: &[Line<'_>]) -> Option<Fact> {
    let is_old = |card: &&Card<'_>| card.latency > 0.0 && !card.is_express && !is_root(card.slot);
    let by_log = |line: &&Line<'_>| {
        let text = line.text;
        text.contains("(PCI:")
            && (text.contains("(PCI:33MHz") || text.contains("(PCI:66MHz"))
            && !VIRTUAL_MACS.iter().any(|mac| text.contains(mac))
    };
    let old = cards.iter().find(is_old).map(|card| card.line);
    if let Some(line) = old.or_else(|| lines.iter().find(by_log).map(|line| line.number)) {
        return Some(Fact::new("conventional_pci", true, line));
    }
    let express = cards.iter().all(|card| card.is_express);
    let first = cards.first().filter(|_| express)?;
    Some(Fact::new("conventional_pci", false, first.telling))
}

/// What is in the chipset hangs on no slot.
fn is_root(slot: &str) -> bool {
    let bus = slot.rsplit(':').nth(1);
    bus == Some("00")
}

/// A card for which the kernel has modules and none is bound; false where each has its driver.
fn without_driver(cards: &[Card<'_>]) -> Option<Fact> {
    let without = cards
        .iter()
        .find(|card| card.has_modules && !card.has_driver);
    let all_have = !cards.is_empty() && cards.iter().all(|card| card.has_driver);
    let line = without.or_else(|| cards.first().filter(|_| all_have))?.line;
    Some(Fact::new(
        "lspci_network_without_driver",
        without.is_some(),
        line,
    ))
}

/// Only virtual functions are listed, or the driver is one of them: a host lists its physical ones, too.
fn virtual_function(cards: &[Card<'_>], lines: &[Line<'_>]) -> Option<Fact> {
    let titled: Vec<&Card<'_>> = cards
        .iter()
        .filter(|card| card.title.starts_with("Ethernet"))
        .collect();
    let is_virtual = |card: &&&Card<'_>| card.title.contains("Virtual Function");
    let line = if titled.is_empty() || titled.iter().filter(is_virtual).count() < titled.len() {
        let driver = |line: &&Line<'_>| {
            let name = line.text.strip_prefix("driver: ").map(str::trim);
            name.is_some_and(|name| {
                ["iavf", "ixgbevf", "i40evf", "igbvf", "bnxt_vf", "fm10k_vf"].contains(&name)
            })
        };
        lines.iter().find(driver)?.number
    } else {
        titled.first()?.line
    };
    Some(Fact::new("interface_is_vf", true, line))
}

/// The configuration of a virtual machine, or its log, with a card that QEMU or VMware emulates.
fn emulated(line: &Line<'_>) -> Option<Fact> {
    let text = line.text;
    let is_named = text.contains("e1000") || text.contains("rtl8139") || text.contains("pcnet");
    (is_named && text.len() < LINE_MOST).then_some(())?;
    let squeezed = text.replace(['\'', '"', ' '], "");
    let configured = EMULATED.iter().any(|model| {
        CONFIGURED
            .iter()
            .any(|key| squeezed.contains(&format!("{key}{model}")))
    });
    let words: Vec<&str> = text.split_whitespace().collect();
    let listed = words.get(3).is_some_and(|model| EMULATED.contains(model))
        && words
            .get(4)
            .is_some_and(|mac| mac.matches(':').count() == 5);
    let has_virtual_mac = VIRTUAL_MACS.iter().any(|mac| text.contains(mac));
    let emulated = configured || listed || (has_virtual_mac && text.contains("e1000 "));
    emulated.then(|| Fact::new("vm_emulated_card", true, line.number))
}

/// `Kernel command line: …`, `BOOT_IMAGE=… ro quiet`, `GRUB_CMDLINE_LINUX="…"`.
fn command_line(line: &Line<'_>) -> Option<Fact> {
    let text = line.text;
    text.contains('=').then_some(())?;
    let marks = ["ommand line: ", "BOOT_IMAGE=", "GRUB_CMDLINE_LINUX"];
    let (before, rest) = marks.iter().find_map(|mark| text.split_once(mark))?;
    (!before.trim_start().starts_with('#'))
        .then(|| Fact::new("kernel_command_line", rest, line.number))
}

/// `[default] performance powersave powersupersave`.
fn saving(line: &Line<'_>) -> Option<Fact> {
    let text = line.text;
    if let Some((_, rest)) = text
        .split_once('=')
        .and_then(|_| text.split_once("pcie_aspm.policy="))
    {
        let policy = rest.split_whitespace().next()?;
        return Some(Fact::new("pcie_aspm_policy", policy, line.number));
    }
    text.contains("powersave").then_some(())?;
    let (before, rest) = text.split_once('[')?;
    let (policy, after) = rest.split_once(']')?;
    let others = || {
        before
            .split_whitespace()
            .chain(after.split_whitespace())
            .chain([policy])
    };
    let has = |name: &str| others().any(|one| one == name);
    let is_list =
        text.len() < LINE_MOST && has("default") && has("performance") && has("powersave");
    is_list.then(|| Fact::new("pcie_aspm_policy", policy, line.number))
}

const KINDS: &[&str] = &[
    "Ethernet controller",
    "Network controller",
    "Infiniband controller",
];
const TELLING: &[&str] = &[
    "LnkCap:",
    "LnkSta:",
    "Latency:",
    "Flags:",
    "Capabilities:",
    "Kernel driver in use",
    "Kernel modules",
];
/// Who else says what PCIe carries.
const OTHERS: &[&str] = &[
    "pci 0", "amdgpu", "nouveau", "nvme", "radeon", "i915", "pcieport",
];
/// Rates of cards, Gbit/s.
const RATES: &[f64] = &[
    1.0, 2.5, 5.0, 10.0, 20.0, 25.0, 40.0, 50.0, 56.0, 100.0, 200.0, 400.0,
];
/// What hypervisors begin the addresses of their cards with.
const VIRTUAL_MACS: &[&str] = &[
    "52:54:00", "00:0c:29", "00:50:56", "08:00:27", "00:16:3e", "00:1c:42", "bc:24:11",
];
const EMULATED: &[&str] = &["e1000", "e1000e", "rtl8139", "pcnet"];
const CONFIGURED: &[&str] = &[
    "modeltype=",
    "-device",
    "virtualDev=",
    "net0:",
    "net1:",
    "model=",
    "net0=",
    "networkInterface:",
];
const COMMAND_LINES_MOST: usize = 4;
const LINE_MOST: usize = 600;

#[cfg(test)]
mod tests {
    use super::super::value_of;
    use super::*;

    fn value(text: &str, name: &str) -> Option<String> {
        value_of(text, facts, name)
    }

    fn is(text: &str, name: &str, expected: Option<&str>) {
        assert_eq!(value(text, name).as_deref(), expected, "{name} of {text}");
    }

    #[test]
    fn a_narrow_link() {
        let card = |sta: &str| {
            format!(
                "03:00.0 Ethernet controller: Intel Corporation 82599ES 10-Gigabit SFI/SFP+ (rev 01)\n\t\tLnkCap:\tPort #0, Speed 5GT/s, Width x8, ASPM L0s\n\t\tLnkSta:\tSpeed {sta}, TrErr- Train-\n"
            )
        };
        let narrow = card("5GT/s (ok), Width x1 (downgraded)");
        is(&narrow, "pcie_below_max", Some("true"));
        is(&narrow, "pcie_below_nic", Some("true"));
        is(&narrow, "conventional_pci", Some("false"));
        let full = card("5GT/s, Width x8");
        is(&full, "pcie_below_max", Some("false"));
        is(&full, "pcie_below_nic", Some("false"));
        let at_a_gigabit = format!("{narrow}\tSpeed: 1000Mb/s\n");
        is(&at_a_gigabit, "pcie_below_nic", Some("false"));
        is(
            "00:02.0 VGA compatible controller: Intel\n\t\tLnkCap: Port #0, Speed 8GT/s, Width x16\n\t\tLnkSta: Speed 2.5GT/s, Width x16\n",
            "pcie_below_max",
            None,
        );
    }

    #[test]
    fn links_without_their_devices() {
        let link = |width: u32| {
            format!(
                "\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x8, ASPM L0s\n\t\tLnkSta:\tSpeed 8GT/s, Width x{width}\n"
            )
        };
        is(&link(4), "pcie_below_max", Some("true"));
        is(&(link(8) + &link(4)), "pcie_below_max", None);
        let named = format!(
            "03:00.0 Ethernet controller: Intel Corporation X710 for 10GbE SFP+\n{}{}",
            link(8),
            link(4)
        );
        is(&named, "pcie_below_max", Some("false"));
    }

    #[test]
    fn what_drivers_log() {
        let text = "ixgbe 0000:03:00.0: 4.000 Gb/s available PCIe bandwidth, limited by 5.0 GT/s PCIe x1 link at 0000:00:1c.4 (capable of 32.000 Gb/s with 5.0 GT/s PCIe x8 link)\n";
        is(text, "pcie_below_nic", None);
        is(
            &format!("{text}        Speed: 10000Mb/s\n"),
            "pcie_below_nic",
            Some("true"),
        );
        let gpu = text.replace("ixgbe", "amdgpu");
        is(
            &format!("{gpu}        Speed: 10000Mb/s\n"),
            "pcie_below_nic",
            None,
        );
    }

    #[test]
    fn rates_in_names() {
        for (title, rate) in [
            (
                "Intel Corporation I350 Gigabit Network Connection",
                Some(1e9),
            ),
            ("Realtek RTL8125 2.5GbE Controller", Some(2.5e9)),
            (
                "Intel Corporation Ethernet Controller XXV710 for 25GbE SFP28",
                Some(25e9),
            ),
            ("Mellanox Technologies MT27800 Family [ConnectX-5]", None),
        ] {
            assert_eq!(named(title), rate, "{title}");
        }
    }

    #[test]
    fn the_old_bus() {
        let card = "05:01.0 Ethernet controller: Intel Corporation 82541PI Gigabit Ethernet Controller\n        Latency: 64 (63750ns min), Cache Line Size: 32 bytes\n";
        is(card, "conventional_pci", Some("true"));
        is(&card.replace("64 (", "0 ("), "conventional_pci", None);
        is(
            "e1000 0000:00:03.0 eth0: (PCI:33MHz:32-bit) 52:54:00:12:34:56\n",
            "conventional_pci",
            None,
        );
        is(
            "e1000 0000:00:03.0 eth0: (PCI:33MHz:32-bit) 52:54:00:12:34:56\n",
            "vm_emulated_card",
            Some("true"),
        );
    }

    #[test]
    fn drivers() {
        let without = "03:00.0 Ethernet controller [0200]: Realtek Device [10ec:8126]\n\tKernel modules: r8169\n";
        is(without, "lspci_network_without_driver", Some("true"));
        is(
            &format!("{without}\tKernel driver in use: r8169\n"),
            "lspci_network_without_driver",
            Some("false"),
        );
        is(
            "03:00.0 Ethernet controller [0200]: Realtek\n",
            "lspci_network_without_driver",
            None,
        );
        is(
            "06:10.0 Ethernet controller: Intel X540 Ethernet Controller Virtual Function\n",
            "interface_is_vf",
            Some("true"),
        );
        is(
            "06:00.0 Ethernet controller: Intel X540\n06:10.0 Ethernet controller: Intel X540 Virtual Function\n",
            "interface_is_vf",
            None,
        );
    }

    #[test]
    fn emulated_cards() {
        for text in [
            " vnet0      network    default    rtl8139     52:54:00:00:00:01",
            "      <model type='e1000'/>",
            "net0: e1000=BC:24:11:00:00:01,bridge=vmbr0",
            "qemu-system-x86_64 -device e1000,netdev=n0",
        ] {
            is(text, "vm_emulated_card", Some("true"));
        }
        is(
            "e1000e 0000:00:1f.6 eno1: Detected Hardware Unit Hang",
            "vm_emulated_card",
            None,
        );
    }

    #[test]
    fn options_of_the_kernel() {
        is(
            "[    0.0] Kernel command line: BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro pcie_aspm=off",
            "kernel_command_line",
            Some("BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro pcie_aspm=off"),
        );
        is("I booted with pcie_aspm=off", "kernel_command_line", None);
        is(
            "default performance [powersave] powersupersave",
            "pcie_aspm_policy",
            Some("powersave"),
        );
        is(
            "conservative ondemand [powersave] performance",
            "pcie_aspm_policy",
            None,
        );
    }
}
