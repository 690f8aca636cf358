// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether flows are spread over the receive queues (RSS), and each stays on its own, by the driver's counters per queue.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use linerate_model::output::{NicCheck, NicExample};

use crate::bench::Bench;
use crate::craft::{self, ACK, Marks, Tcp};
use crate::far::End;
use crate::message::Ask;
use crate::station::DRIVER;
use crate::tally::Tally;
use crate::vectors;

/// Frames of many flows, a flow at a time.
pub(super) fn spread(bench: &mut Bench) -> io::Result<Vec<NicCheck>> {
    let what = format!("{FLOWS} flows are spread over the receive queues, each stays on one");
    let property = bench.property("rx-queues".to_owned(), "queues", what, "");
    let queues = counted(bench)?.len();
    let Some(family) = bench.families.first().copied().filter(|_| queues > 1) else {
        let why = "there is one receive queue, or the driver counts none of them apart";
        return Ok(vec![property.impossible(why)]);
    };
    let mut tally = Tally::default();
    let mut used = BTreeSet::new();
    for flow in 0..FLOWS {
        let path = bench.inward(&family, FIRST_PORT + flow, CLOSED_PORT);
        let frame = |number: u32| {
            let head = Tcp {
                sequence: number * 2000,
                acknowledged: 1,
                flags: ACK,
                options: &[],
            };
            craft::tcp(
                &path,
                Marks::default(),
                head,
                &vectors::payload(64, number.into()),
            )
        };
        let frames: Vec<Vec<u8>> = (0..FRAMES).map(frame).collect();
        let grown = grown(bench, &frames)?;
        let on: BTreeSet<u32> = grown
            .iter()
            .filter(|(_, count)| **count >= FEW)
            .map(|(queue, _)| *queue)
            .collect();
        used.extend(on.iter().copied());
        let fault = (on.len() > 1).then(|| NicExample {
            what: format!("TCP flow from port {}", FIRST_PORT + flow),
            expected: "one receive queue".to_owned(),
            seen: format!("queues {}", named(&on)),
            ..NicExample::default()
        });
        if !on.is_empty() {
            tally.case(0, fault);
        }
    }
    if tally.tried() > 0 && used.len() < 2 {
        tally.case(
            0,
            Some(NicExample {
                what: format!("{FLOWS} TCP flows"),
                expected: format!("several of {queues} receive queues"),
                seen: format!("all on queue {}", named(&used)),
                ..NicExample::default()
            }),
        );
    }
    Ok(vec![tally.check(property)])
}

fn named(queues: &BTreeSet<u32>) -> String {
    queues
        .iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

/// How many packets each queue got of these.
fn grown(bench: &mut Bench, frames: &[Vec<u8>]) -> io::Result<BTreeMap<u32, u64>> {
    let before = counted(bench)?;
    bench.send_inward(frames)?;
    let (mut end, mut last) = (Instant::now() + SETTLE, 0);
    loop {
        let mut grown = counted(bench)?;
        for (queue, count) in &mut grown {
            *count = count.saturating_sub(before.get(queue).copied().unwrap_or(0));
        }
        let all = grown.values().sum::<u64>();
        if all >= u64::from(FRAMES) || Instant::now() > end {
            return Ok(grown);
        }
        // Where some are lost, the others have come soon after each other.
        if all > last {
            (end, last) = (Instant::now() + SOON, all);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// The packets that each queue has received.
fn counted(bench: &mut Bench) -> io::Result<BTreeMap<u32, u64>> {
    let counters = bench.near.ask(&Ask::Counters { driver: true })?.counters;
    let of_driver = || {
        counters
            .iter()
            .filter_map(|(name, count)| Some((name.strip_prefix(DRIVER)?, *count)))
    };
    let of_queues = |is_xdp: bool| -> BTreeMap<u32, u64> {
        let some = of_driver().filter(|(name, _)| name.contains("xdp") == is_xdp);
        some.filter_map(|(name, count)| Some((queue(name)?, count)))
            .collect()
    };
    // A veth counts all packets that it polls as those that an XDP program could have seen.
    let plain = of_queues(false);
    Ok(if plain.is_empty() {
        of_queues(true)
    } else {
        plain
    })
}

/// `rx_queue_3_packets`, `rx-3.packets`, `rx3_packets`, `queue_3_rx_cnt`: which queue.
fn queue(name: &str) -> Option<u32> {
    let ends = ["packets", "pkts", "_cnt"]
        .iter()
        .any(|end| name.ends_with(end));
    let words: Vec<&str> = name
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .collect();
    let is_plain = words
        .iter()
        .all(|word| word.starts_with("rx") || PLAIN.contains(word) || is_number(word));
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    let is_of_rx = words.iter().any(|word| word.starts_with("rx"));
    (ends && is_plain && is_of_rx).then(|| digits.parse().ok())?
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Words of a counter of all packets of a queue.
const PLAIN: [&str; 6] = ["queue", "ring", "packets", "pkts", "cnt", "xdp"];
const FLOWS: u16 = 48;
const FRAMES: u32 = 12;
/// Of another's traffic there are fewer.
const FEW: u64 = 6;
const FIRST_PORT: u16 = 31_000;
const CLOSED_PORT: u16 = 9;
const SETTLE: Duration = Duration::from_secs(3);
const SOON: Duration = Duration::from_millis(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_of_a_receive_queue_has_its_number() {
        for (name, expected) in [
            ("rx_queue_3_packets", Some(3)),
            ("rx-12.packets", Some(12)),
            ("rx0_packets", Some(0)),
            ("queue_7_rx_cnt", Some(7)),
            ("rx_queue_1_xdp_packets", Some(1)),
            ("rx_queue_3_bytes", None),
            ("tx_queue_3_packets", None),
            ("rx_packets", None),
            ("rx_queue_3_drop_packets", None),
            ("rx_vport_unicast_packets", None),
        ] {
            assert_eq!(queue(name), expected, "{name}");
        }
    }
}
