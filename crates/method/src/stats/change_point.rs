// SPDX-License-Identifier: MIT OR Apache-2.0
//! Candidates for changes of a figure over many runs: the segmentation with the least squared error plus a penalty per
//! change (optimal partitioning with the pruning of Killick, Fearnhead and Eckley 2012).

use super::describe;

/// Returns the indices at which a new level may begin, ascending; [`super::level_change`] decides. The noise is
/// estimated robustly from the differences of neighbours; a level has at least [`SHORTEST`] values.
pub(crate) fn candidates(series: &[f64]) -> Vec<usize> {
    match noise(series) {
        Some(noise) => {
            Costs::of(series).split(PENALTY * noise * noise * (series.len() as f64).ln())
        }
        None => Vec::new(),
    }
}

/// The standard deviation of a value, from the differences of neighbours. `None`: too few, or all equal.
fn noise(series: &[f64]) -> Option<f64> {
    if series.len() < 2 * SHORTEST {
        return None;
    }
    let steps: Vec<f64> = series.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let robust = describe::MAD_TO_SD * describe::mad(&steps)?;
    // Most neighbours are equal, as with a rate at line rate: use the few steps.
    let wide = if robust > 0.0 {
        robust
    } else {
        describe::sd(&steps)?
    };
    Some(wide / core::f64::consts::SQRT_2).filter(|noise| *noise > 0.0)
}

/// Running sums, which give the squared error of any segment.
struct Costs {
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Costs {
    fn of(series: &[f64]) -> Self {
        // Around the median the squares keep their digits.
        let centre = describe::median(series).unwrap_or(0.0);
        let running = |term: &dyn Fn(f64) -> f64| {
            let mut sums = vec![0.0];
            let mut sum = 0.0;
            sums.extend(series.iter().map(|value| {
                sum += term(value - centre);
                sum
            }));
            sums
        };
        Self {
            sums: running(&|value| value),
            squares: running(&|value| value * value),
        }
    }

    fn of_stretch(&self, from: usize, to: usize) -> f64 {
        let sum = self.sums[to] - self.sums[from];
        let squares = self.squares[to] - self.squares[from];
        (squares - sum * sum / (to - from) as f64).max(0.0)
    }

    fn split(&self, penalty: f64) -> Vec<usize> {
        let n = self.sums.len() - 1;
        let mut best = vec![f64::INFINITY; n + 1];
        best[0] = -penalty;
        let mut before = vec![0; n + 1];
        let mut candidates = vec![0];
        for end in SHORTEST..=n {
            let cost = |from: &usize| best[*from] + self.of_stretch(*from, end) + penalty;
            let costs: Vec<f64> = candidates.iter().map(cost).collect();
            let least = (0..costs.len()).min_by(|a, b| costs[*a].total_cmp(&costs[*b]));
            if let Some(least) = least {
                (best[end], before[end]) = (costs[least], candidates[least]);
            }
            let keep = |at: usize| costs[at] - penalty <= best[end];
            let kept = (0..costs.len())
                .filter(|at| keep(*at))
                .map(|at| candidates[at]);
            candidates = kept.collect();
            candidates.push(end + 1 - SHORTEST);
        }
        ends(&before, n)
    }
}

fn ends(before: &[usize], n: usize) -> Vec<usize> {
    let steps = std::iter::successors(Some(before[n]), |at| (*at > 0).then(|| before[*at]));
    let mut places: Vec<usize> = steps.take_while(|at| *at > 0).collect();
    places.reverse();
    places
}

/// The shortest level: a single outlier is not a level.
pub(crate) const SHORTEST: usize = 3;
/// The penalty in variances, times ln n: twice the usual 2 ln n, to avoid false changes.
const PENALTY: f64 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn noisy(levels: &[(usize, f64)], seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        let mut noise = || (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        let runs = levels.iter().flat_map(|(n, level)| vec![*level; *n]);
        runs.collect::<Vec<_>>()
            .into_iter()
            .map(|level| level + noise())
            .collect()
    }

    #[test]
    fn levels_are_found_where_they_begin() {
        let series = noisy(&[(40, 940.0), (25, 930.0), (35, 941.0)], 5);
        assert_eq!(candidates(&series), [40, 65]);
        assert_eq!(candidates(&noisy(&[(20, 8.7), (3, 426.0)], 1)), [20]);
    }

    #[test]
    fn noise_alone_has_none() {
        let changes: usize = (0..50)
            .map(|seed| candidates(&noisy(&[(100, 940.0)], seed)).len())
            .sum();
        assert!(changes <= 1, "{changes} in 50 series");
        assert!(candidates(&[940.0; 30]).is_empty());
        assert!(candidates(&[1.0, 900.0]).is_empty());
    }

    #[test]
    fn one_odd_run_is_no_level_and_equal_runs_with_a_step_are_two() {
        let mut series = noisy(&[(60, 940.0)], 9);
        series[30] = 700.0;
        assert!(candidates(&series).len() <= 2, "{:?}", candidates(&series));
        let step = [vec![94.0; 20], vec![92.0; 20]].concat();
        assert_eq!(candidates(&step), [20]);
        let odd = [vec![94.0; 20], vec![9.0], vec![94.0; 20]].concat();
        assert!(candidates(&odd).is_empty());
    }
}
