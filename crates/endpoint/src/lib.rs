// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs one test: a [`TestPlan`] in, what was measured out.
//!
//! Both ends are thin loops over the same parts: a [`control::Control`] pumps the conversation, a
//! [`streams::Streams`] of [`stream`] workers moves the data, a [`sampler::Sampler`] reads the kernel's
//! counters around it, and [`account`] is what they all write down. Only [`fold`] knows the
//! document.
#![forbid(unsafe_code)]

pub mod account;
pub mod agent;
pub mod bounded_writer;
mod client;
pub mod connect;
pub mod control;
pub mod extension;
pub mod fold;
mod heartbeat;
mod iperf2;
pub mod memory;
mod outcome;
mod plan;
pub mod probe;
pub mod quantiles;
pub mod sampler;
mod server;
mod standard;
pub mod stream;
pub mod stream_config;
pub mod streams;
pub mod token;

pub use outcome::{Event, NoObserver, Observer, Peer, TestOutcome};
pub use plan::{
    Direction, Family, IPERF2_PORT, ServeOptions, TestPlan, UDP_DEFAULT_BITS_PER_SECOND,
};

use linerate_linux::signal::Interrupt;
use linerate_model::failure::Failure;
pub use linerate_model::output::{IoMode, Protocol};
pub use linerate_wire::iperf3::PORT;

/// Runs one test as a client, until its end, an error or an interruption.
///
/// # Errors
/// What failed before the first datagram; what fails later is in the outcome, with all that was
/// measured until then.
pub fn run(
    plan: &TestPlan,
    observer: &mut dyn Observer,
    interrupt: &Interrupt,
) -> Result<TestOutcome, Failure> {
    if plan.iperf2 {
        return iperf2::run(plan, observer, interrupt);
    }
    client::run(plan, true, observer, interrupt)
}

/// Only the latency probe, for the plan's duration: the idle path. Needs a linerate at the other
/// end; the outcome of a stock one has no latency.
///
/// # Errors
/// As [`run`].
pub fn idle(
    plan: &TestPlan,
    observer: &mut dyn Observer,
    interrupt: &Interrupt,
) -> Result<TestOutcome, Failure> {
    client::run(plan, false, observer, interrupt)
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
    if options.iperf2 {
        return iperf2::serve(options, listening, interrupt);
    }
    server::serve(options, listening, interrupt)
}
