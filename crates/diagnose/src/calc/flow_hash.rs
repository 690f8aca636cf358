// SPDX-License-Identifier: MIT OR Apache-2.0
//! How flows fall on queues when each is hashed to one of them, all alike likely. Exact, not simulated.

/// Flows and queues beyond these are nothing that a test makes.
const FLOWS_MAX: u32 = 128;
const QUEUES_MAX: u32 = 1024;

/// How likely two or more of the flows share a queue; `None` without queues.
#[must_use]
pub fn collision_probability(flows: u32, queues: u32) -> Option<f64> {
    let free = |taken: u32| 1.0 - f64::from(taken) / f64::from(queues);
    (queues > 0).then(|| 1.0 - (0..flows.min(queues + 1)).map(free).product::<f64>())
}

/// Queues that at least one flow falls on, on average; `None` without queues.
#[must_use]
pub fn expected_distinct_queues(flows: u32, queues: u32) -> Option<f64> {
    let empty = |queues: f64| (flows as f64 * (1.0 - 1.0 / queues).ln()).exp();
    match queues {
        0 => None,
        1 => Some(f64::from(flows.min(1))),
        _ => Some(f64::from(queues) * (1.0 - empty(f64::from(queues)))),
    }
}

/// Flows on the fullest queue, on average: the sum over t of the probability that one holds more than t.
/// `None` without queues or with more of either than a test has.
#[must_use]
pub fn expected_max_load(flows: u32, queues: u32) -> Option<f64> {
    if queues == 0 || queues > QUEUES_MAX || flows > FLOWS_MAX {
        return None;
    }
    Some(
        (0..flows)
            .map(|most| 1.0 - none_above(flows, queues, most))
            .sum(),
    )
}

/// The probability that no queue holds more than `most` flows: queue after queue takes some of those
/// that are left, in all ways.
fn none_above(flows: u32, queues: u32, most: u32) -> f64 {
    let flows = flows as usize;
    let share = 1.0 / f64::from(queues);
    let mut ways: Vec<f64> = (0..=flows)
        .map(|placed| f64::from(u8::from(placed == 0)))
        .collect();
    for _ in 0..queues {
        let with_one_more = |placed: usize| {
            let mut choose = 1.0;
            let mut sum = 0.0;
            for here in 0..=placed.min(most as usize) {
                sum += choose * ways[placed - here];
                choose *= share * (placed - here) as f64 / (here + 1) as f64;
            }
            sum
        };
        ways = (0..=flows).map(with_one_more).collect();
    }
    ways[flows]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_flows_on_one_queue() {
        for (queues, flows, probability) in [
            (4, 2, 0.25),
            (4, 3, 0.625),
            (4, 4, 0.90625),
            (8, 2, 0.125),
            (8, 3, 0.34375),
            (8, 4, 0.58984),
            (8, 5, 0.79492),
            (16, 5, 0.50012),
            (64, 8, 0.366),
            (1, 2, 1.0),
            (2, 3, 1.0),
            (8, 1, 0.0),
        ] {
            let found = collision_probability(flows, queues).unwrap();
            assert!(
                (found - probability).abs() < 5e-4,
                "{queues} {flows}: {found}"
            );
        }
        assert_eq!(collision_probability(2, 0), None);
    }

    #[test]
    fn queues_that_are_used() {
        let five = expected_distinct_queues(5, 8).unwrap();
        assert!((five - 3.90).abs() < 0.005, "{five}");
        assert_eq!(expected_distinct_queues(3, 1), Some(1.0));
        assert_eq!(expected_distinct_queues(3, 0), None);
    }

    #[test]
    fn the_fullest_queue() {
        for (flows, load) in [
            (1, 1.0),
            (2, 1.125),
            (3, 1.359_375),
            (4, 1.648_437_5),
            (5, 1.932_373_046_875),
        ] {
            let found = expected_max_load(flows, 8).unwrap();
            assert!((found - load).abs() < 1e-12, "{flows}: {found}");
        }
        assert_eq!(expected_max_load(4, 1), Some(4.0));
        assert_eq!(expected_max_load(1000, 8), None);
    }
}
