// SPDX-License-Identifier: MIT OR Apache-2.0
//! Damaged texts: whatever is done to the bytes of a report, it is explained without a panic, within fixed
//! sizes, and what was too much is said.

use linerate_diagnose::explain::explain;
use linerate_diagnose::rules;
use linerate_paste as paste;
use proptest::prelude::*;

use crate::causes::REPORTS;

/// What a text may grow to, whatever stands in it.
fn is_bounded(text: &str) {
    let (pasted, looked) = paste::read_counting(text);
    assert!(
        looked <= 200 * (text.len() as u64 + 1),
        "{looked} of {}",
        text.len()
    );
    let tests: usize = pasted
        .records
        .iter()
        .map(|record| record.run.tests.len())
        .sum();
    assert!(
        pasted.records.len() <= 32 && tests <= 500,
        "{} {tests}",
        pasted.records.len()
    );
    for record in &pasted.records {
        assert!(record.run.settings.len() <= 2000 && record.samples.len() <= 4000);
        for finding in explain(record, rules::embedded()).findings {
            let known = |id: &String| record.run.tests.iter().any(|test| test.id == *id);
            assert!(finding.test_ids.iter().all(known), "{:?}", finding.test_ids);
            assert!(
                !finding.title.contains("NaN") && !finding.title.contains("inf"),
                "{}",
                finding.title
            );
        }
    }
}

/// The passages that the user sees even without `--facts`.
fn left_out(text: &str) -> Vec<String> {
    let pasted = paste::read(text);
    let passages = pasted.left_out.into_iter();
    passages.map(|passage| passage.what).collect()
}

#[test]
fn what_is_too_much_is_said() {
    let interfaces: String = (0..600)
        .map(|number| format!("if{number}: flags=4163<UP>  mtu 1500\n        RX packets {number}  bytes 5 (5 B)\n        RX errors 0  dropped 0  overruns 0  frame 0\n"))
        .collect();
    let hosts: String = (0..40)
        .map(|number| format!("root@h{number}:~# ifconfig eth0\neth0      Link encap:Ethernet\n          RX packets:{number} errors:0 dropped:0 overruns:0 frame:0\n"))
        .collect();
    let rows: String = (0..600)
        .map(|number| {
            format!("[ 3] 0.0- 1.0 sec 55.1 MBytes 462 Mbits/sec 0.028 ms {number}/6731 (1%)\n")
        })
        .collect();
    let long = format!("RX packets:5 {}\n", "x".repeat(10_000));
    for (text, words) in [
        (&interfaces, "further interfaces"),
        (&hosts, "states"),
        (&rows, "tests"),
        (&long, "too long a line"),
        (&"\u{1}\u{2}\u{3}".repeat(2000), "binary"),
    ] {
        let said = left_out(text);
        assert!(
            said.iter().any(|what| what.contains(words)),
            "{words}: {said:?}"
        );
        is_bounded(text);
    }
}

#[test]
fn what_is_read_whole_leaves_nothing_out() {
    for text in REPORTS {
        assert_eq!(left_out(text), Vec::<String>::new());
    }
}

#[test]
fn a_driver_with_thousands_of_names() {
    let names: String = (0..5000)
        .map(|number| format!("     rx_q{number}_errors: {number}\n"))
        .collect();
    is_bounded(&format!("$ ethtool -S eth0\nNIC statistics:\n{names}"));
}

#[test]
fn nothing_within_nothing() {
    for text in [
        "{\"start\":[{".repeat(2000),
        "[".repeat(20_000),
        "\0".repeat(20_000),
        "> ".repeat(20_000),
    ] {
        is_bounded(&text);
    }
}

/// One thing that is done to the bytes.
#[derive(Debug, Clone)]
enum Harm {
    Flip(usize, u8),
    Cut(usize, usize),
    Repeat(usize, usize, usize),
    Splice(usize, usize, usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        (any::<usize>(), 0_u8..8).prop_map(|(at, bit)| Harm::Flip(at, bit)),
        (any::<usize>(), 1_usize..400).prop_map(|(at, length)| Harm::Cut(at, length)),
        (any::<usize>(), 1_usize..400, 2_usize..40)
            .prop_map(|(at, length, times)| Harm::Repeat(at, length, times)),
        (any::<usize>(), 0..REPORTS.len(), any::<usize>())
            .prop_map(|(at, text, from)| Harm::Splice(at, text, from)),
    ]
}

fn harmed(mut bytes: Vec<u8>, harm: &Harm) -> Vec<u8> {
    let place = |at: usize, length: usize| at % length.max(1);
    let length = bytes.len();
    match *harm {
        Harm::Flip(at, bit) => {
            if let Some(byte) = bytes.get_mut(place(at, length)) {
                *byte ^= 1 << bit;
            }
        }
        Harm::Cut(at, count) => {
            let at = place(at, length);
            bytes.drain(at..(at + count).min(length));
        }
        Harm::Repeat(at, count, times) => {
            let at = place(at, length);
            let end = (at + count).min(length);
            let part = bytes[at..end].repeat(times);
            bytes.splice(at..end, part);
        }
        Harm::Splice(at, text, from) => {
            let other = REPORTS[text].as_bytes();
            let part = other[place(from, other.len())..].iter().take(500).copied();
            let at = place(at, length);
            let part: Vec<u8> = part.collect();
            bytes.splice(at..at, part);
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn whatever_is_done_to_the_bytes(text in 0..REPORTS.len(), harms in proptest::collection::vec(harm(), 1..12)) {
        let bytes = harms.iter().fold(REPORTS[text].as_bytes().to_vec(), harmed);
        is_bounded(&String::from_utf8_lossy(&bytes));
    }
}
