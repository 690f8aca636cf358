// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a direction reaches: the answer of `check`, the knee of a search.

use serde::{Deserialize, Serialize};

use super::test::Direction;

/// The answer of `check`, one a direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verdict {
    /// Which way.
    pub direction: Direction,
    /// The best payload rate that was measured.
    pub achieved_bits_per_second: f64,
    /// What the link's speed and framing allow for that payload.
    pub line_rate_bits_per_second: Option<f64>,
    /// Who holds it back.
    pub limit: Limit,
    /// The facts that say so, or what was looked at in vain.
    pub why: String,
    /// What to do next; may be empty.
    #[serde(rename = "try")]
    pub try_: String,
}

/// What limits a direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The sender could not offer more.
    Sender,
    /// A processor of the receiver is full.
    ReceiverCpu,
    /// The receiver's interface drops frames before its kernel takes them.
    ReceiverInterface,
    /// The receiving socket's buffer overflows.
    ReceiverSocket,
    /// The processors that both ends share are full: one machine.
    SharedCpu,
    /// Something between.
    Path,
    /// The link's own rate.
    Link,
    /// Not known.
    #[default]
    Unknown,
}

/// The highest rate without loss, with its bracket.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Knee {
    /// The trials.
    pub test_ids: Vec<String>,
    /// Which way.
    pub direction: Direction,
    /// UDP payload.
    pub payload_bytes: u32,
    /// Highest rate that met the goal; with `limited_by` `sender` the knee is there or above.
    pub lossless_bits_per_second: Option<f64>,
    /// Lowest confirmed rate that did not.
    pub lossy_bits_per_second: Option<f64>,
    /// The same in datagrams.
    pub lossless_pps: Option<f64>,
    /// The same in datagrams.
    pub lossy_pps: Option<f64>,
    /// What counts as without loss.
    pub goal_loss_ratio: f64,
    /// What ended the search: `loss`, `sender`, `range`, `trials`.
    pub limited_by: String,
    /// How many trials.
    pub trials: u32,
    /// Who holds it back above the lossless rate.
    pub limit: Limit,
    /// The facts that say so, or what was looked at in vain; may be empty.
    pub why: String,
    /// What to do next; may be empty.
    #[serde(rename = "try")]
    pub try_: String,
}

impl Knee {
    /// Without what was concluded of it: who holds it back, why, and what to try.
    #[must_use]
    pub fn as_measured(&self) -> Self {
        Self {
            limit: Limit::default(),
            why: String::new(),
            try_: String::new(),
            ..self.clone()
        }
    }
}
