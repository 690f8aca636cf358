// SPDX-License-Identifier: MIT OR Apache-2.0
//! System recovery (RFC 2544 §26.5): how long a device loses frames after the end of an overload.
//!
//! The device receives 110 % of its throughput (at most line rate) for a while; at time A the rate drops to half
//! of that; B is the time of the last loss. The RFC defines the recovery time as A − B, an erratum for B − A.
//!
//! Times are those of sending: frames are numbered from 1 over both phases, so the number of the last lost frame
//! dates it to within one gap, without a receiver's clock.

/// The two phases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Frames per second and direction of the overload.
    pub overload_fps: f64,
    /// Frames per second and direction afterwards.
    pub reduced_fps: f64,
    /// Frames of the overload.
    pub overload_frames: u64,
    /// Frames afterwards.
    pub reduced_frames: u64,
}

/// The result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Recovery {
    /// Seconds from the drop of the rate to the last loss, within one gap of the reduced rate; 0 without loss
    /// after the drop.
    After { seconds: f64 },
    /// Frames were lost until the end: no recovery within the observation time.
    NotYet { watched_s: f64 },
    /// Nothing was lost: the load did not overload the device.
    NoOverload,
}

impl Plan {
    /// `overload_s` seconds (RFC 2544: at least 60) at the lower of 110 % of the throughput and the
    /// line rate, then `watched_s` seconds at half of that. Rates in frames per second.
    pub fn new(throughput_fps: f64, line_rate_fps: f64, overload_s: f64, watched_s: f64) -> Self {
        let overload_fps = (throughput_fps * OVERLOAD).min(line_rate_fps);
        let reduced_fps = overload_fps / 2.0;
        Self {
            overload_fps,
            reduced_fps,
            overload_frames: (overload_fps * overload_s) as u64,
            reduced_frames: (reduced_fps * watched_s) as u64,
        }
    }

    /// Returns the recovery, from the number of the last lost frame over both phases:
    /// [`crate::flow_account::DirectionTotals::last_lost`].
    pub fn recovery(&self, last_lost: Option<u64>) -> Recovery {
        let Some(last_lost) = last_lost else {
            return Recovery::NoOverload;
        };
        if last_lost >= self.overload_frames + self.reduced_frames {
            let watched_s = self.reduced_frames as f64 / self.reduced_fps;
            return Recovery::NotYet { watched_s };
        }
        let after = last_lost.saturating_sub(self.overload_frames);
        Recovery::After {
            seconds: after as f64 / self.reduced_fps,
        }
    }
}

/// The mean of the repetitions in seconds; `None` if one did not recover, or without any.
pub fn mean_s(recoveries: &[Recovery]) -> Option<f64> {
    let seconds: Option<Vec<f64>> = recoveries.iter().map(Recovery::seconds).collect();
    let seconds = seconds.filter(|seconds| !seconds.is_empty())?;
    Some(seconds.iter().sum::<f64>() / seconds.len() as f64)
}

impl Recovery {
    fn seconds(&self) -> Option<f64> {
        match *self {
            Self::After { seconds } => Some(seconds),
            Self::NotYet { .. } | Self::NoOverload => None,
        }
    }
}

const OVERLOAD: f64 = 1.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overload_is_110_percent_but_not_beyond_the_line() {
        let plan = Plan::new(1e5, 1e6, 60.0, 10.0);
        assert!((plan.overload_fps - 1.1e5).abs() < 1e-6);
        assert!((plan.reduced_fps - 5.5e4).abs() < 1e-6);
        assert_eq!(
            (plan.overload_frames, plan.reduced_frames),
            (6_600_000, 550_000)
        );
        assert_eq!(Plan::new(9.5e5, 1e6, 60.0, 10.0).overload_fps, 1e6);
    }

    #[test]
    fn the_last_loss_dates_the_recovery() {
        let plan = Plan {
            overload_fps: 2000.0,
            reduced_fps: 1000.0,
            overload_frames: 20_000,
            reduced_frames: 5000,
        };
        let after = |seconds| Recovery::After { seconds };
        assert_eq!(plan.recovery(Some(20_250)), after(0.25));
        assert_eq!(plan.recovery(Some(19_000)), after(0.0));
        assert_eq!(plan.recovery(None), Recovery::NoOverload);
        assert_eq!(
            plan.recovery(Some(25_000)),
            Recovery::NotYet { watched_s: 5.0 }
        );
    }

    #[test]
    fn an_average_needs_all_of_them() {
        let after = |seconds| Recovery::After { seconds };
        assert_eq!(mean_s(&[after(0.1), after(0.3)]), Some(0.2));
        assert_eq!(
            mean_s(&[after(0.1), Recovery::NotYet { watched_s: 5.0 }]),
            None
        );
        assert_eq!(mean_s(&[]), None);
    }
}
