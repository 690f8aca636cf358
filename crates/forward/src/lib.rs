// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tester for a device under test (DUT) between two ports of this machine: RFC 2544, RFC 9971, RFC 9004, RFC 6201.
//!
//! In: a [`ForwardPlan`] (ports, frame sizes, ways, goals, benchmarks). Out: an [`Event`] for each trial, search result
//! and benchmark, in the types of `linerate_model::output`; nothing is printed or stored here.
//!
//! ```text
//! guard (RFC 6815) ─► tester: open ports, answer ARP and ND ─► bridge or router? ─► probe: 100 frames
//!   ─► ceiling: what can the tester send? ─► for each benchmark, size and way: benchmark (load_search) ⇄ trial
//! ```
//! A trial is learning, traffic, residual frames, counts; the method ([`linerate_method::search`]) chooses the loads.
//! [`Surroundings`] refuses ports of a network in use, [`Device`] reads the DUT's own counters around each trial.
//!
//! ```
//! use linerate_forward::Surroundings;
//!
//! let in_use = Surroundings {
//!     default_routes: vec!["eth0".to_owned()],
//!     ..Surroundings::default()
//! };
//! let [uplink, a, b] = ["eth0", "eth1", "eth2"].map(str::to_owned);
//! assert_eq!(in_use.guard(&[a.clone(), b]), Ok(()));
//! let refusal = in_use.guard(&[uplink, a]).unwrap_err();
//! assert!(refusal.why.starts_with("eth0 has the default route"));
//! ```
#![forbid(unsafe_code)]

mod account;
mod benchmark;
mod ceiling;
mod device;
mod diagnosis;
mod event;
mod forecast;
mod frames;
mod guard;
mod load_search;
mod overhead;
mod plan;
mod probe;
mod residual;
mod sender;
mod setup;
mod subject;
mod tester;
mod trial;
mod trials;
mod watch;

use std::time::Instant;

use linerate_linux::signal::Interrupt;
use linerate_model::failure::Failure;

pub use device::{Device, Digest};
pub use event::{Event, OnEvent};
pub use guard::Surroundings;
pub use plan::{ForwardPlan, MaxLoad, PathMode, Procedure, RouterPort, Way};

use forecast::Forecast;
use subject::Subject;
use tester::Tester;
use trials::Trials;

/// Measures the device. Must run in the network namespace of the ports.
///
/// # Errors
/// A port, a device or a plan that cannot be used, or an interruption; every trial and result reported until then is
/// valid.
pub fn run(
    plan: &ForwardPlan,
    on_event: OnEvent<'_>,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let mut tester = Tester::open(plan, &plan.ports, interrupt)?;
    tester.find_path()?;
    let mut setup = setup::new(&tester);
    on_event(Event::Setup(&setup));
    on_event(Event::Note(setup::note(&setup)));
    for remark in probe::run(&mut tester, plan.all_ways())? {
        on_event(Event::Note(remark));
    }
    let mut subjects = Subject::all(&mut tester, on_event)?;
    setup.ceilings = subjects.iter().map(|one| one.ceiling.clone()).collect();
    let mut forecast = Forecast::new(&tester, &subjects)?;
    setup.tests = forecast.tests();
    setup.estimate_s = setup.tests.iter().map(|one| one.estimate_s).sum();
    on_event(Event::Setup(&setup));
    on_event(Event::Note(setup::estimate(&setup)));
    if let Some(note) = subjects.iter().find_map(Subject::unsteady) {
        on_event(Event::Note(note));
    }
    let mut trials = Trials::new(&mut tester, on_event);
    for procedure in plan.tests() {
        for subject in subjects.iter_mut().take(procedure.subjects()) {
            let begun = Instant::now();
            let (bytes, way) = (subject.sizes.frame_bytes(), subject.way.name());
            let title = format!("{procedure}  {bytes} bytes  {way}");
            trials.report(Event::Benchmarking(title, forecast.left_s()));
            benchmark::measure(subject, procedure, forecast.later_s(), &mut trials)?;
            forecast.ended(begun.elapsed().as_secs_f64());
        }
    }
    Ok(())
}
