// SPDX-License-Identifier: MIT OR Apache-2.0
use linerate_model::output::{Interval, Output, Quantiles, Test};

use super::*;

fn subject(label: &str) -> Subject {
    let test = |id: &str, rtt_ns| Test {
        id: id.to_owned(),
        rtt_ns,
        delivered_bits_per_second: Some(941_482_115.25),
        sent_packets: Some(u64::MAX),
        spacing_histogram: vec![(10, 2), (20, 1)],
        intervals: vec![Interval::default()],
        ..Test::default()
    };
    Subject {
        label: label.to_owned(),
        output: Output {
            tests: vec![test("t1", None), test("t2", Some(Quantiles::default()))],
            command: ["linerate", "tcp"].map(str::to_owned).to_vec(),
            ..Output::new("tcp", "0.1.0")
        },
        ..Subject::default()
    }
}

fn sheet<'s>(sheets: &'s [Sheet], name: &str) -> &'s Sheet {
    sheets.iter().find(|sheet| sheet.name == name).unwrap()
}

fn cell<'s>(sheet: &'s Sheet, row: usize, column: &str) -> &'s Cell {
    let at = sheet.columns.iter().position(|name| name == column);
    &sheet.rows[row][at.unwrap_or_else(|| panic!("{column} of {:?}", sheet.columns))]
}

#[test]
fn a_list_of_objects_is_a_sheet_and_keeps_its_numbers() {
    let sheets = of(&[subject("a")]).unwrap();
    let tests = sheet(&sheets, "tests");
    assert_eq!(tests.columns[..2], ["id", "name"]);
    assert_eq!(
        *cell(tests, 1, "delivered_bits_per_second"),
        Cell::Number(941_482_115.25)
    );
    assert_eq!(*cell(tests, 0, "sent_packets"), Cell::Count(u64::MAX));
    assert_eq!(*cell(tests, 0, "lost_packets"), Cell::Empty);
    assert_eq!(
        *cell(tests, 0, "spacing_histogram"),
        Cell::Text("10:2 20:1".to_owned())
    );
}

#[test]
fn an_object_that_a_row_lacks_is_empty_in_its_columns() {
    let sheets = of(&[subject("a")]).unwrap();
    let tests = sheet(&sheets, "tests");
    assert!(!tests.columns.contains(&"rtt_ns".to_owned()));
    assert_eq!(*cell(tests, 0, "rtt_ns.p50"), Cell::Empty);
    assert_eq!(*cell(tests, 1, "rtt_ns.p50"), Cell::Count(0));
    let place = |name: &str| tests.columns.iter().position(|known| known == name);
    assert!(place("rtt_ns.p50") < place("delay_ns"));
}

#[test]
fn a_row_of_an_inner_list_says_whose_it_is() {
    let sheets = of(&[subject("a"), subject("b")]).unwrap();
    let intervals = sheet(&sheets, "tests.intervals");
    assert_eq!(intervals.columns[..3], ["run", "test_id", "start_s"]);
    assert_eq!(intervals.rows.len(), 4);
    assert_eq!(*cell(intervals, 3, "run"), Cell::Text("b".to_owned()));
    assert_eq!(*cell(intervals, 3, "test_id"), Cell::Text("t2".to_owned()));
}

#[test]
fn what_is_one_value_a_run_is_a_sheet_of_one_row() {
    let sheets = of(&[subject("a")]).unwrap();
    let run = sheet(&sheets, "run");
    assert_eq!(run.rows.len(), 1);
    assert_eq!(
        *cell(run, 0, "command"),
        Cell::Text("linerate tcp".to_owned())
    );
    assert_eq!(
        *cell(run, 0, "tool.version"),
        Cell::Text("0.1.0".to_owned())
    );
}
