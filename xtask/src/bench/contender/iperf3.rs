// SPDX-License-Identifier: MIT OR Apache-2.0
//! iperf3: the receiver's number is `end.sum_received`.

use serde_json::Value;

use super::super::load::{Account, Kind, Load};
use super::super::meter::{Metered, Pair};
use super::{HOST, datagrams, words};

pub(super) fn pair(path: String, options: &[String], load: &Load) -> Pair {
    let mut client = vec![path.clone()];
    client.extend(words(&["-J", "-c", HOST, "-t", &load.seconds.to_string()]));
    match load.kind {
        Kind::Tcp { streams } => client.extend(words(&["-P", &streams.to_string()])),
        Kind::Udp {
            payload_bytes,
            bits_per_second,
        } => {
            client.push("-u".into());
            client.extend(datagrams(payload_bytes, bits_per_second.unwrap_or(0)));
        }
    }
    client.extend_from_slice(options);
    Pair {
        server: vec![path, "-s".into()],
        client,
        port: 5201,
    }
}

pub(super) fn read(load: &Load, metered: &Metered) -> Option<Account> {
    let document: Value = serde_json::from_str(&metered.finished.stdout).ok()?;
    let end = &document["end"];
    let received = &end["sum_received"];
    let Kind::Udp { payload_bytes, .. } = load.kind else {
        return Some(Account {
            delivered_bits_per_second: received["bits_per_second"].as_f64()?,
            seconds: received["seconds"].as_f64()?,
            ..Account::default()
        });
    };
    let sent = end["sum_sent"]["packets"].as_u64()?;
    // The receiver does not see that the last ones are missing: what it counts is what arrived.
    let seen = received["packets"].as_u64()?;
    let arrived = seen.saturating_sub(received["lost_packets"].as_u64()?);
    let seconds = received["seconds"].as_f64()?;
    Some(Account::of_datagrams(
        sent,
        sent.saturating_sub(arrived),
        payload_bytes,
        seconds,
    ))
}
