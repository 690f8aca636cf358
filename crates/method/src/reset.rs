// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reset (RFC 2544 §26.6 as RFC 6201 has it): how long a device forwards nothing while it starts anew.
//!
//! Two ways, and both are reported: by timestamps, from the last frame before the silence to the
//! first one after it; and by loss, the frames lost over the rate at which they were offered, which
//! also counts what is lost while the device stutters back.

/// Watches the arrivals of one direction for their longest silence. Nothing here allocates.
#[derive(Debug, Clone, Default)]
pub struct SilenceWatch {
    last_ns: Option<u64>,
    longest: Option<Silence>,
}

/// A time without a frame, in the receiver's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    /// The last frame before it.
    pub from_ns: u64,
    /// The first frame after it.
    pub to_ns: u64,
}

impl SilenceWatch {
    /// A frame arrived.
    #[inline]
    pub fn record(&mut self, now_ns: u64) {
        if let Some(from_ns) = self.last_ns {
            let silence = Silence {
                from_ns,
                to_ns: now_ns,
            };
            if self.longest.is_none_or(|known| silence.ns() > known.ns()) {
                self.longest = Some(silence);
            }
        }
        self.last_ns = Some(self.last_ns.map_or(now_ns, |last_ns| last_ns.max(now_ns)));
    }

    /// The longest silence between two frames; `None` with fewer than two.
    pub fn longest(&self) -> Option<Silence> {
        self.longest
    }

    /// When the last frame arrived: if that is long before the end of the stream, the device has
    /// not come back, and [`Self::longest`] is not the reset.
    pub fn last_ns(&self) -> Option<u64> {
        self.last_ns
    }
}

impl Silence {
    /// How long it lasted: the reset time by timestamps, within one gap.
    pub fn ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

/// What became of a reset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reset {
    /// Nothing arrived for so many seconds.
    After { seconds: f64 },
    /// The device had not come back when sending ended.
    NotBack,
    /// Nothing was lost: there was no reset.
    None,
}

impl Reset {
    /// From the silences of a stream that was sent until `sent_until_ns` (in the receiver's clock),
    /// of which so many frames did not arrive.
    pub fn of(watch: &SilenceWatch, sent_until_ns: u64, missing_frames: u64) -> Self {
        let silence_ns = watch.longest().map_or(0, |silence| silence.ns());
        let last_ns = watch.last_ns().unwrap_or(0);
        if missing_frames == 0 {
            Self::None
        } else if sent_until_ns.saturating_sub(last_ns) > silence_ns {
            Self::NotBack
        } else {
            Self::After {
                seconds: silence_ns as f64 / 1e9,
            }
        }
    }
}

/// The reset time by loss in seconds: lost frames over the offered rate in frames per second.
/// `None` for a rate of 0.
pub fn by_loss_s(lost_frames: u64, offered_fps: f64) -> Option<f64> {
    (offered_fps > 0.0).then(|| lost_frames as f64 / offered_fps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree_about_a_clean_outage() {
        let mut watch = SilenceWatch::default();
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
        let mut watch = SilenceWatch::default();
        [0, 10, 300, 310]
            .into_iter()
            .for_each(|now_ns| watch.record(now_ns));
        assert_eq!(Reset::of(&watch, 320, 0), Reset::None);
        let back = Reset::After { seconds: 290e-9 };
        assert_eq!(Reset::of(&watch, 320, 5), back);
        assert_eq!(Reset::of(&watch, 900, 5), Reset::NotBack);
        assert_eq!(Reset::of(&SilenceWatch::default(), 9, 5), Reset::NotBack);
    }

    #[test]
    fn without_frames_there_is_no_answer() {
        let mut watch = SilenceWatch::default();
        watch.record(5);
        assert_eq!(watch.longest(), None);
        assert_eq!(by_loss_s(1, 0.0), None);
    }

    #[test]
    fn a_clock_that_steps_back_makes_no_silence() {
        let mut watch = SilenceWatch::default();
        [10, 5, 12]
            .into_iter()
            .for_each(|now_ns| watch.record(now_ns));
        assert_eq!(watch.longest().unwrap().ns(), 2);
    }
}
