// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is measured: frames of one size or mix, one way or both.

use linerate_method::frame_size::Mix;
use linerate_method::profile::Profile;
use linerate_method::search::{Circumstances, estimate};
use linerate_model::failure::Failure;
use linerate_model::output::{self, Ceiling, ForwardResult};

use crate::benchmark;
use crate::ceiling::{self, DEVICE, Limit, OWN_CABLE, Unpaced};
use crate::event::{Event, OnEvent};
use crate::load_search::LoadSearch;
use crate::plan::{ForwardPlan, Procedure, Way};
use crate::tester::Tester;
use crate::trial::genome;
use crate::trials::Trials;

/// One size or mix, and one way, with what is known of tester and device.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub sizes: &'a Mix,
    pub way: Way,
    pub ceiling: Ceiling,
    pub limit: Limit,
    /// What the device forwarded of unpaced frames.
    pub unpaced: Unpaced,
    /// The highest rate without loss, or with the least loss that was searched for; once it is known.
    pub throughput_fps: Option<f64>,
}

impl<'a> Subject<'a> {
    /// Calibrates the tester for all subjects of the plan, in the order of measuring.
    ///
    /// # Errors
    /// As [`ceiling::measure`].
    pub(crate) fn all(
        tester: &mut Tester<'a>,
        on_event: OnEvent<'_>,
    ) -> Result<Vec<Self>, Failure> {
        let plan = tester.plan;
        let own = plan.own_cable.as_ref();
        let mut own = own
            .map(|ports| Tester::open(plan, ports, tester.interrupt))
            .transpose()?;
        let mut all = Vec::new();
        for sizes in &plan.sizes {
            for way in &plan.ways {
                on_event(Event::Status(format!(
                    "what the tester can send at {} bytes",
                    sizes.frame_bytes()
                )));
                all.push(Self::calibrated(tester, own.as_mut(), sizes, *way)?);
            }
        }
        Ok(all)
    }

    fn calibrated(
        tester: &mut Tester<'a>,
        own_cable: Option<&mut Tester<'a>>,
        sizes: &'a Mix,
        way: Way,
    ) -> Result<Self, Failure> {
        let (device, unpaced) = ceiling::measure(tester, way, sizes, DEVICE)?;
        let ceiling = match own_cable {
            Some(own) => Ceiling {
                path_fps: Some(device.send_fps),
                ..ceiling::measure(own, way, sizes, OWN_CABLE)?.0
            },
            None => device,
        };
        Ok(Self {
            sizes,
            way,
            limit: Limit::new(tester, sizes, &ceiling),
            ceiling,
            unpaced,
            throughput_fps: None,
        })
    }

    /// Measures one benchmark; `later_s` is the estimated duration of all that follow.
    ///
    /// # Errors
    /// As [`trial::run`](crate::trial::run).
    pub(crate) fn measure(
        &mut self,
        procedure: Procedure,
        later_s: f64,
        trials: &mut Trials<'_, '_>,
    ) -> Result<(), Failure> {
        if procedure != Procedure::Throughput {
            let measured = benchmark::measure(self, procedure, trials)?;
            trials.report(Event::Benchmark(&measured));
            return Ok(());
        }
        let search = LoadSearch {
            sizes: self.sizes,
            way: self.way,
            limit: self.limit,
            spread: self.unpaced.spread,
            later_s,
        };
        let results = search.run(trials)?;
        for result in &results {
            trials.report(Event::Result(result));
        }
        self.throughput_fps = strictest(trials.tester.plan, &results);
        Ok(())
    }

    /// The estimated duration of one benchmark, seconds.
    ///
    /// # Errors
    /// A search that makes no sense.
    pub(crate) fn estimate_s(
        &self,
        procedure: Procedure,
        tester: &Tester<'_>,
    ) -> Result<f64, Failure> {
        let (plan, waits) = (tester.plan, tester.plan.profile.waits);
        let per_trial_s = tester.overhead.per_trial_s(&waits);
        if procedure == Procedure::Throughput {
            return self.search_s(plan, per_trial_s);
        }
        let profile = Profile {
            waits: waits.taking(per_trial_s),
            ..plan.profile
        };
        Ok(benchmark::estimate_s(self, procedure, &profile))
    }

    fn search_s(&self, plan: &ForwardPlan, per_trial_s: f64) -> Result<f64, Failure> {
        let goals = plan.search_goals();
        let (least_fps, most_fps) = (self.limit.least_fps(&goals), self.limit.load_fps);
        let known = Circumstances {
            per_trial_s,
            spread: self.unpaced.spread,
        };
        let search = estimate(&goals, least_fps, most_fps, known)
            .map_err(|why| Failure::usage("estimate the duration", why))?;
        // A device that forwarded more than it will be offered needs no search.
        let expected_s = match self.unpaced.fps > most_fps * CLEARLY {
            true => search.least_s,
            false => search.typical_s,
        };
        Ok(expected_s.min(plan.search_limit_s().unwrap_or(f64::INFINITY)))
    }

    /// That the duration of its search is hard to estimate.
    pub(crate) fn unsteady(&self) -> Option<String> {
        let percent = self.unpaced.spread * 100.0;
        (self.unpaced.spread > UNSTEADY).then(|| {
            format!("the forwarded rate varies by {percent:.0} %: the search needs more trials")
        })
    }

    pub(crate) fn record(&self) -> output::Subject {
        output::Subject {
            frame_bytes: self.sizes.frame_bytes(),
            genome: genome(self.sizes),
            direction: self.way.name().to_owned(),
        }
    }
}

/// The result of the goal with the least loss.
fn strictest(plan: &ForwardPlan, results: &[ForwardResult]) -> Option<f64> {
    let goals = plan.goals.iter();
    let least = goals.min_by(|(_, a), (_, b)| a.loss_ratio.total_cmp(&b.loss_ratio));
    let (name, _) = least?;
    let result = results.iter().find(|result| result.goal == *name);
    result.and_then(|result| result.lower_fps)
}

/// A rate that varies by more makes a search longer.
const UNSTEADY: f64 = 0.01;
const CLEARLY: f64 = 1.2;
