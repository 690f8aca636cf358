// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a trial observes in addition to counting frames.
//!
//! Hot path: [`Watched::record`] neither allocates nor locks.

use linerate_method::latency::Delays;
use linerate_method::reset::GapWatch;
use linerate_method::steadiness::RateWatch;

/// What to observe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Watch {
    #[default]
    Nothing,
    /// The delay of each frame from this one on.
    Delays { from_sequence: u64 },
    /// The times in which nothing arrives.
    Silence,
    /// The variation of the rate.
    Rate,
}

/// What was observed.
#[derive(Debug)]
pub(crate) enum Watched {
    Nothing,
    Delays {
        from_sequence: u64,
        delays: Box<Delays>,
    },
    Silence(GapWatch),
    Rate(RateWatch),
}

impl Watched {
    pub(crate) fn new(watch: Watch) -> Self {
        match watch {
            Watch::Nothing => Self::Nothing,
            Watch::Delays { from_sequence } => Self::Delays {
                from_sequence,
                delays: Box::default(),
            },
            Watch::Silence => Self::Silence(GapWatch::default()),
            Watch::Rate => Self::Rate(RateWatch::default()),
        }
    }

    /// Records a new, intact frame.
    #[inline]
    pub(crate) fn record(&mut self, sequence: u64, delay_ns: u64, received_ns: u64) {
        match self {
            Self::Nothing => {}
            Self::Delays {
                from_sequence,
                delays,
            } => {
                if sequence >= *from_sequence {
                    delays.record(sequence, delay_ns);
                }
            }
            Self::Silence(watch) => watch.record(received_ns),
            Self::Rate(watch) => watch.record(received_ns),
        }
    }
}
