// SPDX-License-Identifier: MIT OR Apache-2.0
//! The smallest difference that matters: one for each metric, the same wherever figures are compared.

use super::figure::{Key, LOSS, RTT};

/// The margins of a comparison: those of the metrics, or a stated one for the metrics that decide.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Margins<'a> {
    stated: Option<f64>,
    deciding: Vec<&'a str>,
}

impl<'a> Margins<'a> {
    /// Creates the margins of figures of which `deciding` decide; a `stated` margin is theirs.
    pub fn new(stated: Option<f64>, deciding: impl IntoIterator<Item = &'a Key>) -> Self {
        Self {
            stated,
            deciding: deciding
                .into_iter()
                .map(|key| key.metric.as_str())
                .collect(),
        }
    }

    /// Returns the margin of a figure, as a ratio minus 1.
    pub fn of(&self, key: &Key) -> f64 {
        let decides = self.deciding.contains(&key.metric.as_str());
        let stated = self.stated.filter(|_| decides);
        stated.unwrap_or_else(|| key.margin())
    }
}

impl Key {
    /// The default margin of this figure as a ratio minus 1. TCP's rate is proportional to 1 / (RTT · √loss): a
    /// tenth more latency and a fifth more loss cost it the same.
    pub fn margin(&self) -> f64 {
        match self.metric.as_str() {
            LOSS => 0.2,
            RTT => 0.1,
            _ => RATES,
        }
    }
}

/// The default margin of rates.
pub const RATES: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;

    fn key(metric: &str) -> Key {
        Key {
            metric: metric.to_owned(),
            name: String::new(),
            unit: String::new(),
            higher_is_better: true,
        }
    }

    #[test]
    fn a_stated_margin_is_that_of_the_metrics_that_decide() {
        let [rate, loss, rtt] = ["throughput", "loss", "rtt-p99"].map(key);
        let of = |margins: &Margins<'_>| [&rate, &loss, &rtt].map(|key| margins.of(key));
        assert_eq!(of(&Margins::default()), [0.02, 0.2, 0.1]);
        assert_eq!(of(&Margins::new(None, [&loss])), [0.02, 0.2, 0.1]);
        assert_eq!(of(&Margins::new(Some(0.05), [&loss])), [0.02, 0.05, 0.1]);
        assert_eq!(of(&Margins::new(Some(0.05), [&rate])), [0.05, 0.2, 0.1]);
    }
}
