// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a trial looks at beside counting frames.
//!
//! Hot path: [`Watched::record`] neither allocates nor locks.

use linerate_method::latency::Delays;
use linerate_method::reset::SilenceWatch;
use linerate_method::steadiness::RateWatch;

/// What is to be looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Watch {
    #[default]
    Nothing,
    /// The delay of each frame from this one on.
    Delays { from_sequence: u64 },
    /// How long nothing arrives.
    Silence,
    /// How much the rate varies.
    Rate,
}

/// What was seen.
#[derive(Debug)]
pub(super) enum Watched {
    Nothing,
    Delays {
        from_sequence: u64,
        delays: Box<Delays>,
    },
    Silence(SilenceWatch),
    Rate(RateWatch),
}

impl Watched {
    pub(super) fn new(watch: Watch) -> Self {
        match watch {
            Watch::Nothing => Self::Nothing,
            Watch::Delays { from_sequence } => Self::Delays {
                from_sequence,
                delays: Box::default(),
            },
            Watch::Silence => Self::Silence(SilenceWatch::default()),
            Watch::Rate => Self::Rate(RateWatch::default()),
        }
    }

    /// A new frame arrived whole.
    #[inline]
    pub(super) fn record(&mut self, sequence: u64, delay_ns: u64, received_ns: u64) {
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
