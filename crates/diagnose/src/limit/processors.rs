// SPDX-License-Identifier: MIT OR Apache-2.0
//! How busy the processors of each side were during a test.

use linerate_model::output::{Cpu, Test};
use linerate_model::record::Side;

/// The busy share of the busiest processor, 0 … 1.
pub(super) fn busiest(test: &Test, side: Side) -> Option<f64> {
    cpu(test, side).map(|cpu| cpu.busiest_cpu)
}

/// Whether a processor of this side is full.
pub(super) fn full(test: &Test, side: Side) -> bool {
    busiest(test, side).is_some_and(|busy| busy >= FULL_CPU)
}

/// Whether a processor of this side is so busy that a rule may call it full: then it is not excluded either.
pub(super) fn nearly_full(test: &Test, side: Side) -> bool {
    busiest(test, side).is_some_and(|busy| busy >= NEARLY_FULL_CPU)
}

/// Whether one side reports nothing, as a stock server does.
pub(super) fn is_blind(test: &Test) -> bool {
    [Side::Sender, Side::Receiver]
        .into_iter()
        .any(|side| busiest(test, side).is_none())
}

/// The load of a side's processors, in words.
pub(super) fn load(test: &Test, side: Side) -> String {
    let softirq = cpu(test, side).filter(|cpu| cpu.softirq >= MUCH_SOFTIRQ);
    let softirq = softirq.map(|cpu| format!(", softirq {:.0} % of all", cpu.softirq * 100.0));
    let busy = busiest(test, side).unwrap_or(0.0) * 100.0;
    format!(
        "busiest processor is at {busy:.0} %{}",
        softirq.unwrap_or_default()
    )
}

fn cpu(test: &Test, side: Side) -> Option<Cpu> {
    test.cpu.of(side.role(test))
}

/// A processor this busy has nothing to spare.
const FULL_CPU: f64 = 0.95;
const NEARLY_FULL_CPU: f64 = 0.8;
const MUCH_SOFTIRQ: f64 = 0.10;
