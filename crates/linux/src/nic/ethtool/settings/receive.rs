// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -x`: over which queues the receive hash spreads.

use std::collections::BTreeSet;
use std::io;

use linerate_model::order::Gather as _;

use super::super::request::{Card, command, get, put};
use super::{Values, pair};

/// The number of receive queues, the size of the indirection table, and the queues in it. The hash key is omitted.
pub(super) fn indirection(card: &dyn Card) -> io::Result<Values> {
    // struct ethtool_rxnfc: cmd, flow_type, data (64 bits), …
    let answer = card.ask(ETHTOOL_GRXRINGS, RXNFC_BYTES)?;
    let mut values = vec![pair("queues", get(&answer, 8)?.to_string())];
    if let Ok(table) = table(card) {
        let used: BTreeSet<_> = table.iter().gather();
        let used: Vec<_> = used.into_iter().map(u32::to_string).collect();
        values.push(pair("indirection.size", table.len().to_string()));
        values.push(pair("indirection.queues", used.join(" ")));
    }
    Ok(values)
}

/// struct ethtool_rxfh_indir: cmd, size, ring_index[]. With size 0 the driver returns the size of its table.
fn table(card: &dyn Card) -> io::Result<Vec<u32>> {
    let size = get(&card.ask(ETHTOOL_GRXFHINDIR, 8)?, 4)?.min(MOST_ENTRIES);
    let mut request = command(ETHTOOL_GRXFHINDIR, 8 + 4 * size as usize);
    put(&mut request, 4, size);
    card.exchange(&mut request)?;
    (0..size as usize)
        .map(|entry| get(&request, 8 + 4 * entry))
        .collect()
}

const ETHTOOL_GRXRINGS: u32 = 0x2d;
const ETHTOOL_GRXFHINDIR: u32 = 0x38;
/// `struct ethtool_rxnfc` with its flow specification, generously.
const RXNFC_BYTES: usize = 256;
const MOST_ENTRIES: u32 = 4096;
