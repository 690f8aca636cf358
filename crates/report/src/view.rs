// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is shown in which order, in every format: blocks of lines and tables, built from the document alone. Unknown
//! numbers are `n/a`.

mod answer;
mod benchmarks;
mod changes;
pub(crate) mod charts;
pub(crate) mod comparison;
mod conclusions;
mod cost;
mod counters;
mod dataplane;
mod device;
pub(crate) mod effect_plot;
pub(crate) mod figures;
mod findings;
pub(crate) mod forward;
pub(crate) mod history;
mod inspect;
mod knees;
mod ledger;
pub(crate) mod matrix;
mod moved;
mod nic;
mod parts;
pub(crate) mod path;
mod setup;
pub(crate) mod span;
mod tcp;
mod title;
mod tuning;
mod udp;

use std::collections::BTreeSet;

use linerate_model::map::Map;
use linerate_model::order;
use linerate_model::order::Gather as _;
use linerate_model::output::{Cpu, Direction, ErrorReport, Output, Protocol, Role, Test};
use linerate_model::units::format;
use linerate_model::units::rate_unit::RateUnit;

use crate::Detail;
pub(crate) use parts::Parts;

/// A result, ready to be laid out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// In the order of reading.
    pub blocks: Vec<Block>,
}

/// A part of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Block {
    /// Sentences under a heading.
    Lines {
        /// May be empty.
        heading: String,
        /// One sentence each.
        lines: Vec<Line>,
    },
    /// A plot in characters, under a heading; never wrapped. HTML draws it as SVG.
    Drawing {
        /// What it shows.
        heading: String,
        /// Of equal width, in a monospaced font.
        rows: Vec<String>,
    },
    /// Columns under a heading.
    Table(Table),
}

/// One sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Depth, in columns.
    pub indent: usize,
    /// The words.
    pub text: String,
    /// In addition to the words, never instead of them.
    pub tone: Tone,
    /// A command to be copied: never wrapped.
    pub whole: bool,
    /// The additional indent of wrapped lines, in columns.
    pub hang: usize,
}

/// The meaning of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Something failed.
    Bad,
    /// Something was met.
    Good,
    /// A fact.
    #[default]
    Plain,
    /// Something may mislead.
    Warn,
}

/// Columns of equal length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// The title, with the layer and the side that counted.
    pub heading: String,
    /// How many of the first columns name the row.
    pub keys: usize,
    /// All of one length.
    pub columns: Vec<Column>,
    /// One per row; further rows are plain.
    pub tones: Vec<Tone>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    /// What is in it.
    pub name: String,
    /// In which unit; may be empty.
    pub unit: String,
    /// The alignment of the cells.
    pub align: Align,
    /// One per row; numbers are aligned.
    pub cells: Vec<String>,
    /// Shown however narrow the terminal is.
    pub needed: bool,
    /// The meaning of cells, in addition to their words; further cells are plain.
    pub tones: Vec<Tone>,
}

/// The alignment of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

impl View {
    /// The blocks of a result; with everything also each stream of a test, its rate in the unit that the user chose.
    pub(crate) fn of(output: &Output, detail: Detail, unit: Option<RateUnit>) -> Self {
        if let Some(blocks) = matrix::blocks(output, detail) {
            return Self { blocks };
        }
        let blocks = match detail {
            _ if output.history.is_some() => history::blocks(output),
            _ if output.tuning.is_some() => tuning::blocks(output),
            _ if output.dataplane.is_some() => dataplane::blocks(output),
            _ if output.kind == "tune" => changes::blocks(output),
            Detail::Line if is_measured(output) => answer::one_line(output, unit),
            Detail::Answer if output.kind == "inspect" => inspect::blocks(output),
            Detail::Answer if is_measured(output) => answer::blocks(output, unit),
            Detail::Causes if is_measured(output) => answer::causes(output),
            _ => Self::full(output, unit),
        };
        Self { blocks }
    }

    fn full(output: &Output, unit: Option<RateUnit>) -> Vec<Block> {
        let mut blocks = vec![title::block(output)];
        blocks.extend(setup::blocks(output));
        blocks.extend(answer::every_stream(output, unit));
        blocks.extend(tcp::block(output));
        blocks.extend(udp::blocks(output));
        blocks.extend(processors(output));
        blocks.extend(cost::blocks(output));
        blocks.extend(forward::blocks(output));
        blocks.extend(device::block(output));
        blocks.extend(benchmarks::blocks(output));
        blocks.extend(comparison::blocks(output));
        blocks.extend(nic::blocks(output));
        blocks.extend(counters::block(output));
        blocks.extend(conclusions::blocks(output));
        if !is_measured(output) {
            blocks.iter_mut().for_each(Block::forget_unknown);
        }
        blocks
    }

    /// An error: what, why, what to try.
    pub(crate) fn error(report: &ErrorReport) -> Vec<Line> {
        let what = Line::new(0, format!("error: {}", report.what)).tone(Tone::Bad);
        let why = Line::labelled(2, "why", &report.why);
        let remedy = Line::labelled(2, "try", &report.try_);
        std::iter::once(what).chain(why).chain(remedy).collect()
    }

    /// The same view with each text passed through `change`.
    pub(crate) fn map_text(mut self, change: &dyn Fn(&str) -> String) -> Self {
        for block in &mut self.blocks {
            match block {
                Block::Lines { heading, lines } => {
                    *heading = change(heading);
                    lines
                        .iter_mut()
                        .for_each(|line| line.text = change(&line.text));
                }
                Block::Drawing { heading, rows } => {
                    *heading = change(heading);
                    rows.iter_mut().for_each(|row| *row = change(row));
                }
                Block::Table(table) => table.map_text(change),
            }
        }
        self
    }
}

impl Block {
    /// Lines under a heading; nothing without lines.
    fn lines(heading: &str, lines: impl IntoIterator<Item = Line>) -> Option<Self> {
        let lines: Vec<Line> = lines.into_iter().collect();
        (!lines.is_empty()).then(|| Self::Lines {
            heading: heading.to_owned(),
            lines,
        })
    }

    /// Removes the columns of a table that have no known cell.
    fn forget_unknown(&mut self) {
        if let Self::Table(table) = self {
            table.forget_unknown();
        }
    }
}

impl Line {
    pub(crate) fn new(indent: usize, text: impl Into<String>) -> Self {
        Self {
            indent,
            text: text.into(),
            tone: Tone::Plain,
            whole: false,
            hang: 2,
        }
    }

    /// `label: text`; nothing without text.
    fn labelled(indent: usize, label: &str, text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self::new(indent, format!("{label}: {text}")))
    }

    fn command(indent: usize, text: impl Into<String>) -> Self {
        Self {
            whole: true,
            ..Self::new(indent, text)
        }
    }

    fn hang(self, hang: usize) -> Self {
        Self { hang, ..self }
    }

    fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

impl Table {
    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.columns
            .iter()
            .map(|column| column.cells.len())
            .min()
            .unwrap_or(0)
    }

    /// The meaning of a row.
    pub(crate) fn tone(&self, row: usize) -> Tone {
        self.tones.get(row).copied().unwrap_or_default()
    }

    /// Keeps some of the rows.
    fn retain_rows(&mut self, keep: impl Fn(usize) -> bool) {
        let kept: Vec<bool> = (0..self.rows()).map(keep).collect();
        for column in &mut self.columns {
            let (mut cells, mut tones) = (kept.iter(), kept.iter());
            column.cells.retain(|_| cells.next() == Some(&true));
            column.tones.retain(|_| tones.next() == Some(&true));
        }
    }

    /// Removes columns without a known cell.
    fn forget_unknown(&mut self) {
        let mut at = 0;
        let keys = self.keys;
        self.columns.retain(|column| {
            at += 1;
            at <= keys || column.is_known()
        });
    }

    fn map_text(&mut self, change: &dyn Fn(&str) -> String) {
        self.heading = change(&self.heading);
        for column in &mut self.columns {
            column.name = change(&column.name);
            column.unit = change(&column.unit);
            column
                .cells
                .iter_mut()
                .for_each(|cell| *cell = change(cell));
        }
    }
}

impl Column {
    fn words(name: &str, cells: impl Iterator<Item = String>) -> Self {
        Self {
            name: name.to_owned(),
            unit: String::new(),
            align: Align::Left,
            cells: cells.collect(),
            needed: false,
            tones: Vec::new(),
        }
    }

    fn numbers(
        name: &str,
        values: impl IntoIterator<Item = Option<f64>>,
        step: format::Step,
    ) -> Self {
        let column = format::column_in(&Vec::from_iter(values), step);
        Self {
            name: name.to_owned(),
            unit: column.unit.to_owned(),
            align: Align::Right,
            cells: column.cells,
            needed: false,
            tones: Vec::new(),
        }
    }

    fn texts(name: &str, unit: &str, cells: impl Iterator<Item = Option<String>>) -> Self {
        let cells: Vec<_> = cells.collect();
        Self {
            name: name.to_owned(),
            unit: unit.to_owned(),
            align: Align::Right,
            cells: format::align(&cells),
            needed: false,
            tones: Vec::new(),
        }
    }

    fn counts(name: &str, unit: &str, cells: impl Iterator<Item = Option<u64>>) -> Self {
        Self::texts(
            name,
            unit,
            cells.map(|count| count.map(|count| count.to_string())),
        )
    }

    fn is_known(&self) -> bool {
        let known = |cell: &String| {
            !cell
                .replace(format::UNKNOWN, "")
                .trim_matches([' ', '/'])
                .is_empty()
        };
        self.cells.iter().any(known)
    }
}

/// Whether linerate measured this, rather than parsed it from text.
fn is_measured(output: &Output) -> bool {
    let moved = |test: &Test| test.mode.tx.is_some() || test.mode.rx.is_some();
    output.kind != "explain" || output.tests.iter().any(moved)
}

/// The tests shown. In a sweep every trial is a result; elsewhere a search is shown by the two trials that bound its
/// knee.
pub(crate) fn relevant(output: &Output) -> Vec<&Test> {
    let bounds: Vec<_> = output
        .knees
        .iter()
        .flat_map(|knee| {
            <[_; 2]>::from(knee.bracket(&output.tests))
                .into_iter()
                .flatten()
        })
        .collect();
    let trials = output.knees.iter().flat_map(|knee| &knee.test_ids);
    let trials: BTreeSet<&String> = trials.gather();
    let shown = |test: &&Test| {
        output.kind == "sweep"
            || !trials.contains(&test.id)
            || bounds.iter().any(|bound| bound.id == test.id)
    };
    let mut tests: Vec<_> = output.tests.iter().filter(shown).collect();
    // In ascending order of rate, whatever the order of the search.
    let rate = |test: &Test| test.requested_bits_per_second.unwrap_or(f64::INFINITY);
    let places = places(output);
    let place = |test: &Test| places.get(&called(test)).copied();
    order::by(&mut tests, |one, other| {
        let places = place(one).cmp(&place(other));
        places.then_with(|| rate(one).total_cmp(&rate(other)))
    });
    tests
}

/// The position of the first test of each name. In a sweep only the rate decides.
fn places(output: &Output) -> Map<Called<'_>, usize> {
    let tests = output.tests.iter().enumerate().rev();
    let places = tests.map(|(at, test)| (called(test), at));
    places.filter(|_| output.kind != "sweep").gather()
}

/// Name, and whether it goes down.
type Called<'o> = (&'o str, bool);

fn called(test: &Test) -> Called<'_> {
    (&test.name, test.direction == Direction::Down)
}

/// The tests of a protocol: the rows of its table.
fn rows(output: &Output, protocol: Protocol) -> Vec<&Test> {
    let mut tests = relevant(output);
    tests.retain(|test| test.protocol == protocol);
    tests
}

/// A rate of a test and what its column is called.
struct RateOf(&'static str, fn(&Test) -> Option<f64>);

/// Columns of rates that share a unit.
fn rates(tests: &[&Test], rates: &[RateOf]) -> Vec<Column> {
    let values = |RateOf(_, of): &RateOf| tests.iter().map(|test| of(test)).collect::<Vec<_>>();
    let all: Vec<_> = rates.iter().flat_map(values).collect();
    let step = format::common_step(&all, format::BIT_RATES);
    rates
        .iter()
        .map(|rate| Column::numbers(rate.0, values(rate), step))
        .collect()
}

/// Name and direction: the columns that name a row.
fn keys(tests: &[&Test]) -> Vec<Column> {
    vec![
        Column::words("test", tests.iter().map(|test| name(test))),
        Column::words(
            "dir",
            tests.iter().map(|test| way(test.direction).to_owned()),
        ),
    ]
}

/// The load of the busiest processor of each end, test by test.
fn processors(output: &Output) -> Option<Block> {
    let tests = relevant(output);
    let share = |name: &str, of: fn(&Test) -> Option<Cpu>| {
        let load = |test: &&Test| of(test).map(|cpu| format!("{:.0}", cpu.busiest_cpu * 100.0));
        Column::texts(name, "busiest %", tests.iter().map(load))
    };
    let mut columns = keys(&tests);
    columns.extend([
        share("local", |test| test.cpu.local),
        share("remote", |test| test.cpu.remote),
    ]);
    let known = |test: &&Test| test.cpu.local.or(test.cpu.remote).is_some();
    tests.iter().any(known).then(|| {
        Block::Table(Table {
            heading: "processors of both ends".to_owned(),
            keys: 2,
            tones: Vec::new(),
            columns,
        })
    })
}

fn tones(tests: &[&Test]) -> Vec<Tone> {
    let tone = |test: &&Test| match (test.valid, test.lost_packets) {
        (false, _) => Tone::Bad,
        (true, Some(1..)) => Tone::Warn,
        (true, _) => Tone::Plain,
    };
    tests.iter().map(tone).collect()
}

/// A test's name, short enough for a key column.
pub(crate) fn name(test: &Test) -> String {
    let name = if test.name.is_empty() {
        &test.id
    } else {
        &test.name
    };
    if name.chars().count() <= NAME_COLUMNS {
        return name.clone();
    }
    let start: String = name.chars().take(NAME_COLUMNS - 1).collect();
    start + "~"
}

pub(crate) fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "up",
        Direction::Down => "down",
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Local => "local",
        Role::Remote => "remote",
        Role::Device => "device",
    }
}

const NAME_COLUMNS: usize = 16;
