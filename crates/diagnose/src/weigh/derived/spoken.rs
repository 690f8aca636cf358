// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the author's sentences say, and several words show together: what works and what does not, since when, how long.

mod classes;
mod clauses;
mod contrasts;
mod judged;
mod measured;
mod polarity;
mod remedies;
mod speeds;
mod times;

use super::Fact;
use crate::weigh::observed::Line;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let clauses = clauses::clauses(lines);
    if clauses.is_empty() {
        return Vec::new();
    }
    let readers = [judged::facts, remedies::facts, speeds::facts, times::facts];
    let all = readers.iter().flat_map(|read| read(&clauses));
    let with_lines = [
        contrasts::facts(&clauses, lines),
        measured::facts(&clauses, lines),
    ];
    all.chain(with_lines.into_iter().flatten()).collect()
}
