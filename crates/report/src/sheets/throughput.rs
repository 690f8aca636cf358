// SPDX-License-Identifier: MIT OR Apache-2.0
//! The THROUGHPUT tab as SmartBits users know it: line rate and forwarded rate by frame size.

use linerate_model::output::ForwardResult;

use super::{Cell, Sheet};
use crate::subject::Subject;

/// One row per size, goal and direction; `None` where no DUT was measured.
#[must_use]
pub fn of(subjects: &[Subject]) -> Option<Sheet> {
    let of_run = |subject: &Subject| {
        let label = subject.label.clone();
        let rows = subject.output.results.clone();
        rows.into_iter()
            .map(move |result| row(&label, &result))
            .collect::<Vec<_>>()
    };
    let rows: Vec<_> = subjects.iter().flat_map(of_run).collect();
    (!rows.is_empty()).then(|| Sheet {
        name: "THROUGHPUT".to_owned(),
        columns: COLUMNS.split_whitespace().map(str::to_owned).collect(),
        rows,
    })
}

fn row(label: &str, result: &ForwardResult) -> Vec<Cell> {
    let number = |value: Option<f64>| value.map_or(Cell::Empty, Cell::Number);
    vec![
        Cell::Text(label.to_owned()),
        Cell::Count(result.frame_bytes.into()),
        Cell::Text(result.direction.clone()),
        Cell::Text(result.goal.clone()),
        number(result.line_fps()),
        number(result.throughput_fps),
        number(result.line_rate_ratio),
        number(result.l2_bits_per_second),
        number(result.latency_ns.map(|ns| ns.p50 as f64)),
        Cell::Flag(result.tester_limited),
    ]
}

const COLUMNS: &str = "run frame_bytes direction goal line_fps passed_fps \
    passed_ratio passed_l2_bits_per_second latency_p50_ns tester_limited";
