// SPDX-License-Identifier: MIT OR Apache-2.0
//! Other benchmarks of a device under test: `benchmarks` of the document.
//!
//! Frame sizes include the 4-byte FCS; frames per second are those of each direction.

use serde::Serialize;

use crate::fields::Fields;

/// Each benchmark has an entry per size and direction, if measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Benchmarks {
    /// Loss over load, RFC 2544 section 26.3.
    pub loss_curves: Vec<LossCurve>,
    /// The longest bursts without loss, RFC 9004.
    pub back_to_back: Vec<BackToBack>,
    /// Latency at the throughput, RFC 8219 section 7.
    pub latency: Vec<DeviceLatency>,
    /// Recovery from an overload, RFC 2544 section 26.5.
    pub recovery: Vec<Recovery>,
    /// Recovery from a reset, RFC 6201.
    pub reset: Vec<Reset>,
}

impl Benchmarks {
    /// Whether nothing was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds later results.
    pub fn extend(&mut self, later: Self) {
        self.loss_curves.extend(later.loss_curves);
        self.back_to_back.extend(later.back_to_back);
        self.latency.extend(later.latency);
        self.recovery.extend(later.recovery);
        self.reset.extend(later.reset);
    }
}

/// Frame size and direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Subject {
    /// With FCS; the mean where sizes are mixed.
    pub frame_bytes: u16,
    /// The sizes of a mix in their order (RFC 6985); `null` for frames of one size.
    pub genome: Option<String>,
    /// `a-b`, `b-a` or `both` at once.
    pub direction: String,
}

/// Loss over load, from the highest load downwards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct LossCurve {
    /// Frame size and direction.
    #[serde(flatten)]
    pub subject: Subject,
    /// The maximum load: line rate, or the limit of the tester or the user.
    pub max_load_fps: f64,
    /// Length of each trial, seconds.
    pub trial_s: f64,
    /// One per valid trial; ends after two in succession without loss.
    pub points: Vec<LossPoint>,
}

/// One load of the curve.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct LossPoint {
    /// An entry of `trials[]`.
    pub trial: u32,
    /// Intended load, frames per second.
    pub load_fps: f64,
    /// Relative to the maximum load.
    pub load_ratio: f64,
    /// Loss ratio of the sent frames; `null` if none were.
    pub loss_ratio: Option<f64>,
    /// The tester did not send all frames or dropped some: the loss is not only the device's.
    pub tester_limited: bool,
}

/// The longest bursts without loss, and the buffer that they imply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct BackToBack {
    /// Frame size and direction.
    #[serde(flatten)]
    pub subject: Subject,
    /// The rate of the bursts: line rate, or the limit of the tester or the user.
    pub burst_fps: f64,
    /// Whether that is line rate; otherwise the frames are not at minimum gap.
    pub is_line_rate: bool,
    /// The highest rate without loss, which the device forwards during the burst.
    pub throughput_fps: Option<f64>,
    /// The longest burst without loss of each search, frames.
    pub longest_frames: Vec<u64>,
    /// Their mean: the benchmark.
    pub mean_frames: Option<f64>,
    /// Their standard deviation; `null` for a single search.
    pub deviation_frames: Option<f64>,
    /// Resolution of a search, relative to the shortest failed burst.
    pub step_ratio: f64,
    /// A burst fails if this many tries in succession have loss.
    pub tries: u32,
    /// The longest allowed burst, seconds.
    pub limit_s: f64,
    /// Duration of the mean burst, seconds.
    pub implied_s: Option<f64>,
    /// The buffer: the same minus the frames forwarded meanwhile, seconds at that rate.
    pub corrected_s: Option<f64>,
    /// The buffer in frames.
    pub buffer_frames: Option<f64>,
    /// Why there is no benchmark; `null` when there is one.
    pub not_measured: Option<String>,
}

/// Delays of frames at the throughput.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct DeviceLatency {
    /// Frame size and direction.
    #[serde(flatten)]
    pub subject: Subject,
    /// The sending port, `a` or `b`.
    pub from: String,
    /// Frames per second.
    pub load_fps: Option<f64>,
    /// Length of each stream, seconds.
    pub stream_s: f64,
    /// Time before the first frame counts, seconds.
    pub settle_s: f64,
    /// One per stream.
    pub streams: Vec<LatencyStream>,
    /// The medians of the streams: typical latency.
    pub typical_ns: Option<Spread>,
    /// Their 99.9th percentiles: worst-case latency.
    pub worst_ns: Option<Spread>,
    /// Their packet delay variation: 99.9th percentile minus minimum.
    pub pdv_ns: Option<Spread>,
    /// Why there are no delays; `null` when there are.
    pub not_measured: Option<String>,
}

/// One number of several streams, nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Spread {
    /// Median.
    pub median: u64,
    /// First percentile.
    pub p1: u64,
    /// 99th percentile.
    pub p99: u64,
}

/// The delays of one stream, nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct LatencyStream {
    /// An entry of `trials[]`.
    pub trial: u32,
    /// The number of counted frames; RFC 8219 requires 500.
    pub frames: u64,
    /// Lost or unsent frames of the whole stream.
    pub lost_frames: u64,
    /// Minimum.
    pub min_ns: u64,
    /// Median.
    pub median_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Maximum.
    pub max_ns: u64,
    /// Minimum inter-packet delay variation.
    pub ipdv_min_ns: Option<i64>,
    /// Its median.
    pub ipdv_median_ns: Option<i64>,
    /// Its maximum.
    pub ipdv_max_ns: Option<i64>,
}

/// Recovery from an overload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Recovery {
    /// Frame size and direction.
    #[serde(flatten)]
    pub subject: Subject,
    /// The highest rate without loss.
    pub throughput_fps: Option<f64>,
    /// 110 % of that, or the limit of line or tester.
    pub overload_fps: Option<f64>,
    /// Duration of the overload, seconds.
    pub overload_s: f64,
    /// Half of the overload.
    pub reduced_fps: Option<f64>,
    /// Observation time, seconds.
    pub watched_s: f64,
    /// One per attempt.
    pub attempts: Vec<RecoveryAttempt>,
    /// The mean of all; `null` unless each of them recovered.
    pub mean_s: Option<f64>,
    /// Why there is no time; `null` when there is.
    pub not_measured: Option<String>,
}

/// One overload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct RecoveryAttempt {
    /// An entry of `trials[]`.
    pub trial: u32,
    /// `recovered`, `not-recovered` within the observation time, or `no-overload`: nothing was lost.
    pub state: String,
    /// From the drop of the rate to the last loss, seconds.
    pub recovery_s: Option<f64>,
}

/// Recovery from a reset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Reset {
    /// Frame size and direction.
    #[serde(flatten)]
    pub subject: Subject,
    /// Load in frames per second: the highest rate without loss.
    pub load_fps: Option<f64>,
    /// The command that reset the device; `null` if a person did.
    pub command: Option<String>,
    /// Observation time, seconds.
    pub watched_s: f64,
    /// One per reset.
    pub attempts: Vec<ResetAttempt>,
    /// Mean by timestamps; `null` unless the device recovered from each.
    pub mean_s: Option<f64>,
    /// Why there is no time; `null` when there is.
    pub not_measured: Option<String>,
}

/// One reset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct ResetAttempt {
    /// An entry of `trials[]`.
    pub trial: u32,
    /// `came-back`, `not-back` within the observation time, or `no-reset`: nothing was lost.
    pub state: String,
    /// From the last frame before the outage to the first one after it, seconds.
    pub by_timestamps_s: Option<f64>,
    /// Lost frames divided by the sending rate, seconds.
    pub by_loss_s: Option<f64>,
}
