// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results as a table, and as a document for later.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::row::{Method, Row};
use super::series::{Series, short};
use super::trial::Values;

/// What the contenders of a row gave, round by round.
#[derive(Debug)]
pub(crate) struct Results {
    /// One a contender.
    pub(crate) entries: Vec<Entry>,
}

/// One contender.
#[derive(Debug)]
pub(crate) struct Entry {
    /// As it stands in the table.
    pub(crate) label: String,
    /// One of ours.
    pub(crate) ours: bool,
    /// One a round; or why there is none.
    pub(crate) rounds: Vec<Result<Values, String>>,
}

impl Entry {
    fn series(&self, name: &str) -> Series {
        let value = |round: &Result<Values, String>| round.as_ref().ok()?.get(name).copied();
        Series(self.rounds.iter().map(value).collect())
    }

    fn names(&self) -> Vec<&'static str> {
        let rounds = self.rounds.iter().flatten();
        let names: BTreeMap<&'static str, ()> = rounds
            .flat_map(|values| values.keys().map(|name| (*name, ())))
            .collect();
        names.into_keys().collect()
    }

    fn failure(&self) -> Option<&str> {
        self.rounds
            .iter()
            .find_map(|round| round.as_ref().err())
            .map(String::as_str)
    }
}

/// The columns of a row's table; the first is the one that ratios are taken of.
fn columns(method: Method) -> &'static [&'static str] {
    match method {
        Method::Rate(super::load::Kind::Tcp { .. }) => &[
            "delivered_gbit_per_second",
            "sender_cpu_s_per_gb",
            "receiver_cpu_s_per_gb",
            "machine_cpu_s_per_gb",
        ],
        Method::Rate(super::load::Kind::Udp { .. }) => &[
            "delivered_kpps",
            "delivered_gbit_per_second",
            "lost_percent",
            "sender_cpu_s_per_mpacket",
            "receiver_cpu_s_per_mpacket",
            "machine_cpu_s_per_mpacket",
        ],
        Method::Knee { .. } => &["lossless_kpps", "lossless_gbit_per_second"],
        Method::Paced { .. } => &[
            "lost_packets",
            "rate_error_percent",
            "burst_packets",
            "worst_1ms_excess_packets",
            "spacing_p50_us",
            "spacing_p99_us",
            "spacing_max_us",
        ],
    }
}

/// Prints one row: medians of every column, of the first also the spread and the ratio of the
/// first contender (ours) to each other, round by round.
pub(crate) fn print(row: &Row, results: &Results) {
    println!("\n{}: {}", row.name, row.title);
    let columns = columns(row.method);
    let mut lines = vec![header(columns)];
    let first = results.entries.first();
    for entry in &results.entries {
        let ratio = match first {
            Some(ours) if !entry.ours && columns[0] != "lost_packets" => ours
                .series(columns[0])
                .over(&entry.series(columns[0]))
                .spread(),
            _ => None,
        };
        lines.push(line(entry, columns, ratio.map(|spread| spread.to_string())));
    }
    print_aligned(&lines);
    for entry in &results.entries {
        if let Some(why) = entry.failure() {
            println!("  {}: {why}", entry.label);
        }
    }
}

fn header(columns: &[&str]) -> Vec<String> {
    let mut cells = vec![String::new()];
    cells.extend(columns.iter().map(|name| (*name).to_owned()));
    cells.push("ours/this".to_owned());
    cells
}

fn line(entry: &Entry, columns: &[&str], ratio: Option<String>) -> Vec<String> {
    let mut cells = vec![entry.label.clone()];
    for (place, name) in columns.iter().enumerate() {
        let spread = entry.series(name).spread();
        cells.push(match spread {
            None => "-".to_owned(),
            Some(spread) if place == 0 => spread.to_string(),
            Some(spread) => short(spread.median),
        });
    }
    cells.push(ratio.unwrap_or_default());
    cells
}

/// The first column to the left, the others to the right.
pub(crate) fn print_aligned(lines: &[Vec<String>]) {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    let wide = |column: usize| {
        lines
            .iter()
            .filter_map(|line| line.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..columns)
        .map(|column| wide(column).unwrap_or_default())
        .collect();
    for line in lines {
        let cell = |(column, cell): (usize, &String)| match column {
            0 => format!("{cell:<width$}", width = widths[0]),
            _ => format!("{cell:>width$}", width = widths[column]),
        };
        let cells: Vec<String> = line.iter().enumerate().map(cell).collect();
        println!("  {}", cells.join("  ").trim_end());
    }
}

/// The row with every value of every round.
pub(crate) fn document(row: &Row, results: &Results) -> Value {
    let entry = |entry: &Entry| {
        let values: BTreeMap<&str, Value> = entry
            .names()
            .into_iter()
            .map(|name| (name, json!(entry.series(name).0)))
            .collect();
        json!({"contender": entry.label, "ours": entry.ours, "values": values, "failure": entry.failure()})
    };
    let contenders: Vec<Value> = results.entries.iter().map(entry).collect();
    json!({"row": row.name, "title": row.title, "contenders": contenders})
}
