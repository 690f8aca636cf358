// SPDX-License-Identifier: MIT OR Apache-2.0
//! When datagrams came: gaps, the fullest millisecond, jitter and transit times of one flow.

use linerate_method::jitter::Jitter;
use linerate_method::spacing::Spacing;
use linerate_method::transit::Transits;

/// All that is known of one flow's times.
#[derive(Debug)]
pub(super) struct Timing {
    pub(super) jitter: Jitter,
    pub(super) spacing: Spacing,
    pub(super) transits: Transits,
}

impl Timing {
    pub(super) fn new() -> Self {
        Self {
            jitter: Jitter::new(),
            spacing: Spacing::new(),
            transits: Transits::new(),
        }
    }

    /// This many datagrams that arrived at `wall_ns` were under way for `transit_ns`, the clocks' offset included.
    pub(super) fn travel(&mut self, wall_ns: u64, transit_ns: i64, packets: u32) {
        self.jitter.record_n(transit_ns, packets);
        self.transits.record_n(wall_ns, transit_ns, packets);
    }
}
