// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transit times above a base. The clocks' offset makes them any number: the base is learnt from
//! the first datagrams, so that the histogram's digits go to what varies.

use linerate_method::histogram::Histogram;

/// The transit times of one flow.
#[derive(Debug)]
pub(super) struct Transit {
    pub(super) histogram: Histogram,
    pub(super) base_ns: i64,
    first: [i64; LEARN_PACKETS],
    learnt: usize,
}

impl Transit {
    pub(super) fn new() -> Self {
        Self {
            histogram: Histogram::new(),
            base_ns: 0,
            first: [0; LEARN_PACKETS],
            learnt: 0,
        }
    }

    pub(super) fn record(&mut self, transit_ns: i64) {
        if self.learnt > LEARN_PACKETS {
            return self.note(transit_ns);
        }
        if self.learnt == LEARN_PACKETS {
            self.settle();
            return self.note(transit_ns);
        }
        self.first[self.learnt] = transit_ns;
        self.learnt += 1;
    }

    /// Ends the learning, early if there were few datagrams.
    pub(super) fn settle(&mut self) {
        if self.learnt > LEARN_PACKETS {
            return;
        }
        let known = self.learnt;
        self.base_ns = self.first[..known]
            .iter()
            .min()
            .map_or(0, |least| least - MARGIN_NS);
        for index in 0..known {
            self.note(self.first[index]);
        }
        self.learnt = LEARN_PACKETS + 1;
    }

    fn note(&mut self, transit_ns: i64) {
        self.histogram
            .record(u64::try_from(transit_ns.saturating_sub(self.base_ns)).unwrap_or(0));
    }
}

/// Datagrams from which the base is learnt.
const LEARN_PACKETS: usize = 64;
/// Room below the base for drifting clocks (50 ppm over 20 s are 1 ms).
const MARGIN_NS: i64 = 1_000_000;
