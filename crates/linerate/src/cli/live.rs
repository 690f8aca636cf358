// SPDX-License-Identifier: MIT OR Apache-2.0
//! The running test on a terminal, drawn by [`linerate_report::live`]. Ledger and processors come from
//! the record so far, by the same code as at the end.

use std::time::Instant;

use linerate_diagnose::glance;
use linerate_model::output::{Direction, Interval, Role, Test};
use linerate_model::record::Record;
use linerate_model::run::Run;
use linerate_model::sample::{Phase, Sample};
use linerate_report::live::{Lane, Screen, lines};

use super::forecast::{Ahead, Forecast, Need};
use crate::output::Console;
use linerate_endpoint::{Event, TestPlan};

/// What is known of the command that runs, and of its test.
#[derive(Debug)]
pub(super) struct Live {
    begun: Instant,
    forecast: Forecast,
    keys: bool,
    test: Option<Running>,
}

/// One test.
#[derive(Debug)]
struct Running {
    screen: Screen,
    /// One provisional entry a direction, in the order of the lanes.
    record: Record,
    /// Lost so far, as the lanes: a late datagram takes one back.
    lost: [i64; 2],
}

impl Live {
    /// Nothing runs yet; `keys` says whether `q` is listened to.
    pub(super) fn new(keys: bool) -> Self {
        Self {
            begun: Instant::now(),
            forecast: Forecast::here(),
            keys,
            test: None,
        }
    }

    /// What the duration of a command is estimated with.
    pub(super) fn forecast(&self) -> &Forecast {
        &self.forecast
    }

    /// The user reads when this plan ends, and the longest one.
    pub(super) fn announce(&mut self, plan: Ahead, most: Ahead) {
        self.forecast.announce(self.elapsed_s(), plan, most);
    }

    /// Whether there is time for a step that the command can do without.
    pub(super) fn has_time(&self, need: Need, step: Ahead, later: Ahead) -> bool {
        self.forecast.has_time(self.elapsed_s(), need, step, later)
    }

    /// A step begins, with what follows it. Returns the time left where the announcement was wrong.
    pub(super) fn step(&mut self, step_ms: u64, later: Ahead) -> Option<f64> {
        self.forecast.step(self.elapsed_s(), step_ms, later)
    }

    fn elapsed_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Takes in an event, and draws what it changed.
    pub(super) fn show(&mut self, console: &mut Console, plan: &TestPlan, event: &Event<'_>) {
        if !console.redraws() {
            return;
        }
        match event {
            Event::Connected { .. } => self.test = Some(Running::new(plan)),
            Event::Started | Event::Note(_) => {}
            Event::Stream { .. } | Event::StreamInterval { .. } => return,
            Event::Interval {
                direction,
                interval,
            } => self.running(plan).take_interval(*direction, interval),
            Event::SoFar {
                direction,
                bytes,
                elapsed_ns,
            } => {
                let bits = *bytes as f64 * 8e9;
                let rate = bits / (*elapsed_ns).max(1) as f64;
                self.running(plan).take_so_far(*direction, rate);
            }
            Event::Samples(samples) => self.running(plan).take_samples(samples),
            Event::Settings(_) | Event::State(_) | Event::Latency { .. } | Event::Stopping => {
                return;
            }
        }
        self.draw(console, plan);
    }

    fn running(&mut self, plan: &TestPlan) -> &mut Running {
        self.test.get_or_insert_with(|| Running::new(plan))
    }

    fn draw(&mut self, console: &mut Console, plan: &TestPlan) {
        let elapsed_s = self.elapsed_s();
        let of_test_s = (plan.bytes.is_none() && plan.blocks.is_none())
            .then_some(plan.duration_ms as f64 / 1e3);
        let left_s = self.forecast.left_s(elapsed_s);
        let left_s = left_s.or(of_test_s.map(|all_s| all_s - elapsed_s));
        let keys = self.keys;
        let screen = &mut self.running(plan).screen;
        screen.elapsed_s = elapsed_s;
        screen.left_s = left_s;
        screen.keys = keys;
        let lines = lines(screen, &console.look);
        console.block(&lines);
    }
}

impl Running {
    fn new(plan: &TestPlan) -> Self {
        let directions: &[Direction] = match plan.direction {
            _ if super::progress::is_idle(plan) => &[],
            linerate_endpoint::Direction::Up => &[Direction::Up],
            linerate_endpoint::Direction::Down => &[Direction::Down],
            linerate_endpoint::Direction::Both => &[Direction::Up, Direction::Down],
        };
        let lane = |direction: &Direction| Lane {
            direction: *direction,
            ..Lane::default()
        };
        let run = Run {
            tests: directions
                .iter()
                .map(|way| provisional(plan, *way))
                .collect(),
            ..Run::default()
        };
        Self {
            screen: Screen {
                title: super::progress::heading(plan),
                lanes: directions.iter().map(lane).collect(),
                ..Screen::default()
            },
            record: Record::of_run(run, Vec::new()),
            lost: [0; 2],
        }
    }

    fn take_interval(&mut self, direction: Direction, interval: &Interval) {
        let lanes = self.screen.lanes.iter_mut().zip(&mut self.record.run.tests);
        let lanes = lanes.zip(&mut self.lost);
        for ((lane, test), lost) in lanes.filter(|((lane, _), _)| lane.direction == direction) {
            let rate = interval.received_bits_per_second;
            let rate = rate.or(interval.sent_bits_per_second);
            lane.rates_bits_per_second.extend(rate);
            add(&mut lane.retransmits, interval.retransmits);
            add(&mut test.sent_packets, interval.sent_packets);
            if let Some(more) = interval.lost_packets {
                *lost += more;
                test.lost_packets = Some(u64::try_from(*lost).unwrap_or(0));
            }
            lane.lost_of_sent = test.lost_packets.zip(test.sent_packets);
        }
        self.judge();
    }

    fn take_so_far(&mut self, direction: Direction, bits_per_second: f64) {
        let of = |lane: &&mut Lane| lane.direction == direction;
        for lane in self.screen.lanes.iter_mut().filter(of) {
            lane.so_far_bits_per_second = Some(bits_per_second);
        }
    }

    /// Of each source the first sample at rest, the first under load and the last two are enough.
    fn take_samples(&mut self, samples: &[Sample]) {
        for sample in samples {
            let same = |at: &usize| {
                let known = &self.record.samples[*at];
                known.same_source(sample) && known.phase == sample.phase
            };
            let known: Vec<usize> = (0..self.record.samples.len()).filter(same).collect();
            if known.len() >= KEPT {
                self.record.samples.remove(known[1]);
            }
            self.record.samples.push(sample.clone());
            self.meet(sample);
        }
        self.screen.hosts = glance::busy(&self.record.samples);
        self.judge();
    }

    /// A host's interface in the test is the one that its samples are of.
    fn meet(&mut self, sample: &Sample) {
        for test in &mut self.record.run.tests {
            let own = match sample.host {
                Role::Local => &mut test.local_interface,
                Role::Remote | Role::Device => &mut test.remote_interface,
            };
            if own.is_none() && sample.phase == Some(Phase::Load) {
                own.clone_from(&sample.interface);
            }
        }
    }

    fn judge(&mut self) {
        for test in &mut self.record.run.tests {
            let received = test.sent_packets.zip(test.lost_packets);
            test.received_packets = received.map(|(sent, lost)| sent.saturating_sub(lost));
        }
        let losing = glance::losing(&self.record);
        for lane in &mut self.screen.lanes {
            let own = losing.iter().find(|one| one.direction == lane.direction);
            lane.worst = own.cloned();
        }
    }
}

/// As much of the entry as is known before its end.
fn provisional(plan: &TestPlan, direction: Direction) -> Test {
    Test {
        id: format!("{}-{}", plan.name, super::progress::word(direction)),
        group: plan.group.clone(),
        protocol: plan.protocol,
        af: 4,
        direction,
        ..Test::default()
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

/// Samples of one source and phase.
const KEPT: usize = 3;
