// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures measured elsewhere: a CSV table (RFC 4180) with a heading. A row is a run of a
//! setting; with a column `flow` it is one flow of a run, and the run is their sum.

use std::path::Path;

use linerate_method::experiment::{Figure, Key};
use linerate_method::stats::fairness;

use super::group::Group;
use crate::input;
use linerate_model::failure::Failure;

/// The groups of two settings of a table.
pub(super) fn groups(
    file: &Path,
    before: &[String],
    after: &[String],
) -> Result<[Group; 2], Failure> {
    let what = || format!("read the table {}", file.display());
    let text = input::named(file).map_err(|error| Failure::usage(what(), error))?;
    let rows = rows(&text).map_err(|why| {
        Failure::usage(what(), why)
            .hint("a heading `metric,setting,value`; unit, better, run and flow are optional")
    })?;
    let names = || {
        let mut names: Vec<&str> = Vec::new();
        for row in &rows {
            if !names.contains(&row.setting.as_str()) {
                names.push(&row.setting);
            }
        }
        names.join(", ")
    };
    let group = |asked: &[String]| match group(&rows, asked) {
        Some(group) => Ok(group),
        None => Err(Failure::usage(
            what(),
            format!("no row has the setting `{}`", asked.join(" ")),
        )
        .hint(format!("one of: {}", names()))),
    };
    Ok([group(before)?, group(after)?])
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    metric: String,
    setting: String,
    value: f64,
    unit: String,
    higher_is_better: bool,
    run: String,
    is_flow: bool,
}

fn group(rows: &[Row], settings: &[String]) -> Option<Group> {
    let mut group = Group::called(settings.join(" "));
    let mut flows: Vec<(&Row, Vec<f64>)> = Vec::new();
    for row in rows.iter().filter(|row| settings.contains(&row.setting)) {
        let same =
            |(known, _): &&mut (&Row, Vec<f64>)| known.metric == row.metric && known.run == row.run;
        match flows.iter_mut().find(same).filter(|_| row.is_flow) {
            Some((_, rates)) => rates.push(row.value),
            None => flows.push((row, vec![row.value])),
        }
    }
    for (row, rates) in &flows {
        figures(row, rates)
            .into_iter()
            .for_each(|figure| group.take(figure));
    }
    (!flows.is_empty()).then_some(group)
}

/// The sum; of several flows also how even they are.
fn figures(row: &Row, rates: &[f64]) -> Vec<Figure> {
    let several = rates.len() > 1;
    let sum: f64 = rates.iter().sum();
    let figure = |metric: &str, name: &str, unit: &str, higher_is_better, value| Figure {
        key: Key {
            metric: metric.to_owned(),
            name: name.to_owned(),
            unit: unit.to_owned(),
            higher_is_better,
        },
        value,
        compared: value,
        flows: Vec::new(),
    };
    let mut total = figure(&row.metric, "", &row.unit, row.higher_is_better, sum);
    total.flows = if several { rates.to_vec() } else { Vec::new() };
    let index = fairness::jain(rates).filter(|_| several);
    let even = index.map(|index| figure("fairness", &row.metric, "", true, index));
    std::iter::once(total).chain(even).collect()
}

fn rows(text: &str) -> Result<Vec<Row>, String> {
    let mut records = records(text).into_iter();
    let heading = records.next().ok_or("it is empty")?;
    let column = |name: &str| {
        heading
            .iter()
            .position(|cell| cell.trim().eq_ignore_ascii_case(name))
    };
    let wanted = |name: &str| column(name).ok_or(format!("it has no column `{name}`"));
    let (metric, setting, value) = (wanted("metric")?, wanted("setting")?, wanted("value")?);
    let (unit, better, run, flow) = (
        column("unit"),
        column("better"),
        column("run"),
        column("flow"),
    );
    let row = |(number, record): (usize, Vec<String>)| {
        let cell = |at: usize| record.get(at).map_or("", |cell| cell.trim());
        let maybe = |at: Option<usize>| at.map_or("", cell);
        let number_of = cell(value)
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite());
        Ok(Row {
            metric: cell(metric).to_owned(),
            setting: cell(setting).to_owned(),
            value: number_of.ok_or(format!(
                "record {}: `{}` is not a number",
                number + 2,
                cell(value)
            ))?,
            unit: maybe(unit).to_owned(),
            higher_is_better: maybe(better) != "lower",
            run: maybe(run).to_owned(),
            is_flow: flow.is_some(),
        })
    };
    records.enumerate().map(row).collect()
}

/// Records of cells; quotes may hold commas, line ends and, doubled, quotes. Empty lines are none.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut letters = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quoted) {
            ('"', true) if letters.peek() == Some(&'"') => cell.extend(letters.next()),
            ('"', _) => quoted = !quoted,
            (',', false) => record.push(std::mem::take(&mut cell)),
            ('\n', false) => {
                record.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut record));
            }
            ('\r', false) => {}
            (other, _) => cell.push(other),
        }
    }
    record.push(cell);
    records.push(record);
    records.retain(|record| record.iter().any(|cell| !cell.trim().is_empty()));
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_commas_and_quotes() {
        let text = "metric,setting,value\r\n\"Tx, \"\"small\"\"\",qfe,18.3\r\n\nRx,hme,5.7";
        let rows = rows(text).unwrap();
        assert_eq!(rows[0].metric, "Tx, \"small\"");
        assert_eq!((rows[1].setting.as_str(), rows[1].value), ("hme", 5.7));
        assert!(rows[0].higher_is_better && !rows[0].is_flow);
    }

    #[test]
    fn what_is_no_table_says_why() {
        assert_eq!(rows("").unwrap_err(), "it is empty");
        assert_eq!(
            rows("metric,value\na,1").unwrap_err(),
            "it has no column `setting`"
        );
        let wrong = rows("metric,setting,value\na,b,fast").unwrap_err();
        assert_eq!(wrong, "record 2: `fast` is not a number");
    }

    #[test]
    fn flows_of_a_run_are_one_figure() {
        let text = "metric,setting,value,unit,flow\n2 flows,bridge,3,Gbit/s,0\n2 flows,bridge,2.93,Gbit/s,1\n";
        let rows = rows(text).unwrap();
        let group = group(&rows, &["bridge".to_owned()]).unwrap();
        let keys: Vec<_> = group.keys().cloned().collect();
        assert_eq!(
            (keys[0].metric.as_str(), keys[1].metric.as_str()),
            ("2 flows", "fairness")
        );
        let total = &group.figures(&keys[0])[0];
        assert!((total.value - 5.93).abs() < 1e-12);
        assert_eq!(total.flows, [3.0, 2.93]);
        assert!(super::group(&rows, &["dpdk".to_owned()]).is_none());
    }
}
