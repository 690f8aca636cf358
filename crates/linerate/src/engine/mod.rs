// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs one test: a [`TestPlan`] in, what was measured out.

mod outcome;
mod plan;

pub use outcome::{Blind, Event, Observer, Peer, TestOutcome};
pub use plan::{
    Direction, Family, IPERF2_PORT, PORT, Protocol, RxChoice, ServeOptions, TcpRxChoice,
    TcpTxChoice, TestPlan, TxChoice, UDP_DEFAULT_BITS_PER_SECOND,
};

use crate::error::Failure;
use linerate_linux::signal::Interrupt;

/// Runs one test as a client, until its end, an error or an interruption.
///
/// # Errors
/// What could not be measured; what was measured before it is lost only if nothing was.
pub fn run(
    plan: &TestPlan,
    observer: &mut dyn Observer,
    interrupt: &Interrupt,
) -> Result<TestOutcome, Failure> {
    let _ = (observer, interrupt);
    Err(Failure::measuring(
        format!("measure to {}", plan.host),
        "the engine is not built yet",
    ))
}

/// Serves until interrupted; `listening` is called once the port is open.
///
/// # Errors
/// The port could not be opened.
pub fn serve(
    options: &ServeOptions,
    listening: &mut dyn FnMut(),
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let _ = (listening, interrupt);
    Err(Failure::measuring(
        format!("serve on port {}", options.port),
        "the engine is not built yet",
    ))
}
