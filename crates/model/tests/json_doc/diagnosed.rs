// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is concluded with nothing empty: a ledger and a finding.

use linerate_model::output::*;

use super::text;

pub(super) fn ledger() -> LedgerEntry {
    LedgerEntry {
        stages: vec![Stage {
            interface: Some(text()),
            evidence: vec![Evidence::default()],
            ..Stage::default()
        }],
        blind: vec![text()],
        unread: vec![Unread::default()],
        ..LedgerEntry::default()
    }
}

pub(super) fn finding() -> Finding {
    Finding {
        interface: Some(text()),
        conflicts: vec![text()],
        check: Some(Check::default()),
        alternatives: vec![text()],
        test_ids: vec![text()],
        explains: Explains {
            lost_packets: Some(1),
            shared_packets: Some(1),
            shared_with: vec![text()],
            bits_per_second: Some(1.0),
        },
        evidence: vec![Evidence::default()],
        change: Some(change()),
        ..Finding::default()
    }
}

pub(super) fn change() -> Change {
    Change {
        commands: vec![text()],
        undo: vec![text()],
        figure: Some(text()),
        tradeoffs: vec![text()],
        ..Change::default()
    }
}
