// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is measured of a device beside its highest rates: `benchmarks` of the document.
//!
//! Sizes of frames count the 4 bytes of the FCS; frames a second are those of each direction.

use serde::{Deserialize, Serialize};

/// Each benchmark has an entry a size and direction; what was not measured has none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Benchmarks {
    /// Loss over load, RFC 2544 section 26.3.
    pub loss_curves: Vec<LossCurve>,
    /// The longest bursts without loss, RFC 9004.
    pub back_to_back: Vec<BackToBack>,
    /// Latency at the throughput, RFC 8219 section 7.
    pub latency: Vec<DeviceLatency>,
    /// How long losses go on after an overload, RFC 2544 section 26.5.
    pub recovery: Vec<Recovery>,
    /// How long nothing is forwarded when the device is reset, RFC 6201.
    pub reset: Vec<Reset>,
}

impl Benchmarks {
    /// Whether nothing was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes in what was measured since.
    pub fn extend(&mut self, later: Self) {
        self.loss_curves.extend(later.loss_curves);
        self.back_to_back.extend(later.back_to_back);
        self.latency.extend(later.latency);
        self.recovery.extend(later.recovery);
        self.reset.extend(later.reset);
    }
}

/// What frames went which way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Subject {
    /// With FCS; the mean where sizes are mixed.
    pub frame_bytes: u16,
    /// The sizes of a mix in their order (RFC 6985); `null` for frames of one size.
    pub genome: Option<String>,
    /// `a-b`, `b-a` or `both` at once.
    pub direction: String,
}

/// Loss over load, from the highest load downwards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LossCurve {
    /// What frames went which way.
    #[serde(flatten)]
    pub subject: Subject,
    /// The load that is 1: the line rate, or what the tester can do, or what was allowed.
    pub max_load_fps: f64,
    /// Length of each trial, seconds.
    pub trial_s: f64,
    /// One a trial that counts; ends behind two in succession without loss.
    pub points: Vec<LossPoint>,
}

/// One load of the curve.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LossPoint {
    /// An entry of `trials[]`.
    pub trial: u32,
    /// Frames a second that were to be sent.
    pub load_fps: f64,
    /// Of the highest load.
    pub load_ratio: f64,
    /// Lost of those that were sent; `null` if none were.
    pub loss_ratio: Option<f64>,
    /// The tester sent fewer than it should, or lost some itself: it is no loss of the device alone.
    pub tester_limited: bool,
}

/// The longest bursts without loss, and the buffer that they imply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackToBack {
    /// What frames went which way.
    #[serde(flatten)]
    pub subject: Subject,
    /// The rate of the bursts: the line rate, or what the tester can do, or what was allowed.
    pub burst_fps: f64,
    /// Whether that is the line rate; elsewhere frames do not follow each other at the minimum gap.
    pub is_line_rate: bool,
    /// The highest rate without loss, which the device forwards during the burst.
    pub throughput_fps: Option<f64>,
    /// The longest burst without loss of each search, frames.
    pub longest_frames: Vec<u64>,
    /// Their mean: the benchmark.
    pub mean_frames: Option<f64>,
    /// Their standard deviation; `null` for a single search.
    pub deviation_frames: Option<f64>,
    /// A search ends when longest and shortest failed are as close, a share of the failed one.
    pub step_ratio: f64,
    /// A burst fails when it loses so often in succession.
    pub tries: u32,
    /// The longest burst that was allowed, seconds.
    pub limit_s: f64,
    /// The benchmark's time at the rate of the bursts, seconds.
    pub implied_s: Option<f64>,
    /// The buffer: the same less what the device forwarded meanwhile, seconds at that rate.
    pub corrected_s: Option<f64>,
    /// The buffer in frames.
    pub buffer_frames: Option<f64>,
    /// Why there is no benchmark; `null` when there is one.
    pub not_measured: Option<String>,
}

/// Delays of frames at the throughput.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceLatency {
    /// What frames went which way.
    #[serde(flatten)]
    pub subject: Subject,
    /// `a` or `b`: who sent those that are meant here.
    pub from: String,
    /// Frames a second.
    pub load_fps: Option<f64>,
    /// Length of each stream, seconds.
    pub stream_s: f64,
    /// From when on frames count, seconds.
    pub settle_s: f64,
    /// One a stream.
    pub streams: Vec<LatencyStream>,
    /// The medians of the streams: typical latency.
    pub typical_ns: Option<Spread>,
    /// Their 99.9th percentiles: worst-case latency.
    pub worst_ns: Option<Spread>,
    /// Their packet delay variations: 99.9th percentile less minimum.
    pub pdv_ns: Option<Spread>,
    /// Why there are no delays; `null` when there are.
    pub not_measured: Option<String>,
}

/// One number of several streams, nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spread {
    /// Half of them are lower.
    pub median: u64,
    /// First percentile.
    pub p1: u64,
    /// 99th percentile.
    pub p99: u64,
}

/// The delays of one stream, nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LatencyStream {
    /// An entry of `trials[]`.
    pub trial: u32,
    /// How many frames count; RFC 8219 asks for 500.
    pub frames: u64,
    /// Lost or not sent, the whole stream through.
    pub lost_frames: u64,
    /// The shortest delay.
    pub min_ns: u64,
    /// Half of them are shorter.
    pub median_ns: u64,
    /// 99.9 % are shorter.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// From frame to frame, later less earlier: the least.
    pub ipdv_min_ns: Option<i64>,
    /// The median of that.
    pub ipdv_median_ns: Option<i64>,
    /// The most.
    pub ipdv_max_ns: Option<i64>,
}

/// How long losses went on after an overload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recovery {
    /// What frames went which way.
    #[serde(flatten)]
    pub subject: Subject,
    /// The highest rate without loss.
    pub throughput_fps: Option<f64>,
    /// 110 % of that, or what the line or the tester can do.
    pub overload_fps: Option<f64>,
    /// For so long, seconds.
    pub overload_s: f64,
    /// Half of the overload.
    pub reduced_fps: Option<f64>,
    /// For so long, seconds.
    pub watched_s: f64,
    /// One an attempt.
    pub attempts: Vec<RecoveryAttempt>,
    /// The mean of all; `null` unless each of them recovered.
    pub mean_s: Option<f64>,
    /// Why there is no time; `null` when there is.
    pub not_measured: Option<String>,
}

/// One overload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecoveryAttempt {
    /// An entry of `trials[]`.
    pub trial: u32,
    /// `recovered`, `not-recovered` while it was watched, or `no-overload`: nothing was lost.
    pub state: String,
    /// From the drop of the rate to the last loss, seconds.
    pub recovery_s: Option<f64>,
}

/// How long nothing was forwarded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reset {
    /// What frames went which way.
    #[serde(flatten)]
    pub subject: Subject,
    /// Frames a second, the highest rate without loss.
    pub load_fps: Option<f64>,
    /// What reset the device; `null` if a person did.
    pub command: Option<String>,
    /// Watched for so long, seconds.
    pub watched_s: f64,
    /// One a reset.
    pub attempts: Vec<ResetAttempt>,
    /// The mean of all by timestamps; `null` unless the device came back from each.
    pub mean_s: Option<f64>,
    /// Why there is no time; `null` when there is.
    pub not_measured: Option<String>,
}

/// One reset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResetAttempt {
    /// An entry of `trials[]`.
    pub trial: u32,
    /// `came-back`, `not-back` while it was watched, or `no-reset`: nothing was lost.
    pub state: String,
    /// From the last frame before the silence to the first one after it, seconds.
    pub by_timestamps_s: Option<f64>,
    /// Frames lost over the rate of sending, seconds.
    pub by_loss_s: Option<f64>,
}
