// SPDX-License-Identifier: MIT OR Apache-2.0
//! Back-to-back frames (RFC 9004): the longest burst at minimum gap without loss, and the buffer size that
//! follows from it.
//!
//! The test applies only to frame sizes whose throughput is below line rate: at line rate the longest burst is
//! unlimited. The search is RFC 9004 §6.2's binary search with loss verification (ETSI GS NFV-TST 009): a burst
//! fails if each of its tries has loss.

mod campaign;
mod search;

pub use campaign::{Campaign, Plan};
pub use search::{BurstSearch, Longest};

/// The benchmark of one frame size (RFC 9004 §6.3, §6.4), over several independent searches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Benchmark {
    /// The benchmark: mean of the longest bursts, in frames.
    pub mean_frames: f64,
    /// Standard deviation of the longest bursts; `None` for a single search.
    pub deviation_frames: Option<f64>,
    /// Duration of the burst at line rate in seconds: the buffer of a device that forwards nothing meanwhile.
    pub implied_s: f64,
    /// The same minus the frames forwarded during the burst, in seconds at line rate.
    pub corrected_s: f64,
    /// The buffer in frames.
    pub buffer_frames: f64,
}

impl Benchmark {
    /// Computes the benchmark from the longest lossless burst of each search in frames, and from line rate and
    /// throughput (zero loss, same directions and flows) in frames per second. `None` if nothing was measured or
    /// the throughput reaches line rate.
    pub fn new(longest_frames: &[u64], line_rate_fps: f64, throughput_fps: f64) -> Option<Self> {
        if longest_frames.is_empty() || !is_applicable(line_rate_fps, throughput_fps) {
            return None;
        }
        let sum: f64 = longest_frames.iter().map(|&n| n as f64).sum();
        let mean_frames = sum / longest_frames.len() as f64;
        let implied_s = mean_frames / line_rate_fps;
        let corrected_s = implied_s - implied_s * throughput_fps / line_rate_fps;
        Some(Self {
            mean_frames,
            deviation_frames: deviation(longest_frames, mean_frames),
            implied_s,
            corrected_s,
            buffer_frames: corrected_s * line_rate_fps,
        })
    }
}

/// Whether the test applies: only below line rate (RFC 9004 §6.1).
pub fn is_applicable(line_rate_fps: f64, throughput_fps: f64) -> bool {
    throughput_fps >= 0.0 && throughput_fps < line_rate_fps
}

/// Returns the wait in seconds between the last frame of a burst and its evaluation: until the backlog is
/// forwarded at the throughput, and then `residual_s` (RFC 9004 §6.2: 2 s) or the duration of the burst, if that
/// is longer. Without a throughput there is no backlog.
pub fn wait_s(burst_frames: u64, line_rate_fps: f64, throughput_fps: f64, residual_s: f64) -> f64 {
    let burst_s = burst_frames as f64 / line_rate_fps;
    let backlog_s = if throughput_fps > 0.0 {
        (burst_frames as f64 / throughput_fps - burst_s).max(0.0)
    } else {
        0.0
    };
    backlog_s + burst_s.max(residual_s)
}

/// The sample standard deviation; `None` for a single value.
fn deviation(frames: &[u64], mean: f64) -> Option<f64> {
    let squares: f64 = frames.iter().map(|&n| (n as f64 - mean).powi(2)).sum();
    let freedom = frames.len().checked_sub(1).filter(|&n| n > 0)?;
    Some((squares / freedom as f64).sqrt())
}

#[cfg(test)]
mod tests;
