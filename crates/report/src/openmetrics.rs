// SPDX-License-Identifier: MIT OR Apache-2.0
//! The key figures as OpenMetrics 1.0, for a textfile collector or a push: gauges in base units, the unit
//! at the end of the name, each series once.

use linerate_model::output::{Cell, Output};
use linerate_model::printable::Printable;

use crate::subject::Subject;
use crate::view::figures::{self, Figure, Unit};
use crate::view::matrix::{cell_name, known as known_figure, names};

/// Names and values of labels.
type Labels = Vec<(&'static str, String)>;

/// One family: its name with unit, what it is, its series.
struct Family {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    series: Vec<(Labels, f64)>,
}

/// The exposition, `# EOF` included.
#[must_use]
pub fn render(subjects: &[Subject]) -> Printable {
    let mut families: Vec<Family> = FAMILIES
        .iter()
        .map(|(_, name, unit, help)| Family::new(name, unit, help))
        .collect();
    let mut met = Family::new(
        "linerate_expectation_met",
        "",
        "1 if the expectation was met",
    );
    let mut info = Family::new("linerate_run_info", "", "The run that the figures are of");
    let mut cells = Family::new(
        "linerate_matrix_cell",
        "",
        "The median of a figure of a cell of a matrix, in its base unit",
    );
    for subject in subjects {
        let run = vec![
            ("run", subject.label.clone()),
            ("kind", subject.output.kind.clone()),
        ];
        info.push(run_labels(&subject.output, &run), 1.0);
        for figure in figures::of(&subject.output) {
            let family = FAMILIES
                .iter()
                .position(|(metric, ..)| *metric == figure.metric);
            if let (Some(at), Some(value)) = (family, figure.value) {
                families[at].push(labels(&figure, &run), value * scale(figure.unit));
            }
        }
        cells.series.extend(of_cells(&subject.output, &run));
        for asked in &subject.output.expectations {
            let mut labels = run.clone();
            labels.push(("expression", asked.expression.clone()));
            met.push(labels, f64::from(u8::from(asked.met)));
        }
    }
    families.extend([cells, met, info]);
    let text = families.iter().map(Family::text).collect::<String>();
    Printable::of(&(text + "# EOF\n"))
}

/// The figures of the cells: each has one of a name.
fn of_cells(output: &Output, run: &Labels) -> Vec<(Labels, f64)> {
    let Some(matrix) = &output.matrix else {
        return Vec::new();
    };
    let cell = |cell: &Cell| {
        let named = cell_name(matrix, cell);
        let known = names(std::slice::from_ref(cell)).into_iter();
        let figure = |name: &str| {
            let figure = known_figure(cell, name)?;
            let mut labels = run.clone();
            labels.extend([
                ("id", cell.id.to_string()),
                ("cell", named.clone()),
                ("figure", figure.name.clone()),
                ("unit", figure.unit.clone()),
            ]);
            Some((labels, figure.median))
        };
        known.filter_map(figure).collect::<Vec<_>>()
    };
    output.cells.iter().flat_map(cell).collect()
}

fn run_labels(output: &Output, run: &Labels) -> Labels {
    let mut labels = run.clone();
    labels.push(("version", output.tool.version.clone()));
    labels.push(("started", output.started.clone()));
    labels
}

fn labels(figure: &Figure, run: &Labels) -> Labels {
    let mut labels = run.clone();
    labels.push(("of", figure.of.clone()));
    if !figure.id.is_empty() {
        labels.push(("id", figure.id.clone()));
    }
    if !figure.direction.is_empty() {
        labels.push(("direction", figure.direction.clone()));
    }
    labels
}

/// Times are in seconds here.
fn scale(unit: Unit) -> f64 {
    match unit {
        Unit::Nanoseconds => 1e-9,
        Unit::BitsPerSecond | Unit::FramesPerSecond | Unit::Packets | Unit::Ratio => 1.0,
    }
}

impl Family {
    fn new(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self {
            name,
            unit,
            help,
            series: Vec::new(),
        }
    }

    /// Keeps the first value of a series.
    fn push(&mut self, labels: Labels, value: f64) {
        if self.series.iter().all(|(known, _)| *known != labels) {
            self.series.push((labels, value));
        }
    }

    /// Nothing where there is no series.
    fn text(&self) -> String {
        if self.series.is_empty() {
            return String::new();
        }
        let (name, unit, help) = (self.name, self.unit, self.help);
        let mut text = format!("# TYPE {name} gauge\n");
        if !unit.is_empty() {
            text.push_str(&format!("# UNIT {name} {unit}\n"));
        }
        text.push_str(&format!("# HELP {name} {help}\n"));
        for (labels, value) in &self.series {
            let labels = labels
                .iter()
                .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
            let labels = labels.collect::<Vec<_>>().join(",");
            text.push_str(&format!("{name}{{{labels}}} {value}\n"));
        }
        text
    }
}

/// The escapes of a label's value.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\\' => safe.push_str("\\\\"),
            '"' => safe.push_str("\\\""),
            '\n' => safe.push_str("\\n"),
            plain => safe.push(plain),
        }
    }
    safe
}

/// The figure of the document, the family, its unit, what it is.
const FAMILIES: &[(&str, &str, &str, &str)] = &[
    (
        "achieved_bits_per_second",
        "linerate_achieved_bits_per_second",
        "bits_per_second",
        "The best payload rate of a direction",
    ),
    (
        "lossless_bits_per_second",
        "linerate_lossless_bits_per_second",
        "bits_per_second",
        "The highest payload rate that met the loss goal",
    ),
    (
        "delivered_bits_per_second",
        "linerate_delivered_bits_per_second",
        "bits_per_second",
        "The payload rate that the receiver counted",
    ),
    (
        "throughput_fps",
        "linerate_throughput_frames_per_second",
        "frames_per_second",
        "The highest rate of a device that met the goal",
    ),
    (
        "lost_packets",
        "linerate_lost_packets",
        "packets",
        "Packets sent and not received",
    ),
    (
        "loss_ratio",
        "linerate_loss_ratio",
        "ratio",
        "Lost of sent packets",
    ),
    (
        "rtt_p50_ns",
        "linerate_round_trip_median_seconds",
        "seconds",
        "The median round trip of the probe",
    ),
    (
        "rtt_p99_ns",
        "linerate_round_trip_p99_seconds",
        "seconds",
        "The 99th percentile of the round-trip time",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::tests::fixture;

    #[test]
    fn every_series_is_there_once_under_its_family() {
        for (name, output) in fixture::all() {
            let subject = Subject {
                label: "a \"b\"\\\n".to_owned(),
                output,
                ..Subject::default()
            };
            let text = render(&[subject]);
            assert!(text.ends_with("# EOF\n"), "{name}");
            let mut family = "";
            let mut seen: Vec<&str> = Vec::new();
            for line in text.lines().filter(|line| *line != "# EOF") {
                if let Some(rest) = line.strip_prefix("# TYPE ") {
                    family = rest.split(' ').next().unwrap();
                }
                if let Some(rest) = line.strip_prefix("# UNIT ") {
                    let (name, unit) = rest.split_once(' ').unwrap();
                    assert!(name.ends_with(unit), "{line}");
                }
                if !line.starts_with('#') {
                    let (series, value) = line.rsplit_once(' ').unwrap();
                    assert!(
                        series.starts_with(&format!("{family}{{run=\"a \\\"b\\\"\\\\\\n\",")),
                        "{line}"
                    );
                    assert!(value.parse::<f64>().is_ok(), "{line}");
                    assert!(!seen.contains(&series), "{series}");
                    seen.push(series);
                }
            }
        }
    }
}
