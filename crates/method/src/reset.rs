// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reset (RFC 2544 §26.6, RFC 6201): how long a device forwards nothing after a reset.
//!
//! Both methods are reported: by timestamps, from the last frame before the outage to the first one after it;
//! and by loss, the lost frames divided by the offered rate, which includes loss during an unstable start.

/// Finds the longest gap between the arrivals of one direction. Nothing here allocates.
#[derive(Debug, Clone, Default)]
pub struct GapWatch {
    last_ns: Option<u64>,
    longest: Option<Gap>,
}

/// A gap, by the receiver's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The last frame before it.
    pub from_ns: u64,
    /// The first frame after it.
    pub to_ns: u64,
}

impl GapWatch {
    /// Records an arrival.
    #[inline]
    pub fn record(&mut self, now_ns: u64) {
        if let Some(from_ns) = self.last_ns {
            let gap = Gap {
                from_ns,
                to_ns: now_ns,
            };
            if self.longest.is_none_or(|known| gap.ns() > known.ns()) {
                self.longest = Some(gap);
            }
        }
        self.last_ns = Some(self.last_ns.map_or(now_ns, |last_ns| last_ns.max(now_ns)));
    }

    /// The longest gap; `None` with fewer than two frames.
    pub fn longest(&self) -> Option<Gap> {
        self.longest
    }

    /// When the last frame arrived: if that is long before the end of the stream, the device has not recovered,
    /// and [`Self::longest`] is not the reset time.
    pub fn last_ns(&self) -> Option<u64> {
        self.last_ns
    }
}

impl Gap {
    /// The duration: the reset time by timestamps, within one frame interval.
    pub fn ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

/// The result of a reset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reset {
    /// Nothing arrived for this many seconds.
    After { seconds: f64 },
    /// The device had not recovered at the end of the stream.
    NotBack,
    /// Nothing was lost: there was no reset.
    None,
}

impl Reset {
    /// Evaluates a stream that was sent until `sent_until_ns` (by the receiver's clock), of which
    /// `missing_frames` did not arrive.
    pub fn of(watch: &GapWatch, sent_until_ns: u64, missing_frames: u64) -> Self {
        let gap_ns = watch.longest().map_or(0, |gap| gap.ns());
        let last_ns = watch.last_ns().unwrap_or(0);
        if missing_frames == 0 {
            Self::None
        } else if sent_until_ns.saturating_sub(last_ns) > gap_ns {
            Self::NotBack
        } else {
            Self::After {
                seconds: gap_ns as f64 / 1e9,
            }
        }
    }
}

/// Returns the reset time by loss in seconds: lost frames divided by the offered rate. `None` for a rate of 0.
pub fn by_loss_s(lost_frames: u64, offered_fps: f64) -> Option<f64> {
    (offered_fps > 0.0).then(|| lost_frames as f64 / offered_fps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree_about_a_clean_outage() {
        let mut watch = GapWatch::default();
        let gap_ns = 1_000_000;
        // Of 10 000 frames, 3000 … 7999 meet a device that is down.
        let arrived = (0..3000_u64).chain(8000..10_000);
        arrived.for_each(|frame| watch.record(frame * gap_ns));
        let silence = watch.longest().unwrap();
        assert_eq!(silence.ns(), 5001 * gap_ns);
        assert_eq!(by_loss_s(5000, 1000.0), Some(5.0));
        assert_eq!(watch.last_ns(), Some(9999 * gap_ns));
    }

    #[test]
    fn a_device_that_is_not_back_has_no_time() {
        let mut watch = GapWatch::default();
        [0, 10, 300, 310]
            .into_iter()
            .for_each(|now_ns| watch.record(now_ns));
        assert_eq!(Reset::of(&watch, 320, 0), Reset::None);
        let back = Reset::After { seconds: 290e-9 };
        assert_eq!(Reset::of(&watch, 320, 5), back);
        assert_eq!(Reset::of(&watch, 900, 5), Reset::NotBack);
        assert_eq!(Reset::of(&GapWatch::default(), 9, 5), Reset::NotBack);
    }

    #[test]
    fn without_frames_there_is_no_answer() {
        let mut watch = GapWatch::default();
        watch.record(5);
        assert_eq!(watch.longest(), None);
        assert_eq!(by_loss_s(1, 0.0), None);
    }

    #[test]
    fn a_clock_that_steps_back_makes_no_gap() {
        let mut watch = GapWatch::default();
        [10, 5, 12]
            .into_iter()
            .for_each(|now_ns| watch.record(now_ns));
        assert_eq!(watch.longest().unwrap().ns(), 2);
    }
}
