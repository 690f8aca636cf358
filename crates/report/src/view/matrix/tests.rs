// SPDX-License-Identifier: MIT OR Apache-2.0
use linerate_model::output::{Axis, CellFigure, Comparison, Judgement};

use super::*;
use crate::subject::Subject;
use crate::term::tests::fixture;
use crate::term::{self, Style};
use crate::{csv, json, junit, markdown, openmetrics, sheets, xlsx};

fn named(name: &str) -> Output {
    let mut all = fixture::all().into_iter();
    all.find(|(known, _)| *known == name).unwrap().1
}

fn answer_at(output: &Output, width: usize) -> String {
    let style = Style {
        width,
        detail: Detail::Answer,
        ..Style::default()
    };
    term::render(output, &style).into_string()
}

/// Axes with these numbers of values, every cell with one figure of six runs.
pub(crate) fn of_size(axes: &[usize]) -> Output {
    let axes: Vec<Axis> = axes
        .iter()
        .enumerate()
        .map(|(at, many)| Axis {
            name: format!("axis{at}"),
            values: (1..=*many).map(|value| value.to_string()).collect(),
        })
        .collect();
    let many: usize = axes.iter().map(|axis| axis.values.len()).product();
    let cell = |id: usize| {
        let mut rest = id - 1;
        let on = axes.iter().rev().map(|axis| {
            let value = axis.values[rest % axis.values.len()].clone();
            rest /= axis.values.len();
            (axis.name.clone(), value)
        });
        Cell {
            id: id as u32,
            axes: on.collect(),
            state: CellState::Done,
            figures: ["delivered_bits_per_second", "cpu_local"]
                .map(|name| figure(name, id as f64))
                .into(),
            ..Cell::default()
        }
    };
    Output {
        matrix: Some(Matrix {
            rows: axes
                .first()
                .map(|axis| axis.name.clone())
                .into_iter()
                .collect(),
            rounds: 6,
            rounds_done: 6,
            axes: axes.clone(),
            ..Matrix::default()
        }),
        cells: (1..=many).map(cell).collect(),
        ..Output::new("matrix", "0.1.0")
    }
}

fn figure(name: &str, median: f64) -> CellFigure {
    CellFigure {
        name: name.to_owned(),
        n: 6,
        median,
        values: vec![median; 6],
        ..CellFigure::default()
    }
}

/// Each cell stands where its values say.
#[test]
fn a_cell_is_in_the_row_and_column_of_its_values() {
    let mut output = of_size(&[2, 3, 2]);
    let matrix = output.matrix.as_mut().unwrap();
    matrix.rows = vec!["axis1".to_owned()];
    let layout = Layout::of(&output).unwrap();
    let columns = layout.column_names();
    assert_eq!(
        columns,
        [
            "axis0 1 axis2 1",
            "axis0 1 axis2 2",
            "axis0 2 axis2 1",
            "axis0 2 axis2 2"
        ]
    );
    for (row, values) in layout.grid().iter().zip(layout.row_values()) {
        for (cell, column) in row.iter().zip(&columns) {
            let cell = cell.unwrap();
            assert_eq!(cell.axes["axis1"], values[0]);
            let words: Vec<&str> = column.split(' ').collect();
            assert_eq!(
                [&cell.axes["axis0"], &cell.axes["axis2"]],
                [words[1], words[3]]
            );
        }
    }
}

#[test]
fn a_wide_grid_is_in_parts_and_loses_no_column() {
    let text = answer_at(&of_size(&[3, 20]), 80);
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    for column in 1..=20 {
        assert!(
            text.contains(&format!("axis1 {column}")),
            "{column}: {text}"
        );
    }
    assert!(!text.contains("not shown at this width"), "{text}");
}

#[test]
fn what_has_no_figure_says_why_once_and_outliers_are_named() {
    let text = answer_at(&named("matrix"), 80);
    assert_eq!(
        text.matches("IPv6 needs an MTU of 1280").count(),
        1,
        "{text}"
    );
    for shown in [
        "not possible (1)",
        "failed (2)",
        "(2) the peer closed the connection: udp IPv6 mtu 1500 down",
        "92.14* [91.96-92.32]",
        "far from the other runs: tcp IPv4 mtu 1500 down: run 3 46.07 Mbit/s",
        "note: 2 fragments a datagram",
        "median [95 % interval] of 6 runs",
        "16 cells: 11 measured, 1 failed, 4 not possible",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
}

#[test]
fn fewer_than_six_runs_show_their_range_and_one_alone_nothing() {
    let mut output = of_size(&[1, 2]);
    for cell in &mut output.cells {
        for figure in &mut cell.figures {
            figure.n = 3;
            figure.values = vec![1.0, 2.0, 4.0];
            figure.median = 2.0;
        }
    }
    let text = answer_at(&output, 80);
    assert!(text.contains("median (lowest-highest) of 3 runs"), "{text}");
    assert!(text.contains("2 (1-4)"), "{text}");
    output.cells[0].figures[0].n = 1;
    output.cells[0].figures[0].values = vec![2.0];
    assert!(answer_at(&output, 80).contains("2 n=1"));
}

#[test]
fn the_answer_of_two_is_first_and_counts_the_cells() {
    let text = answer_at(&named("compare-matrices"), 80);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let counts = "delivered rate: B is better in 1 of 11 cells, worse in 1, equivalent within 2 % in 8 (in 1 of them a smaller difference is proven), not enough runs in 1 (about 9 a side would do)";
    assert!(flat.contains(counts), "{text}");
    for shown in [
        "worse -12.6 %",
        "better x 2.030",
        "needs 9 runs -1 %",
        "equivalent -0.9 %",
        "not possible (1)",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    let (answer, grid) = (text.find("\nanswer\n"), text.find("B against A"));
    assert!(answer < grid, "{text}");
    assert!(text.contains("driver (local eth0): qfe -> hme"), "{text}");
}

#[test]
fn a_spreadsheet_has_a_grid_a_figure_and_every_value() {
    let subject = Subject {
        output: named("matrix"),
        ..Subject::default()
    };
    let subjects = [subject];
    let grids = sheets::matrix::grids(&subjects);
    let names: Vec<&str> = grids.iter().map(|sheet| sheet.name.as_str()).collect();
    assert_eq!(
        names,
        ["delivered_bits_per_second", "cpu_local", "loss_ratio"]
    );
    assert_eq!(
        grids[0].columns[..5],
        ["protocol", "family", "mtu", "up", "down"]
    );
    assert_eq!(grids[0].rows.len(), 8);
    let all = sheets::of(&subjects).unwrap();
    let name = sheets::main_of(&subjects);
    let text = csv::render(all.iter().find(|sheet| sheet.name == name).unwrap());
    let mut lines = text.lines();
    assert_eq!(
        lines.next().unwrap(),
        "cell,protocol,family,mtu,direction,state,reason,figure,unit,n,median,low95,high95,outlier_runs,run_1,run_2,run_3,run_4,run_5,run_6"
    );
    let first = lines.next().unwrap();
    assert!(
        first.starts_with("1,tcp,4,100,up,done,,delivered_bits_per_second,bit/s,6,18310000,"),
        "{first}"
    );
    assert!(
        text.contains("\r\n5,tcp,6,100,up,not-possible,IPv6 needs an MTU of 1280,"),
        "{text}"
    );
    assert!(!xlsx::render(&grids).is_empty());
}

#[test]
fn programs_find_every_cell() {
    let subjects = [Subject {
        output: named("matrix"),
        ..Subject::default()
    }];
    let cases = junit::render(&subjects);
    assert_eq!(
        cases.matches("classname=\"linerate.matrix.cell\"").count(),
        16
    );
    let metrics = openmetrics::render(&subjects);
    let series = metrics
        .lines()
        .filter(|line| line.starts_with("linerate_matrix_cell{"));
    assert_eq!(series.count(), 11 + 11 + 5);
    assert!(markdown::render(&subjects).contains("| protocol | family | mtu | up | down |"));
    assert!(
        json::document(&subjects[0].output)
            .unwrap()
            .contains("\"not-possible\"")
    );
}

#[test]
fn a_damaged_matrix_is_no_grid_and_no_end_of_the_program() {
    let mut output = of_size(&[2, 2]);
    output.cells.truncate(1);
    output.cells[0].id = 0;
    assert!(answer_at(&output, 80).contains("not measured"));
    let axes = &mut output.matrix.as_mut().unwrap().axes;
    let many = vec![String::new(); 4000];
    axes.iter_mut()
        .for_each(|axis| axis.values.clone_from(&many));
    assert!(Layout::of(&output).is_none());
    answer_at(&output, 80);
    output.comparison = vec![Comparison::default()];
    assert_eq!(output.comparison[0].verdict, Judgement::Inconclusive);
    answer_at(&output, 80);
}
