// SPDX-License-Identifier: MIT OR Apache-2.0
//! Back-to-back frames (RFC 9004): the longest burst at minimum gap without loss, and the buffer that
//! it implies.
//!
//! Only sizes whose throughput is below line rate have such a burst; for others it is endless and
//! the test does not apply. The search is RFC 9004 §6.2's binary search with loss verification (ETSI
//! GS NFV-TST 009): a burst fails when it loses as often as it is tried.

mod campaign;
mod search;

pub use campaign::{Campaign, Plan};
pub use search::{BurstSearch, Longest};

/// The benchmark of one frame size (RFC 9004 §6.3, §6.4), over several independent searches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Benchmark {
    /// Searches that it is made of: N, to be reported.
    pub searches: usize,
    /// The benchmark: average of the longest bursts, in frames.
    pub mean_frames: f64,
    pub min_frames: u64,
    pub max_frames: u64,
    /// Standard deviation of the longest bursts; `None` for a single search.
    pub deviation_frames: Option<f64>,
    /// Seconds of the burst at line rate: the buffer if the device forwarded nothing meanwhile.
    pub implied_s: f64,
    /// The same less what the device forwarded during the burst, in seconds at line rate.
    pub corrected_s: f64,
    /// The buffer in frames.
    pub buffer_frames: f64,
}

impl Benchmark {
    /// From the longest lossless burst of each search, in frames; line rate and throughput (zero
    /// loss, same directions and flows) in frames per second. `None`: not applicable, because the
    /// throughput reaches the line rate, or nothing was measured.
    pub fn new(longest_frames: &[u64], line_rate_fps: f64, throughput_fps: f64) -> Option<Self> {
        let (&min_frames, &max_frames) =
            (longest_frames.iter().min()?, longest_frames.iter().max()?);
        if !is_applicable(line_rate_fps, throughput_fps) {
            return None;
        }
        let searches = longest_frames.len();
        let mean_frames = longest_frames.iter().map(|&n| n as f64).sum::<f64>() / searches as f64;
        let implied_s = mean_frames / line_rate_fps;
        let corrected_s = implied_s - implied_s * throughput_fps / line_rate_fps;
        Some(Self {
            searches,
            mean_frames,
            min_frames,
            max_frames,
            deviation_frames: deviation(longest_frames, mean_frames),
            implied_s,
            corrected_s,
            buffer_frames: corrected_s * line_rate_fps,
        })
    }

    /// Seconds that the buffer holds at an operating rate in frames per second.
    pub fn buffer_s_at(&self, rate_fps: f64) -> f64 {
        self.buffer_frames / rate_fps
    }
}

/// Whether the test means anything: below line rate only (RFC 9004 §6.1).
pub fn is_applicable(line_rate_fps: f64, throughput_fps: f64) -> bool {
    throughput_fps >= 0.0 && throughput_fps < line_rate_fps
}

/// Seconds to wait after the last frame of a burst before it is judged: until the backlog is
/// forwarded at the throughput, and `residual_s` more (RFC 9004 §6.2: [`RESIDUAL_S`]), or as long as
/// the burst where that is longer. Without a throughput there is no backlog to wait for.
pub fn wait_s(burst_frames: u64, line_rate_fps: f64, throughput_fps: f64, residual_s: f64) -> f64 {
    let burst_s = burst_frames as f64 / line_rate_fps;
    let backlog_s = if throughput_fps > 0.0 {
        (burst_frames as f64 / throughput_fps - burst_s).max(0.0)
    } else {
        0.0
    };
    backlog_s + burst_s.max(residual_s)
}

/// Of a sample; needs two.
fn deviation(frames: &[u64], mean: f64) -> Option<f64> {
    let squares: f64 = frames.iter().map(|&n| (n as f64 - mean).powi(2)).sum();
    let freedom = frames.len().checked_sub(1).filter(|&n| n > 0)?;
    Some((squares / freedom as f64).sqrt())
}

/// What RFC 9004 §6.2 waits for residual frames, in seconds.
pub const RESIDUAL_S: f64 = 2.0;

#[cfg(test)]
mod tests;
