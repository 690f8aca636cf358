// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run as it is shown: the document with what was concluded, and what the record has beside it.

use linerate_model::output::Output;
use linerate_model::round_trips::RoundTrips;
use linerate_model::series::Series;
use linerate_model::setting::Setting;

/// One run to be shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Subject {
    /// How it is called where several are shown.
    pub label: String,
    /// What was measured and concluded.
    pub output: Output,
    /// How the hosts were set up.
    pub settings: Vec<Setting>,
    /// Every round trip of the probe.
    pub round_trips: Vec<RoundTrips>,
    /// How busy each processor was, over time.
    pub processors: Vec<Series>,
    /// Interrupts a second, over time.
    pub interrupts: Vec<Series>,
}
