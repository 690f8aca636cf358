// SPDX-License-Identifier: MIT OR Apache-2.0
use super::{Observer, TestOutcome, TestPlan};
use crate::error::Failure;
use linerate_linux::signal::Interrupt;
pub(super) fn run(
    _plan: &TestPlan,
    _observer: &mut dyn Observer,
    _interrupt: &Interrupt,
) -> Result<TestOutcome, Failure> {
    Err(Failure::measuring("speak iperf2", "not built yet"))
}
