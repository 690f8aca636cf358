// SPDX-License-Identifier: MIT OR Apache-2.0
//! What compares runs with nothing empty: a comparison, an experiment, a history.

use linerate_model::output::*;

use super::text;

pub(super) fn comparison() -> Comparison {
    let side = Side {
        median: Some(1.0),
        mad: Some(1.0),
        mean: Some(1.0),
        sd: Some(1.0),
        mean_ci95: Some([1.0, 1.0]),
        min: Some(1.0),
        max: Some(1.0),
        values: vec![1.0],
        runs: vec![text()],
        far_out: vec![0],
        far_out_upper95: Some(1.0),
        flow_fairness: Some(1.0),
        flow_spread: Some(1.0),
        ..Side::default()
    };
    Comparison {
        before: side.clone(),
        after: side,
        cell: Some(1),
        blocks: Some(1),
        blocks_planned: Some(1),
        order_seed: Some(1),
        aa_sigma: Some(1.0),
        aa_p: Some(1.0),
        aa_log_ratios: vec![1.0],
        log_ratios: vec![1.0],
        ratio: Some(1.0),
        ci95: Some([1.0, 1.0]),
        ci90: Some([1.0, 1.0]),
        p: Some(1.0),
        p_adjusted: Some(1.0),
        smallest_p: Some(1.0),
        e_value: Some(1.0),
        mde: Some(1.0),
        needed: Some(1),
        stopped: Some(text()),
        guards: vec![Guard {
            before: Some(1.0),
            after: Some(1.0),
            ratio: Some(1.0),
            ci90: Some([1.0, 1.0]),
            needed: Some(1),
            ..Guard::default()
        }],
        environment_diff: vec![Difference {
            host: Some(Role::Local),
            interface: Some(text()),
            before: vec![text()],
            after: vec![text()],
            ..Difference::default()
        }],
        excluded: vec![Excluded::default()],
        ..Comparison::default()
    }
}

pub(super) fn experiment() -> Experiment {
    Experiment {
        measurement: vec![text()],
        metric: Some(text()),
        stopped: Some(text()),
        restored: Some(Restored {
            error: Some(text()),
            ..Restored::default()
        }),
        runs: vec![ExperimentRun {
            run_dir: Some(text()),
            invalid_reason: Some(text()),
            figures: vec![ExperimentFigure {
                flows: vec![1.0],
                ..ExperimentFigure::default()
            }],
            ..ExperimentRun::default()
        }],
        environment_diff: comparison().environment_diff,
        ..Experiment::default()
    }
}

pub(super) fn history() -> History {
    History {
        runs: vec![StoredRun {
            figures: vec![StoredFigure::default()],
            verdict: Some(text()),
            error: Some(text()),
            ..StoredRun::default()
        }],
        unreadable: vec![Unreadable::default()],
        trend: Some(Trend {
            points: vec![TrendPoint::default()],
            levels: vec![TrendLevel {
                change_ratio: Some(1.0),
                p: Some(1.0),
                changed: vec![Difference {
                    host: Some(Role::Local),
                    interface: Some(text()),
                    before: vec![text()],
                    after: vec![text()],
                    ..Difference::default()
                }],
                ..TrendLevel::default()
            }],
            ..Trend::default()
        }),
        ..History::default()
    }
}
