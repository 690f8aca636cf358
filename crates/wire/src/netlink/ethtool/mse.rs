// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mean square error of a PHY's receiver (`ethtool --show-mse X`, Linux 6.19; OPEN Alliance TC1).

use super::super::attribute::{attributes, find, unsigned};
use super::{generic, header};

/// The payload that asks for it.
#[must_use]
pub fn request(index: u32) -> Vec<u8> {
    generic::command(MSE_GET, &header(MSE_HEADER, index, 0))
}

/// Of each channel of the PHY the errors and, as `max average` and `max peak`, what the largest would be: all in the
/// PHY's own unit.
#[must_use]
pub fn values(payload: &[u8]) -> Vec<(String, String)> {
    let all = generic::attributes(payload);
    let mut values = Vec::new();
    if let Some(scale) = find(all, CAPABILITIES) {
        let most = ["max average", "max peak"].into_iter().zip(1..);
        values.extend(most.filter_map(|(name, kind)| named(name.to_owned(), scale, kind)));
    }
    for (kind, snapshot) in attributes(all) {
        let Some(channel) = channel(kind) else {
            continue;
        };
        let errors = ["average", "peak", "worst peak"].into_iter().zip(1..);
        let name = |what| format!("{channel} {what}");
        values.extend(errors.filter_map(|(what, kind)| named(name(what), snapshot, kind)));
    }
    values
}

fn named(name: String, nest: &[u8], kind: u16) -> Option<(String, String)> {
    let value = find(nest, kind).and_then(unsigned)?;
    Some((name, value.to_string()))
}

fn channel(kind: u16) -> Option<&'static str> {
    let all = ["A", "B", "C", "D", "worst channel", "link"];
    all.get(usize::from(kind.checked_sub(CHANNEL_A)?)).copied()
}

/// include/uapi/linux/ethtool_netlink_generated.h
const MSE_GET: u8 = 51;
const MSE_HEADER: u16 = 1;
const CAPABILITIES: u16 = 2;
const CHANNEL_A: u16 = 3;

#[cfg(test)]
mod tests {
    use super::super::super::attribute::{NESTED, push};
    use super::*;

    #[test]
    fn channels_and_the_scale() {
        let nest = |numbers: &[(u16, u64)]| {
            let mut nest = Vec::new();
            for (kind, number) in numbers {
                push(&mut nest, *kind, &number.to_ne_bytes());
            }
            nest
        };
        let mut body = Vec::new();
        push(&mut body, CAPABILITIES | NESTED, &nest(&[(1, 511), (3, 1)]));
        push(&mut body, CHANNEL_A | NESTED, &nest(&[(1, 3), (3, 9)]));
        push(&mut body, (CHANNEL_A + 5) | NESTED, &nest(&[(1, 4)]));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [
            pair("max average", "511"),
            pair("A average", "3"),
            pair("A worst peak", "9"),
            pair("link average", "4"),
        ];
        assert_eq!(values(&generic::command(52, &body)), expected);
        assert_eq!(values(&[]), []);
    }
}
