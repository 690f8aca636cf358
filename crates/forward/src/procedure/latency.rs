// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latency at the throughput: RFC 2544 section 26.2 with the statistics of RFC 8219 section 7.

use linerate_method::latency::Repeated;
use linerate_model::output::{Benchmarks, DeviceLatency, LatencyStream, Spread, TrialDirection};

use super::{NO_THROUGHPUT, REPEATS, Task, unspoilt};
use crate::Tell;
use crate::rig::Rig;
use crate::trial::{Arrivals, Ask, Tried};
use crate::watch::{Watch, Watched};
use linerate_model::failure::Failure;

impl Task<'_> {
    pub(super) fn latency(&self, rig: &mut Rig<'_>, tell: Tell<'_>) -> Result<Benchmarks, Failure> {
        let profile = &rig.plan.profile;
        let empty = DeviceLatency {
            subject: self.subject(),
            load_fps: self.throughput_fps,
            stream_s: profile.latency_stream_s,
            settle_s: profile.latency_settle_s,
            ..DeviceLatency::default()
        };
        let repeats = profile.latency_repeats;
        let mut told: Vec<DeviceLatency> = Vec::new();
        if let Some(load_fps) = self.throughput_fps {
            let mut spoilt = REPEATS;
            for _ in 0..repeats {
                let tried = self.stream(rig, tell, load_fps, &empty, &mut spoilt)?;
                absorb(&mut told, &empty, &tried);
            }
            told.iter_mut().for_each(summarize);
        } else {
            let not_measured = Some(NO_THROUGHPUT.to_owned());
            told.push(DeviceLatency {
                not_measured,
                ..empty
            });
        }
        Ok(Benchmarks {
            latency: told,
            ..Benchmarks::default()
        })
    }

    fn stream(
        &self,
        rig: &mut Rig<'_>,
        tell: Tell<'_>,
        load_fps: f64,
        times: &DeviceLatency,
        spoilt: &mut u32,
    ) -> Result<Tried, Failure> {
        let from_sequence = (load_fps * times.settle_s) as u64 + 1;
        let ask = Ask {
            purpose: "latency",
            load_fps: Some(load_fps),
            duration_s: times.stream_s,
            watch: Watch::Delays { from_sequence },
            ..Ask::of(self.sizes, self.way)
        };
        unspoilt(rig, tell, &ask, spoilt, |tried| !tried.trial.valid)
    }
}

/// Each direction has its own delays.
fn absorb(told: &mut Vec<DeviceLatency>, empty: &DeviceLatency, tried: &Tried) {
    let ways = tried.trial.directions.iter().zip(&tried.arrivals);
    for (at, (way, arrivals)) in ways.enumerate() {
        if told.len() <= at {
            told.push(DeviceLatency {
                from: way.from.clone(),
                ..empty.clone()
            });
        }
        told[at]
            .streams
            .extend(stream(tried.trial.id, way, arrivals));
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

fn summarize(told: &mut DeviceLatency) {
    let spread = |of: fn(&LatencyStream) -> u64| {
        let values: Vec<u64> = told.streams.iter().map(of).collect();
        Repeated::of(&values).map(|of| Spread {
            median: of.median_ns,
            p1: of.p1_ns,
            p99: of.p99_ns,
        })
    };
    told.typical_ns = spread(|one| one.median_ns);
    told.worst_ns = spread(|one| one.p999_ns);
    told.pdv_ns = spread(|one| one.p999_ns - one.min_ns);
    if told.streams.is_empty() {
        told.not_measured = Some("no frame arrived".to_owned());
    }
}
