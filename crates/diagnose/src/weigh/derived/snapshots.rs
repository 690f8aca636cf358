// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same counters twice in one text: a direction or a queue that stopped while others move. Broadcasts of a capture.

use std::collections::BTreeSet;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;

use super::{Fact, number_after};
use crate::weigh::observed::Line;

/// Packets of an interface.
#[derive(Debug, Default, Clone, Copy)]
struct Packets {
    received: Option<u64>,
    sent: Option<u64>,
    line: u64,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let mut facts = frozen(&readings(lines));
    let queues = queues(lines);
    facts.extend(queue_frozen(&queues));
    facts.extend(shared_queues(&queues, lines));
    facts.extend(broadcasts(lines));
    facts
}

/// Each reading of each interface, in order; of `ethtool -S` the interface is that of its command, if it is known.
fn readings<'t>(lines: &[Line<'t>]) -> Map<&'t str, Vec<Packets>> {
    let mut all: Map<&'t str, Vec<Packets>> = Map::new();
    let (mut name, mut table) = ("", None);
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some(found) = interface(line.text) {
            name = found;
            all.entry(name).or_default().push(Packets::default());
        }
        let text = line.text.trim_start();
        if let Some(received) = of_table(text, &mut table).or_else(|| labelled(text)) {
            add(all.entry(name).or_default(), received, line.number);
        }
    }
    all
}

/// Adds to the last reading, or to a new one where that has it.
fn add(row: &mut Vec<Packets>, (is_received, count): (bool, u64), line: u64) {
    let has = |one: &Packets| {
        if is_received {
            one.received.is_some()
        } else {
            one.sent.is_some()
        }
    };
    if row.last().is_none_or(has) {
        row.push(Packets::default());
    }
    if let Some(last) = row.last_mut() {
        let place = if is_received {
            &mut last.received
        } else {
            &mut last.sent
        };
        (*place, last.line) = (Some(count), line);
    }
}

/// `2: eth0: <…`, `eth0: flags=…`, `eth0  Link encap:…`, `ethtool -S eth0`.
fn interface(text: &str) -> Option<&str> {
    if let Some((name, _)) = text.split_once("Link encap:") {
        return Some(name.trim());
    }
    if let Some((_, rest)) = text.split_once("ethtool -S ") {
        return rest.split_whitespace().next();
    }
    let (before, _) = text.split_once('<')?;
    let name = before.trim_end().trim_end_matches(':');
    let name = name.split(": flags=").next()?;
    let name = name.rsplit(": ").next()?.trim();
    (before.contains(':') && !name.contains(' ')).then(|| name.split('@').next())?
}

/// `RX packets:12`, `TX packets 12  bytes`, `rx_packets: 12`.
fn labelled(text: &str) -> Option<(bool, u64)> {
    let labels = [
        ("RX packets", true),
        ("TX packets", false),
        ("rx_packets:", true),
        ("tx_packets:", false),
    ];
    let (label, is_received) = labels
        .into_iter()
        .find(|(label, _)| text.starts_with(label))?;
    let digits = text.get(label.len()..)?.trim_start_matches([':', ' ']);
    Some((is_received, digits.split(' ').next()?.parse().ok()?))
}

/// `RX:  bytes packets errors …`, and the numbers in the next line.
fn of_table(text: &str, table: &mut Option<bool>) -> Option<(bool, u64)> {
    let open = table.take();
    if text.starts_with("RX: ") || text.starts_with("TX: ") {
        *table = text.contains("packets").then(|| text.starts_with("RX"));
        return None;
    }
    let is_received = open?;
    Some((is_received, text.split_whitespace().nth(1)?.parse().ok()?))
}

/// Whether a direction does not move while the other one moves.
fn frozen(all: &Map<&str, Vec<Packets>>) -> Vec<Fact> {
    let mut facts = Vec::new();
    for row in all
        .iter()
        .filter(|(name, _)| !is_inner(name))
        .map(|(_, row)| row)
    {
        let known: Vec<(u64, u64, u64)> = row
            .iter()
            .filter_map(|one| Some((one.received?, one.sent?, one.line)))
            .collect();
        let (Some(first), Some(last)) = (known.first(), known.last()) else {
            continue;
        };
        let (received, sent) = (last.0.checked_sub(first.0), last.1.checked_sub(first.1));
        let (Some(received), Some(sent)) = (received, sent) else {
            continue;
        };
        if sent >= MOVED_LEAST {
            facts.push(Fact::new("rx_frozen", received == 0, last.2));
        }
        // A standby port of a bond never sent much.
        if received >= MOVED_LEAST && last.1 >= SENT_LEAST {
            facts.push(Fact::new("tx_frozen", sent == 0, last.2));
        }
    }
    facts
}

/// Devices of containers and virtual machines, whose peers often do not answer.
fn is_inner(name: &str) -> bool {
    let starts = [
        "docker", "veth", "virbr", "br-", "tun", "tap", "vnet", "dummy", "lo", "cali", "flannel",
        "cni", "wg",
    ];
    starts.iter().any(|start| name.starts_with(start))
}

/// A queue that was read twice or more often.
#[derive(Debug, Default, Clone, Copy)]
struct Queue {
    first: u64,
    last: u64,
    readings: u32,
    line: u64,
}

impl Queue {
    fn grown(&self) -> u64 {
        self.last.saturating_sub(self.first)
    }
}

fn queues(lines: &[Line<'_>]) -> Vec<Queue> {
    let mut all: Map<u32, Queue> = Map::new();
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some((number, value)) = queue(line.text) {
            let entry = all.entry(number).or_insert(Queue {
                first: value,
                ..Queue::default()
            });
            (entry.last, entry.line, entry.readings) = (value, line.number, entry.readings + 1);
        }
    }
    all.into_values().collect()
}

/// Whether exactly one of three or more receive queues no longer moves, although it moved before: idle queues of few flows do, too.
fn queue_frozen(all: &[Queue]) -> Option<Fact> {
    let twice = all.iter().all(|queue| queue.readings == 2);
    (all.len() >= QUEUES_LEAST && twice).then_some(())?;
    let share = all.iter().map(|queue| queue.first).sum::<u64>() / (4 * all.len() as u64);
    let mut still = all.iter().filter(|queue| queue.first == queue.last);
    let moved = all
        .iter()
        .filter(|queue| queue.grown() >= QUEUE_MOVED_LEAST)
        .count();
    if moved == all.len() {
        return Some(Fact::new("rx_queue_frozen", false, all.last()?.line));
    }
    let stopped = still
        .next()
        .filter(|queue| moved == all.len() - 1 && queue.first > share)?;
    Some(Fact::new("rx_queue_frozen", true, stopped.line))
}

/// Whether the streams of iperf went over fewer queues than streams, while other queues were free.
fn shared_queues(all: &[Queue], lines: &[Line<'_>]) -> Option<Fact> {
    let twice = all.iter().all(|queue| queue.readings == 2);
    (all.len() > 1 && twice).then_some(())?;
    let streams = lines
        .iter()
        .filter(|line| line.text.contains("bits/sec"))
        .filter_map(|line| stream(line.text));
    let streams = streams.gather::<BTreeSet<u32>>().len();
    let total: u64 = all.iter().map(Queue::grown).sum();
    (streams > 1 && total >= QUEUE_MOVED_LEAST).then_some(())?;
    let line = all.first()?.line;
    let least = total / (4 * streams.max(all.len()) as u64);
    let used = all.iter().filter(|queue| queue.grown() > least).count();
    let shares = used < streams && used < all.len();
    (shares || used >= streams).then(|| Fact::new("queues_used_below_flows", shares, line))
}

/// The number of a stream: `[  5]   0.00-10.00  sec …`.
fn stream(text: &str) -> Option<u32> {
    let (number, _) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    number.trim().parse().ok()
}

/// `rx_queue_3_packets: 901220`, `rx3_packets: 1`, `rx-3.packets: 1`.
fn queue(text: &str) -> Option<(u32, u64)> {
    let rest = text.trim_start().strip_prefix("rx")?;
    let rest = rest
        .strip_prefix("_queue")
        .unwrap_or(rest)
        .trim_start_matches(['_', '-', '[']);
    let end = rest.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, rest) = rest.split_at(end);
    let (name, value) = rest.split_once(':')?;
    name.trim_matches(['_', '.', ']', ' '])
        .eq("packets")
        .then_some(())?;
    Some((
        number.parse().ok()?,
        value.split_whitespace().next()?.parse().ok()?,
    ))
}

/// Broadcasts a second of a capture.
fn broadcasts(lines: &[Line<'_>]) -> Option<Fact> {
    let marks = [
        "ff:ff:ff:ff:ff:ff",
        "ARP, Request who-has",
        "> 255.255.255.255",
        " Broadcast ",
    ];
    let is_one = |line: &&Line<'_>| {
        line.text.len() < LINE_MOST
            && line.text.contains(':')
            && marks.iter().any(|mark| line.text.contains(mark))
    };
    let times: Vec<(f64, u64)> = lines
        .iter()
        .filter(is_one)
        .filter_map(|line| Some((time(line.text)?, line.number)))
        .collect();
    let ((first, _), (last, line)) = (times.first()?, times.last()?);
    let span = last - first;
    let is_enough = times.len() >= BROADCASTS_LEAST && span >= SPAN_LEAST_S;
    is_enough.then(|| {
        Fact::new(
            "broadcast_per_second",
            ((times.len() - 1) as f64 / span).round(),
            *line,
        )
    })
}

/// `12:00:01.123456 …`, `2024-01-01 12:00:01.123456 …`, in seconds of the day.
fn time(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace().take(2);
    let clock = words.find(|word| word.contains(':') && word.contains('.'))?;
    let mut parts = clock.splitn(3, ':');
    let (hours, minutes): (f64, f64) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let seconds = parts.next()?;
    let seconds = number_after(seconds, "").filter(|seconds| *seconds < 61.0)?;
    (hours < 24.0 && minutes < 60.0).then_some(hours * 3600.0 + minutes * 60.0 + seconds)
}

const MOVED_LEAST: u64 = 10;
const SENT_LEAST: u64 = 100;
const QUEUE_MOVED_LEAST: u64 = 100;
const QUEUES_LEAST: usize = 3;
const BROADCASTS_LEAST: usize = 50;
const SPAN_LEAST_S: f64 = 0.01;
const LINE_MOST: usize = 400;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::*;

    assertions!(is, facts);

    #[test]
    fn a_direction_that_stopped() {
        let old = |rx: u32, tx: u32| {
            format!(
                "eth0      Link encap:Ethernet  HWaddr 02:00:00:00:00:01\n          RX packets:{rx} errors:0 dropped:0\n          TX packets:{tx} errors:0 dropped:0\n"
            )
        };
        let still = old(900, 800) + &old(900, 950);
        is(&still, "rx_frozen", Some("true"));
        is(&still, "tx_frozen", None);
        is(
            &(old(900, 800) + &old(990, 950)),
            "rx_frozen",
            Some("false"),
        );
        is(&old(900, 800), "rx_frozen", None);
        let new = |name: &str, rx: u32, tx: u32| {
            format!(
                "2: {name}: <BROADCAST,UP,LOWER_UP> mtu 1500\n    RX:  bytes packets errors dropped\n    1000 {rx} 0 0\n    TX:  bytes packets errors dropped\n    1000 {tx} 0 0\n"
            )
        };
        is(
            &(new("eth0", 900, 800) + &new("eth0", 990, 800)),
            "tx_frozen",
            Some("true"),
        );
        is(
            &(new("eth0", 900, 800) + &new("eth1", 990, 800)),
            "tx_frozen",
            None,
        );
    }

    #[test]
    fn a_queue_that_stopped() {
        let table = |counts: [u32; 3]| -> String {
            let row = |(queue, count): (usize, &u32)| {
                format!("     rx_queue_{queue}_packets: {count}\n     rx_queue_{queue}_bytes: 1\n")
            };
            counts.iter().enumerate().map(row).collect()
        };
        is(
            &(table([5000, 6000, 7000]) + &table([5000, 6900, 7900])),
            "rx_queue_frozen",
            Some("true"),
        );
        is(
            &(table([5000, 6000, 7000]) + &table([5900, 6900, 7900])),
            "rx_queue_frozen",
            Some("false"),
        );
        is(
            &(table([5000, 6000, 7000]) + &table([5000, 6000, 7900])),
            "rx_queue_frozen",
            None,
        );
        is(
            &(table([0, 6000, 7000]) + &table([0, 6900, 7900])),
            "rx_queue_frozen",
            None,
        );
        is(&table([5000, 6000, 7000]), "rx_queue_frozen", None);
    }

    #[test]
    fn streams_that_share_a_queue() {
        let table = |counts: [u32; 4]| -> String {
            let row =
                |(queue, count): (usize, &u32)| format!("     rx_queue_{queue}_packets: {count}\n");
            counts.iter().enumerate().map(row).collect()
        };
        let streams: String = [5, 7, 9]
            .iter()
            .map(|id| format!("[  {id}]   0.00-10.00  sec  1.10 GBytes   945 Mbits/sec\n"))
            .collect();
        let name = "queues_used_below_flows";
        let before = table([10, 20, 30, 40]);
        is(
            &format!("{before}{streams}{}", table([9000, 5000, 31, 40])),
            name,
            Some("true"),
        );
        is(
            &format!("{before}{streams}{}", table([9000, 5000, 5000, 41])),
            name,
            Some("false"),
        );
        is(&format!("{before}{streams}"), name, None);
        is(
            &format!("{before}{}", table([9000, 5000, 31, 40])),
            name,
            None,
        );
    }

    #[test]
    fn broadcasts_of_a_capture() {
        let storm: String = (0..101)
            .map(|n| {
                format!(
                    "12:00:00.{n:03}000 ARP, Request who-has 192.0.2.1 tell 192.0.2.2, length 46\n"
                )
            })
            .collect();
        is(&storm, "broadcast_per_second", Some("1000"));
        let few: String = storm.lines().take(5).collect();
        is(&few, "broadcast_per_second", None);
    }
}
