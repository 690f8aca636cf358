// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -a`, `-g`, `-c` and `-l`: structures of 32-bit words.

use std::io;

use super::super::request::{Card, get};
use super::link::Link;
use super::{Values, on_off, pair};

/// `-a`: struct ethtool_pauseparam: cmd, autoneg, rx_pause, tx_pause.
pub(super) fn pause(card: &dyn Card) -> io::Result<Values> {
    let answer = card.ask(ETHTOOL_GPAUSEPARAM, 16)?;
    let word = |at: usize| get(&answer, 4 * at).map(|word| on_off(word != 0));
    let mut values = vec![
        pair("Autonegotiate", word(1)?),
        pair("RX", word(2)?),
        pair("TX", word(3)?),
    ];
    let resolved = Link::read(card).ok().and_then(|link| link.resolved_pause());
    if let Some((obeys, sends)) = resolved {
        values.push(pair("RX negotiated", on_off(obeys)));
        values.push(pair("TX negotiated", on_off(sends)));
    }
    Ok(values)
}

/// `-g`: struct ethtool_ringparam: cmd, four maxima, four current lengths. Rings with a maximum of 0 are absent.
pub(super) fn rings(card: &dyn Card) -> io::Result<Values> {
    limits(
        &card.ask(ETHTOOL_GRINGPARAM, 36)?,
        ["RX", "RX Mini", "RX Jumbo", "TX"],
    )
}

/// `-l`: struct ethtool_channels: the same of channels.
pub(super) fn channels(card: &dyn Card) -> io::Result<Values> {
    limits(
        &card.ask(ETHTOOL_GCHANNELS, 36)?,
        ["RX", "TX", "Other", "Combined"],
    )
}

/// `-c`: struct ethtool_coalesce. Drivers leave unknown values 0: zeros are absent, except the common ones.
pub(super) fn coalescing(card: &dyn Card) -> io::Result<Values> {
    let answer = card.ask(ETHTOOL_GCOALESCE, 4 * (COALESCING.len() + 1))?;
    let mut values = Vec::new();
    for (name, at) in COALESCING.iter().zip(1..) {
        let value = get(&answer, 4 * at)?;
        if name.starts_with("Adaptive") {
            values.push(pair(name, on_off(value != 0)));
        } else if value != 0 || USUAL.contains(name) {
            values.push(pair(name, value.to_string()));
        }
    }
    Ok(values)
}

fn limits(answer: &[u8], names: [&str; 4]) -> io::Result<Values> {
    let mut values = Vec::new();
    for (name, at) in names.iter().zip(1..) {
        let (most, current) = (get(answer, 4 * at)?, get(answer, 4 * (at + 4))?);
        if most > 0 {
            values.push(pair(&format!("{name}.max"), most.to_string()));
            values.push(pair(&format!("{name}.current"), current.to_string()));
        }
    }
    Ok(values)
}

const ETHTOOL_GCOALESCE: u32 = 0x0e;
const ETHTOOL_GRINGPARAM: u32 = 0x10;
const ETHTOOL_GPAUSEPARAM: u32 = 0x12;
const ETHTOOL_GCHANNELS: u32 = 0x3c;
const USUAL: [&str; 4] = ["rx-usecs", "rx-frames", "tx-usecs", "tx-frames"];
const COALESCING: [&str; 22] = [
    "rx-usecs",
    "rx-frames",
    "rx-usecs-irq",
    "rx-frames-irq",
    "tx-usecs",
    "tx-frames",
    "tx-usecs-irq",
    "tx-frames-irq",
    "stats-block-usecs",
    "Adaptive RX",
    "Adaptive TX",
    "pkt-rate-low",
    "rx-usecs-low",
    "rx-frame-low",
    "tx-usecs-low",
    "tx-frame-low",
    "pkt-rate-high",
    "rx-usecs-high",
    "rx-frame-high",
    "tx-usecs-high",
    "tx-frame-high",
    "sample-interval",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_that_cannot_be_is_absent() {
        let words = [0x10_u32, 4096, 0, 0, 512, 1024, 0, 0, 256];
        let answer: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
        let expected = [
            ("RX.max", "4096"),
            ("RX.current", "1024"),
            ("TX.max", "512"),
            ("TX.current", "256"),
        ];
        let expected = expected.map(|(name, value)| pair(name, value));
        assert_eq!(
            limits(&answer, ["RX", "RX Mini", "RX Jumbo", "TX"]).unwrap(),
            expected
        );
        assert!(limits(&answer[..35], ["RX", "RX Mini", "RX Jumbo", "TX"]).is_err());
    }
}
