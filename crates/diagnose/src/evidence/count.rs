// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an interface counted, by what it means: each line of its driver's table, or each field whose name the kernel
//! defines. One packet shows in several of them: [`resolve`] leaves each packet in one.

use std::collections::BTreeSet;

use super::{Moved, Place, Source, alias, field};
use linerate_knowledge::{Counter, Counts, Driver, Group, Pattern, Stage, Unit};
use linerate_model::record::Side;

/// What one counter, or the queues of one name together, counted.
#[derive(Debug, Clone)]
pub struct Count {
    /// As the table writes it.
    pub name: String,
    /// In which list it stands.
    pub source: Source,
    /// Where its packets are.
    pub stage: Stage,
    /// What it counts in.
    pub unit: Unit,
    /// The sets it belongs to; none: it stands alone.
    pub words: BTreeSet<String>,
    /// What it did, or the rest of that beyond other counters.
    pub moved: Moved,
    /// By how much it grew as it was read.
    pub counted: u64,
    /// A sum over the device, which may contain special cases that others tell.
    pub general: bool,
    /// Whether other functions or ports of the device count into it too.
    pub shared: bool,
}

impl<'r> Place<'_, 'r> {
    /// What this interface dropped on one side of its path, each packet in one counter: by the driver's table, else by the
    /// names of the kernel's fields.
    #[must_use]
    pub fn drops(&self, side: Side) -> Vec<Count> {
        self.resolve(side, self.drop_counters(side))
    }

    /// The counters of drops of one side, of which several may show the same packet.
    pub(crate) fn drop_counters(&self, side: Side) -> Vec<Count> {
        match self.driver() {
            Some(_) => {
                self.described_as(|counter| is_drop(counter) && is_of_side(counter.stage, side))
            }
            None => field::drops(self, side),
        }
    }

    /// Leaves each packet in one of these counters.
    pub(crate) fn resolve(&self, side: Side, counts: Vec<Count>) -> Vec<Count> {
        let driver = self.driver();
        alias::resolve(counts, |word| stage_of_word(driver?, side, word))
    }

    /// The counters that the driver's table describes so, each packet in one of them.
    pub(crate) fn resolved(&self, which: impl Fn(&Counter) -> bool) -> Vec<Count> {
        alias::resolve(self.described_as(which), |_| None)
    }

    fn described_as(&self, which: impl Fn(&Counter) -> bool) -> Vec<Count> {
        let counters = self.driver().map_or(&[][..], |driver| &driver.counters);
        let which = counters.iter().filter(|counter| which(counter));
        which.filter_map(|counter| self.count(counter)).collect()
    }

    /// The sum over all queues of a name. `None` if none can be read or one was reset.
    fn sum(&self, source: Source, name: &Pattern) -> Option<Moved> {
        let names = self
            .names(source)
            .into_iter()
            .filter(|known| name.matches(known));
        let moved: Option<Vec<Moved>> = names.map(|name| self.moved(source, name)).collect();
        moved?.into_iter().reduce(Moved::plus)
    }

    fn count(&self, counter: &Counter) -> Option<Count> {
        let (source, moved) = match counter.group {
            Group::Link => field::read(self, counter.name.text())?,
            group => (
                Source::of_group(group),
                self.sum(Source::of_group(group), &counter.name)?,
            ),
        };
        Some(Count {
            name: counter.name.text().to_owned(),
            source,
            stage: counter.stage,
            unit: counter.unit,
            words: counter.alias.iter().cloned().collect(),
            moved,
            counted: moved.grew.at_least,
            general: counter.group == Group::Link,
            shared: counter.shared,
        })
    }
}

fn is_drop(counter: &Counter) -> bool {
    counter.counts == Counts::Drop && matches!(counter.unit, Unit::Frames | Unit::Segments)
}

/// The wire's errors are found by the receiver.
pub(super) fn is_of_side(stage: Stage, side: Side) -> bool {
    stage.word().starts_with("tx-") == (side == Side::Sender)
}

/// Where packets of a word die, if a counter of the table is of that word alone.
fn stage_of_word(driver: &Driver, side: Side, word: &str) -> Option<Stage> {
    let is_alone = |counter: &&Counter| matches!(counter.alias.as_slice(), [only] if only == word);
    let stage = driver
        .counters
        .iter()
        .find(is_alone)
        .map(|counter| counter.stage);
    stage.filter(|stage| is_of_side(*stage, side))
}
