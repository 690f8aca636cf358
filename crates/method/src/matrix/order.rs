// SPDX-License-Identifier: MIT OR Apache-2.0
//! In which order the cells of a round run.

use linerate_model::output::{Axis, Cell};

use super::{MTU, OFFLOAD, is_setting};
use crate::rng::Rng;

/// The axes that change the host, the slowest to change first: those of the user, then MTU, then offloads.
pub fn slow(axes: &[Axis]) -> Vec<&str> {
    let of = |rank: usize| {
        let names = axes.iter().map(|axis| axis.name.as_str());
        names.filter(move |name| {
            let known = [MTU, OFFLOAD].iter().position(|known| known == name);
            is_setting(name) && known.map_or(0, |at| at + 1) == rank
        })
    };
    (0..=2).flat_map(of).collect()
}

/// The ids of all cells in the order of a round: a permutation that depends on the seed and the round alone. Cells with the
/// same value on a slow axis follow one another; the order of the values, and of the cells with the same ones, is random.
pub fn drawn(cells: &[Cell], slow: &[&str], seed: u64, round: u32) -> Vec<u32> {
    let mut rng = Rng::new(Rng::new(seed).next_u64() ^ u64::from(round));
    grouped(cells.iter().collect(), slow, &mut rng)
}

fn grouped(cells: Vec<&Cell>, slow: &[&str], rng: &mut Rng) -> Vec<u32> {
    let Some((axis, others)) = slow.split_first() else {
        let mut ids: Vec<u32> = cells.iter().map(|cell| cell.id).collect();
        shuffle(&mut ids, rng);
        return ids;
    };
    let mut groups: Vec<(Option<&String>, Vec<&Cell>)> = Vec::new();
    for cell in cells {
        let value = cell.axes.get(*axis);
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, group)) => group.push(cell),
            None => groups.push((value, vec![cell])),
        }
    }
    shuffle(&mut groups, rng);
    let each = groups.into_iter();
    each.flat_map(|(_, group)| grouped(group, others, rng))
        .collect()
}

/// Durstenfeld 1964, by the next numbers.
fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::product;
    use super::*;

    fn axis(name: &str, values: &[&str]) -> Axis {
        Axis {
            name: name.to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        }
    }

    fn axes() -> Vec<Axis> {
        vec![
            axis("mtu", &["100", "1500"]),
            axis("size", &["64", "128", "1500"]),
            axis("driver", &["qfe", "hme"]),
            axis("direction", &["up", "down"]),
        ]
    }

    #[test]
    fn a_round_runs_each_cell_once_and_changes_slow_settings_rarely() {
        let (axes, cells) = (axes(), product(&axes()));
        let slow = slow(&axes);
        assert_eq!(slow, ["driver", "mtu"]);
        for round in 1..50 {
            let order = drawn(&cells, &slow, 7, round);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (1..=24).collect::<Vec<_>>());
            let value = |id: &u32, axis: &str| cells[*id as usize - 1].axes[axis].clone();
            let changes = |axis: &str| {
                let pairs = order.windows(2);
                pairs
                    .filter(|pair| value(&pair[0], axis) != value(&pair[1], axis))
                    .count()
            };
            assert_eq!(changes("driver"), 1);
            assert!(changes("mtu") <= 3, "{}", changes("mtu"));
        }
    }

    #[test]
    fn the_order_depends_on_seed_and_round_alone() {
        let (axes, cells) = (axes(), product(&axes()));
        let slow = slow(&axes);
        let order = |seed, round| drawn(&cells, &slow, seed, round);
        assert_eq!(order(7, 3), order(7, 3));
        assert_ne!(order(7, 3), order(7, 4));
        assert_ne!(order(7, 3), order(8, 3));
    }

    /// Each of 4 cells is first in a quarter of the rounds: five standard deviations of the binomial.
    #[test]
    fn every_place_is_as_likely() {
        let cells = product(&[axis("size", &["1", "2", "3", "4"])]);
        let mut first = [0_u32; 4];
        for round in 0..4000 {
            let order = drawn(&cells, &[], 1, round);
            first[order[0] as usize - 1] += 1;
        }
        assert!(first.iter().all(|n| n.abs_diff(1000) < 137), "{first:?}");
    }
}
