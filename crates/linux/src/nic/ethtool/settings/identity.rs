// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -i`.

use std::io;

use super::super::request::{Card, text};
use super::super::{DRVINFO_BYTES, ETHTOOL_GDRVINFO};
use super::{Values, pair};

/// The driver's identity. Empty fields are absent.
pub(super) fn driver(card: &dyn Card) -> io::Result<Values> {
    let info = card.ask(ETHTOOL_GDRVINFO, DRVINFO_BYTES)?;
    let field = |name: &str, at: usize| pair(name, text(&info[at..at + 32]));
    let fields = [
        field("driver", 4),
        field("version", 36),
        field("firmware-version", 68),
        field("bus-info", 100),
    ];
    Ok(fields
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect())
}
