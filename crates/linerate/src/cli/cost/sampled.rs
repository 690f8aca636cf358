// SPDX-License-Identifier: MIT OR Apache-2.0
//! A test during which this host's processors are sampled. Sampling costs time, so such a test is not one of those that the
//! costs are computed from.

use std::time::Duration;

use linerate_endpoint::TestPlan;
use linerate_linux::clock;
use linerate_linux::perf::stacks::Sampling;
use linerate_model::failure::Failure;
use linerate_model::output::{Role, SamplingMissing};
use linerate_model::sample::{Phase, Sample, Values};
use linerate_model::sampled::{SOURCE, missing_name};

use crate::cli::session::Session;

/// Runs a test and samples meanwhile. What was seen is a sample of its group.
pub(super) fn run(session: &mut Session, plan: &TestPlan) -> Result<Vec<String>, Failure> {
    let sampling = Sampling::begin(Duration::from_millis(plan.duration_ms));
    let ran = session.run(plan);
    let is_context = |name: &str| linerate_knowledge::functions().context(name).is_some();
    let group = ran.as_ref().ok().and_then(|ids| {
        let mut tests = session.tests(ids);
        Some(tests.next()?.group.clone())
    });
    let load_ns = group.as_deref().and_then(|group| session.load_ns(group));
    let seen = sampling.and_then(|sampling| {
        let load_ns = load_ns.ok_or(SamplingMissing::Unknown)?;
        sampling.end(load_ns, is_context)
    });
    let ids = ran?;
    let values = seen.unwrap_or_else(why);
    session.took(&sample(group, values));
    Ok(ids)
}

/// Takes in that nothing can be sampled here.
pub(super) fn impossible(session: &mut Session, missing: SamplingMissing) {
    session.took(&sample(None, why(missing)));
}

fn why(missing: SamplingMissing) -> Values {
    [(missing_name(missing).to_owned(), 1)].into()
}

fn sample(group: Option<String>, counters: Values) -> Sample {
    Sample {
        host: Role::Local,
        t_ns: clock::monotonic_ns(),
        wall_ns: i64::try_from(clock::wall_ns()).ok(),
        source: SOURCE.to_owned(),
        phase: group.as_ref().map(|_| Phase::Load),
        group,
        counters,
        ..Sample::default()
    }
}
