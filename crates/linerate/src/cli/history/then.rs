// SPDX-License-Identifier: MIT OR Apache-2.0
//! What else changed when a level changed: the records of the runs before and after.

use std::path::Path;

use linerate_method::experiment::environment;
use linerate_model::output::{Difference, Trend, TrendPoint};
use linerate_model::run::Run;

use crate::history;

/// Adds to each change of level what else differs between the runs next to it.
pub(super) fn explained(directory: &Path, mut trend: Trend) -> Trend {
    let points = &trend.points;
    for level in trend.levels.iter_mut().skip(1) {
        let first = (level.first as usize).min(points.len());
        let last = points.len().min(first + NEAR);
        let before = records(directory, &points[first.saturating_sub(NEAR)..first]);
        let after = records(directory, &points[first..last]);
        level.changed = changed(&before, &after);
    }
    trend
}

/// What no run before has in common with one after.
pub(in crate::cli) fn changed(before: &[Run], after: &[Run]) -> Vec<Difference> {
    let [before, after] = [before, after].map(|runs| runs.iter().collect::<Vec<_>>());
    let mut all = environment::differences(&before, &after);
    all.retain(|one| one.before.iter().all(|value| !one.after.contains(value)));
    all
}

/// One that cannot be read any more is left out.
fn records(directory: &Path, points: &[TrendPoint]) -> Vec<Run> {
    let read = |point: &TrendPoint| history::record(&directory.join(&point.run)).ok();
    points.iter().filter_map(read).collect()
}

/// The number of runs on each side.
const NEAR: usize = 3;
