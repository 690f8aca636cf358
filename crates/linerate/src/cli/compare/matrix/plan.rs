// SPDX-License-Identifier: MIT OR Apache-2.0
//! What two matrices asked of each test: what differs, and which cells were measured in different ways.

use linerate_method::matrix::PROTOCOL;
use linerate_model::failure::Failure;
use linerate_model::output::{Cell, CellState, Difference, Matrix};

use crate::cli::values::paced_rate;

/// What differs between the plans. What one of them does not tell (a document of an earlier version) is unknown.
pub(super) fn differences(matrices: [&Matrix; 2]) -> Vec<Difference> {
    if matrices.iter().any(|matrix| matrix.plan.is_empty()) {
        return Vec::new();
    }
    let differs = |name: &&str| {
        let [before, after] = matrices.map(|matrix| matrix.plan.get(*name));
        let text = |value: Option<&String>| vec![value.map_or("none", String::as_str).to_owned()];
        (!is_same(before, after)).then(|| Difference {
            what: (*name).to_owned(),
            before: text(before),
            after: text(after),
            ..Difference::default()
        })
    };
    NAMES.iter().filter_map(differs).collect()
}

/// The same text, or the same rate: `10M` and `10000k`.
fn is_same(before: Option<&String>, after: Option<&String>) -> bool {
    let rate = |text: Option<&String>| text.and_then(|text| paced_rate(text).ok());
    before == after || rate(before).is_some_and(|rate_before| Some(rate_before) == rate(after))
}

/// Why the runs of a cell are not comparable: tests of another duration, or datagrams at another rate.
pub(super) fn incomparable(plans: &[Difference], cell: &Cell) -> Option<String> {
    let protocol = cell.axes.get(PROTOCOL);
    let is_udp = protocol.is_some_and(|protocol| protocol.starts_with("udp"));
    let decides = |one: &&Difference| one.what == TIME || one.what == RATE && is_udp;
    let one = plans.iter().find(decides)?;
    let [before, after] = [&one.before, &one.after].map(|values| values.join(" "));
    Some(format!(
        "the {} is {before} in A and {after} in B",
        one.what
    ))
}

/// Refuses two matrices of which no cell is comparable.
///
/// # Errors
/// In what they differ.
pub(super) fn check(plans: &[Difference], cells: &[Cell]) -> Result<(), Failure> {
    let mut measured = cells.iter().filter(|cell| cell.state == CellState::Done);
    let why = measured.clone().find_map(|cell| incomparable(plans, cell));
    match why {
        Some(why) if measured.all(|cell| incomparable(plans, cell).is_some()) => {
            Err(Failure::usage("compare two matrices", why)
                .hint("measure one of them again with the -t and -b of the other"))
        }
        _ => Ok(()),
    }
}

/// The duration of a test; 0 where it is unknown.
pub(super) fn duration_s(matrix: &Matrix) -> f64 {
    let time = matrix.plan.get(TIME);
    let seconds = time.and_then(|time| time.strip_suffix('s')?.parse().ok());
    seconds.unwrap_or(0.0)
}

const TIME: &str = "time";
const RATE: &str = "rate";
/// As a plan has them, the most important first.
const NAMES: [&str; 5] = [TIME, RATE, "fault", "topology", "flags"];

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(values: &[(&str, &str)]) -> Matrix {
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Matrix {
            plan: values.iter().map(text).collect(),
            ..Matrix::default()
        }
    }

    fn cell(protocol: &str) -> Cell {
        Cell {
            axes: [(PROTOCOL.to_owned(), protocol.to_owned())].into(),
            state: CellState::Done,
            ..Cell::default()
        }
    }

    #[test]
    fn another_rate_is_that_of_datagrams_and_another_time_that_of_all() {
        let before = planned(&[("time", "5s"), ("rate", "10M")]);
        let rate = planned(&[("time", "5s"), ("rate", "20M")]);
        let plans = differences([&before, &rate]);
        let why = incomparable(&plans, &cell("udp-gso")).unwrap();
        assert_eq!(why, "the rate is 10M in A and 20M in B");
        assert_eq!(incomparable(&plans, &cell("tcp")), None);
        assert_eq!(check(&plans, &[cell("udp"), cell("tcp")]), Ok(()));
        assert!(check(&plans, &[cell("udp")]).is_err());
        let time = planned(&[("time", "0.5s"), ("rate", "10000k")]);
        let plans = differences([&before, &time]);
        assert_eq!(plans.len(), 1, "{plans:?}");
        assert!(incomparable(&plans, &cell("tcp")).is_some());
        assert_eq!([&before, &time].map(duration_s), [5.0, 0.5]);
    }

    #[test]
    fn flags_are_named_and_what_is_unknown_is_not() {
        let before = planned(&[("time", "5s")]);
        let after = planned(&[("time", "5s"), ("flags", "-w 4M")]);
        let plans = differences([&before, &after]);
        let found = (&plans[0].what, &plans[0].before[0], &plans[0].after[0]);
        assert_eq!(
            found,
            (&"flags".to_owned(), &"none".to_owned(), &"-w 4M".to_owned())
        );
        assert_eq!(incomparable(&plans, &cell("udp")), None);
        assert_eq!(differences([&before, &planned(&[])]), []);
    }
}
