// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interrupts as a heat map: a table of the busiest lines, by CPU; the shade is the rate.

use linerate_model::order;
use linerate_model::series::Series;
use linerate_model::units::format::{Step, common_step, significant};

use super::writer::Html;

/// A line of `/proc/interrupts` or `/proc/softirqs`.
struct Row<'s> {
    name: &'s str,
    /// The mean per second of each CPU; the last CPUs may be missing.
    rates: Vec<f64>,
}

impl Row<'_> {
    fn rate(&self, column: usize) -> f64 {
        self.rates.get(column).copied().unwrap_or(0.0)
    }

    fn sum(&self) -> f64 {
        self.rates.iter().sum()
    }
}

/// A figure of one host's interrupts; nothing without any.
pub(super) fn push(html: &mut Html, title: &str, all: &[Series]) {
    let (cpus, mut rows) = rows(all);
    order::by(&mut rows, |one, other| other.sum().total_cmp(&one.sum()));
    rows.truncate(ROWS);
    let columns = busiest(&cpus, &rows);
    let most = rows.iter().flat_map(|row| &row.rates);
    let most = most.copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    html.element("figure", &[("class", "heat")], |html| {
        html.words("figcaption", &[("class", "title")], title);
        html.group("div", "frame", title, |html| {
            html.element("table", &[], |html| {
                html.element("thead", &[], |html| {
                    html.element("tr", &[], |html| {
                        html.words("th", &[("scope", "col"), ("class", "l")], "per second");
                        for at in &columns {
                            let name = format!("CPU{}", cpus[*at]);
                            html.words("th", &[("scope", "col")], &name);
                        }
                    });
                });
                html.element("tbody", &[], |html| {
                    for row in &rows {
                        html.element("tr", &[], |html| cells(html, row, &columns, most));
                    }
                });
            });
        });
        html.words("p", &[("class", "note")], NOTE);
    });
}

fn cells(html: &mut Html, row: &Row<'_>, columns: &[usize], most: f64) {
    let head = [("scope", "row"), ("class", "l"), ("title", row.name)];
    html.words("th", &head, &brief(row.name));
    for at in columns {
        let value = row.rate(*at);
        let shade = format!("--s:{:.0}%", SHADE * value.ln_1p() / most.ln_1p());
        html.words("td", &[("style", &shade)], &number(value));
    }
}

/// The CPUs, and the lines with a rate for each of them.
fn rows(all: &[Series]) -> (Vec<u32>, Vec<Row<'_>>) {
    let (mut cpus, mut rows): (Vec<u32>, Vec<Row<'_>>) = (Vec::new(), Vec::new());
    for series in all {
        let Some((name, cpu)) = series.name.rsplit_once("/cpu") else {
            continue;
        };
        let Ok(cpu) = cpu.parse() else { continue };
        let column = cpus.iter().position(|known| *known == cpu);
        let column = column.unwrap_or_else(|| {
            cpus.push(cpu);
            cpus.len() - 1
        });
        let row = rows.iter().position(|row| row.name == name);
        let row = row.unwrap_or_else(|| {
            let rates = Vec::new();
            rows.push(Row { name, rates });
            rows.len() - 1
        });
        let rates = &mut rows[row].rates;
        rates.resize(rates.len().max(column + 1), 0.0);
        rates[column] = mean(series);
    }
    (cpus, rows)
}

fn mean(series: &Series) -> f64 {
    let (mut seconds, mut events) = (0.0, 0.0);
    for span in &series.spans {
        let long_s = span.end_s - span.start_s;
        seconds += long_s;
        events += span.value * long_s;
    }
    events / f64::max(seconds, f64::MIN_POSITIVE)
}

/// The columns of the CPUs with most, in the order of the CPUs.
fn busiest(cpus: &[u32], rows: &[Row<'_>]) -> Vec<usize> {
    let sum = |at: usize| rows.iter().map(|row| row.rate(at)).sum::<f64>();
    let mut columns: Vec<usize> = (0..cpus.len()).collect();
    order::by(&mut columns, |one, other| sum(*other).total_cmp(&sum(*one)));
    columns.truncate(CPUS);
    order::by_key(&mut columns, |at| cpus[*at]);
    columns
}

fn number(value: f64) -> String {
    if value < 1.0 {
        return if value > 0.0 { "<1" } else { "0" }.to_owned();
    }
    let (size, unit) = common_step(&[Some(value)], COUNTS);
    format!("{}{unit}", significant(value / size))
}

/// Of `36:PCI-MSIX 1-edge eth0-rx` what an engineer calls it, `eth0-rx`; of `LOC:Local timer interrupts` the kernel's
/// short name.
fn brief(name: &str) -> String {
    let word = match name.split_once(':') {
        Some((short, _)) if short.starts_with(|char: char| char.is_ascii_alphabetic()) => short,
        _ => name.rsplit(' ').next().unwrap_or(name),
    };
    let many = word.chars().count();
    if many <= NAME {
        return word.to_owned();
    }
    let end: String = word.chars().skip(many + 1 - NAME).collect();
    format!("…{end}")
}

const NOTE: &str = "mean during the tests: the ten busiest interrupts, on up to 16 CPUs; shade: logarithm of the rate";
const COUNTS: &[Step] = &[(1.0, ""), (1e3, " k"), (1e6, " M")];
const ROWS: usize = 10;
const CPUS: usize = 16;
const NAME: usize = 18;
/// The darkest shade in per cent: text is legible on it in both schemes.
const SHADE: f64 = 45.0;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::series::Span;

    #[test]
    fn a_row_is_called_what_an_engineer_calls_it() {
        for (name, called) in [
            ("36:PCI-MSIX-0000:00:02.0 1-edge eth0-rx", "eth0-rx"),
            ("LOC:Local timer interrupts", "LOC"),
            ("NET_RX", "NET_RX"),
        ] {
            assert_eq!(brief(name), called);
        }
    }

    #[test]
    fn the_ten_lines_with_most_have_a_shade_for_each_cpu() {
        let series = |line: u32, cpu: u32, value| Series {
            name: format!("{line}:edge eth{line}/cpu{cpu}"),
            spans: vec![
                Span {
                    start_s: 0.0,
                    end_s: 1.0,
                    value,
                },
                Span {
                    start_s: 1.0,
                    end_s: 4.0,
                    value: 0.0,
                },
            ],
            ..Series::default()
        };
        let all: Vec<Series> = (0..12)
            .flat_map(|line| [(line, 0, 4.0), (line, 3, f64::from(line) * 4000.0)])
            .map(|(line, cpu, value)| series(line, cpu, value))
            .collect();
        let mut html = Html::default();
        push(&mut html, "Interrupts", &all);
        let text = html.into_text();
        assert_eq!(text.matches("<tr>").count(), 11, "{text}");
        let first = text.split("<tr>").nth(2).unwrap();
        assert!(first.contains(">eth11<"), "{first}");
        assert!(first.contains("<td style=\"--s:45%\">11.00 k<"), "{first}");
        assert!(first.contains("\">1.000<"), "{first}");
        assert!(text.contains("CPU0") && text.contains("CPU3") && !text.contains("CPU1"));
    }
}
