// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs one test between two hosts: a [`TestPlan`] goes in, a [`TestOutcome`] comes out.
//!
//! The other end is [`serve`], a stock iperf3 server, or an iperf2 server ([`TestPlan::iperf2`]). While the test
//! runs, an [`Observer`] receives its intervals and the samples of both hosts' kernel counters.
//!
//! Both ends have the same parts: a control connection (sans-IO sessions of `linerate_wire`), one worker thread per
//! stream, a sampler thread that reads the counters, and an account of every stream. Only `fold` knows the document.
//! [`agent`] and [`sampler`] also serve the tester of a device, which needs counters without a test.
//!
//! ```
//! use linerate_endpoint::{NoObserver, ServeOptions, TestPlan, run, serve};
//! use linerate_linux::signal::Interrupt;
//!
//! let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
//! let (interrupt, (ready, listening)) = (Interrupt::default(), std::sync::mpsc::channel());
//! let options = ServeOptions { port, quiet: true, ..ServeOptions::default() };
//! let outcome = std::thread::scope(|scope| {
//!     scope.spawn(|| serve(&options, &mut || ready.send(()).unwrap(), &interrupt));
//!     listening.recv().unwrap();
//!     let plan = TestPlan { port, duration_ms: 200, ..TestPlan::udp("127.0.0.1") };
//!     let outcome = run(&plan, &mut NoObserver, &Interrupt::default());
//!     interrupt.request(15);
//!     outcome
//! })?;
//! let test = &outcome.tests[0];
//! assert_eq!(test.received_packets.unwrap() + test.lost_packets.unwrap(), test.sent_packets.unwrap());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod account;
pub mod agent;
mod bounded_writer;
mod client;
pub mod connect;
mod control;
pub mod extension;
mod fold;
mod heartbeat;
mod iperf2;
mod memory;
mod outcome;
mod plan;
mod probe;
mod quantiles;
pub mod sampler;
mod server;
mod standard;
mod stop;
mod stream;
mod stream_config;
mod streams;
pub mod token;
mod totals;

pub use outcome::{Event, NoObserver, Observer, Peer, TestOutcome};
pub use plan::{
    Direction, Family, IPERF2_PORT, KnownState, PathNotes, ServeOptions, TestPlan,
    UDP_DEFAULT_BITS_PER_SECOND,
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
