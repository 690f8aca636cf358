// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tester itself can do: unpaced frames over its own cable or through the device.

use linerate_method::frame_size::{Layer, Mix};
use linerate_method::search::Goal;
use linerate_model::failure::Failure;
use linerate_model::output::Ceiling;

use crate::plan::{MaxLoad, Way};
use crate::tester::Tester;
use crate::trial::{self, TrialRequest, TrialRun};
use crate::watch::{Watch, Watched};

/// Measures the ceiling with unpaced frames, and how many of them arrived; `over` says what was between the ports.
///
/// # Errors
/// As [`trial::run`].
pub(crate) fn measure(
    tester: &mut Tester<'_>,
    way: Way,
    sizes: &Mix,
    over: &str,
) -> Result<(Ceiling, Unpaced), Failure> {
    let request = TrialRequest {
        purpose: "calibration",
        duration_s: CALIBRATION_S,
        judges_ttl: false,
        watch: Watch::Rate,
        ..TrialRequest::of(sizes, way)
    };
    let run = trial::run(tester, &request)?;
    let fps = run.received_fps();
    let ceiling = Ceiling {
        frame_bytes: sizes.frame_bytes(),
        direction: way.name().to_owned(),
        send_fps: run.offered_fps(),
        loop_fps: (over == OWN_CABLE).then_some(fps),
        path_fps: None,
        over: over.to_owned(),
    };
    let spread = spread(&run);
    Ok((ceiling, Unpaced { fps, spread }))
}

/// What was received of unpaced frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unpaced {
    /// Frames per second and direction.
    pub fps: f64,
    /// The variation of the rate, as a share of it.
    pub spread: f64,
}

/// Of the direction that varies more.
fn spread(run: &TrialRun) -> f64 {
    let spreads = run.arrivals.iter().filter_map(|one| match &one.watched {
        Watched::Rate(watch) => watch.spread(),
        _ => None,
    });
    spreads.fold(0.0, f64::max)
}

/// The bounds of the load of trials, frames per second and direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limit {
    pub load_fps: f64,
    pub line_fps: Option<f64>,
    pub tester_fps: f64,
    /// `tester_fps` was measured without the device.
    pub has_own_cable: bool,
    /// The program at the other end of a tap takes the frames: what its queue refuses is not the tester's doing, and
    /// `tester_fps` through the device is not the tester's maximum.
    pub is_tap: bool,
}

impl Limit {
    /// The highest load that makes sense, and what bounds it.
    pub(crate) fn new(tester: &Tester<'_>, sizes: &Mix, ceiling: &Ceiling) -> Self {
        let line_bits = tester.line_bits_per_second();
        let line_fps = line_bits.map(|bits| sizes.line_rate_fps(bits));
        let tester_fps = ceiling.send_fps;
        let path_fps = ceiling.path_fps.filter(|fps| *fps > 0.0);
        let path_fps = path_fps.map(|fps| fps * MARGIN);
        let bounds = [line_fps, path_fps].into_iter().flatten();
        let most = bounds.fold(tester_fps, f64::min);
        let wanted = tester.plan.max_load.and_then(|max| match max {
            MaxLoad::FramesPerSecond(fps) => Some(fps),
            MaxLoad::L1BitsPerSecond(bits) => Some(bits / sizes.bits_per_second(Layer::L1, 1.0)),
            MaxLoad::LineRateRatio(ratio) => line_fps.map(|line| line * ratio),
        });
        Self {
            load_fps: wanted.map_or(most, |wanted| wanted.min(most)),
            line_fps,
            tester_fps,
            has_own_cable: ceiling.over == OWN_CABLE,
            is_tap: tester.ports.iter().all(|port| port.is_tap),
        }
    }

    /// The lowest load: some frames in the shortest trial.
    pub(crate) fn least_fps(&self, goals: &[Goal]) -> f64 {
        let shortest_s = goals.iter().map(|goal| goal.initial_trial_s);
        let shortest_s = shortest_s.fold(f64::INFINITY, f64::min).max(1e-3);
        let least = (SHORTEST_TRIAL_FRAMES / shortest_s).max(self.load_fps / RANGE);
        least.min(self.load_fps / 2.0)
    }

    /// Whether the highest load is the line rate.
    pub(crate) fn is_line_rate(&self) -> bool {
        self.line_fps == Some(self.load_fps)
    }

    /// Whether this load is within 5 % of what the tester can send.
    pub(crate) fn is_testers(&self, fps: f64) -> bool {
        let line_is_reached = self.line_fps.is_some_and(|line| fps >= line * NEARLY);
        let is_unknown = self.is_tap && !self.has_own_cable;
        !line_is_reached && !is_unknown && fps >= self.tester_fps * NEARLY
    }

    /// Whether the device kept the tester from sending all frames of a trial.
    pub(crate) fn holds_up(&self, run: &TrialRun) -> bool {
        let unsent = run.sum(|one| one.unsent_frames) > 0;
        unsent && !run.is_blocked && self.is_paths(run.trial.load_fps)
    }

    /// Whether the device, which forwards on the sender's CPU or reads a tap, is why frames of this load were not sent.
    pub(crate) fn is_paths(&self, fps: f64) -> bool {
        (self.has_own_cable || self.is_tap) && !self.is_testers(fps)
    }
}

/// [`Ceiling::over`] for a cable that connects the tester's ports.
pub(crate) const OWN_CABLE: &str = "loop";
/// [`Ceiling::over`] for the device.
pub(crate) const DEVICE: &str = "device";
const CALIBRATION_S: f64 = 0.2;
const SHORTEST_TRIAL_FRAMES: f64 = 20.0;
/// The lowest load is at least this part of the highest.
const RANGE: f64 = 10_000.0;
/// A search begins above the calibrated rate of the path, which is a short measurement.
const MARGIN: f64 = 1.03;
/// Within 5 % of a ceiling.
const NEARLY: f64 = 0.95;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_five_percent_of_the_tester_is_the_testers_result_unless_the_line_is_full() {
        let veth = Limit {
            load_fps: 1e6,
            line_fps: None,
            tester_fps: 1e6,
            has_own_cable: true,
            is_tap: false,
        };
        assert!(veth.is_testers(0.96e6) && !veth.is_testers(0.94e6));
        assert!(veth.is_paths(0.94e6) && !veth.is_paths(0.96e6));
        let without = Limit {
            has_own_cable: false,
            ..veth
        };
        assert!(
            !without.is_paths(0.5e6),
            "nothing is known without the device"
        );
        let tap = Limit {
            is_tap: true,
            ..without
        };
        assert!(
            tap.is_paths(0.99e6) && !tap.is_testers(0.99e6),
            "nothing but the program behind a tap fills its queue"
        );
        let line = Limit {
            line_fps: Some(0.99e6),
            ..veth
        };
        assert!(
            !line.is_testers(0.98e6),
            "line rate is what a device can do at most"
        );
    }
}
