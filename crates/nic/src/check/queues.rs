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
        let on = queues_of(|| grown(bench, &frames))?;
        if !on.is_empty() {
            tally.case(0, apart(FIRST_PORT + flow, &on));
        }
        used.extend(on);
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

/// The queues that got a flow's frames: several only if it is so each time that the frames are sent, as others' frames come
/// in between. Some may be lost, or be merged.
fn queues_of(
    mut grown: impl FnMut() -> io::Result<BTreeMap<u32, u64>>,
) -> io::Result<BTreeSet<u32>> {
    let mut on = BTreeSet::new();
    for _ in 0..ROUNDS {
        let grown = grown()?;
        let all = grown.values().sum();
        let has_all =
            |(_, count): &(&u32, &u64)| **count >= FEW && **count >= u64::from(FRAMES).min(all);
        if let Some((queue, _)) = grown.iter().find(has_all) {
            return Ok(BTreeSet::from([*queue]));
        }
        if all < FEW {
            break;
        }
        on = grown
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(queue, _)| queue)
            .collect();
    }
    Ok(on)
}

/// What is wrong with a flow on these queues.
fn apart(port: u16, on: &BTreeSet<u32>) -> Option<NicExample> {
    (on.len() > 1).then(|| NicExample {
        what: format!("TCP flow from port {port}"),
        expected: "one receive queue".to_owned(),
        seen: format!("queues {}", named(on)),
        ..NicExample::default()
    })
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
const ROUNDS: usize = 4;
/// Pairs of frames may be merged.
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
    /// What is said of a flow whose frames reach these queues, in each round the next of these times.
    fn said(times: &[&[(u32, u64)]]) -> Option<String> {
        let mut times = times.iter().cycle();
        let next = || Ok(times.next().unwrap().iter().copied().collect());
        let on = queues_of(next).unwrap();
        match on.is_empty() {
            true => Some("not judged".to_owned()),
            false => apart(31_000, &on).map(|fault| fault.seen),
        }
    }

    #[test]
    fn an_unstable_hash_is_named_and_the_frames_of_others_are_not_it() {
        let named = |queues: &str| Some(queues.to_owned());
        assert_eq!(said(&[&[(0, 0), (1, 12), (2, 3)]]), None);
        // In turn, at random, and all but one.
        assert_eq!(
            said(&[&[(0, 3), (1, 3), (2, 3), (3, 3)]]),
            named("queues 0 1 2 3")
        );
        assert_eq!(said(&[&[(0, 7), (1, 0), (2, 5)]]), named("queues 0 2"));
        assert_eq!(said(&[&[(0, 11), (1, 1)]]), named("queues 0 1"));
        // One frame was lost while another's came; then not.
        assert_eq!(said(&[&[(0, 11), (1, 1)], &[(0, 12), (1, 1)]]), None);
        // All that came is on one; too few came.
        assert_eq!(said(&[&[(0, 6), (1, 0)]]), None);
        assert_eq!(said(&[&[(0, 2), (1, 2)]]), named("not judged"));
    }
}
