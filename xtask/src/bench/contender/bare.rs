// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loop of system calls of this program itself.

use super::super::bare::JOIN;
use super::super::load::{Account, Kind, Load};
use super::super::meter::{Metered, Pair};
use super::{HOST, words};

/// Its only option: the kernel cuts and joins.
pub(super) fn pair(path: String, options: &[String], load: &Load) -> Pair {
    let joined = options.iter().map(|_cut| JOIN.to_owned());
    let payload_bytes = match load.kind {
        Kind::Udp { payload_bytes, .. } => payload_bytes,
        Kind::Tcp { .. } => 0,
    };
    let (bytes, seconds) = (payload_bytes.to_string(), load.seconds.to_string());
    let with = |rest: &[&str]| [vec![path.clone()], words(rest)].concat();
    let server = with(&["bare", "receive", PORT_WORD]).into_iter();
    let client = with(&["bare", "send", HOST, PORT_WORD, &bytes, &seconds]);
    Pair {
        server: server.chain(joined).collect(),
        client: [&client, options].concat(),
        port: PORT,
    }
}

/// `SENT RECEIVED`
pub(super) fn read(load: &Load, metered: &Metered) -> Option<Account> {
    let Kind::Udp { payload_bytes, .. } = load.kind else {
        return None;
    };
    let (sent, received) = metered.finished.stdout.trim().split_once(' ')?;
    let (sent, received): (u64, u64) = (sent.parse().ok()?, received.parse().ok()?);
    let seconds = f64::from(load.seconds);
    Some(Account::of_datagrams(
        sent,
        sent.saturating_sub(received),
        payload_bytes,
        seconds,
    ))
}

const PORT: u16 = 5301;
const PORT_WORD: &str = "5301";
