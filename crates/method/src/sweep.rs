// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rates of a sweep.

/// A ladder that cannot be climbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LadderError {
    #[error("--from ({from} bit/s) is above --to ({to} bit/s)")]
    Downwards { from: u64, to: u64 },
    #[error("a sweep needs rates and a step above 0 bit/s")]
    Zero,
    #[error("{steps} steps are too many (at most {MAX_STEPS}): take a larger step")]
    TooMany { steps: u64 },
}

/// The rates from `from` to `to`, both included, `step` apart, in bits per second. Where the step does
/// not divide the distance, the last one is shorter.
pub fn ladder(from: u64, to: u64, step: u64) -> Result<Vec<u64>, LadderError> {
    if from == 0 || step == 0 {
        return Err(LadderError::Zero);
    }
    if from > to {
        return Err(LadderError::Downwards { from, to });
    }
    let steps = (to - from).div_ceil(step).saturating_add(1);
    if steps > MAX_STEPS {
        return Err(LadderError::TooMany { steps });
    }
    Ok((0..steps)
        .map(|n| to.min(from.saturating_add(n.saturating_mul(step))))
        .collect())
}

/// More trials than anybody waits for.
const MAX_STEPS: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    const M: u64 = 1_000_000;

    #[test]
    fn the_field_report_has_twenty_rows() {
        let rates = ladder(50 * M, 1000 * M, 50 * M).unwrap();
        assert_eq!(rates.len(), 20);
        assert_eq!((rates[0], rates[1], rates[19]), (50 * M, 100 * M, 1000 * M));
    }

    #[test]
    fn ladders() {
        let table: [(u64, u64, u64, &[u64]); 5] = [
            (1, 1, 1, &[1]),
            (100, 1000, 300, &[100, 400, 700, 1000]),
            (100, 1000, 400, &[100, 500, 900, 1000]),
            (10, 12, 50, &[10, 12]),
            (
                u64::MAX - 5,
                u64::MAX,
                4,
                &[u64::MAX - 5, u64::MAX - 1, u64::MAX],
            ),
        ];
        for (from, to, step, rates) in table {
            assert_eq!(
                ladder(from, to, step).as_deref(),
                Ok(rates),
                "{from} {to} {step}"
            );
        }
    }

    #[test]
    fn refusals() {
        let table = [
            (0, 10, 1, LadderError::Zero),
            (1, 10, 0, LadderError::Zero),
            (11, 10, 1, LadderError::Downwards { from: 11, to: 10 }),
            (1, 1001, 1, LadderError::TooMany { steps: 1001 }),
            (1, u64::MAX, 1, LadderError::TooMany { steps: u64::MAX }),
        ];
        for (from, to, step, error) in table {
            assert_eq!(ladder(from, to, step), Err(error), "{from} {to} {step}");
        }
    }
}
