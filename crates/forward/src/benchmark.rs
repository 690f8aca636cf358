// SPDX-License-Identifier: MIT OR Apache-2.0
//! The benchmarks other than throughput (RFC 2544, 9004, 6201), made of trials; the method decides what to send.
//!
//! Each is measured for all sizes and ways before the next; most are measured at the throughput.

mod back_to_back;
mod latency;
mod loss_curve;
mod recovery;
mod reset;

use linerate_method::profile::Profile;
use linerate_model::failure::Failure;
use linerate_model::output::Benchmarks;

use crate::plan::Procedure;
use crate::subject::Subject;
use crate::trials::Trials;

/// Measures one benchmark.
///
/// # Errors
/// As [`trial::run`](crate::trial::run); every trial reported until then is valid.
pub(crate) fn measure(
    subject: &Subject<'_>,
    procedure: Procedure,
    trials: &mut Trials<'_, '_>,
) -> Result<Benchmarks, Failure> {
    let mut all = Benchmarks::default();
    match procedure {
        Procedure::Throughput => {}
        Procedure::LossCurve => all.loss_curves = vec![loss_curve::measure(subject, trials)?],
        Procedure::BackToBack => all.back_to_back = vec![back_to_back::measure(subject, trials)?],
        Procedure::Latency => all.latency = latency::measure(subject, trials)?,
        Procedure::Recovery => all.recovery = vec![recovery::measure(subject, trials)?],
        Procedure::Reset => all.reset = vec![reset::measure(subject, trials)?],
    }
    Ok(all)
}

/// The estimated duration of one benchmark, seconds. Unless it is known, the throughput is taken as half of the
/// highest load.
pub(crate) fn estimate_s(subject: &Subject<'_>, procedure: Procedure, profile: &Profile) -> f64 {
    let load_fps = subject.limit.load_fps;
    match procedure {
        Procedure::Throughput => 0.0,
        Procedure::LossCurve => profile.loss_curve_s(loss_curve::STEP).unwrap_or(0.0),
        Procedure::BackToBack => profile.back_to_back_s(load_fps, load_fps / 2.0),
        Procedure::Latency => profile.latency_s(),
        Procedure::Recovery => profile.recovery_total_s(),
        Procedure::Reset => profile.reset_total_s(),
    }
}

/// How often spoilt trials are repeated in a benchmark of one size; for bursts, in each search.
const REPEATS: u32 = 8;
const NO_THROUGHPUT: &str = "there is no rate without loss to measure it at";
