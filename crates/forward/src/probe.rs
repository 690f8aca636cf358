// SPDX-License-Identifier: MIT OR Apache-2.0
//! A hundred frames before the first trial, and the diagnosis if they are not forwarded.

use linerate_method::frame_size::Mix;
use linerate_model::failure::Failure;
use linerate_model::output::TrialDirection;
use linerate_wire::frame::TTL;

use crate::diagnosis::Symptoms;
use crate::plan::Way;
use crate::tester::{Path, Tester};
use crate::trial::{self, TrialRequest, TrialRun};

/// Sends 100 frames of the first size in each direction, then 100 of the largest size. Returns remarks.
///
/// # Errors
/// Less than half of the frames of the first size arrived; with what was seen instead.
pub(crate) fn run(tester: &mut Tester<'_>, way: Way) -> Result<Vec<String>, Failure> {
    let plan = tester.plan;
    let Some(first) = plan.sizes.first() else {
        return Ok(Vec::new());
    };
    let mut remarks = probe(tester, way, first)?;
    let longest = |sizes: &&Mix| sizes.sizes_bytes().iter().copied().max();
    let longest = plan.sizes.iter().max_by_key(longest).unwrap_or(first);
    if longest != first {
        let found = probe(tester, way, longest).unwrap_or_else(|failure| vec![failure.why]);
        let what = name(longest);
        remarks.extend(found.into_iter().map(|remark| format!("{what}: {remark}")));
        tester.check_interrupt()?;
    }
    Ok(remarks)
}

/// Probes up to three times, as a device may still be learning.
fn probe(tester: &mut Tester<'_>, way: Way, sizes: &Mix) -> Result<Vec<String>, Failure> {
    let request = TrialRequest {
        purpose: "probe",
        load_fps: Some(PROBE_FPS),
        duration_s: PROBE_FRAMES as f64 / PROBE_FPS,
        judges_ttl: false,
        ..TrialRequest::of(sizes, way)
    };
    let mut run = trial::run(tester, &request)?;
    for _ in 1..ATTEMPTS {
        if is_forwarded(&run) {
            break;
        }
        tester.pause(BETWEEN_S);
        run = trial::run(tester, &request)?;
    }
    if is_forwarded(&run) {
        Ok(remarks(tester, &run))
    } else {
        Err(diagnosis(tester, &run))
    }
}

/// What is unusual about a device that does forward.
fn remarks(tester: &Tester<'_>, run: &TrialRun) -> Vec<String> {
    let left = tester.ttl();
    let kind = match tester.path {
        Path::Bridged => "a bridge",
        Path::Routed { .. } => "one router",
    };
    let ttl = run.seen.iter().find_map(|seen| seen.first_ttl);
    let ttl = ttl
        .filter(|ttl| *ttl != left)
        .map(|ttl| format!("frames arrive with TTL {ttl}, where {kind} leaves {left} of {TTL}"));
    let lost = run.sum(|one| one.lost_frames);
    let lost = (lost > 0).then(|| format!("{lost} of the first {PROBE_FRAMES} frames were lost"));
    ttl.into_iter().chain(lost).collect()
}

fn diagnosis(tester: &Tester<'_>, run: &TrialRun) -> Failure {
    let mut ways = run.trial.directions.iter();
    let dead = ways.find(|one| one.received_frames * 2 < PROBE_FRAMES);
    let (from, to) = match dead {
        Some(one) if one.from == "b" => (1, 0),
        _ => (0, 1),
    };
    let [a, b] = [from, to].map(|at| tester.ports[at].interface.as_str());
    let symptoms = Symptoms {
        ports: [a, b],
        path: tester.path,
        failure: run.trial.invalid_reason.as_deref(),
        returned: dead.map_or(0, |one| one.misforwarded_frames),
        corrupt: dead.map_or(0, |one| one.corrupt_frames),
        fragments: dead.map_or(0, |one| one.fragment_frames),
        foreign: dead.map_or(0, |one| one.foreign_frames),
        vlan: tester.plan.vlan,
        seen: [run.seen[from], run.seen[to]],
    };
    let (why, hint) = symptoms.diagnosis();
    let what = format!("get frames through the device from {a} to {b}");
    Failure::measuring(what, why).hint(hint)
}

fn is_forwarded(run: &TrialRun) -> bool {
    let ways = &run.trial.directions;
    let arrived = |one: &TrialDirection| one.received_frames * 2 >= PROBE_FRAMES;
    !ways.is_empty() && ways.iter().all(arrived)
}

fn name(sizes: &Mix) -> String {
    match sizes.sizes_bytes() {
        [one] => format!("frames of {one} bytes"),
        _ => "the mix of sizes".to_owned(),
    }
}

const PROBE_FRAMES: u64 = 100;
const PROBE_FPS: f64 = 1000.0;
const ATTEMPTS: u32 = 3;
const BETWEEN_S: f64 = 0.5;
