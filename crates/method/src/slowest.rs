// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurements over time in bounded memory: of a long series, the slowest of each stretch.

/// When, and how long it took, both in nanoseconds.
pub type Timed = (u64, u64);

/// A series in order of time.
#[derive(Debug, Default)]
pub struct Slowest {
    /// One per stretch.
    points: Vec<Timed>,
    /// Of the stretch that is not full.
    open: Option<Timed>,
    /// In the open stretch.
    many: u32,
    /// A stretch has 2 to this power.
    doublings: u32,
}

impl Slowest {
    /// Adds a measurement.
    pub fn push(&mut self, point: Timed) {
        self.open = Some(self.open.map_or(point, |open| slower(open, point)));
        self.many += 1;
        if self.many >> self.doublings == 0 {
            return;
        }
        self.points.extend(self.open.take());
        self.many = 0;
        if self.points.len() == MOST {
            let pairs = self.points.chunks(2);
            self.points = pairs.map(|pair| slower(pair[0], pair[1])).collect();
            self.doublings += 1;
        }
    }

    /// The series so far.
    #[must_use]
    pub fn series(&self) -> Vec<Timed> {
        self.points.iter().copied().chain(self.open).collect()
    }
}

fn slower(one: Timed, other: Timed) -> Timed {
    if other.1 > one.1 { other } else { one }
}

/// Even: pairs are joined.
const MOST: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_series_is_whole_and_a_long_one_keeps_its_peaks() {
        let mut few = Slowest::default();
        (0..1000).for_each(|at| few.push((at, at % 7)));
        assert_eq!(few.series().len(), 1000);
        let mut many = Slowest::default();
        let took = |at| {
            if at % 10_007 == 5000 {
                900_000
            } else {
                at % 97
            }
        };
        (0..100_001).for_each(|at| many.push((at, took(at))));
        let series = many.series();
        assert!(
            (MOST / 2..=MOST).contains(&series.len()),
            "{}",
            series.len()
        );
        assert!(series.is_sorted());
        let peaks = series.iter().filter(|point| point.1 == 900_000);
        assert_eq!(peaks.count(), 10);
        assert_eq!(
            series.last().unwrap().0,
            100_000,
            "the last stretch is open"
        );
    }
}
