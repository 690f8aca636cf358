// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ours.

use serde_json::Value;

use super::super::load::{Account, Kind, Load};
use super::super::meter::{Metered, Pair};
use super::{HOST, datagrams, words};

pub(super) fn pair(program: String, options: &[String], load: &Load) -> Pair {
    let mut client = vec![program.clone()];
    match load.kind {
        Kind::Tcp { streams } => {
            client.extend(words(&["tcp", HOST, "-P", &streams.to_string()]));
        }
        Kind::Udp {
            payload_bytes,
            bits_per_second,
        } => {
            client.extend(words(&["udp", HOST]));
            client.extend(datagrams(payload_bytes, bits_per_second.unwrap_or(0)));
        }
    }
    client.extend(words(&["--json", "-t", &load.seconds.to_string()]));
    client.extend_from_slice(options);
    let server = vec![program, "serve".into()];
    Pair {
        server,
        client,
        port: 5201,
    }
}

pub(super) fn read(metered: &Metered) -> Option<Account> {
    let test = test(metered)?;
    let count = |name: &str| test[name].as_u64().unwrap_or_default();
    Some(Account {
        delivered_bits_per_second: test["delivered_bits_per_second"].as_f64()?,
        sent_packets: count("sent_packets"),
        lost_packets: count("lost_packets"),
        seconds: test["duration_s"].as_f64()?,
    })
}

/// The test of the `--json` document, if its counts are to be believed. One that could not offer the
/// asked rate is no valid test of that rate; the peers say nothing of it, and here the counts are compared.
pub(super) fn test(metered: &Metered) -> Option<Value> {
    let document: Value = serde_json::from_str(&metered.finished.stdout).ok()?;
    let test = document["tests"][0].clone();
    let fell_short =
        test["unsent_packets"].as_u64() > Some(0) && test["sent_packets"].as_u64() > Some(0);
    (test["valid"] == true || fell_short).then_some(test)
}
