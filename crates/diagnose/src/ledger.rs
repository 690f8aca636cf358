// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where each test's packets were lost, and a device's frames, stage by stage. `docs/ledger.md` states every rule.
//!
//! ```text
//! test + samples ──► path ──► claims: account, reasons, protocol, device ──► balance ──► settle
//! ```
//!
//! A claim says how many of the lost packets died at a stage: at least and at most. Settling cuts
//! the claims down to what the account allows.

use linerate_model::output::{LedgerEntry, Protocol, Test};

use crate::evidence::Evidence;

mod account;
mod balance;
mod claim;
mod device;
mod dut;
mod internet;
mod path;
mod reasons;
mod settle;
mod socket;
mod span;
mod tally;
mod transmission;
mod unread;

use claim::Claims;
pub use dut::FORWARD_STAGES;
use path::Path;

/// One entry a test that lost anything countable, and one a trial that decided a device's rate.
#[must_use]
pub fn of(evidence: &Evidence<'_>) -> Vec<LedgerEntry> {
    let tests = evidence.record.tests();
    let entries = tests.filter_map(|test| entry(evidence, test));
    entries.chain(dut::entries(evidence)).collect()
}

fn entry<'r>(evidence: &'r Evidence<'r>, test: &'r Test) -> Option<LedgerEntry> {
    let (unit, lost) = match test.protocol {
        Protocol::Udp => ("datagrams", test.lost_packets?),
        Protocol::Tcp => ("segments", transmission::lost(evidence, test)?),
    };
    let path = Path::of(evidence, test, lost);
    let mut claims = Claims::default();
    if test.protocol == Protocol::Udp {
        account::collect(&path, &mut claims);
    }
    reasons::collect(&path, &mut claims);
    socket::collect(&path, &mut claims);
    internet::collect(&path, &mut claims);
    device::collect(&path, &mut claims);
    let rest = balance::of(&path);
    Some(LedgerEntry {
        test_id: test.id.clone(),
        unit: unit.to_owned(),
        unread: unread::of(evidence.record, &path),
        ..settle::settle(&path, claims, &rest)
    })
}
