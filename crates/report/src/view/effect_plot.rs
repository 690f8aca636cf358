// SPDX-License-Identifier: MIT OR Apache-2.0
//! The effect of a change as a plot: each run, the mean of each side with its interval, and the effect with its
//! interval against no change and the margin. HTML draws it as SVG; `drawing` draws it in characters.

use linerate_model::output::{Comparison, Side};
use linerate_model::units::format::{
    BIT_RATES, PACKET_RATES, Step, TIMES, common_step, significant,
};

use super::Block;
use super::comparison::{changes, interval, is_in_per_cent, names};
use super::matrix::titles;
use super::span::{Span, short};

/// One figure of two sides.
#[derive(Debug, Clone)]
pub(crate) struct EffectPlot<'c> {
    /// The figure, its unit, and whether more or less is better.
    pub title: String,
    /// Without the change and with it.
    pub arms: [Arm<'c>; 2],
    span: Span,
    step: Step,
    /// Unknown without a ratio.
    pub effect: Option<Effect>,
}

/// One side.
#[derive(Debug, Clone)]
pub(crate) struct Arm<'c> {
    /// `A`, `before`, a label …
    pub name: &'c str,
    /// Its runs.
    pub side: &'c Side,
    /// The mean with its interval, and the number of runs.
    pub summary: String,
}

/// The ratio of after to before, on its own axis.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    /// The change in a few words.
    pub summary: String,
    /// The estimate, as a position on the axis, 0…1.
    pub at: f64,
    /// The ends of its 95 % interval; `None`: too few runs.
    pub ends: Option<[f64; 2]>,
    /// No change.
    pub none: f64,
    /// Changes within these ends do not matter.
    pub margin: [f64; 2],
    /// The labels of the axis.
    pub ticks: Vec<(f64, String)>,
}

/// The plots of all figures with runs, the primary ones first.
pub(crate) fn of(all: &[Comparison]) -> Vec<EffectPlot<'_>> {
    let (first, others): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.primary);
    let drawn = first.into_iter().chain(others);
    // Cells are in their grid.
    let drawn = drawn.filter(|one| one.cell.is_none());
    let names = names(all);
    let plot = |one| EffectPlot::of(one, names);
    drawn.filter_map(plot).take(MOST).collect()
}

/// The plots of the primary figures, in characters.
pub(super) fn blocks(all: &[Comparison]) -> Vec<Block> {
    let decisive = all.iter().filter(|one| one.primary).take(MOST_WRITTEN);
    let block = |one: EffectPlot<'_>| Block::Drawing {
        heading: one.title.clone(),
        rows: drawing(&one),
    };
    let plot = |one| EffectPlot::of(one, names(all));
    decisive.filter_map(plot).map(block).collect()
}

impl<'c> EffectPlot<'c> {
    fn of(one: &'c Comparison, [before, after]: [&'c str; 2]) -> Option<Self> {
        let sides = [&one.before, &one.after];
        if sides.iter().any(|side| side.values.is_empty()) {
            return None;
        }
        let ends = sides.iter().flat_map(|side| side.mean_ci95).flatten();
        let values = sides.iter().flat_map(|side| &side.values).copied();
        let (low, all): (f64, Vec<f64>) = (0.0, values.chain(ends).collect());
        // An interval may reach below the possible values.
        let possible = !sides
            .iter()
            .flat_map(|side| &side.values)
            .any(|value| *value < low);
        let held = |value: &f64| if possible { value.max(low) } else { *value };
        let known: Vec<f64> = all.iter().map(held).collect();
        let step = step(one, &known);
        let scaled: Vec<f64> = known.iter().map(|value| value / step.0).collect();
        let arm = |name, side| Arm {
            name,
            side,
            summary: summary(side, step),
        };
        let better = if one.higher_is_better { "more" } else { "less" };
        Some(Self {
            title: format!("{}{}: {better} is better", named(one), unit(one, step)),
            arms: [arm(before, sides[0]), arm(after, sides[1])],
            span: Span::around(&scaled)?,
            step,
            effect: Effect::of(one, after),
        })
    }

    /// The position of a value on the axis, 0…1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        self.span.share(value / self.step.0)
    }

    /// The labels of the axis of the runs.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        let tick = |tick| (self.span.share(tick), short(tick));
        self.span.ticks().into_iter().map(tick).collect()
    }
}

/// As the tables name the figure.
fn named(one: &Comparison) -> String {
    format!("{} {}", titles(&one.metric).0, one.name)
        .trim()
        .to_owned()
}

/// With the layer, for rates that linerate measured.
fn unit(one: &Comparison, (_, unit): Step) -> String {
    match (one.metric.as_str(), unit) {
        ("throughput" | "knee", rate) if one.unit == "bit/s" => format!(" ({rate}, L4 goodput)"),
        (_, "") if one.unit.is_empty() => String::new(),
        (_, "") => format!(" ({})", one.unit),
        (_, unit) => format!(" ({unit})"),
    }
}

fn step(one: &Comparison, values: &[f64]) -> Step {
    let steps = match one.unit.as_str() {
        "bit/s" => BIT_RATES,
        "frame/s" => PACKET_RATES,
        "ns" => TIMES,
        "" if one.metric == "loss" => return (0.01, "%"),
        _ => return (1.0, ""),
    };
    let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
    common_step(&values, steps)
}

fn summary(side: &Side, (size, unit): Step) -> String {
    let number = |value: f64| significant(value / size);
    let gap = if unit.is_empty() { "" } else { " " };
    let mean = side.mean.map_or("n/a".to_owned(), number);
    match side.mean_ci95 {
        Some([low, high]) => format!(
            "mean {mean}{gap}{unit} [{} … {}], {} runs",
            number(low),
            number(high),
            side.n
        ),
        None if side.n == 1 => format!("{mean}{gap}{unit}, 1 run"),
        None => format!("mean {mean}{gap}{unit}, {} runs", side.n),
    }
}

impl Effect {
    fn of(one: &Comparison, after: &str) -> Option<Self> {
        let ratio = one.ratio.filter(|ratio| *ratio > 0.0)?;
        let bound = 1.0 + one.margin;
        let marked = [1.0, 1.0 / bound, bound, ratio];
        let all: Vec<f64> = marked
            .into_iter()
            .chain(one.ci95.into_iter().flatten())
            .collect();
        let axis = Axis::around(&all, is_in_per_cent(one))?;
        let range = interval(one).map_or(", no interval: too few runs".to_owned(), |range| {
            format!(" [{range}]")
        });
        Some(Self {
            summary: format!("{after}: {}{range}", changes(one, ratio)),
            at: axis.share(ratio),
            ends: one.ci95.map(|ends| ends.map(|end| axis.share(end))),
            none: axis.share(1.0),
            margin: [1.0 / bound, bound].map(|end| axis.share(end)),
            ticks: axis.ticks(),
        })
    }
}

/// An axis of ratios: linear and in per cent near 1, else logarithmic.
enum Axis {
    PerCent(Span),
    Times { low: f64, high: f64 },
}

impl Axis {
    fn around(ratios: &[f64], in_per_cent: bool) -> Option<Self> {
        if in_per_cent {
            let changes: Vec<f64> = ratios.iter().map(|ratio| (ratio - 1.0) * 100.0).collect();
            return Span::around(&changes).map(Self::PerCent);
        }
        let logs = ratios.iter().map(|ratio| ratio.log10());
        let finite = || logs.clone().filter(|log| log.is_finite());
        let (low, high) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
        let room = (high - low) * ROOM;
        Some(Self::Times {
            low: low - room,
            high: high + room,
        })
    }

    fn share(&self, ratio: f64) -> f64 {
        match self {
            Self::PerCent(span) => span.share((ratio - 1.0) * 100.0),
            Self::Times { low, high } => ((ratio.log10() - low) / (high - low)).clamp(0.0, 1.0),
        }
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        match self {
            Self::PerCent(span) => {
                let sign = |value: f64| if value > 0.0 { "+" } else { "" };
                let tick = |value: f64| {
                    (
                        span.share(value),
                        format!("{}{} %", sign(value), short(value)),
                    )
                };
                span.ticks().into_iter().map(tick).collect()
            }
            Self::Times { low, high } => {
                let [first, last] = [(low * 3.0).floor() as i32, (high * 3.0).ceil() as i32];
                let stride = match last - first {
                    ..=7 => 1,
                    many => (many / 6).max(1) * 3,
                };
                let inside = |at: &i32| (*low..=*high).contains(&third(*at).log10());
                let ticks = (first..=last)
                    .filter(|at| at.rem_euclid(stride) == 0)
                    .filter(inside);
                let tick = |at| (self.share(third(at)), format!("× {}", short(third(at))));
                ticks.map(tick).collect()
            }
        }
    }
}

/// 1, 2, 5, 10, 20 …
fn third(at: i32) -> f64 {
    let digit = [1.0, 2.0, 5.0][at.rem_euclid(3) as usize];
    digit * 10_f64.powi(at.div_euclid(3))
}

/// In characters: for each side a row of runs and a row with the mean; then the axis, and the effect below.
fn drawing(one: &EffectPlot<'_>) -> Vec<String> {
    let mut rows = Vec::new();
    for arm in &one.arms {
        let mut name = arm.name;
        if name.chars().count() >= NAME {
            rows.push(std::mem::take(&mut name).to_owned());
        }
        rows.push(format!("{name:<NAME$}{}", crowd(one, arm.side)));
        rows.extend(bar(one, arm.side).map(|bar| format!("{:NAME$}{bar}", "")));
        rows.push(format!("{:NAME$}{}", "", arm.summary));
    }
    rows.push(format!("{:NAME$}{}", "", axis(&one.ticks())));
    if let Some(effect) = &one.effect {
        rows.push(String::new());
        rows.push(format!("{:<NAME$}{}", "effect", against(effect)));
        rows.push(format!("{:NAME$}{}", "", axis(&effect.ticks)));
        rows.push(format!("{:NAME$}{}", "", effect.summary));
    }
    rows.push(String::new());
    rows.push(LEGEND.to_owned());
    rows.into_iter()
        .map(|row| row.trim_end().to_owned())
        .collect()
}

const LEGEND: &str = "o run, 2-9 runs; [-|-] mean or effect, 95 % interval; : no change";

fn place(share: f64) -> usize {
    ((share * (WIDTH - 1) as f64).round() as usize).min(WIDTH - 1)
}

/// In ascending order, whatever a record says.
fn stretch(ends: [f64; 2]) -> [usize; 2] {
    let [one, other] = ends.map(place);
    [one.min(other), one.max(other)]
}

fn crowd(one: &EffectPlot<'_>, side: &Side) -> String {
    let mut many = [0_u32; WIDTH];
    for value in &side.values {
        many[place(one.share(*value))] += 1;
    }
    let sign = |many: &u32| match many {
        0 => ' ',
        1 => 'o',
        few => char::from_digit((*few).min(9), 10).unwrap_or('9'),
    };
    many.iter().map(sign).collect()
}

/// `None` for one run, which is its own mean.
fn bar(one: &EffectPlot<'_>, side: &Side) -> Option<String> {
    let ends = side.mean_ci95?.map(|end| one.share(end));
    let mut row = [' '; WIDTH];
    draw(&mut row, side.mean.map(|mean| one.share(mean)), Some(ends));
    Some(row.iter().collect())
}

fn against(effect: &Effect) -> String {
    let mut row = [' '; WIDTH];
    let [from, to] = stretch(effect.margin);
    row[from..=to].fill('.');
    draw(&mut row, Some(effect.at), effect.ends);
    let none = &mut row[place(effect.none)];
    if [' ', '.', '-'].contains(none) {
        *none = ':';
    }
    row.iter().collect()
}

fn draw(row: &mut [char; WIDTH], mean: Option<f64>, ends: Option<[f64; 2]>) {
    if let Some([low, high]) = ends.map(stretch) {
        row[low..=high].fill('-');
        (row[low], row[high]) = ('[', ']');
    }
    if let Some(mean) = mean {
        row[place(mean)] = '|';
    }
}

/// Ticks below a row, without those that would overlap.
fn axis(ticks: &[(f64, String)]) -> String {
    let mut row = String::new();
    for (share, text) in ticks {
        let wide = text.chars().count();
        let from = place(*share)
            .saturating_sub(wide / 2)
            .min(WIDTH - wide.min(WIDTH));
        let taken = row.chars().count();
        if taken == 0 || from > taken {
            row.push_str(&" ".repeat(from - taken));
            row.push_str(text);
        }
    }
    row
}

/// The margin at either end of the axis.
const ROOM: f64 = 0.04;
/// Columns of the names.
const NAME: usize = 8;
/// Columns of the axis: with name and unit it fits 80.
const WIDTH: usize = 58;
const MOST: usize = 8;
const MOST_WRITTEN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::Judgement;

    fn side(values: &[f64], mean_ci95: Option<[f64; 2]>) -> Side {
        Side {
            n: values.len() as u32,
            mean: Some(values.iter().sum::<f64>() / values.len() as f64),
            mean_ci95,
            values: values.to_vec(),
            ..Side::default()
        }
    }

    fn compared() -> Comparison {
        Comparison {
            metric: "throughput".to_owned(),
            name: "tcp down".to_owned(),
            unit: "bit/s".to_owned(),
            higher_is_better: true,
            primary: true,
            before: side(&[500e6, 510e6, 510e6, 520e6], Some([497e6, 523e6])),
            after: side(&[600e6, 604e6, 608e6, 620e6], Some([594e6, 622e6])),
            blocks: Some(2),
            ratio: Some(1.19),
            ci95: Some([1.16, 1.22]),
            margin: 0.02,
            verdict: Judgement::Better,
            ..Comparison::default()
        }
    }

    #[test]
    fn a_plot_in_characters() {
        let one = compared();
        let drawn = drawing(&EffectPlot::of(&one, ["A", "B"]).unwrap());
        let expected = "\
A          o    2   o
          [-----|----]
        mean 510.0 Mbit/s [497.0 … 523.0], 4 runs
B                                                     oo o    o
                                                   [-----|-----]
        mean 608.0 Mbit/s [594.0 … 622.0], 4 runs
          500                  550                   600

effect    ....:.....                              [-----|------]
             0 %       +5 %       +10 %      +15 %      +20 %
        B: +19 % [+16 % … +22 %]

o run, 2-9 runs; [-|-] mean or effect, 95 % interval; : no change";
        assert_eq!(drawn.join("\n"), expected);
    }

    /// The plots of two matrices are of all their cells: they name the sides as the tables of the cells do.
    #[test]
    fn plots_and_tables_name_the_sides_alike() {
        let whole = Comparison {
            blocks: None,
            ..compared()
        };
        let names = |all: &[Comparison]| of(all)[0].arms.each_ref().map(|arm| arm.name.to_owned());
        let cell = Comparison {
            cell: Some(1),
            ..whole.clone()
        };
        assert_eq!(names(&[whole.clone(), cell]), ["A", "B"]);
        let of_cells = Comparison {
            metric: "packets_per_second".to_owned(),
            name: "all cells".to_owned(),
            ..whole.clone()
        };
        assert!(
            of(&[of_cells])[0]
                .title
                .starts_with("packet rate all cells")
        );
        let mut labelled = whole;
        (labelled.before.label, labelled.after.label) = ("qfe".into(), "a long label".into());
        assert_eq!(names(&[labelled.clone()]), ["qfe", "a long label"]);
        let drawn = blocks(&[labelled]);
        let Block::Drawing { rows, .. } = &drawn[0] else {
            panic!("{drawn:?}");
        };
        assert!(rows[0].starts_with("qfe     ") && rows.contains(&"a long label".to_owned()));
    }

    #[test]
    fn no_row_is_wider_than_a_terminal_whatever_the_numbers() {
        for ratio in [1e-9, 0.01, 0.49, 0.9999, 1.0, 1.5, 3.4, 70.0, 1e12] {
            let one = Comparison {
                ratio: Some(ratio),
                ci95: Some([ratio * 0.8, ratio * 1.3]),
                after: side(&[510e6 * ratio, 512e6 * ratio], None),
                ..compared()
            };
            for row in drawing(&EffectPlot::of(&one, ["A", "B"]).unwrap()) {
                assert!(row.chars().count() <= 78, "{ratio}: {row}");
            }
        }
    }

    #[test]
    fn a_side_without_a_run_is_not_drawn_and_one_run_has_no_interval() {
        let one = Comparison {
            after: Side::default(),
            ..compared()
        };
        assert!(of(&[one]).is_empty());
        let alone = Comparison {
            before: side(&[1e6], None),
            after: side(&[2e6], None),
            ci95: None,
            ..compared()
        };
        let all = [alone];
        let drawn = of(&all);
        assert_eq!(drawn[0].arms[0].summary, "1.000 Mbit/s, 1 run");
        assert!(
            drawn[0]
                .effect
                .as_ref()
                .unwrap()
                .summary
                .contains("too few runs")
        );
    }

    #[test]
    fn ends_in_the_wrong_order_are_drawn_all_the_same() {
        let effect = |margin, ends| Effect {
            summary: String::new(),
            at: 0.5,
            ends: Some(ends),
            none: 0.5,
            margin,
            ticks: Vec::new(),
        };
        let right = against(&effect([0.4, 0.6], [0.2, 0.9]));
        let wrong = against(&effect([0.6, 0.4], [0.9, 0.2]));
        assert_eq!(right, wrong);
        assert_eq!(against(&effect([2.0, -1.0], [f64::NAN, 9.0])).len(), WIDTH);
    }
}
