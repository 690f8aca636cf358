// SPDX-License-Identifier: MIT OR Apache-2.0
//! The samples of a run, kept to explain it when it ends. Memory is bounded: beyond a limit only the
//! last sample of each source is kept in addition to the first ones.

use std::collections::BTreeMap;

use linerate_model::output::Role;
use linerate_model::sample::{Phase, Sample};

/// Samples in the order of reading.
#[derive(Debug, Default)]
pub(super) struct SampleLog {
    samples: Vec<Sample>,
    /// Values in `samples`.
    counters: usize,
    last: BTreeMap<Source, Sample>,
}

/// Host, source, interface, test, phase.
type Source = (Role, String, Option<String>, Option<String>, Option<Phase>);

impl SampleLog {
    /// Adds a sample.
    pub(super) fn take(&mut self, sample: &Sample) {
        if self.counters < MOST_COUNTERS {
            self.counters += sample.counters.len();
            let mut sample = sample.clone();
            sample.share_names(&self.samples);
            self.samples.push(sample);
        } else {
            self.last.insert(source(sample), sample.clone());
        }
    }

    /// Returns the samples of a test's group.
    pub(super) fn of_group(&self, group: &str) -> Vec<Sample> {
        let all = self.samples.iter().chain(self.last.values());
        let of_group = all.filter(|sample| sample.group.as_deref() == Some(group));
        of_group.cloned().collect()
    }

    /// Returns all that were kept.
    pub(super) fn into_samples(self) -> Vec<Sample> {
        let mut samples = self.samples;
        samples.extend(self.last.into_values());
        samples
    }
}

fn source(sample: &Sample) -> Source {
    (
        sample.host,
        sample.source.clone(),
        sample.interface.clone(),
        sample.group.clone(),
        sample.phase,
    )
}

/// About a megabyte, where sources keep their names.
const MOST_COUNTERS: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_each_source_is_always_there() {
        let mut log = SampleLog::default();
        let sample = |t_ns, source: &str| Sample {
            t_ns,
            source: source.to_owned(),
            counters: [("rx_packets".to_owned(), t_ns)].into(),
            ..Sample::default()
        };
        for t_ns in 0..MOST_COUNTERS as u64 + 1000 {
            log.take(&sample(t_ns, if t_ns % 2 == 0 { "even" } else { "odd" }));
        }
        let samples = log.into_samples();
        assert_eq!(samples.len(), MOST_COUNTERS + 2);
        let mut last: Vec<u64> = samples
            .iter()
            .rev()
            .take(2)
            .map(|sample| sample.t_ns)
            .collect();
        last.sort_unstable();
        assert_eq!(
            last,
            [MOST_COUNTERS as u64 + 998, MOST_COUNTERS as u64 + 999]
        );
    }
}
