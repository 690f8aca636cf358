// SPDX-License-Identifier: MIT OR Apache-2.0
//! nuttcp: with `-fparse` one line of `key=value`, counted by the receiver.

use super::super::load::{Account, Kind, Load};
use super::super::meter::{Metered, Pair};
use super::{HOST, words};

pub(super) fn pair(path: String, options: &[String], load: &Load) -> Pair {
    let mut client = vec![path.clone()];
    client.extend(words(&["-fparse", &format!("-T{}", load.seconds)]));
    match load.kind {
        Kind::Tcp { streams } => client.push(format!("-N{streams}")),
        Kind::Udp {
            payload_bytes,
            bits_per_second,
        } => {
            client.extend(["-u".to_owned(), format!("-l{payload_bytes}")]);
            // It wants whole kilobits a second; u = no limit.
            client.push(
                bits_per_second.map_or("-Ru".to_owned(), |rate| format!("-R{}", rate / 1000)),
            );
        }
    }
    client.extend_from_slice(options);
    client.push(HOST.to_owned());
    Pair {
        server: vec![path, "-S".into(), "--nofork".into()],
        client,
        port: 5000,
    }
}

pub(super) fn read(load: &Load, metered: &Metered) -> Option<Account> {
    let line = metered
        .finished
        .stdout
        .lines()
        .find(|line| line.starts_with("megabytes="))?;
    let value = |key: &str| -> Option<f64> {
        let mut pairs = line
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, _)| *name == key)?.1.parse().ok()
    };
    let seconds = value("real_seconds")?;
    match load.kind {
        Kind::Tcp { .. } => Some(Account {
            delivered_bits_per_second: value("rate_Mbps")? * 1e6,
            seconds,
            ..Account::default()
        }),
        Kind::Udp { payload_bytes, .. } => {
            let [sent, lost] = [value("pkt")?, value("drop")?].map(|count| count as u64);
            Some(Account::of_datagrams(sent, lost, payload_bytes, seconds))
        }
    }
}
