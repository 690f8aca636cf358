// SPDX-License-Identifier: MIT OR Apache-2.0
//! The estimated duration of a measurement, before it and while it runs. All in seconds.

use linerate_model::failure::Failure;
use linerate_model::output::ForwardTest;

use crate::benchmark;
use crate::plan::Procedure;
use crate::subject::Subject;
use crate::tester::Tester;

/// The estimated duration of what is still to be measured.
#[derive(Debug)]
pub(crate) struct Forecast {
    /// The estimate of each procedure and subject, in the order of measuring.
    each_s: Vec<(Procedure, f64)>,
    done: usize,
    took_s: f64,
}

impl Forecast {
    /// Estimates everything before the start.
    ///
    /// # Errors
    /// A search that makes no sense.
    pub(crate) fn new(tester: &Tester<'_>, subjects: &[Subject<'_>]) -> Result<Self, Failure> {
        let mut each_s = Vec::new();
        for procedure in tester.plan.tests() {
            for subject in subjects.iter().take(procedure.subjects()) {
                each_s.push((
                    procedure,
                    benchmark::estimate_s(subject, procedure, tester)?,
                ));
            }
        }
        Ok(Self {
            each_s,
            done: 0,
            took_s: 0.0,
        })
    }

    /// The estimates by procedure.
    pub(crate) fn tests(&self) -> Vec<ForwardTest> {
        let mut tests: Vec<ForwardTest> = Vec::new();
        for (procedure, seconds) in &self.each_s {
            match tests
                .last_mut()
                .filter(|test| test.name == procedure.name())
            {
                Some(test) => test.estimate_s += seconds,
                None => tests.push(ForwardTest {
                    name: procedure.name().to_owned(),
                    estimate_s: *seconds,
                }),
            }
        }
        tests
    }

    /// The duration of all that follow the current one, corrected by what those before it took.
    pub(crate) fn later_s(&self) -> f64 {
        self.corrected(self.each_s.get(self.done + 1..))
    }

    /// An estimate in proportion to what those before took.
    fn corrected(&self, some: Option<&[(Procedure, f64)]>) -> f64 {
        let sum = |some: &[(Procedure, f64)]| some.iter().map(|(_, seconds)| seconds).sum::<f64>();
        let past_s = sum(self.each_s.get(..self.done).unwrap_or_default());
        let seconds = sum(some.unwrap_or_default());
        match past_s {
            past_s if past_s > 0.0 => seconds * self.took_s / past_s,
            _ => seconds,
        }
    }

    /// The duration of the current one and all that follow.
    pub(crate) fn left_s(&self) -> f64 {
        self.later_s() + self.corrected(self.each_s.get(self.done..=self.done))
    }

    /// One has ended.
    pub(crate) fn ended(&mut self, took_s: f64) {
        self.done += 1;
        self.took_s += took_s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast() -> Forecast {
        use Procedure::{BackToBack, Throughput};
        Forecast {
            each_s: vec![(Throughput, 10.0), (Throughput, 20.0), (BackToBack, 5.0)],
            done: 0,
            took_s: 0.0,
        }
    }

    #[test]
    fn each_procedure_is_listed_once() {
        let tests = forecast().tests();
        let listed: Vec<_> = tests
            .iter()
            .map(|test| (&*test.name, test.estimate_s))
            .collect();
        assert_eq!(listed, [("throughput", 30.0), ("back-to-back", 5.0)]);
    }

    #[test]
    fn what_is_left_follows_what_the_first_ones_took() {
        let mut forecast = forecast();
        assert_eq!((forecast.later_s(), forecast.left_s()), (25.0, 35.0));
        forecast.ended(20.0);
        assert_eq!(forecast.later_s(), 10.0, "all take twice as long");
        assert_eq!(forecast.left_s(), 50.0);
        forecast.ended(10.0);
        assert_eq!(forecast.later_s(), 0.0);
        forecast.ended(5.0);
        assert_eq!((forecast.later_s(), forecast.left_s()), (0.0, 0.0));
    }
}
