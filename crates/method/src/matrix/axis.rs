// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values that an axis takes.

use std::collections::BTreeMap;

use super::{
    BOTH, CONGESTION, DEFAULT, DIRECTION, FAMILY, MSS, MTU, OFFLOAD, PROTOCOL, SIZE, STREAMS,
};

/// The value of a cell on each axis.
pub type Axes = BTreeMap<String, String>;

/// Whether an axis changes the host rather than the test: its cells run together.
pub fn is_setting(axis: &str) -> bool {
    ![PROTOCOL, FAMILY, SIZE, MSS, DIRECTION, STREAMS, CONGESTION].contains(&axis)
}

/// Checks one value of an axis. Any other name is an axis of the user, whose values are words.
///
/// # Errors
/// What is expected instead: a phrase.
pub fn check(axis: &str, value: &str) -> Result<(), String> {
    let within = |from, to| value.parse().is_ok_and(|it: u32| (from..=to).contains(&it));
    let (is_known, expected) = match axis {
        PROTOCOL => (
            ["tcp", "udp", "udp-plain", "udp-gso"].contains(&value),
            "tcp, udp, udp-plain or udp-gso",
        ),
        FAMILY => (["4", "6"].contains(&value), "4 or 6"),
        DIRECTION => (
            ["up", "down", BOTH].contains(&value),
            "up, down, or both at once: both",
        ),
        MTU => (within(1, 65_535), "1 to 65535 bytes"),
        SIZE => (within(1, 1 << 20), "1 to 1048576 bytes"),
        MSS => (
            value == DEFAULT || within(88, 32_767),
            "88 to 32767 bytes, or default",
        ),
        STREAMS => (within(1, 128), "1 to 128"),
        CONGESTION => (is_word(value), "a name such as cubic, or default"),
        OFFLOAD => (
            value.split('+').all(is_word),
            "on, off, or the features that are on, such as tso+gso",
        ),
        _ => (is_word(value), "a word"),
    };
    match is_known {
        true => Ok(()),
        false => Err(expected.to_owned()),
    }
}

fn is_word(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._-+".contains(letter);
    !text.is_empty() && text.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_axis_has_its_values() {
        for (axis, good, bad) in [
            (PROTOCOL, "udp-gso", "sctp"),
            (FAMILY, "6", "5"),
            (MTU, "100", "65536"),
            (SIZE, "64", "0"),
            (MSS, "default", "87"),
            (DIRECTION, "both", "bidir"),
            (STREAMS, "128", "129"),
            (CONGESTION, "bbr", ""),
            (OFFLOAD, "tso+gso", "tso+"),
            ("driver", "qfe", "a b"),
        ] {
            assert_eq!(check(axis, good), Ok(()), "{axis}");
            assert!(check(axis, bad).is_err(), "{axis}");
        }
    }
}
