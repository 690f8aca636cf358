// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether an end of a test had no processor time left: then what its rates seem to say of the path is its own. And whether
//! programs took its processors: then that one is full says nothing of what packets cost.

use linerate_model::output::Test;
use linerate_model::record::Side;

use super::idle;
use super::load::{Shares, TICKS_PER_SECOND};
use crate::evidence::{Evidence, Source};
use crate::facts::Facts;
use crate::facts::vantage::Vantage;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let record = evidence.record;
    // Of what no test belongs to nothing is known.
    facts.add_to_run("an_end_is_full", false, "no test");
    facts.add_to_run("busy_with_programs", false, "no test");
    for test in record.tests() {
        let ends = [Side::Sender, Side::Receiver].map(|side| Vantage::end(evidence, test, side));
        let full = !record.one_machine() && ends.iter().any(|end| may_be_full(end, test));
        facts.add_to_test(
            &test.id,
            "an_end_is_full",
            full,
            "/proc/stat during the test",
        );
        for end in ends {
            let before = before(&end).is_some_and(|share| share > TAKEN);
            let busy = before || in_user_mode(&end);
            end.add(
                facts,
                "busy_with_programs",
                busy,
                "/proc/stat before the test and during it",
            );
        }
    }
}

/// All processors of an end together, so that no other could have helped. Where the readings do not show that it had time,
/// it may have had none.
fn may_be_full(end: &Vantage<'_>, test: &Test) -> bool {
    let busy = test.cpu.of(end.host).is_some_and(|cpu| cpu.busy() >= FULL);
    let host = end.as_host();
    let least = Shares::of(&host).map(|shares| idle::least(&host, &shares));
    busy || least.is_some_and(|least| least < 1.0 - FULL)
}

/// Packets, and the system calls of a program that only sends or receives, cost system time and soft interrupts. A receiver
/// that fills a processor itself may do so in user mode.
fn in_user_mode(end: &Vantage<'_>) -> bool {
    let shares = Shares::of(&end.as_host());
    let user = shares.and_then(|shares| Some(shares.user(shares.busiest()?)));
    let receives = end.test.filter(|_| end.side == Some(Side::Receiver));
    let own = receives.and_then(|test| test.receiver_cpu_ratio_max);
    user.is_some_and(|share| share > MOST) && own.is_none_or(|own| own < TAKEN)
}

/// By how much other programs kept the busiest processor busy in the idle interval before the test. A virtual machine that
/// was not run for a part of that time has fewer ticks than the time has, and what is missing was not used by its programs.
/// What this program used itself to read settings and counters, long on a slow board, is none of theirs.
pub(in crate::facts) fn before(end: &Vantage<'_>) -> Option<f64> {
    let host = end.host_counters();
    let shares = Shares::of_ticks(host.idle_end_to_end(Source::Stat))?;
    let busy = shares.busy(shares.busiest()?);
    let Some(span_s) = host.idle_span_s(Source::Stat) else {
        return Some(busy);
    };
    let own: u64 = host
        .idle_end_to_end(Source::OwnStat)
        .iter()
        .map(|(_, ticks)| *ticks)
        .sum();
    let own = own as f64 / (span_s * TICKS_PER_SECOND);
    Some((busy * shares.counted(span_s) - own).max(0.0))
}

/// As `cpu_idle` in the rules about it.
const FULL: f64 = 0.95;
/// As `idle_busiest_cpu` in the rules about it.
const TAKEN: f64 = 0.8;
const MOST: f64 = 0.5;

#[cfg(test)]
mod tests;
