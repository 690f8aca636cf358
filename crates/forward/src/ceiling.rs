// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tester itself can do: frames sent as fast as they go, over its own cable or through the
//! device.

use linerate_method::frame_size::{Layer, Mix};
use linerate_method::search::Goal;
use linerate_model::output::Ceiling;

use super::plan::{MaxLoad, Way};
use super::rig::Rig;
use super::trial::{Ask, Tried};
use super::watch::{Watch, Watched};
use linerate_model::failure::Failure;

impl Rig<'_> {
    /// Measures the ceiling, and how what arrived did; `over` says what was between the ports.
    ///
    /// # Errors
    /// As [`Rig::trial`].
    pub(super) fn ceiling(
        &mut self,
        way: Way,
        sizes: &Mix,
        over: &str,
    ) -> Result<(Ceiling, Carried), Failure> {
        let tried = self.trial(&Ask {
            purpose: "calibration",
            duration_s: CALIBRATION_S,
            judges_ttl: false,
            watch: Watch::Rate,
            ..Ask::of(sizes, way)
        })?;
        let ways = &tried.trial.directions;
        let seconds = tried.sending_s.max(1e-9) * ways.len().max(1) as f64;
        let received: u64 = ways.iter().map(|one| one.received_frames).sum();
        let is_own = over == OWN_CABLE;
        let sent: u64 = ways.iter().map(|one| one.offered_frames).sum();
        let ceiling = Ceiling {
            frame_bytes: sizes.frame_bytes(),
            direction: way.name().to_owned(),
            send_fps: sent as f64 / seconds,
            loop_fps: is_own.then_some(received as f64 / seconds),
            path_fps: None,
            over: over.to_owned(),
        };
        let carried = Carried {
            fps: received as f64 / seconds,
            spread: spread(&tried),
        };
        Ok((ceiling, carried))
    }

    /// The highest load that makes sense, frames a second and direction, and whether it is the
    /// tester that ends there.
    pub(super) fn max_load(&self, sizes: &Mix, ceiling: &Ceiling) -> Limit {
        let line_fps = self
            .line_bits_per_second()
            .map(|bits| sizes.line_rate_fps(bits));
        let tester_fps = ceiling.send_fps;
        let path_fps = ceiling.path_fps.filter(|fps| *fps > 0.0);
        let path_fps = path_fps.map(|fps| fps * MARGIN);
        let most = [line_fps, path_fps]
            .into_iter()
            .flatten()
            .fold(tester_fps, f64::min);
        let wished = self.plan.max_load.and_then(|max| match max {
            MaxLoad::FramesPerSecond(fps) => Some(fps),
            MaxLoad::L1BitsPerSecond(bits) => Some(bits / sizes.bits_per_second(Layer::L1, 1.0)),
            MaxLoad::LineRateRatio(ratio) => line_fps.map(|line| line * ratio),
        });
        Limit {
            load_fps: wished.map_or(most, |wished| wished.min(most)),
            line_fps,
            tester_fps,
            has_own_cable: ceiling.over == OWN_CABLE,
        }
    }
}

/// What got through of frames sent as fast as they go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Carried {
    /// Frames a second and direction.
    pub fps: f64,
    /// By which share of itself the rate varied.
    pub spread: f64,
}

/// Of the less steady direction.
fn spread(tried: &Tried) -> f64 {
    let spreads = tried.arrivals.iter().filter_map(|one| match &one.watched {
        Watched::Rate(watch) => watch.spread(),
        _ => None,
    });
    spreads.fold(0.0, f64::max)
}

/// What bounds the loads of a search, frames a second and direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limit {
    pub load_fps: f64,
    pub line_fps: Option<f64>,
    pub tester_fps: f64,
    /// `tester_fps` was measured without the device.
    pub has_own_cable: bool,
}

impl Limit {
    /// The lowest load: some frames in the shortest trial.
    pub(super) fn least_fps(&self, goals: &[Goal]) -> f64 {
        let shortest_s = goals.iter().map(|goal| goal.initial_trial_s);
        let shortest_s = shortest_s.fold(f64::INFINITY, f64::min).max(1e-3);
        let least = (SHORTEST_TRIAL_FRAMES / shortest_s).max(self.load_fps / RANGE);
        least.min(self.load_fps / 2.0)
    }

    /// Whether the tester could hardly have offered more than this.
    pub(super) fn is_testers(&self, fps: f64) -> bool {
        let line_is_reached = self.line_fps.is_some_and(|line| fps >= line * NEARLY);
        !line_is_reached && fps >= self.tester_fps * NEARLY
    }

    /// Whether what was not sent in a trial is the doing of the device.
    pub(super) fn holds_up(&self, tried: &Tried) -> bool {
        let trial = &tried.trial;
        let unsent = trial.directions.iter().any(|one| one.unsent_frames > 0);
        unsent && !tried.is_kept && self.is_paths(trial.load_fps)
    }

    /// Whether frames of this load that were not sent are the doing of the device, in whose path the sender is.
    pub(super) fn is_paths(&self, fps: f64) -> bool {
        self.has_own_cable && !self.is_testers(fps)
    }
}

/// `over` of a cable of the tester's own.
pub(super) const OWN_CABLE: &str = "loop";
/// `over` of the device.
pub(super) const DEVICE: &str = "device";
const CALIBRATION_S: f64 = 0.2;
const SHORTEST_TRIAL_FRAMES: f64 = 20.0;
/// The lowest load is at least this part of the highest.
const RANGE: f64 = 10_000.0;
/// A search begins above what the path took: the time in which that was measured was short.
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
