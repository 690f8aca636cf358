// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures of a run that can be compared between runs: one number per run.

use linerate_model::output::{
    Direction, ForwardResult, Knee, Latency, Output, Phase, Protocol, Test,
};
use linerate_model::units::BitsPerSecond;

use crate::stats::fairness;

/// Identifies a figure: figures of two runs with the same key can be compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// `throughput`, `loss`, `rtt-p99`, `knee`, `fairness`, `forwarding`, or an imported one's name.
    pub metric: String,
    /// The test: name, direction and requested rate.
    pub name: String,
    /// The unit; empty for ratios.
    pub unit: String,
    /// Whether a higher value is better.
    pub higher_is_better: bool,
}

/// One figure of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The figure.
    pub key: Key,
    /// The value as shown.
    pub value: f64,
    /// The positive value that is compared: a loss ratio has half a packet added, so that its logarithm exists.
    pub compared: f64,
    /// The rates of its flows, if there are several.
    pub flows: Vec<f64>,
}

impl Key {
    /// Whether it is selected by `metric`, such as `loss`, or `loss:down` for a name with that word.
    pub fn is_named(&self, metric: &str) -> bool {
        match metric.split_once(':') {
            Some((metric, word)) => self.metric == metric && self.name.contains(word),
            None => self.metric == metric,
        }
    }
}

/// Returns all figures of a run, the default primary one first. Invalid tests have none.
pub fn figures(output: &Output) -> Vec<Figure> {
    let counts = |test: &&Test| test.valid && output.kind != "sweep" && !output.is_trial(test);
    let tests: Vec<&Test> = output.tests.iter().filter(counts).collect();
    let of_tests = |of: fn(&Test) -> Option<Figure>| tests.iter().filter_map(move |test| of(test));
    let rates = of_tests(throughput);
    let rates = output.results.iter().filter_map(forwarding).chain(rates);
    let rates = rates.chain(output.knees.iter().filter_map(knee));
    let others = of_tests(loss).chain(of_tests(rtt)).chain(of_tests(share));
    let figures = rates.chain(others);
    figures
        .chain(output.latency.iter().filter_map(latency))
        .collect()
}

fn throughput(test: &Test) -> Option<Figure> {
    let delivered = test.delivered_bits_per_second?;
    Some(Figure {
        flows: flows(test),
        ..figure("throughput", name(test), "bit/s", true, delivered)
    })
}

fn loss(test: &Test) -> Option<Figure> {
    let sent = test.sent_packets.filter(|sent| *sent > 0)?;
    let ratio = test.loss_ratio?;
    Some(Figure {
        compared: ratio + 0.5 / sent as f64,
        ..figure(LOSS, name(test), "", false, ratio)
    })
}

fn rtt(test: &Test) -> Option<Figure> {
    let p99 = test.rtt_ns?.p99 as f64;
    Some(figure(RTT, name(test), "ns", false, p99))
}

fn share(test: &Test) -> Option<Figure> {
    let flows = flows(test);
    let index = fairness::jain(&flows).filter(|_| flows.len() > 1)?;
    Some(figure("fairness", name(test), "", true, index))
}

fn latency(latency: &Latency) -> Option<Figure> {
    let load = match latency.phase {
        Phase::Idle => "idle",
        Phase::Up => "under load up",
        Phase::Down => "under load down",
        Phase::Both => "under load both ways",
    };
    let p99 = latency.rtt_ns?.p99 as f64;
    Some(figure(RTT, format!("probe, {load}"), "ns", false, p99))
}

/// A rate that a longer trial refuted is none.
fn knee(knee: &Knee) -> Option<Figure> {
    let rate = knee.carried_bits_per_second()?;
    let goal = match knee.goal_loss_ratio {
        // 0.7 % was 0.006999999999999999 in older records.
        ratio if ratio > 0.0 => format!(" loss <= {}", (ratio * 1e12).round() / 1e12),
        _ => String::new(),
    };
    let name = format!("{} bytes {}{goal}", knee.payload_bytes, way(knee.direction));
    Some(figure("knee", name, "bit/s", true, rate))
}

fn forwarding(result: &ForwardResult) -> Option<Figure> {
    let rate = result.throughput_fps.filter(|_| !result.tester_limited)?;
    let (size, goal, direction) = (result.frame_bytes, &result.goal, &result.direction);
    let name = format!("{size} bytes {goal} {direction}");
    Some(figure("forwarding", name, "frame/s", true, rate))
}

fn figure(metric: &str, name: String, unit: &str, higher_is_better: bool, value: f64) -> Figure {
    Figure {
        key: Key {
            metric: metric.to_owned(),
            name,
            unit: unit.to_owned(),
            higher_is_better,
        },
        value,
        compared: value,
        flows: Vec::new(),
    }
}

/// Name, direction and, for UDP, the requested rate: another rate is another test.
fn name(test: &Test) -> String {
    let streams = match test.streams {
        0 | 1 => String::new(),
        streams => format!(", {streams} streams"),
    };
    let asked = match test.requested_bits_per_second {
        Some(rate) if test.protocol == Protocol::Udp => format!(", {} asked", BitsPerSecond(rate)),
        _ => String::new(),
    };
    format!("{} {}{streams}{asked}", test.name, way(test.direction))
}

fn flows(test: &Test) -> Vec<f64> {
    let rates = test.flows.iter().map(|flow| flow.delivered_bits_per_second);
    let rates: Option<Vec<f64>> = rates.collect();
    rates.filter(|rates| rates.len() > 1).unwrap_or_default()
}

fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "up",
        Direction::Down => "down",
    }
}

pub(super) const LOSS: &str = "loss";
pub(super) const RTT: &str = "rtt-p99";

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::{Confirmation, Quantiles};

    fn udp(lost: u64) -> Test {
        Test {
            name: "udp".to_owned(),
            protocol: Protocol::Udp,
            streams: 1,
            requested_bits_per_second: Some(400e6),
            delivered_bits_per_second: Some(399e6),
            sent_packets: Some(1000),
            loss_ratio: Some(lost as f64 / 1000.0),
            valid: true,
            ..Test::default()
        }
    }

    #[test]
    fn a_run_has_one_number_for_each_figure() {
        let output = Output {
            tests: vec![udp(20)],
            latency: vec![Latency {
                rtt_ns: Some(Quantiles {
                    p99: 70_000,
                    ..Quantiles::default()
                }),
                ..Latency::default()
            }],
            ..Output::new("udp", "0")
        };
        let found: Vec<_> = figures(&output)
            .into_iter()
            .map(|figure| (figure.key.metric, figure.key.name, figure.value))
            .collect();
        let name = "udp up, 400.0 Mbit/s asked".to_owned();
        assert_eq!(
            found,
            [
                ("throughput".to_owned(), name.clone(), 399e6),
                ("loss".to_owned(), name, 0.02),
                ("rtt-p99".to_owned(), "probe, idle".to_owned(), 70_000.0),
            ]
        );
    }

    #[test]
    fn a_rate_that_its_confirmation_refuted_is_no_figure() {
        let knees = |outcome: &str| {
            let knee = Knee {
                lossless_bits_per_second: Some(950e6),
                confirmation: Some(Confirmation {
                    outcome: outcome.to_owned(),
                    ..Confirmation::default()
                }),
                ..Knee::default()
            };
            figures(&Output {
                knees: vec![knee],
                ..Output::new("sweep", "0")
            })
        };
        assert_eq!(knees("confirmed").len(), 1);
        assert_eq!(knees("loss"), []);
    }

    #[test]
    fn no_loss_has_a_logarithm_and_an_invalid_test_no_figure() {
        let of = |test: Test| {
            let output = Output {
                tests: vec![test],
                ..Output::new("udp", "0")
            };
            figures(&output)
        };
        let figures = of(udp(0));
        assert_eq!((figures[1].value, figures[1].compared), (0.0, 0.0005));
        assert!(
            of(Test {
                valid: false,
                ..udp(0)
            })
            .is_empty()
        );
    }
}
