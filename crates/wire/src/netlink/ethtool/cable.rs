// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cable test of a copper PHY (`ethtool --cable-test X`, Linux 5.8): what it orders, and what the notification says.

pub mod reflections;

use super::super::attribute::{attributes, find, unsigned, word};
use super::{generic, header};

/// The name of the multicast group that announces the result.
pub const GROUP: &str = "monitor";

/// The payload that begins a test. The link goes down until it is over.
#[must_use]
pub fn request(index: u32) -> Vec<u8> {
    generic::command(CABLE_TEST, &header(HEADER, index, 0))
}

/// A pair of the cable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pair {
    /// `A` … `D`.
    pub name: char,
    /// In the words of `ethtool`: `OK`, `Open Circuit`, `Short within Pair` …
    pub state: Option<&'static str>,
    /// How far away the fault is, cm.
    pub fault_cm: Option<u32>,
}

/// The result of the test of the interface of this number; `None` for another message, and while the test runs.
#[must_use]
pub fn result(payload: &[u8], index: u32) -> Option<Vec<Pair>> {
    nest_of(payload, NOTIFICATION, index).map(pairs)
}

/// The results in a notification of this kind at the end of a test; `None` for another message.
fn nest_of(payload: &[u8], kind: u8, index: u32) -> Option<&[u8]> {
    let all = generic::attributes(payload);
    let is_it = payload.first() == Some(&kind)
        && find(find(all, HEADER)?, super::HEADER_INDEX).and_then(word) == Some(index)
        && find(all, STATUS).and_then(unsigned) == Some(COMPLETED);
    is_it.then(|| find(all, NEST).unwrap_or(&[]))
}

fn letter(pair: u64) -> Option<char> {
    ['A', 'B', 'C', 'D']
        .get(usize::try_from(pair).ok()?)
        .copied()
}

fn pairs(nest: &[u8]) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    for (kind, value) in attributes(nest) {
        let Some(name) = find(value, PAIR).and_then(unsigned).and_then(letter) else {
            continue;
        };
        if !pairs.iter().any(|pair| pair.name == name) {
            pairs.push(Pair {
                name,
                ..Pair::default()
            });
        }
        for pair in pairs.iter_mut().filter(|pair| pair.name == name) {
            match kind {
                RESULT => pair.state = find(value, CODE).and_then(unsigned).and_then(state),
                FAULT_LENGTH => pair.fault_cm = find(value, LENGTH_CM).and_then(word),
                _ => {}
            }
        }
    }
    pairs
}

/// `ETHTOOL_A_CABLE_RESULT_CODE_*`.
fn state(code: u64) -> Option<&'static str> {
    let all = [
        "Unspecified",
        "OK",
        "Open Circuit",
        "Short within Pair",
        "Short to another pair",
        "Impedance mismatch",
        "Noise",
        "Resolution not possible",
    ];
    all.get(usize::try_from(code).ok()?).copied()
}

/// include/uapi/linux/ethtool_netlink_generated.h
const CABLE_TEST: u8 = 26;
const NOTIFICATION: u8 = 27;
const HEADER: u16 = 1;
const STATUS: u16 = 2;
const COMPLETED: u64 = 2;
const NEST: u16 = 3;
const RESULT: u16 = 1;
const FAULT_LENGTH: u16 = 2;
const PAIR: u16 = 1;
const CODE: u16 = 2;
const LENGTH_CM: u16 = 2;

#[cfg(test)]
mod tests {
    use super::super::super::attribute::{NESTED, push};
    use super::*;

    pub(super) fn nest(attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut nest = Vec::new();
        for (kind, value) in attributes {
            push(&mut nest, *kind, value);
        }
        nest
    }

    fn notification(index: u32, status: u8) -> Vec<u8> {
        let results = [
            (RESULT | NESTED, nest(&[(PAIR, &[0]), (CODE, &[1])])),
            (RESULT | NESTED, nest(&[(PAIR, &[1]), (CODE, &[2])])),
            (
                FAULT_LENGTH | NESTED,
                nest(&[(PAIR, &[1]), (LENGTH_CM, &420_u32.to_ne_bytes())]),
            ),
            (RESULT | NESTED, nest(&[(PAIR, &[9]), (CODE, &[2])])),
        ];
        message(NOTIFICATION, index, status, &results)
    }

    pub(super) fn message(kind: u8, index: u32, status: u8, results: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let results: Vec<(u16, &[u8])> = results
            .iter()
            .map(|(kind, value)| (*kind, value.as_slice()))
            .collect();
        let header = nest(&[(1, &index.to_ne_bytes())]);
        let results = nest(&results);
        let body = [
            (HEADER | NESTED, header.as_slice()),
            (STATUS, &[status]),
            (NEST | NESTED, &results),
        ];
        generic::command(kind, &nest(&body))
    }

    #[test]
    fn each_pair_has_its_state() {
        let pairs = result(&notification(3, 2), 3).unwrap();
        let expected = [
            Pair {
                name: 'A',
                state: Some("OK"),
                fault_cm: None,
            },
            Pair {
                name: 'B',
                state: Some("Open Circuit"),
                fault_cm: Some(420),
            },
        ];
        assert_eq!(pairs, expected);
    }

    #[test]
    fn other_messages_are_no_result() {
        assert_eq!(result(&notification(3, 1), 3), None, "started");
        assert_eq!(result(&notification(4, 2), 3), None, "another interface");
        assert_eq!(result(&[], 3), None);
    }
}
