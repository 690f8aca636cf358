// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the runs of an experiment gave, block by block.

use std::path::PathBuf;

use linerate_method::experiment::blocks::{self, Runs};
use linerate_method::experiment::{Arm, Experiment, Figure, Key, Phase, Slot, environment};
use linerate_model::output::{Comparison, Excluded, Side};
use linerate_model::run::Run;
use linerate_report::view::comparison::sentence;

use crate::store;

/// The account.
#[derive(Debug, Default)]
pub(super) struct Book {
    /// The figure that decides.
    pub(super) key: Option<Key>,
    /// Of the block that is being run.
    open: Vec<(Arm, Entry)>,
    a: Vec<Entry>,
    b: Vec<Entry>,
    pub(super) excluded: Vec<Excluded>,
}

/// One run.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) figures: Vec<Figure>,
    pub(super) directory: Option<PathBuf>,
}

impl Book {
    /// The figure of a run that decides: the first that is called so, of the first run.
    pub(super) fn decisive(&mut self, figures: &[Figure], metric: Option<&str>) -> Option<Figure> {
        if self.key.is_none() {
            let is_asked =
                |figure: &&Figure| metric.is_none_or(|metric| figure.key.is_named(metric));
            self.key = figures
                .iter()
                .find(is_asked)
                .map(|figure| figure.key.clone());
        }
        let key = self.key.as_ref()?;
        figures.iter().find(|figure| figure.key == *key).cloned()
    }

    /// Takes a run; at the end of a block of the question its runs count.
    pub(super) fn take(&mut self, slot: Slot, entry: Entry) {
        self.open.push((slot.arm, entry));
        if self.open.len() < 4 {
            return;
        }
        for (arm, entry) in std::mem::take(&mut self.open) {
            match (slot.phase, arm) {
                (Phase::Noise, _) => {}
                (Phase::Question, Arm::A) => self.a.push(entry),
                (Phase::Question, Arm::B) => self.b.push(entry),
            }
        }
    }

    /// The block is run again: its runs are kept, and do not count.
    pub(super) fn spoil(&mut self, run: String, reason: String) {
        self.open.clear();
        self.excluded.push(Excluded { run, reason });
    }

    /// Everything that the blocks say, the figure that decides first.
    pub(super) fn comparisons(
        &self,
        experiment: &Experiment,
        labels: [&str; 2],
        stopped: &str,
    ) -> Vec<Comparison> {
        let Some(key) = &self.key else {
            return Vec::new();
        };
        let of = |key: &Key| [&self.a, &self.b].map(|entries| figures_of(entries, key));
        let [a, b] = of(key);
        let mut all = vec![blocks::decided(key, Runs { a: &a, b: &b }, experiment)];
        for other in self.other_keys(key) {
            let [a, b] = of(other);
            let runs = Runs { a: &a, b: &b };
            if a.len() == self.a.len() && b.len() == self.b.len() {
                let margin = other.margin(experiment.plan().margin);
                all.push(blocks::beside(
                    other,
                    runs,
                    &blocks::log_ratios(runs),
                    margin,
                ));
            }
        }
        let guards = all[1..].iter().map(blocks::guard).collect();
        let stopped = Some(stopped.to_owned());
        (all[0].guards, all[0].stopped) = (guards, stopped);
        all[0].excluded.clone_from(&self.excluded);
        let runs = [&self.a, &self.b].map(|entries| runs_of(entries));
        let [before, after] = [&runs[0], &runs[1]].map(|runs| runs.iter().collect::<Vec<_>>());
        all[0].environment_diff = environment::differences(&before, &after);
        for one in &mut all {
            describe(&mut one.before, labels[0], &self.a);
            describe(&mut one.after, labels[1], &self.b);
            one.sentence = sentence(one);
        }
        all
    }

    fn other_keys<'a>(&'a self, decisive: &'a Key) -> impl Iterator<Item = &'a Key> {
        let first = self.a.first().into_iter().flat_map(|entry| &entry.figures);
        first
            .map(|figure| &figure.key)
            .filter(move |key| *key != decisive)
    }
}

fn figures_of(entries: &[Entry], key: &Key) -> Vec<Figure> {
    let of = |entry: &Entry| {
        entry
            .figures
            .iter()
            .find(|figure| figure.key == *key)
            .cloned()
    };
    entries.iter().filter_map(of).collect()
}

fn describe(side: &mut Side, label: &str, entries: &[Entry]) {
    label.clone_into(&mut side.label);
    let directories = entries.iter().filter_map(|entry| entry.directory.as_ref());
    side.runs = directories
        .map(|directory| directory.display().to_string())
        .collect();
}

/// The records of stored runs.
fn runs_of(entries: &[Entry]) -> Vec<Run> {
    let directories = entries
        .iter()
        .filter_map(|entry| entry.directory.as_deref());
    directories
        .filter_map(|directory| Some(store::read(directory).ok()?.0))
        .collect()
}
