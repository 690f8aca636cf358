// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reflections that a copper PHY measures along its cable (`ethtool --cable-test-tdr X`, Linux 5.8): an amplitude for each
//! pair at each distance.

use super::super::super::attribute::{attributes, find, unsigned, word};
use super::super::{generic, header};
use super::{HEADER, PAIR, letter, nest_of};

/// The payload that begins a measurement, over the distances and pairs that the PHY chooses. The link goes down until it is over.
#[must_use]
pub fn request(index: u32) -> Vec<u8> {
    generic::command(TDR, &header(HEADER, index, 0))
}

/// What came back on one pair from one distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reflection {
    /// `A` … `D`.
    pub pair: char,
    /// Where on the cable, cm.
    pub distance_cm: u32,
    /// How much, mV: negative from a short circuit, positive from an open end.
    pub amplitude_millivolts: i16,
}

/// The result of the measurement at the interface of this number; `None` for another message, and while it runs.
#[must_use]
pub fn result(payload: &[u8], index: u32) -> Option<Vec<Reflection>> {
    nest_of(payload, NOTIFICATION, index).map(reflections)
}

/// The kernel reports the amplitudes of a pair in the order of their distances, after the steps between them.
fn reflections(nest: &[u8]) -> Vec<Reflection> {
    let mut all = Vec::new();
    let mut next = Next::default();
    for (kind, value) in attributes(nest) {
        match kind {
            STEP => next = Next::of(value),
            AMPLITUDE => all.extend(next.reflection(value)),
            _ => {}
        }
    }
    all
}

/// From where the next amplitude of each pair is.
#[derive(Default)]
struct Next {
    first_cm: u32,
    step_cm: u32,
    /// How many each pair has.
    come: [u32; 4],
}

impl Next {
    fn of(steps: &[u8]) -> Self {
        let distance = |kind| find(steps, kind).and_then(word).unwrap_or_default();
        Self {
            first_cm: distance(FIRST),
            step_cm: distance(STEP_LENGTH),
            come: [0; 4],
        }
    }

    fn reflection(&mut self, value: &[u8]) -> Option<Reflection> {
        let number = find(value, PAIR).and_then(unsigned)?;
        let millivolts: [u8; 2] = find(value, MILLIVOLTS)?.try_into().ok()?;
        let come = self.come.get_mut(usize::try_from(number).ok()?)?;
        let steps = std::mem::replace(come, come.saturating_add(1));
        Some(Reflection {
            pair: letter(number)?,
            distance_cm: self
                .first_cm
                .saturating_add(self.step_cm.saturating_mul(steps)),
            amplitude_millivolts: i16::from_ne_bytes(millivolts),
        })
    }
}

/// include/uapi/linux/ethtool_netlink_generated.h
const TDR: u8 = 27;
const NOTIFICATION: u8 = 28;
const STEP: u16 = 1;
const AMPLITUDE: u16 = 2;
const FIRST: u16 = 1;
const STEP_LENGTH: u16 = 3;
const MILLIVOLTS: u16 = 2;

#[cfg(test)]
mod tests {
    use super::super::super::super::attribute::NESTED;
    use super::super::tests::{message, nest};
    use super::*;

    fn amplitude(pair: u8, millivolts: i16) -> (u16, Vec<u8>) {
        let value = nest(&[(PAIR, &[pair]), (MILLIVOLTS, &millivolts.to_ne_bytes())]);
        (AMPLITUDE | NESTED, value)
    }

    fn steps(first: u32, step: u32) -> (u16, Vec<u8>) {
        let [first, step] = [first, step].map(u32::to_ne_bytes);
        let value = nest(&[(FIRST, &first), (2, &[0; 4]), (STEP_LENGTH, &step)]);
        (STEP | NESTED, value)
    }

    fn said(results: &[(u16, Vec<u8>)]) -> Vec<(char, u32, i16)> {
        let all = result(&message(NOTIFICATION, 3, 2, results), 3).unwrap();
        let parts = |one: Reflection| (one.pair, one.distance_cm, one.amplitude_millivolts);
        all.into_iter().map(parts).collect()
    }

    #[test]
    fn each_amplitude_has_the_distance_of_its_turn() {
        let results = [
            (3 | NESTED, nest(&[(1, &1000_i16.to_ne_bytes())])),
            steps(100, 80),
            amplitude(0, 3),
            amplitude(1, -4),
            amplitude(0, 5),
            amplitude(1, -480),
            steps(1000, 100),
            amplitude(0, 7),
        ];
        let expected = [
            ('A', 100, 3),
            ('B', 100, -4),
            ('A', 180, 5),
            ('B', 180, -480),
            ('A', 1000, 7),
        ];
        assert_eq!(said(&results), expected);
    }

    #[test]
    fn what_is_cut_short_or_unknown_is_left_out() {
        let short = nest(&[(PAIR, &[0]), (MILLIVOLTS, &[1])]);
        let far = [steps(u32::MAX, u32::MAX), amplitude(0, 1), amplitude(0, 2)];
        assert_eq!(said(&[amplitude(4, 1), (AMPLITUDE, short)]), []);
        assert_eq!(said(&far), [('A', u32::MAX, 1), ('A', u32::MAX, 2)]);
        assert_eq!(
            result(&message(NOTIFICATION, 3, 1, &[]), 3),
            None,
            "started"
        );
        assert_eq!(result(&message(27, 3, 2, &[]), 3), None, "a cable test");
        assert_eq!(result(&[], 3), None);
    }
}
