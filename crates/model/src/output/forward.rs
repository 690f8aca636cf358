// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device under test: parameters, every trial, and the highest rates.
//!
//! Frame sizes and layer-2 rates include the 4-byte FCS, as in RFC 2544. Frames per second are those of each
//! direction.

use serde::Serialize;

use crate::fields::Fields;

use super::distribution::Quantiles;
use super::trial_device::{DeviceSource, TrialDevice};

/// How a device was measured: `forward` of the document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Forward {
    /// The two ports of the tester, A first.
    pub ports: Vec<Port>,
    /// `routed` or `bridged`: what the frames are addressed to.
    pub path: String,
    /// 4 or 6.
    pub af: u8,
    /// VLAN of all frames.
    pub vlan: Option<u16>,
    /// The number of flows.
    pub flows: u32,
    /// `strict`, `lab` or `quick`.
    pub profile: String,
    /// The search goals.
    pub goals: Vec<Goal>,
    /// The waits around each trial.
    pub waits: Waits,
    /// The tester's own limits.
    pub ceilings: Vec<Ceiling>,
    /// The source of the device's counters; `null` without one.
    pub device: Option<DeviceSource>,
    /// The procedures, in order.
    pub tests: Vec<ForwardTest>,
    /// Estimated duration of all procedures, seconds.
    pub estimate_s: f64,
    /// Deviations from RFC 2544, as text.
    pub deviations: Vec<String>,
}

/// One procedure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct ForwardTest {
    /// `throughput`, `loss-curve`, `back-to-back`, `latency`, `recovery` or `reset`.
    pub name: String,
    /// Estimated duration, seconds.
    pub estimate_s: f64,
}

/// One port of the tester.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Port {
    /// Its name.
    pub interface: String,
    /// How frames are sent.
    pub send_backend: String,
    /// How frames are received.
    pub receive_backend: String,
    /// Why faster backends are not used; may be empty.
    pub not_used: Vec<String>,
}

/// A search goal, in RFC 9971's terms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Goal {
    /// `ndr`, `pdr` or `loss=…`.
    pub name: String,
    /// The highest loss ratio of a good trial.
    pub loss_ratio: f64,
    /// The share of a load's time that may be bad.
    pub exceed_ratio: f64,
    /// Length of a full trial, seconds.
    pub final_trial_s: f64,
    /// Duration sum that decides a load, seconds.
    pub duration_sum_s: f64,
    /// Target width of the bracket, relative to the upper bound.
    pub width: f64,
}

/// The waits around a trial, seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Waits {
    /// After the learning frames.
    pub learning_s: f64,
    /// For residual frames, at least.
    pub residual_s: f64,
    /// For the device to settle.
    pub settle_s: f64,
}

/// The tester's limits for one frame size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Ceiling {
    /// With FCS.
    pub frame_bytes: u16,
    /// `a-b`, `b-a` or `both` at once.
    pub direction: String,
    /// Frames per second that one port sends.
    pub send_fps: f64,
    /// Frames per second that it sends and another port receives and verifies.
    pub loop_fps: Option<f64>,
    /// Frames per second that it can hand to the device; absent if [`Self::over`] is `device`.
    pub path_fps: Option<f64>,
    /// Where that was measured: over a `loop` (the tester's own cable) or the `device`.
    pub over: String,
}

/// One trial: a line of `trials.ndjson`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Trial {
    /// From 1, in chronological order.
    pub id: u32,
    /// The purpose: `search`, `loss-curve`, `back-to-back`, `latency` …
    pub purpose: String,
    /// With FCS; the mean where sizes are mixed.
    pub frame_bytes: u16,
    /// The sizes of a mix in their order (RFC 6985); `null` for frames of one size.
    pub genome: Option<String>,
    /// Intended load, frames per second and direction.
    pub load_fps: f64,
    /// Intended duration, seconds.
    pub duration_s: f64,
    /// The second phase at another rate; `null` without one.
    pub then: Option<TrialPhase>,
    /// The backend of the sending port.
    pub backend: String,
    /// One, or two at the same time.
    pub directions: Vec<TrialDirection>,
    /// Per flow and direction, where there are several.
    pub flows: Vec<TrialFlow>,
    /// (Lost + unsent) / intended of all directions, as used by the search.
    pub loss_ratio: f64,
    /// The largest share of the sending time in which a sender could not run: the mean load was lower by as much.
    pub stalled_ratio: f64,
    /// Counters of the device.
    pub device: Option<TrialDevice>,
    /// Whether the tester worked as intended.
    pub valid: bool,
    /// Why not; `null` if valid.
    pub invalid_reason: Option<String>,
}

impl Trial {
    /// The share of a trial without the sender that a search still resolves (the width of a goal is 0.5 %).
    pub const STALLED_RATIO_MAX: f64 = 0.005;
    /// How [`Self::invalid_reason`] begins if the load was interrupted.
    pub const NOT_CONSTANT: &str = "the load was not constant";

    /// Whether it does not count because the load was interrupted.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        let reason = self.invalid_reason.as_deref();
        let says = reason.is_some_and(|reason| reason.starts_with(Self::NOT_CONSTANT));
        !self.valid && says && self.stalled_ratio > Self::STALLED_RATIO_MAX
    }
}

/// A part of a trial at one rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Fields)]
pub struct TrialPhase {
    /// Frames per second and direction.
    pub load_fps: f64,
    /// Duration, seconds.
    pub duration_s: f64,
}

impl TrialPhase {
    /// The whole frames of load times duration.
    #[must_use]
    pub fn frames(&self) -> u64 {
        (self.load_fps * self.duration_s) as u64
    }
}

/// One direction of a trial. A frame is either received or lost; duplicates are counted separately.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct TrialDirection {
    /// `a` or `b`.
    pub from: String,
    /// `a` or `b`.
    pub to: String,
    /// Load times duration.
    pub intended_frames: u64,
    /// Accepted by the tester's kernel.
    pub offered_frames: u64,
    /// Intended but not sent.
    pub unsent_frames: u64,
    /// Unique frames that arrived intact.
    pub received_frames: u64,
    /// Offered but not received.
    pub lost_frames: u64,
    /// Copies.
    pub duplicate_frames: u64,
    /// Arrived after a later one.
    pub reordered_frames: u64,
    /// Arrived with a wrong length, checksum or payload.
    pub corrupt_frames: u64,
    /// Arrived at the port that sent them.
    pub misforwarded_frames: u64,
    /// Frames at the receiving port that are not of this trial.
    pub foreign_frames: u64,
    /// Arrived with an unexpected TTL.
    pub wrong_ttl_frames: u64,
    /// Fragments: a link of the device has a smaller MTU.
    pub fragment_frames: u64,
    /// Frames that the tester's own kernel dropped at the receiving port.
    pub receiver_dropped_frames: Option<u64>,
    /// The sender's largest lag while it could run.
    pub sender_behind_ns_max: u64,
    /// How long the sender was not scheduled; the rest of the trial was delayed by as much.
    pub sender_stalled_ns: u64,
    /// How long the sender waited for its CPU in total.
    pub sender_waited_ns: u64,
    /// Gaps between frames, by the sender's clock.
    pub sender_gap_ns: Option<Quantiles>,
    /// Latency; sender and receiver have the same clock.
    pub latency_ns: Option<Quantiles>,
}

/// Frames of one flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct TrialFlow {
    /// The sending port, `a` or `b`.
    pub from: String,
    /// From 0.
    pub id: u32,
    /// Frames that arrived.
    pub received_frames: u64,
}

/// The highest rate of one size, goal and direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct ForwardResult {
    /// With FCS; the mean where sizes are mixed.
    pub frame_bytes: u16,
    /// The sizes of a mix in their order (RFC 6985); `null` for frames of one size.
    pub genome: Option<String>,
    /// The goal's name.
    pub goal: String,
    /// `a-b`, `b-a` or `both` at once.
    pub direction: String,
    /// The relevant lower bound: the highest rate that met the goal.
    pub lower_fps: Option<f64>,
    /// The relevant upper bound: the lowest rate above it that did not.
    pub upper_fps: Option<f64>,
    /// RFC 9971's conditional throughput at the lower bound.
    pub throughput_fps: Option<f64>,
    /// Of the throughput: bits of frame, preamble and gap.
    pub l1_bits_per_second: Option<f64>,
    /// Of the throughput: bits of the frame with FCS.
    pub l2_bits_per_second: Option<f64>,
    /// Throughput relative to line rate; `null` for virtual links.
    pub line_rate_ratio: Option<f64>,
    /// At the throughput.
    pub latency_ns: Option<Quantiles>,
    /// The tester reached its limit: the device may forward more.
    pub tester_limited: bool,
    /// The device accepts frames no faster than the upper bound, although the tester can send more: as in the lab,
    /// where the sender's CPU also does the device's work.
    pub held_up: bool,
    /// Why a bound is missing or imprecise; `null` otherwise.
    pub irregular: Option<String>,
    /// The number of trials of this size and direction, for all goals.
    pub trials: u32,
}

impl TrialDirection {
    /// Frames that were lost or not sent.
    #[must_use]
    pub fn bad_frames(&self) -> u64 {
        self.lost_frames.saturating_add(self.unsent_frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_one_line_and_reads_back() {
        let trial = Trial {
            id: 3,
            frame_bytes: 64,
            load_fps: 812_743.5,
            directions: vec![TrialDirection {
                from: "a".to_owned(),
                to: "b".to_owned(),
                intended_frames: 10,
                offered_frames: 9,
                unsent_frames: 1,
                received_frames: 8,
                lost_frames: 1,
                latency_ns: Some(Quantiles::default()),
                ..TrialDirection::default()
            }],
            device: Some(TrialDevice::default()),
            valid: true,
            ..Trial::default()
        };
        let line = serde_json::to_string(&trial).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Trial>(&line).unwrap(), trial);
        assert_eq!(trial.directions[0].bad_frames(), 2, "lost and never sent");
    }

    #[test]
    fn an_older_or_newer_line_still_reads() {
        let trial: Trial = serde_json::from_str(r#"{"id":1,"novel":[2]}"#).unwrap();
        assert_eq!(trial.id, 1);
        assert_eq!(trial.device, None, "absent is not zero");
    }
}
