// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latency at the throughput: RFC 2544 section 26.2 with the statistics of RFC 8219 section 7.

use linerate_method::latency::Repeated;
use linerate_model::failure::Failure;
use linerate_model::output::{DeviceLatency, LatencyStream, Spread, TrialDirection};

use super::{NO_THROUGHPUT, REPEATS};
use crate::subject::Subject;
use crate::trial::{Arrivals, TrialRequest, TrialRun};
use crate::trials::Trials;
use crate::watch::{Watch, Watched};

pub(super) fn measure(
    subject: &Subject<'_>,
    trials: &mut Trials<'_, '_>,
) -> Result<Vec<DeviceLatency>, Failure> {
    let profile = &trials.tester.plan.profile;
    let empty = DeviceLatency {
        subject: subject.record(),
        load_fps: subject.throughput_fps,
        stream_s: profile.latency_stream_s,
        settle_s: profile.latency_settle_s,
        ..DeviceLatency::default()
    };
    let Some(load_fps) = subject.throughput_fps else {
        return Ok(vec![DeviceLatency {
            not_measured: Some(NO_THROUGHPUT.to_owned()),
            ..empty
        }]);
    };
    let from_sequence = (load_fps * profile.latency_settle_s) as u64 + 1;
    let request = TrialRequest {
        purpose: "latency",
        load_fps: Some(load_fps),
        duration_s: profile.latency_stream_s,
        watch: Watch::Delays { from_sequence },
        ..TrialRequest::of(subject.sizes, subject.way)
    };
    let (mut results, mut repeats) = (Vec::new(), REPEATS);
    for _ in 0..profile.latency_repeats {
        let run = trials.run_unspoilt(&request, &mut repeats, |run| !run.trial.valid)?;
        absorb(&mut results, &empty, &run);
    }
    results.iter_mut().for_each(summarize);
    Ok(results)
}

/// Adds the streams of a trial, each direction to its own result.
fn absorb(results: &mut Vec<DeviceLatency>, empty: &DeviceLatency, run: &TrialRun) {
    let ways = run.trial.directions.iter().zip(&run.arrivals);
    for (at, (way, arrivals)) in ways.enumerate() {
        if results.len() <= at {
            results.push(DeviceLatency {
                from: way.from.clone(),
                ..empty.clone()
            });
        }
        let streams = &mut results[at].streams;
        streams.extend(stream(run.trial.id, way, arrivals));
    }
}

fn stream(trial: u32, way: &TrialDirection, arrivals: &Arrivals) -> Option<LatencyStream> {
    let Watched::Delays { delays, .. } = &arrivals.watched else {
        return None;
    };
    let seen = delays.latency()?;
    Some(LatencyStream {
        trial,
        frames: seen.frames,
        lost_frames: way.bad_frames(),
        min_ns: seen.min_ns,
        median_ns: seen.median_ns,
        p999_ns: seen.p999_ns,
        max_ns: seen.max_ns,
        ipdv_min_ns: seen.ipdv.map(|ipdv| ipdv.min_ns),
        ipdv_median_ns: seen.ipdv.map(|ipdv| ipdv.median_ns),
        ipdv_max_ns: seen.ipdv.map(|ipdv| ipdv.max_ns),
    })
}

fn summarize(result: &mut DeviceLatency) {
    let spread = |of: fn(&LatencyStream) -> u64| {
        let values: Vec<u64> = result.streams.iter().map(of).collect();
        Repeated::of(&values).map(|of| Spread {
            median: of.median_ns,
            p1: of.p1_ns,
            p99: of.p99_ns,
        })
    };
    result.typical_ns = spread(|one| one.median_ns);
    result.worst_ns = spread(|one| one.p999_ns);
    result.pdv_ns = spread(|one| one.p999_ns - one.min_ns);
    if result.streams.is_empty() {
        result.not_measured = Some("no frame arrived".to_owned());
    }
}
