// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conclusions per direction: the verdict of `check`, the knee of a search.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

use super::test::Direction;

/// The verdict of `check` for one direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Verdict {
    /// The direction.
    pub direction: Direction,
    /// The highest measured payload rate.
    pub achieved_bits_per_second: f64,
    /// Line rate for that payload.
    pub line_rate_bits_per_second: Option<f64>,
    /// The limit.
    pub limit: Limit,
    /// The evidence, or what was checked without result.
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
    /// The path between the hosts.
    Path,
    /// Line rate.
    Link,
    /// Unknown.
    #[default]
    Unknown,
}

/// The highest rate without loss, with its bracket.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Knee {
    /// The trials.
    pub test_ids: Vec<String>,
    /// The direction.
    pub direction: Direction,
    /// UDP payload.
    pub payload_bytes: u32,
    /// Highest rate that met the goal; a lower bound if `limited_by` is `sender`.
    pub lossless_bits_per_second: Option<f64>,
    /// Lowest rate that confirmedly did not, in two trials or in a longer one.
    pub lossy_bits_per_second: Option<f64>,
    /// The same in datagrams.
    pub lossless_pps: Option<f64>,
    /// The same in datagrams.
    pub lossy_pps: Option<f64>,
    /// Highest loss ratio that counts as lossless.
    pub goal_loss_ratio: f64,
    /// What ended the search: `loss`, `sender`, `range`, `trials`.
    pub limited_by: String,
    /// The 95 % upper bound of the loss ratio at the lossless rate: of the trial that confirmed or refuted it, or else
    /// from the trials of the search at it.
    pub loss_ratio_upper95: Option<f64>,
    /// The loss ratio at all rates up to one, if it does not grow with the rate: then there is no knee.
    pub constant_loss: Option<ConstantLoss>,
    /// The longer trials at the lossless rate; `None` if there was none.
    pub confirmation: Option<Confirmation>,
    /// The number of trials, confirming ones included.
    pub trials: u32,
    /// The limit above the lossless rate.
    pub limit: Limit,
    /// The evidence, or what was checked without result; may be empty.
    pub why: String,
    /// What to do next; may be empty.
    #[serde(rename = "try")]
    pub try_: String,
}

/// The last of the longer trials that confirm the result of a search, or do not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Confirmation {
    /// `confirmed`, or why it is not: `loss` (more than the goal allows), `sender` (it fell short of the rate),
    /// `invalid`.
    pub outcome: String,
    /// The trial, an entry of `tests`.
    pub test_id: String,
    /// Its length.
    pub duration_s: f64,
    /// The payload rate that it offered.
    pub offered_bits_per_second: f64,
    /// Datagrams sent.
    pub sent_packets: u64,
    /// Datagrams lost.
    pub lost_packets: u64,
    /// The 95 % upper bound of its loss ratio.
    pub loss_ratio_upper95: Option<f64>,
    /// The number of such trials; each after one that lost was at a lower rate.
    pub trials: u32,
}

impl Confirmation {
    /// Whether the rate is confirmed.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.outcome == "confirmed"
    }
}

/// A loss ratio that does not grow with the rate, up to the highest one without much loss.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Fields)]
pub struct ConstantLoss {
    /// Of all trials that lost less than 1 %.
    pub loss_ratio: f64,
    /// The lower end of its two-sided 95 % confidence interval.
    pub lower95: f64,
    /// The upper end.
    pub upper95: f64,
    /// The highest rate of these trials; `None` in older documents.
    pub highest_bits_per_second: Option<f64>,
}

impl Knee {
    /// Returns the knee without its conclusions.
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
