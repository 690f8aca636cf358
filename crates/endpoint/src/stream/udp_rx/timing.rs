// SPDX-License-Identifier: MIT OR Apache-2.0
//! When datagrams came: gaps, the fullest millisecond, jitter and transit times of one flow.

use super::transit::Transit;
use linerate_method::jitter::Jitter;
use linerate_method::spacing::Spacing;

/// All that is known of one flow's times.
#[derive(Debug)]
pub(super) struct Timing {
    pub(super) jitter: Jitter,
    pub(super) spacing: Spacing,
    pub(super) transit: Transit,
}

impl Timing {
    pub(super) fn new() -> Self {
        Self {
            jitter: Jitter::new(),
            spacing: Spacing::new(),
            transit: Transit::new(),
        }
    }

    /// A datagram was under way for `transit_ns`, the clocks' offset included.
    pub(super) fn travel(&mut self, transit_ns: i64) {
        self.jitter.record(transit_ns);
        self.transit.record(transit_ns);
    }

    /// Nothing more comes.
    pub(super) fn settle(&mut self) {
        self.transit.settle();
    }
}
