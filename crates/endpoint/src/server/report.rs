// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of the server's report (`--get-server-output`).

use crate::account::{RxAccount, SideAccount, StreamAccount, TxAccount};
use crate::stream_config::StreamConfig;
use linerate_model::output::Protocol;

/// One line per stream, as this end counted it.
pub(super) fn text(account: &SideAccount, config: &StreamConfig) -> String {
    let mut text = format!("linerate {} as the server\n", env!("CARGO_PKG_VERSION"));
    for stream in &account.streams {
        text.push_str(&line(stream, config));
        text.push('\n');
    }
    text
}

fn line(stream: &StreamAccount, config: &StreamConfig) -> String {
    let what = match (&stream.tx, &stream.rx) {
        (Some(tx), _) => sent(tx, config),
        (None, Some(rx)) => received(rx, config),
        (None, None) => "nothing counted".to_owned(),
    };
    format!("[{:3}] {what}", stream.id)
}

fn sent(tx: &TxAccount, config: &StreamConfig) -> String {
    let what = match (config.protocol, tx.retransmits) {
        (Protocol::Udp, _) => format!(", {} datagrams", tx.packets),
        (Protocol::Tcp, Some(count)) => format!(", {count} segments retransmitted"),
        (Protocol::Tcp, None) => String::new(),
    };
    format!("sent {} bytes{what}", tx.bytes)
}

fn received(rx: &RxAccount, config: &StreamConfig) -> String {
    let totals = rx.sequence.unwrap_or_default();
    let what = match config.protocol {
        Protocol::Udp => format!(
            ", {} of {} datagrams lost, {} reordered, {} duplicates, jitter {:.3} ms",
            totals.lost,
            totals.sent,
            totals.reordered,
            totals.duplicates,
            rx.jitter_ns.unwrap_or(0.0) / 1e6
        ),
        Protocol::Tcp => String::new(),
    };
    format!("received {} bytes{what}", rx.bytes)
}
