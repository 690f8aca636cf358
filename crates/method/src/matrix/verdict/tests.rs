// SPDX-License-Identifier: MIT OR Apache-2.0
use linerate_model::output::Judgement::{self, Better, Equivalent, Inconclusive, Worse};

use super::*;

fn figure(name: &str, higher_is_better: bool, values: &[f64]) -> CellFigure {
    CellFigure {
        name: name.to_owned(),
        higher_is_better,
        values: values.to_vec(),
        ..CellFigure::default()
    }
}

/// Runs before and after.
type Runs<'v> = (&'v [f64], &'v [f64]);

/// The verdicts of the cells, with the needed runs.
fn verdicts(higher_is_better: bool, cells: &[Runs<'_>]) -> Vec<(Judgement, Option<u32>)> {
    let figures = |values: &[f64]| figure("rate", higher_is_better, values);
    let sides: Vec<_> = cells
        .iter()
        .map(|(before, after)| [figures(before), figures(after)])
        .collect();
    let pairs: Vec<Pair<'_>> = sides
        .iter()
        .zip(1..)
        .map(|([before, after], cell)| Pair {
            cell,
            name: "cell",
            sides: [before, after],
            packets: [0.0; 2],
        })
        .collect();
    let all = compare(&pairs, 0.02, 1);
    let cells = all.iter().filter(|one| one.cell.is_some());
    cells.map(|one| (one.verdict, one.needed)).collect()
}

const QUIET: [f64; 6] = [100.0, 100.1, 99.9, 100.05, 99.95, 100.0];
const HIGH: [f64; 6] = [110.0, 110.1, 109.9, 110.05, 109.95, 110.0];
const LOUD: [f64; 6] = [100.0, 140.0, 70.0, 120.0, 90.0, 105.0];

#[test]
fn each_cell_has_its_own_verdict() {
    let cells: [Runs<'_>; 3] = [(&QUIET, &HIGH), (&HIGH, &QUIET), (&QUIET, &QUIET)];
    let found = verdicts(true, &cells);
    assert_eq!(found, [(Better, None), (Worse, None), (Equivalent, None)]);
    let found = verdicts(false, &cells);
    assert_eq!(found, [(Worse, None), (Better, None), (Equivalent, None)]);
}

#[test]
fn a_cell_with_too_much_noise_says_how_many_runs_would_do() {
    let found = verdicts(true, &[(&QUIET, &HIGH), (&LOUD, &LOUD)]);
    assert_eq!(found[0], (Better, None));
    let (verdict, needed) = found[1];
    assert_eq!(verdict, Inconclusive);
    assert!(needed.is_some_and(|runs| runs > 100), "{needed:?}");
}

/// Three runs have a spread: the least number is no estimate for them.
#[test]
fn few_runs_with_noise_need_more_than_the_least() {
    let loud = &LOUD[..3];
    let (verdict, needed) = verdicts(true, &[(loud, loud)])[0];
    assert_eq!(verdict, Inconclusive);
    assert!(needed.is_some_and(|runs| runs > 100), "{needed:?}");
}

#[test]
fn three_rounds_prove_nothing_and_four_may() {
    let rounds =
        |n: usize| -> [Runs<'_>; 2] { [(&QUIET[..n], &HIGH[..n]), (&QUIET[..n], &QUIET[..n])] };
    let too_few = [(Inconclusive, Some(4)), (Inconclusive, Some(4))];
    assert_eq!(verdicts(true, &rounds(3)), too_few);
    assert_eq!(verdicts(true, &rounds(1)), too_few);
    assert_eq!(verdicts(true, &rounds(0)), too_few);
    assert_eq!(verdicts(true, &rounds(4))[0], (Better, None));
}

/// A cell that has fewer runs than the others pays for it alone.
#[test]
fn a_cell_with_fewer_runs_does_not_weaken_the_others() {
    let mut cells: Vec<Runs<'_>> = vec![(&QUIET, &HIGH); 20];
    cells.push((&QUIET[..4], &HIGH[..4]));
    let found = verdicts(true, &cells);
    let is_better = |one: &(Judgement, Option<u32>)| *one == (Better, None);
    assert!(found[..20].iter().all(is_better), "{found:?}");
    assert_eq!(found[20].0, Inconclusive);
    assert!(found[20].1 > Some(4), "{found:?}");
}

#[test]
fn none_on_either_side_is_the_same_and_some_is_more() {
    let none: &[f64] = &[0.0; 6];
    let some: &[f64] = &[0.02, 0.021, 0.019, 0.02, 0.022, 0.018];
    let found = verdicts(false, &[(none, none), (none, some), (some, none)]);
    assert_eq!(found, [(Equivalent, None), (Worse, None), (Better, None)]);
}

/// ln 100 / 0.0002: of one cell, 23 026 packets show at 1 % that the loss is below a fifth of one per mille.
#[test]
fn no_loss_is_equivalent_only_after_enough_packets() {
    let none = figure("loss_ratio", false, &[0.0; 6]);
    let of = |packets: [f64; 2]| {
        let pair = Pair {
            cell: 1,
            name: "cell",
            sides: [&none, &none],
            packets,
        };
        let one = compare(&[pair], 0.2, 1).remove(0);
        assert_eq!((one.ratio, one.ci95), (Some(1.0), None));
        (one.verdict, one.needed)
    };
    assert_eq!(of([23_100.0, 1e6]), (Equivalent, None));
    assert_eq!(of([1e6, 23_000.0]), (Inconclusive, Some(7)));
    assert_eq!(of([1e6, 2_400.0]), (Inconclusive, Some(58)));
    assert_eq!(of([0.0, 1e6]), (Inconclusive, None), "unknown");
}

#[test]
fn the_first_entry_is_over_all_cells() {
    let [before, after] = [QUIET, HIGH].map(|values| figure("rate", true, &values));
    let pair = |cell| Pair {
        cell,
        name: "cell",
        sides: [&before, &after],
        packets: [0.0; 2],
    };
    let all = compare(&[pair(1), pair(2)], 0.02, 1);
    assert_eq!(all.len(), 3);
    assert_eq!((all[0].cell, all[0].name.as_str()), (None, ALL_CELLS));
    assert!((all[0].ratio.unwrap() - 1.1).abs() < 1e-3);
    assert_eq!(
        compare(&[pair(1)], 0.02, 1).len(),
        1,
        "of one cell it is the cell"
    );
    assert!(compare(&[], 0.02, 1).is_empty());
}

#[test]
fn margins_are_those_of_other_comparisons() {
    let of = [
        "delivered_bits_per_second",
        "loss_ratio",
        "retransmits",
        "rtt_p99",
    ]
    .map(margin);
    assert_eq!(of, [0.02, 0.2, 0.2, 0.1]);
}
