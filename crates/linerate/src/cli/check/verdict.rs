// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verdict of a direction: what was reached, what the link allows, and who held it back.

use linerate_model::output::{Direction, Knee, Output, Test, Verdict};

use crate::cli::cause;

/// One verdict for each direction in which anything was measured.
pub(in crate::cli) fn verdicts(output: &Output) -> Vec<Verdict> {
    [Direction::Up, Direction::Down]
        .into_iter()
        .filter_map(|direction| verdict(output, direction))
        .collect()
}

fn verdict(output: &Output, direction: Direction) -> Option<Verdict> {
    let best = best(output, direction)?;
    let cause = cause::of_best(output, best, full_size_knee(output, direction));
    Some(Verdict {
        direction,
        achieved_bits_per_second: best.delivered_bits_per_second?,
        line_rate_bits_per_second: cause::line_rate(output, best),
        limit: cause.limit,
        try_: cause.try_.to_owned(),
        why: cause.why,
    })
}

/// The fastest valid test alone in its direction; of lossy UDP trials none.
fn best(output: &Output, direction: Direction) -> Option<&Test> {
    let clean = |test: &&Test| test.valid && test.lost_packets.unwrap_or(0) == 0;
    let tests = output
        .tests
        .iter()
        .filter(|test| test.direction == direction);
    tests
        .filter(clean)
        .filter(|test| test.delivered_bits_per_second.is_some())
        .max_by(|a, b| {
            a.delivered_bits_per_second
                .unwrap_or(0.0)
                .total_cmp(&b.delivered_bits_per_second.unwrap_or(0.0))
        })
}

fn full_size_knee(output: &Output, direction: Direction) -> Option<&Knee> {
    let knees = output
        .knees
        .iter()
        .filter(|knee| knee.direction == direction);
    knees.max_by_key(|knee| knee.payload_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::{Limit, Protocol};

    fn test(id: &str, protocol: Protocol, rate: f64, lost: Option<u64>) -> Test {
        Test {
            id: id.to_owned(),
            protocol,
            delivered_bits_per_second: Some(rate),
            lost_packets: lost,
            loss_ratio: lost.map(|lost| lost as f64 / 1000.0),
            valid: true,
            ..Test::default()
        }
    }

    #[test]
    fn the_best_test_without_loss_speaks() {
        let output = Output {
            tests: vec![
                test("tcp-up", Protocol::Tcp, 400e6, None),
                test("udp-up", Protocol::Udp, 500e6, Some(0)),
                test("udp-up-2", Protocol::Udp, 900e6, Some(3)),
            ],
            ..Output::default()
        };
        let verdicts = verdicts(&output);
        assert_eq!(verdicts.len(), 1, "nothing was measured downwards");
        assert_eq!(
            (verdicts[0].achieved_bits_per_second, verdicts[0].limit),
            (500e6, Limit::Unknown)
        );
        assert!(!verdicts[0].why.is_empty() && !verdicts[0].try_.is_empty());
    }

    #[test]
    fn nothing_measured_nothing_said() {
        assert!(verdicts(&Output::default()).is_empty());
    }
}
