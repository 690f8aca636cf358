// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams of one test whose sum was not pasted.

use super::Section;
use crate::text::Row;

/// Whether all are the same.
pub(super) fn is_one<T: PartialEq>(mut all: impl Iterator<Item = T>) -> bool {
    let first = all.next();
    all.all(|other| Some(other) == first)
}

/// Whether all are within the time that streams take to begin and end.
pub(super) fn are_near(seconds: impl Iterator<Item = f64> + Clone) -> bool {
    let low = seconds.clone().fold(f64::MAX, f64::min);
    seconds.fold(0.0, f64::max) - low < 0.6
}

/// The sum of streams, as the tool would print it.
pub(super) fn sum_of(sections: &[Section]) -> Option<Section> {
    let totals: Vec<Row> = sections.iter().map(Section::total).collect();
    let reports: Option<Vec<Row>> = sections.iter().map(|one| one.report.clone()).collect();
    let mut row = sum_of_rows(&totals)?;
    row.retransmits = sections.iter().map(Section::retransmits).sum();
    Some(Section {
        id: row.id.clone(),
        report: reports.and_then(|reports| sum_of_rows(&reports)),
        sent: sections.iter().map(|section| section.sent).sum(),
        reordered: sections.iter().map(|section| section.reordered).sum(),
        rows: vec![row],
        ..Section::default()
    })
}

fn sum_of_rows(all: &[Row]) -> Option<Row> {
    let rows = || all.iter();
    let jitter: Option<f64> = rows().map(|row| row.jitter_ms).sum();
    Some(Row {
        id: "SUM".to_owned(),
        start_s: rows().map(|row| row.start_s).fold(f64::MAX, f64::min),
        end_s: rows().map(|row| row.end_s).fold(0.0, f64::max),
        bits_per_second: rows().map(|row| row.bits_per_second).sum(),
        bytes: rows().map(|row| row.bytes).sum(),
        lost: rows().map(|row| row.lost).sum(),
        total: rows().map(|row| row.total).sum(),
        jitter_ms: jitter.map(|sum| sum / all.len() as f64),
        cwnd_bytes: None,
        ..all.first()?.clone()
    })
}
