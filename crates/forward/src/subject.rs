// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is measured: frames of one size or mix, one way or both.

use linerate_method::frame_size::Mix;
use linerate_method::search::Circumstances;
use linerate_model::failure::Failure;
use linerate_model::output::{self, Ceiling};

use crate::ceiling::{self, DEVICE, Limit, OWN_CABLE, Unpaced};
use crate::event::{Event, OnEvent};
use crate::plan::Way;
use crate::tester::Tester;
use crate::trial::genome;

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

    /// What the estimates of a search need.
    pub(crate) fn circumstances(&self, tester: &Tester<'_>) -> Circumstances {
        Circumstances {
            per_trial_s: tester.per_trial_s(),
            spread: self.unpaced.spread,
        }
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

/// A rate that varies by more makes a search longer.
const UNSTEADY: f64 = 0.01;
