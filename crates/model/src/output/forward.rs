// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device between two ports: how it was measured, every trial, and the highest rates.
//!
//! Sizes of frames and rates of layer 2 count the 4 bytes of the FCS, as RFC 2544 does. Frames a
//! second are those of each direction.

use serde::{Deserialize, Serialize};

use super::distribution::Quantiles;
use super::trial_device::{DeviceSource, TrialDevice};

/// How a device was measured: `forward` of the document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Forward {
    /// The two ports of the tester, A first.
    pub ports: Vec<Port>,
    /// `routed` or `bridged`: what the frames are addressed to.
    pub path: String,
    /// 4 or 6.
    pub af: u8,
    /// The tag of every frame.
    pub vlan: Option<u16>,
    /// How many flows share the frames.
    pub flows: u32,
    /// `strict`, `lab` or `quick`.
    pub profile: String,
    /// What was searched for.
    pub goals: Vec<Goal>,
    /// The waits around each trial.
    pub waits: Waits,
    /// What the tester itself can do.
    pub ceilings: Vec<Ceiling>,
    /// Who told what the device counted; `null` where nobody did.
    pub device: Option<DeviceSource>,
    /// What is measured, in this order.
    pub tests: Vec<ForwardTest>,
    /// The time that was foretold for all of it, seconds.
    pub estimate_s: f64,
    /// Where the procedure differs from RFC 2544, in words.
    pub deviations: Vec<String>,
}

/// One thing that is measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForwardTest {
    /// `throughput`, `loss-curve`, `back-to-back`, `latency`, `recovery` or `reset`.
    pub name: String,
    /// The time that was foretold, seconds.
    pub estimate_s: f64,
}

/// One port of the tester.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Port {
    /// Its name.
    pub interface: String,
    /// How frames are sent.
    pub send_backend: String,
    /// How frames are received.
    pub receive_backend: String,
    /// Why not by the faster ones; may be empty.
    pub not_used: Vec<String>,
}

/// A goal of the search, in the words of RFC 9971.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Goal {
    /// `ndr`, `pdr` or `loss=…`.
    pub name: String,
    /// A trial that loses no more is good.
    pub loss_ratio: f64,
    /// This share of a load's time may be bad.
    pub exceed_ratio: f64,
    /// Length of a full trial, seconds.
    pub final_trial_s: f64,
    /// Time at one load that decides, seconds.
    pub duration_sum_s: f64,
    /// Between the bounds, as a share of the upper one.
    pub width: f64,
}

/// The waits around a trial, seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Waits {
    /// After the learning frames.
    pub learning_s: f64,
    /// For frames still under way.
    pub residual_s: f64,
    /// For the device to settle.
    pub settle_s: f64,
}

/// What the tester can do with frames of one size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ceiling {
    /// With FCS.
    pub frame_bytes: u16,
    /// `a-b`, `b-a` or `both` at once.
    pub direction: String,
    /// Frames that one port sends, a second.
    pub send_fps: f64,
    /// Frames that it sends and another port receives and verifies, a second.
    pub loop_fps: Option<f64>,
    /// Frames that it hands to the device, a second, as fast as it goes; not there where [`Self::over`] is the device.
    pub path_fps: Option<f64>,
    /// What that was measured over: `loop` (a cable of the tester's own) or `device`.
    pub over: String,
}

/// One trial: a line of `trials.ndjson`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trial {
    /// From 1 on, in the order of the trials.
    pub id: u32,
    /// What it was for: `search`, `loss-curve`, `back-to-back`, `latency` …
    pub purpose: String,
    /// With FCS; the mean where sizes are mixed.
    pub frame_bytes: u16,
    /// The sizes of a mix in their order (RFC 6985); `null` for frames of one size.
    pub genome: Option<String>,
    /// Frames a second of each direction that were to be sent.
    pub load_fps: f64,
    /// How long they were to be sent, seconds.
    pub duration_s: f64,
    /// How it went on, at another rate; `null` where the rate did not change.
    pub then: Option<TrialPhase>,
    /// How the port that sends sends.
    pub backend: String,
    /// One, or two at the same time.
    pub directions: Vec<TrialDirection>,
    /// Per flow and direction, where there are several.
    pub flows: Vec<TrialFlow>,
    /// (Lost + unsent) / intended of all directions: what the search judged by.
    pub loss_ratio: f64,
    /// What the device's kernel counted meanwhile.
    pub device: Option<TrialDevice>,
    /// Whether the tester did its part.
    pub valid: bool,
    /// Why it did not; `null` when it did.
    pub invalid_reason: Option<String>,
}

/// A part of a trial at one rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrialPhase {
    /// Frames a second of each direction.
    pub load_fps: f64,
    /// For so long, seconds.
    pub duration_s: f64,
}

impl TrialPhase {
    /// The whole frames of load times duration.
    #[must_use]
    pub fn frames(&self) -> u64 {
        (self.load_fps * self.duration_s) as u64
    }
}

/// One direction of a trial. Every frame is counted once: what was received is not lost,
/// duplicates are counted beside it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrialDirection {
    /// `a` or `b`.
    pub from: String,
    /// `a` or `b`.
    pub to: String,
    /// Load times duration.
    pub intended_frames: u64,
    /// Those that the tester's kernel took.
    pub offered_frames: u64,
    /// Intended, and not taken.
    pub unsent_frames: u64,
    /// Different ones that arrived whole.
    pub received_frames: u64,
    /// Offered, and not received.
    pub lost_frames: u64,
    /// Arrived again.
    pub duplicate_frames: u64,
    /// Arrived after a later one.
    pub reordered_frames: u64,
    /// Arrived with a wrong length, checksum or payload.
    pub corrupt_frames: u64,
    /// Arrived at the port that sent them.
    pub misforwarded_frames: u64,
    /// Arrived at the receiving port and were not of this trial.
    pub foreign_frames: u64,
    /// Arrived with another TTL than a device of this kind leaves.
    pub wrong_ttl_frames: u64,
    /// Pieces of frames that the device cut: a link of it takes less.
    #[serde(default)]
    pub fragment_frames: u64,
    /// Frames that the tester's own kernel dropped at the receiving port.
    pub receiver_dropped_frames: Option<u64>,
    /// How late the sender was at most while it could run.
    pub sender_behind_ns_max: u64,
    /// How long the machine did not let it run; the rest of the trial moved by as much.
    pub sender_stalled_ns: u64,
    /// How long it could have run and others had its processor, in pieces of any length.
    pub sender_waited_ns: u64,
    /// From one frame to the next, by the sender's clock.
    pub sender_gap_ns: Option<Quantiles>,
    /// From the clock of the sender to that of the receiver, which are one.
    pub latency_ns: Option<Quantiles>,
}

/// What arrived of one flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrialFlow {
    /// `a` or `b`: who sent it.
    pub from: String,
    /// From 0 on.
    pub id: u32,
    /// Frames that arrived.
    pub received_frames: u64,
}

/// The highest rate of one size, goal and direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
    /// Throughput and what the link allows; `null` where there is no wire.
    pub line_rate_ratio: Option<f64>,
    /// At the throughput.
    pub latency_ns: Option<Quantiles>,
    /// The tester can hardly do more: the device may.
    pub tester_limited: bool,
    /// The upper bound is where the device's path no longer took frames as fast as they came, though the tester sends
    /// more than that over a cable of its own: so in the lab, where the sender's processor does the device's work.
    pub held_up: bool,
    /// Why a bound is missing or only partly known; `null` when both are.
    pub irregular: Option<String>,
    /// Trials of the size and direction, those of other goals included.
    pub trials: u32,
}

impl TrialDirection {
    /// Share of the intended frames that did not arrive, sent or not.
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
