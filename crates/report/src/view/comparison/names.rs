// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the two sides are called: one pair of words in the plots, the tables and the sentences of a page.

use linerate_model::output::Comparison;

/// A and B of an experiment and of two matrices, whose sentences say so; else their labels; else before and after.
pub(in crate::view) fn names(all: &[Comparison]) -> [&str; 2] {
    let is_lettered = |one: &Comparison| one.blocks.is_some() || one.cell.is_some();
    match labels(all) {
        _ if all.iter().any(is_lettered) => ["A", "B"],
        Some(labels) => labels,
        None => ["before", "after"],
    }
}

/// Short ones, that read as a name in a sentence and fit a column.
fn labels(all: &[Comparison]) -> Option<[&str; 2]> {
    let first = all.first()?;
    let both = [&first.before, &first.after].map(|side| side.label.as_str());
    let is_name = |label: &str| (1..=LONGEST).contains(&label.chars().count());
    let is_plain = |label: &str| !label.contains(':') && !label.contains('`');
    let are_names = both.iter().all(|label| is_name(label) && is_plain(label));
    (are_names && both[0] != both[1]).then_some(both)
}

const LONGEST: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_name_the_sides_unless_letters_do() {
        let labelled = |[before, after]: [&str; 2]| {
            let mut one = Comparison::default();
            (one.before.label, one.after.label) = (before.to_owned(), after.to_owned());
            one
        };
        let long = "20260131T130000Z-tcp";
        for (labels, expected) in [
            (["qfe", "hme"], ["qfe", "hme"]),
            (["", ""], ["before", "after"]),
            (["qfe", long], ["before", "after"]),
            (["A: run", "B: run"], ["before", "after"]),
            (["qfe", "qfe"], ["before", "after"]),
        ] {
            assert_eq!(names(&[labelled(labels)]), expected);
        }
        let whole = labelled(["qfe", "hme"]);
        let cell = Comparison {
            cell: Some(1),
            ..Comparison::default()
        };
        assert_eq!(names(&[whole, cell]), ["A", "B"]);
    }
}
