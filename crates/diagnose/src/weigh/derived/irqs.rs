// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/interrupts`: cards and PHYs whose interrupts do not arrive; interrupts a second; irqbalance.

use std::collections::BTreeSet;

use linerate_model::map::Map;

use super::Fact;
use crate::weigh::observed::Line;

/// A row of the table.
struct Row<'t> {
    label: &'t str,
    total: u64,
    /// The last word: `eth0-rx-3`, `mdio-mii:00`.
    name: &'t str,
    line: u64,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let rows: Vec<Row<'_>> = lines.iter().filter_map(row).collect();
    [
        device_zero(&rows, lines),
        device_frozen(&rows),
        phy_zero(&rows),
        per_second(lines),
        balancing(lines),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// ` 56:  271490338  0  PCI-MSI-edge  ens192-rxtx-0`; a grep leaves the title out, so that the controller must be known.
fn row<'t>(line: &Line<'t>) -> Option<Row<'t>> {
    let text = line.text;
    (text.len() < LINE_MOST).then_some(())?;
    let (label, rest) = text.split_once(':')?;
    let label = label.trim();
    (!label.is_empty() && label.len() < 6 && label.bytes().all(|letter| letter.is_ascii_digit()))
        .then_some(())?;
    CONTROLLERS
        .iter()
        .any(|mark| rest.contains(mark))
        .then_some(())?;
    let counts: Vec<u64> = rest
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    let name = text.split_whitespace().next_back()?;
    (!counts.is_empty()).then(|| Row {
        label,
        total: counts.iter().sum(),
        name,
        line: line.number,
    })
}

/// `eth0` of `eth0-rx-3`, `enp1s0f0-TxRx-5`.
fn interface(name: &str) -> Option<&str> {
    let name = name.split(['-', '@']).next()?;
    let starts = ["eth", "en", "em", "lan", "wlan", "wlp"];
    let ends = name.ends_with(|letter: char| letter.is_ascii_digit());
    (starts.iter().any(|start| name.starts_with(start)) && ends && !name.contains(':'))
        .then_some(name)
}

/// The interrupts of an interface, all vectors together.
#[derive(Debug, Default, Clone, Copy)]
struct Device {
    first: u64,
    last: u64,
    readings: u32,
    line: u64,
}

fn devices<'t>(rows: &[Row<'t>]) -> Map<&'t str, Device> {
    let mut vectors: Map<(&str, &'t str), Device> = Map::new();
    for row in rows.iter().filter(|row| interface(row.name).is_some()) {
        let vector = vectors.entry((row.label, row.name)).or_insert(Device {
            first: row.total,
            line: row.line,
            ..Device::default()
        });
        (vector.last, vector.readings) = (row.total, vector.readings + 1);
    }
    let mut all: Map<&'t str, Device> = Map::new();
    for ((_, name), vector) in vectors {
        let device = all.entry(interface(name).unwrap_or(name)).or_default();
        device.first += vector.first;
        device.last += vector.last;
        device.readings = device.readings.max(vector.readings);
        device.line = vector.line;
    }
    all
}

/// A card with link that raised no interrupt. An unplugged one need not.
fn device_zero(rows: &[Row<'_>], lines: &[Line<'_>]) -> Option<Fact> {
    let all = devices(rows);
    let first = all.values().next()?.line;
    let mut zero = all
        .iter()
        .filter(|(_, one)| one.last == 0)
        .take(LOOKED_UP_MOST)
        .peekable();
    if zero.peek().is_none() {
        return Some(Fact::new("irq_device_count_zero", false, first));
    }
    let linked = zero.find(|(name, _)| has_link(name, lines).unwrap_or(all.len() == 1))?;
    Some(Fact::new("irq_device_count_zero", true, linked.1.line))
}

/// Whether a text says that an interface has link.
fn has_link(name: &str, lines: &[Line<'_>]) -> Option<bool> {
    let up = [
        "LOWER_UP",
        "ink is Up",
        "ink is up",
        "link becomes ready",
        "RUNNING",
    ];
    let down = ["NO-CARRIER", "ink is Down", "ink is not ready"];
    let says = |line: &Line<'_>| {
        line.text.contains(name).then_some(())?;
        let has = |marks: &[&str]| marks.iter().any(|mark| line.text.contains(mark));
        if has(&down) {
            Some(false)
        } else {
            has(&up).then_some(true)
        }
    };
    lines.iter().filter_map(says).next_back()
}

/// Two readings of a card between which others counted and this one did not.
fn device_frozen(rows: &[Row<'_>]) -> Option<Fact> {
    let all = devices(rows);
    let twice = || all.iter().filter(|(_, one)| one.readings > 1);
    let first = twice().next()?.1.line;
    let grown = grown(rows);
    let others = |name: &str| grown.iter().any(|owner| *owner != Some(name));
    let still = || twice().filter(|(_, one)| one.first == one.last);
    if let Some((_, one)) = still().find(|(name, one)| one.first > 0 && others(name)) {
        return Some(Fact::new("irq_device_count_frozen", true, one.line));
    }
    let none = still().next().is_none();
    none.then(|| Fact::new("irq_device_count_frozen", false, first))
}

/// Whose rows counted between two readings: an interface or anything else.
fn grown<'t>(rows: &[Row<'t>]) -> BTreeSet<Option<&'t str>> {
    let mut seen: Map<(&str, &str), u64> = Map::new();
    let mut owners = BTreeSet::new();
    for row in rows {
        let before = seen.entry((row.label, row.name)).or_insert(row.total);
        if row.total > *before {
            owners.insert(interface(row.name));
        }
    }
    owners
}

/// Whether no PHY raised an interrupt; nothing where some did and others not: a port may be empty.
fn phy_zero(rows: &[Row<'_>]) -> Option<Fact> {
    let phys: Vec<&Row<'_>> = rows.iter().filter(|row| is_phy(row.name)).collect();
    let first = phys.first()?;
    let zero = phys.iter().filter(|row| row.total == 0).count();
    (zero == 0 || zero == phys.len()).then(|| Fact::new("irq_phy_count_zero", zero > 0, first.line))
}

/// `stmmac-0:01`, `2188000.ethernet-1:00`: a bus and an address.
fn is_phy(name: &str) -> bool {
    let Some((bus, address)) = name.rsplit_once(':') else {
        return false;
    };
    let is_address = address.len() == 2 && address.bytes().all(|letter| letter.is_ascii_hexdigit());
    is_address && BUSES.iter().any(|part| bus.contains(part))
}

/// The column `in` of vmstat without the first row, which is since boot, `intr/s` of mpstat.
fn per_second(lines: &[Line<'_>]) -> Option<Fact> {
    let mut column: Option<(usize, bool)> = None;
    let mut rows = 0;
    let mut most: Option<(f64, u64)> = None;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some(found) = rate_column(line.text) {
            (column, rows) = (Some(found), 0);
            continue;
        }
        let Some((from_end, is_vmstat)) = column else {
            continue;
        };
        let Some(value) = number(line.text, from_end) else {
            column = column.filter(|_| line.text.trim().is_empty() || is_vmstat);
            continue;
        };
        rows += 1;
        let counts = !is_vmstat || rows > 1;
        if counts && most.is_none_or(|(other, _)| value > other) {
            most = Some((value, line.number));
        }
    }
    let (value, line) = most?;
    Some(Fact::new("interrupts_per_second", value, line))
}

fn rate_column(text: &str) -> Option<(usize, bool)> {
    let is_vmstat = text.contains(" in ")
        && text.contains(" cs ")
        && text.contains(" us ")
        && text.contains(" id");
    (is_vmstat || text.contains("intr/s")).then_some(())?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words
        .iter()
        .position(|word| *word == "intr/s" || (is_vmstat && *word == "in"))?;
    Some((words.len() - at, is_vmstat))
}

fn number(text: &str, from_end: usize) -> Option<f64> {
    text.trim_end()
        .ends_with(|letter: char| letter.is_ascii_digit())
        .then_some(())?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let word = words.get(words.len().checked_sub(from_end)?)?;
    word.replace(',', ".").parse().ok()
}

/// `/usr/sbin/irqbalance --foreground` of ps, `irqbalance.service … active running`, `Active: active` below its name.
fn balancing(lines: &[Line<'_>]) -> Option<Fact> {
    let at = |(at, line): (usize, &Line<'_>)| -> Option<(bool, u64)> {
        let text = line.text;
        let below = || {
            lines.get(at + 1..)?.iter().take(6).find_map(|line| {
                let state = line.text.trim_start().strip_prefix("Active: ")?;
                Some(state.starts_with("active"))
            })
        };
        let says = if text.contains("grep") || text.trim_start().starts_with('#') {
            None
        } else if text.contains("irqbalance.service") {
            below()
                .or_else(|| text.contains("active running").then_some(true))
                .or_else(|| text.contains(" inactive ").then_some(false))
        } else {
            let not = [
                "irqbalance is not running",
                "irqbalance is stopped",
                "irqbalance is disabled",
                "irqbalance is off",
            ];
            let is = [
                "/usr/sbin/irqbalance",
                "/usr/bin/irqbalance",
                "irqbalance is running",
                "irqbalance is active",
                "irqbalance is enabled",
            ];
            let has = |marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
            if has(&not) {
                Some(false)
            } else {
                has(&is).then_some(true)
            }
        };
        Some((says?, line.number))
    };
    let named = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.text.contains("irqbalance"));
    let (runs, line) = named.filter_map(at).next()?;
    Some(Fact::new("irqbalance_running", runs, line))
}

const CONTROLLERS: &[&str] = &[
    "MSI", "APIC", "GIC", "Level", "Edge", "edge", "level", "fasteoi", "gpio", "MIPS", "INTC",
    "dummy", "bcm", "intc",
];
/// Of how many interfaces a text is searched for their link.
const LOOKED_UP_MOST: usize = 8;
/// Names of MDIO buses.
const BUSES: &[&str] = &[
    "mdio", "mii", "stmmac", "ethernet", "fixed", "mv88e6", "gpio-", "dsa", ".mac", "fec", "gmac",
    "phy",
];
const LINE_MOST: usize = 2000;

#[cfg(test)]
mod tests {
    use super::super::{assertions, values};
    use super::*;

    assertions!(is, facts);

    fn table(eth0: u32, timer: u32) -> String {
        format!(
            "           CPU0       CPU1\n 24:  {timer}  0   IO-APIC   2-edge      timer\n 56:  {eth0}  0   PCI-MSI-edge      eth0-rx-0\n 57:  0  0   PCI-MSI-edge      eth0-tx-0\n"
        )
    }

    #[test]
    fn a_card_without_interrupts() {
        is(&table(0, 9), "irq_device_count_zero", Some("true"));
        is(&table(5, 9), "irq_device_count_zero", Some("false"));
        is(
            &format!(
                "{}2: eth0: <NO-CARRIER,BROADCAST,UP> mtu 1500\n",
                table(0, 9)
            ),
            "irq_device_count_zero",
            None,
        );
        let second = " 60:  7  0   PCI-MSI-edge      eth1\n";
        is(
            &format!("{}{second}", table(0, 9)),
            "irq_device_count_zero",
            None,
        );
        is(
            &format!("{}{second}r8169: eth0: Link is Up - 1Gbps\n", table(0, 9)),
            "irq_device_count_zero",
            Some("true"),
        );
        assert_eq!(values("56: 0 of eth0\n2: eth0: <UP>\n", facts).len(), 0);
    }

    #[test]
    fn a_card_whose_interrupts_stopped() {
        is(
            &(table(5, 9) + &table(5, 12)),
            "irq_device_count_frozen",
            Some("true"),
        );
        is(
            &(table(5, 9) + &table(6, 12)),
            "irq_device_count_frozen",
            Some("false"),
        );
        is(
            &(table(5, 9) + &table(5, 9)),
            "irq_device_count_frozen",
            None,
        );
        is(&table(5, 9), "irq_device_count_frozen", None);
    }

    #[test]
    fn a_phy() {
        is(
            " 45:  0  0  gpio-mxc  10 Edge  2188000.ethernet-1:01\n",
            "irq_phy_count_zero",
            Some("true"),
        );
        is(
            " 45:  0  2  gpio-mxc  10 Edge  2188000.ethernet-1:01\n",
            "irq_phy_count_zero",
            Some("false"),
        );
        is(
            " 45:  0  0  gpio-mxc  10 Edge  0000:01\n",
            "irq_phy_count_zero",
            None,
        );
    }

    #[test]
    fn rates() {
        let vmstat = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n 1  0      0 100000  1000  2000    0    0     1     1  90000  200  1  1 90  8  0\n 1  0      0 100000  1000  2000    0    0     1     1  40000  200  1  1 68 30  0\n";
        is(vmstat, "interrupts_per_second", Some("40000"));
        is(
            "12:00:01     CPU    intr/s\n12:00:02     all  21000.50\n",
            "interrupts_per_second",
            Some("21000.5"),
        );
        is(
            "take part in  cs us id\n1 2 3\n",
            "interrupts_per_second",
            None,
        );
    }

    #[test]
    fn the_balancer() {
        is(
            "root  700  0.0  0.0  /usr/sbin/irqbalance --foreground\n",
            "irqbalance_running",
            Some("true"),
        );
        is(
            "irqbalance.service - irqbalance daemon\n   Loaded: loaded\n   Active: inactive (dead)\n",
            "irqbalance_running",
            Some("false"),
        );
        is(
            "root  701  0.0  0.0  grep irqbalance\nshould I use irqbalance?\n",
            "irqbalance_running",
            None,
        );
    }
}
