// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--expect`: a metric, a comparison and a bound, such as `loss<=0.1%`, `rtt<500us` or `lost=0`; without a
//! metric, as in `>=940M`, the delivered rate is meant. An unknown number does not meet an expectation.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::output::{self, Direction, Knee, Output, Phase, Test, Verdict};
use crate::units::format::{BIT_RATES, TIMES, percent, with_unit};
use crate::units::parse::UnitError;
use crate::units::{Nanos, Rate, Ratio};

/// What is compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Metric {
    /// Delivered payload rate: of `check` the verdicts', of `sweep` the highest rate without loss.
    #[default]
    Rate,
    /// Loss ratio.
    Loss,
    /// Lost datagrams.
    Lost,
    /// Duplicates.
    Duplicates,
    /// Reordered datagrams.
    Reordered,
    /// TCP retransmissions.
    Retransmits,
    /// RFC 3550 jitter.
    Jitter,
    /// 99th percentile of the round-trip time: of the probe, else of TCP.
    Rtt,
}

/// How a number compares with its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// `<`
    LessThan,
    /// `>`
    MoreThan,
}

/// The bound in base units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Bits per second, a ratio, a count or nanoseconds, according to the metric.
    Absolute(f64),
    /// A share of the line rate.
    OfLineRate(f64),
}

/// One expectation.
#[derive(Debug, Clone, PartialEq)]
pub struct Expect {
    /// As typed.
    pub expression: String,
    /// Which number.
    pub metric: Metric,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what.
    pub bound: Bound,
}

/// An expectation that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectError {
    expression: String,
    why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Why {
    NoComparison,
    UnknownMetric(String),
    Bound(UnitError),
    Count(String),
}

impl fmt::Display for ExpectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not an expectation: ", self.expression)?;
        match &self.why {
            Why::NoComparison => {
                f.write_str("it has no comparison (>= <= = < >); write '>=940M' or 'loss<=0.1%'")
            }
            Why::UnknownMetric(name) => {
                let names: Vec<_> = METRICS.iter().map(|(name, _)| *name).collect();
                write!(f, "`{name}` is not one of {}", names.join(", "))
            }
            Why::Bound(error) => error.fmt(f),
            Why::Count(text) => write!(f, "`{text}` is not a whole number"),
        }
    }
}

impl Error for ExpectError {}

impl FromStr for Expect {
    type Err = ExpectError;

    fn from_str(expression: &str) -> Result<Self, ExpectError> {
        let refuse = |why| ExpectError {
            expression: expression.to_owned(),
            why,
        };
        let (name, comparison, bound) =
            split(expression).ok_or_else(|| refuse(Why::NoComparison))?;
        let metric =
            metric_named(name).ok_or_else(|| refuse(Why::UnknownMetric(name.to_owned())))?;
        Ok(Self {
            expression: expression.to_owned(),
            metric,
            comparison,
            bound: bound_of(metric, bound).map_err(refuse)?,
        })
    }
}

impl Expect {
    /// Whether `value` (base units) meets it, given the line rate in bit/s.
    #[must_use]
    pub fn met_by(&self, value: f64, line_rate: Option<f64>) -> bool {
        let bound = match self.bound {
            Bound::Absolute(bound) => bound,
            Bound::OfLineRate(share) => match line_rate {
                Some(line_rate) => share * line_rate,
                None => return false,
            },
        };
        match self.comparison {
            Comparison::AtLeast => value >= bound,
            Comparison::AtMost => value <= bound,
            Comparison::Equal => value == bound,
            Comparison::LessThan => value < bound,
            Comparison::MoreThan => value > bound,
        }
    }

    /// Judges a whole document: every number of the metric must be known and meet the bound. Trials of a
    /// search do not count, only the rate that it found. `line_rate` returns the highest payload rate of a
    /// test's link in bit/s, if known; a bound relative to an unknown line rate is not met.
    #[must_use]
    pub fn judge(
        &self,
        output: &Output,
        line_rate: impl Fn(&Test) -> Option<f64>,
    ) -> output::Expectation {
        let numbers = self.numbers(output, &line_rate);
        let fails = |number: &&Number| {
            let met = number
                .value
                .map(|value| self.met_by(value, number.line_rate));
            met != Some(true)
        };
        let failing = || numbers.iter().filter(fails);
        let shown = failing().find(|number| number.value.is_some());
        let shown = shown.or_else(|| failing().next());
        output::Expectation {
            expression: self.expression.clone(),
            met: !numbers.is_empty() && shown.is_none(),
            value: shown.and_then(|number| number.value),
            of: match numbers.is_empty() {
                true => Some(NOTHING.to_owned()),
                false => shown.map(|number| number.of.clone()),
            },
        }
    }

    /// All numbers of the metric, each with the line rate of its direction.
    fn numbers(&self, output: &Output, line_rate: &dyn Fn(&Test) -> Option<f64>) -> Vec<Number> {
        match (self.metric, output.kind.as_str()) {
            (Metric::Rate, "check") => output.verdicts.iter().map(achieved).collect(),
            (Metric::Rate, "sweep") => {
                let trial = |knee: &Knee| output.test(knee.test_ids.first()?);
                let knees = output.knees.iter();
                knees
                    .map(|knee| Number {
                        value: knee.carried_bits_per_second(),
                        line_rate: trial(knee).and_then(line_rate),
                        of: way(knee.direction).to_owned(),
                    })
                    .collect()
            }
            (Metric::Rtt, _) if !output.latency.is_empty() => {
                let p99 = |latency: &output::Latency| Number {
                    value: latency.rtt_ns.map(|rtt| rtt.p99 as f64),
                    line_rate: None,
                    of: load(latency.phase).to_owned(),
                };
                output.latency.iter().map(p99).collect()
            }
            (metric, _) => {
                let counts = |test: &&Test| !output.is_trial(test) && applies(metric, test);
                let tests = output.tests.iter().filter(counts);
                tests
                    .map(|test| Number {
                        value: number_of(metric, test),
                        line_rate: line_rate(test),
                        of: called(test),
                    })
                    .collect()
            }
        }
    }
}

impl output::Expectation {
    /// What was measured instead, if it was not met and was an expectation of a number: `0.42 %, udp up`.
    #[must_use]
    pub fn measured(&self) -> Option<String> {
        let expect: Expect = self.expression.parse().ok()?;
        let of = self.of.as_deref().filter(|_| !self.met)?;
        let value = self.value.map(|value| expect.metric.text(value));
        let value = value.unwrap_or_else(|| "unknown".to_owned());
        Some(format!("{value}, {of}"))
    }
}

impl Metric {
    fn text(self, value: f64) -> String {
        match self {
            Self::Rate => with_unit(value, BIT_RATES),
            Self::Loss => format!("{} %", percent(value)),
            Self::Jitter | Self::Rtt => with_unit(value, TIMES),
            Self::Lost | Self::Duplicates | Self::Reordered | Self::Retransmits => {
                value.to_string()
            }
        }
    }
}

/// A number of the metric.
struct Number {
    value: Option<f64>,
    /// Of its direction, bit/s.
    line_rate: Option<f64>,
    of: String,
}

fn achieved(verdict: &Verdict) -> Number {
    Number {
        value: Some(verdict.achieved_bits_per_second),
        line_rate: verdict.line_rate_bits_per_second,
        of: way(verdict.direction).to_owned(),
    }
}

/// The test's name and direction; its id has both.
fn called(test: &Test) -> String {
    match test.name.as_str() {
        "" => test.id.clone(),
        name => format!("{name} {}", way(test.direction)),
    }
}

const fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "up",
        Direction::Down => "down",
    }
}

const fn load(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "idle",
        Phase::Up => "up",
        Phase::Down => "down",
        Phase::Both => "both directions",
    }
}

/// Whether tests of this protocol have the metric.
fn applies(metric: Metric, test: &Test) -> bool {
    match metric {
        Metric::Rate => true,
        Metric::Retransmits | Metric::Rtt => test.protocol == output::Protocol::Tcp,
        Metric::Duplicates | Metric::Jitter | Metric::Loss | Metric::Lost | Metric::Reordered => {
            test.protocol == output::Protocol::Udp
        }
    }
}

fn number_of(metric: Metric, test: &Test) -> Option<f64> {
    let count = |count: Option<u64>| count.map(|count| count as f64);
    if !test.valid {
        return None;
    }
    match metric {
        Metric::Rate => test.delivered_bits_per_second,
        Metric::Loss => test.loss_ratio,
        Metric::Lost => count(test.lost_packets),
        Metric::Duplicates => count(test.duplicate_packets),
        Metric::Reordered => count(test.reordered_packets),
        Metric::Retransmits => count(test.retransmits),
        Metric::Jitter => test.jitter_ns,
        Metric::Rtt => test.rtt_ns.map(|rtt| rtt.p99 as f64),
    }
}

/// Name, comparison and bound.
fn split(expression: &str) -> Option<(&str, Comparison, &str)> {
    let at = expression.find(['<', '>', '='])?;
    let (name, rest) = expression.split_at(at);
    let (comparison, bound) = COMPARISONS
        .iter()
        .find_map(|(sign, comparison)| Some((*comparison, rest.strip_prefix(sign)?)))?;
    Some((name.trim(), comparison, bound.trim()))
}

fn metric_named(name: &str) -> Option<Metric> {
    if name.is_empty() {
        return Some(Metric::Rate);
    }
    let named = METRICS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    Some(named.1)
}

fn bound_of(metric: Metric, text: &str) -> Result<Bound, Why> {
    match metric {
        Metric::Rate => match text.parse().map_err(Why::Bound)? {
            Rate::Bits(bits) => Ok(Bound::Absolute(bits.0)),
            Rate::LineRate(share) => Ok(Bound::OfLineRate(share.0)),
            Rate::Packets(_) => Err(Why::Bound(UnitError {
                value: text.to_owned(),
                wanted: "a payload rate",
                why: None,
                forms: "940M or 80%",
            })),
        },
        Metric::Loss => {
            let ratio: Ratio = text.parse().map_err(Why::Bound)?;
            Ok(Bound::Absolute(ratio.0))
        }
        Metric::Jitter | Metric::Rtt => {
            let nanos: Nanos = text.parse().map_err(Why::Bound)?;
            Ok(Bound::Absolute(nanos.0 as f64))
        }
        Metric::Duplicates | Metric::Lost | Metric::Reordered | Metric::Retransmits => {
            let count: u32 = text.parse().map_err(|_| Why::Count(text.to_owned()))?;
            Ok(Bound::Absolute(f64::from(count)))
        }
    }
}

/// What an unknown number is of if the run has none of the kind.
const NOTHING: &str = "no test has it";

const METRICS: &[(&str, Metric)] = &[
    ("rate", Metric::Rate),
    ("loss", Metric::Loss),
    ("lost", Metric::Lost),
    ("duplicates", Metric::Duplicates),
    ("reordered", Metric::Reordered),
    ("retransmits", Metric::Retransmits),
    ("jitter", Metric::Jitter),
    ("rtt", Metric::Rtt),
];

/// Longer signs first.
const COMPARISONS: &[(&str, Comparison)] = &[
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    ("==", Comparison::Equal),
    ("=", Comparison::Equal),
    ("<", Comparison::LessThan),
    (">", Comparison::MoreThan),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Confirmation, Knee, Protocol};

    #[test]
    fn expressions() {
        use Comparison::{AtLeast, AtMost, Equal, LessThan};
        for (text, metric, comparison, bound) in [
            (">=940M", Metric::Rate, AtLeast, Bound::Absolute(9.4e8)),
            ("rate >= 80%", Metric::Rate, AtLeast, Bound::OfLineRate(0.8)),
            ("loss<=0.1%", Metric::Loss, AtMost, Bound::Absolute(0.001)),
            ("lost=0", Metric::Lost, Equal, Bound::Absolute(0.0)),
            ("rtt<500us", Metric::Rtt, LessThan, Bound::Absolute(5e5)),
        ] {
            let expect: Expect = text.parse().unwrap();
            assert_eq!(
                (expect.metric, expect.comparison, expect.bound),
                (metric, comparison, bound)
            );
        }
    }

    #[test]
    fn refusals_say_what_is_allowed() {
        for (text, wanted) in [
            (
                "940M",
                "`940M` is not an expectation: it has no comparison (>= <= = < >); write '>=940M' or 'loss<=0.1%'",
            ),
            (
                "speed>1G",
                "`speed>1G` is not an expectation: `speed` is not one of rate, loss, lost, duplicates, \
                 reordered, retransmits, jitter, rtt",
            ),
            (
                "loss<=2x",
                "`loss<=2x` is not an expectation: `2x` is not a share; write 0.1% or 0.001",
            ),
            (
                "lost=few",
                "`lost=few` is not an expectation: `few` is not a whole number",
            ),
        ] {
            assert_eq!(text.parse::<Expect>().unwrap_err().to_string(), wanted);
        }
    }

    fn udp(id: &str, delivered: f64, loss: Option<f64>) -> Test {
        Test {
            id: id.to_owned(),
            protocol: Protocol::Udp,
            delivered_bits_per_second: Some(delivered),
            loss_ratio: loss,
            valid: true,
            ..Test::default()
        }
    }

    fn met(expression: &str, output: &Output) -> bool {
        let expect: Expect = expression.parse().unwrap();
        expect.judge(output, |_| Some(957e6)).met
    }

    #[test]
    fn every_test_must_meet_it_and_unknown_does_not() {
        let mut output = Output {
            tests: vec![udp("a", 950e6, Some(0.0)), udp("b", 930e6, Some(0.002))],
            ..Output::new("udp", "0")
        };
        assert!(met(">=930M", &output));
        assert!(!met(">=940M", &output));
        assert!(met("loss<=0.2%", &output));
        assert!(!met("loss<=0.1%", &output));
        assert!(!met("rtt<1s", &output), "nothing was probed");
        output.tests[0].loss_ratio = None;
        assert!(!met("loss<=1", &output));
    }

    #[test]
    fn what_does_not_meet_it_is_named_with_its_number() {
        let mut tests = [
            udp("udp-up", 950e6, Some(0.0)),
            udp("", 930e6, Some(0.0042)),
        ];
        tests[1].name = "udp".to_owned();
        tests[1].direction = Direction::Down;
        let output = Output {
            tests: tests.to_vec(),
            ..Output::new("udp", "0")
        };
        let measured = |expression: &str| {
            let expect: Expect = expression.parse().unwrap();
            expect.judge(&output, |_| None).measured()
        };
        for (expression, wanted) in [
            ("loss<=0.1%", Some("0.4200 %, udp down")),
            (">=940M", Some("930.0 Mbit/s, udp down")),
            (">=1G", Some("950.0 Mbit/s, udp-up")),
            ("lost=0", Some("unknown, udp-up")),
            ("retransmits=0", Some("unknown, no test has it")),
            ("loss<=1%", None),
        ] {
            assert_eq!(measured(expression).as_deref(), wanted, "{expression}");
        }
    }

    #[test]
    fn an_invalid_test_meets_nothing() {
        let mut output = Output::new("udp", "0");
        output.tests = vec![udp("a", 950e6, Some(0.0))];
        output.tests[0].valid = false;
        assert!(!met(">=1", &output));
        assert!(!met("loss<=100%", &output));
    }

    #[test]
    fn a_check_is_judged_by_its_verdicts_and_not_by_trials() {
        let output = Output {
            tests: vec![udp("t1", 100e6, Some(0.5)), udp("t2", 900e6, Some(0.0))],
            knees: vec![Knee {
                test_ids: vec!["t1".to_owned()],
                ..Knee::default()
            }],
            verdicts: vec![Verdict {
                achieved_bits_per_second: 941e6,
                line_rate_bits_per_second: Some(957e6),
                ..Verdict::default()
            }],
            ..Output::new("check", "0")
        };
        assert!(met(">=940M", &output));
        assert!(met(">=98%", &output));
        assert!(!met(">=99%", &output));
        assert!(met("loss=0%", &output));
    }

    /// A rate that a longer trial showed to be lossy is no lossless rate.
    #[test]
    fn a_sweep_is_judged_by_a_rate_that_its_confirmation_did_not_refute() {
        let swept = |outcome: Option<&str>| Output {
            knees: vec![Knee {
                lossless_bits_per_second: Some(950e6),
                confirmation: outcome.map(|outcome| Confirmation {
                    outcome: outcome.to_owned(),
                    ..Confirmation::default()
                }),
                ..Knee::default()
            }],
            ..Output::new("sweep", "0")
        };
        for (outcome, is_met) in [
            (None, true),
            (Some("confirmed"), true),
            (Some("sender"), true),
            (Some("loss"), false),
        ] {
            assert_eq!(met(">=900M", &swept(outcome)), is_met, "{outcome:?}");
        }
    }

    #[test]
    fn a_share_is_of_the_rate_that_the_link_allows_the_test() {
        let output = Output {
            tests: vec![udp("a", 900e6, Some(0.0))],
            ..Output::new("udp", "0")
        };
        let share: Expect = ">=90%".parse().unwrap();
        assert!(share.judge(&output, |_| Some(957e6)).met);
        assert!(!share.judge(&output, |_| Some(2e9)).met);
        assert!(!share.judge(&output, |_| None).met, "no wire, no rate");
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in ".{0,24}") {
            let _ = text.parse::<Expect>();
        }
    }
}
