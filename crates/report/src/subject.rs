// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run to be shown: its document, and the parts of the record that the document leaves out.

use linerate_model::output::Output;
use linerate_model::round_trips::RoundTrips;
use linerate_model::series::Series;
use linerate_model::setting::Setting;

/// One run to be shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Subject {
    /// The name among several runs.
    pub label: String,
    /// What was measured and concluded.
    pub output: Output,
    /// The settings of the hosts.
    pub settings: Vec<Setting>,
    /// All round trips of the probe.
    pub round_trips: Vec<RoundTrips>,
    /// The load of each processor over time.
    pub processors: Vec<Series>,
    /// Interrupts per second, over time.
    pub interrupts: Vec<Series>,
}
