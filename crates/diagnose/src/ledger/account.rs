// SPDX-License-Identifier: MIT OR Apache-2.0
//! What both programs counted themselves, of this test alone.

use linerate_model::output::Evidence;

use super::claim::{Claims, Kind, evidence};
use super::path::Path;
use super::span::Span;
use linerate_knowledge::Stage;

pub(super) fn collect(path: &Path<'_>, claims: &mut Claims) {
    if path.sender.exact {
        nothing_before_the_kernel(path, claims);
    }
    if path.receiver.exact {
        unusable(path, claims);
    }
}

/// A datagram that the kernel did not take is not among the sent.
fn nothing_before_the_kernel(path: &Path<'_>, claims: &mut Claims) {
    let counted = |name, count: Option<u64>| count.map(|count| of_test(name, count));
    let unsent = counted("unsent_packets", path.test.unsent_packets);
    let refused = counted("refused_packets", path.test.refused_packets);
    for (stage, evidence) in [(Stage::TxApp, unsent), (Stage::TxSocket, refused)] {
        let (seen, evidence) = (Span::default(), evidence.into_iter().collect());
        claims.complete(path.sender.claim(stage, Kind::Exact, seen, evidence));
    }
}

/// What arrived and could not be counted: its stamp was wrong, or it came too late to be distinguished
/// from a copy.
fn unusable(path: &Path<'_>, claims: &mut Claims) {
    let test = path.test;
    let (Some(corrupt), late) = (test.corrupt_packets, test.late_packets.unwrap_or(0)) else {
        return;
    };
    let seen = Span::new(corrupt, corrupt.saturating_add(late));
    let evidence = vec![
        of_test("corrupt_packets", corrupt),
        of_test("late_packets", late),
    ];
    claims.complete(
        path.receiver
            .claim(Stage::RxApp, Kind::Exact, seen, evidence),
    );
}

/// A count of the test's own account.
pub(super) fn of_test(name: &str, count: u64) -> Evidence {
    evidence(name, count, "packets", "the test's account")
}
