// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verdict of a direction: the best rate, the line rate, and what limits it.

use linerate_model::output::{Direction, Knee, Test, Verdict};

use super::{Limits, line_rate};

impl Limits<'_> {
    /// Returns one verdict for each direction in which anything was measured.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        let directions = [Direction::Up, Direction::Down].into_iter();
        directions.filter_map(|way| self.verdict(way)).collect()
    }

    fn verdict(&self, direction: Direction) -> Option<Verdict> {
        let best = self.best(direction)?;
        let cause = self.of_best(best, self.full_size_knee(direction));
        Some(Verdict {
            direction,
            achieved_bits_per_second: best.delivered_bits_per_second?,
            line_rate_bits_per_second: line_rate(&self.record.run.hosts, best),
            limit: cause.limit,
            try_: cause.try_.to_owned(),
            why: cause.why,
        })
    }

    /// The fastest valid test of a direction; a UDP test only if it lost nothing, and a trial of a search only up to
    /// the rate that a longer trial did not refute.
    fn best(&self, direction: Direction) -> Option<&Test> {
        let tests = self.record.tests();
        let rate = |test: &Test| test.delivered_bits_per_second;
        tests
            .filter(|test| test.direction == direction && test.valid)
            .filter(|test| test.lost_packets.unwrap_or(0) == 0 && rate(test).is_some())
            .filter(|test| self.is_carried(test))
            .max_by(|a, b| rate(a).unwrap_or(0.0).total_cmp(&rate(b).unwrap_or(0.0)))
    }

    fn is_carried(&self, test: &Test) -> bool {
        let knees = self.record.run.knees.iter();
        let mut own = knees
            .filter(|knee| knee.direction == test.direction && knee.test_ids.contains(&test.id))
            .filter(|knee| knee.lossless_bits_per_second.is_some());
        // A search counts whole bits per second, and at most what it requested.
        let rates = [test.offered_bits_per_second, test.requested_bits_per_second];
        let rate = rates.into_iter().flatten().reduce(f64::min);
        own.all(|knee| rate.map(f64::floor) <= knee.carried_bits_per_second())
    }

    fn full_size_knee(&self, direction: Direction) -> Option<&Knee> {
        let knees = self.record.run.knees.iter();
        let knees = knees.filter(|knee| knee.direction == direction);
        knees.max_by_key(|knee| knee.payload_bytes)
    }
}
