// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/json.md` and `docs/run-directory.md` name what is written, no more and no less.

use std::collections::BTreeSet;

use linerate_model::cell_run::CellRun;
use linerate_model::output::*;
use linerate_model::run::Run;
use linerate_model::sample::Sample;
use linerate_model::setting::Setting;
use serde_json::Value;

#[path = "json_doc/compared.rs"]
mod compared;
#[path = "json_doc/device.rs"]
mod device;
#[path = "json_doc/diagnosed.rs"]
mod diagnosed;
#[path = "json_doc/endpoint.rs"]
mod endpoint;
#[path = "json_doc/tuning.rs"]
mod tuning;

use compared::{comparison, experiment, history};
use diagnosed::{change, finding, ledger};
use endpoint::{host, knee, test};

const JSON: &str = include_str!("../../../docs/json.md");
const RUN_DIRECTORY: &str = include_str!("../../../docs/run-directory.md");

#[test]
fn every_name_of_the_document_is_described() {
    let mut written = BTreeSet::new();
    collect(
        &serde_json::to_value(populated()).unwrap(),
        "",
        &mut written,
    );
    let described = first_cells(JSON);
    let missing: Vec<_> = written.difference(&described).collect();
    let invented: Vec<_> = described.difference(&written).collect();
    assert!(missing.is_empty(), "not in docs/json.md: {missing:?}");
    assert!(invented.is_empty(), "only in docs/json.md: {invented:?}");
}

#[test]
fn every_name_of_the_run_directory_is_described() {
    let mut written = BTreeSet::new();
    for value in [
        serde_json::to_value(Run::default()).unwrap(),
        serde_json::to_value(Sample::default()).unwrap(),
        serde_json::to_value(CellRun::default()).unwrap(),
        serde_json::to_value(Setting::default()).unwrap(),
    ] {
        written.extend(value.as_object().unwrap().keys().cloned());
    }
    assert_eq!(first_cells(RUN_DIRECTORY), written);
}

#[test]
fn every_word_of_the_closed_sets_is_described() {
    let values = [
        serde_json::to_value([Role::Local, Role::Remote, Role::Device]),
        serde_json::to_value([
            LinkKind::Wire,
            LinkKind::Veth,
            LinkKind::Tap,
            LinkKind::Loopback,
        ]),
        serde_json::to_value([Protocol::Tcp, Protocol::Udp]),
        serde_json::to_value([Direction::Up, Direction::Down]),
        serde_json::to_value([Phase::Idle, Phase::Up, Phase::Down, Phase::Both]),
        serde_json::to_value([Limit::Sender, Limit::ReceiverCpu, Limit::ReceiverSocket]),
        serde_json::to_value([Limit::ReceiverInterface, Limit::SharedCpu]),
        serde_json::to_value([Limit::Path, Limit::Link, Limit::Unknown]),
        serde_json::to_value([Judgement::Better, Judgement::BetterButIrrelevant]),
        serde_json::to_value([Judgement::Worse, Judgement::WorseButIrrelevant]),
        serde_json::to_value([Judgement::Equivalent, Judgement::Inconclusive]),
        serde_json::to_value([
            GuardStatus::Held,
            GuardStatus::Harmed,
            GuardStatus::CannotTell,
        ]),
        serde_json::to_value([ExperimentPhase::Aa, ExperimentPhase::Ab]),
        serde_json::to_value([Arm::A, Arm::B]),
        serde_json::to_value([CellState::Done, CellState::Failed]),
        serde_json::to_value([CellState::Pending, CellState::NotPossible]),
        serde_json::to_value([CellState::NotComparable]),
        serde_json::to_value([ChangeState::Open, ChangeState::UnderWay, ChangeState::Kept]),
        serde_json::to_value([ChangeState::Restored, ChangeState::Vanished]),
        serde_json::to_value([ChangeState::Forgotten, ChangeState::Foreign]),
        serde_json::to_value([ChangeState::Elsewhere, ChangeState::Failed]),
        serde_json::to_value([CandidateState::Kept, CandidateState::Reverted]),
        serde_json::to_value([CandidateState::NotTried, CandidateState::NotPossible]),
        serde_json::to_value([CandidateState::RolledBack]),
        serde_json::to_value([Bound::Packets, Bound::Bytes, Bound::Neither]),
        serde_json::to_value([CostBasis::Machine, CostBasis::Streams, CostBasis::Process]),
        serde_json::to_value([EventsMissing::NoCounters, EventsMissing::NotAllowed]),
        serde_json::to_value([EventsMissing::NoPerf, EventsMissing::TooFew]),
        serde_json::to_value([CostDirection::Tx, CostDirection::Rx]),
        serde_json::to_value([MovedKind::Setting, MovedKind::Clock, MovedKind::Temperature]),
    ];
    for value in values {
        for word in value.unwrap().as_array().unwrap() {
            let word = word.as_str().unwrap();
            assert!(JSON.contains(&format!("`{word}`")), "{word}");
        }
    }
}

#[test]
fn the_document_reads_back() {
    let output = populated();
    let text = serde_json::to_string(&output).unwrap();
    assert_eq!(serde_json::from_str::<Output>(&text).unwrap(), output);
}

/// What the schema knows and this fixture leaves empty would go undescribed.
#[test]
fn the_fixture_leaves_nothing_empty() {
    fn full(value: &Value) -> bool {
        match value {
            Value::Array(list) => !list.is_empty() && list.iter().all(full),
            Value::Null => false,
            Value::Object(map) => map.values().all(full),
            _ => true,
        }
    }
    assert!(full(&serde_json::to_value(populated()).unwrap()));
}

/// Paths such as `tests[].mode.tx`. Objects that occur in many places have their own names.
fn collect(value: &Value, path: &str, paths: &mut BTreeSet<String>) {
    let Value::Object(map) = value else {
        if let Some(first) = value.as_array().and_then(|list| list.first()) {
            collect(first, &format!("{path}[]"), paths);
        }
        return;
    };
    let shape = match () {
        () if map.contains_key("p999") => "quantiles",
        () if map.contains_key("busiest_cpu") => "cpu",
        () if map.contains_key("flow_spread") => "side",
        () if map.contains_key("aa_log_ratios") => "comparison[]",
        () if ["cells[].axes", "matrix.plan"].contains(&path) => return,
        () => path,
    };
    for (name, value) in map {
        let path = format!("{shape}{}{name}", if shape.is_empty() { "" } else { "." });
        collect(value, &path, paths);
        paths.insert(path);
    }
}

/// The names in the first column of all tables.
fn first_cells(text: &str) -> BTreeSet<String> {
    let cells = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    cells.map(|(name, _)| name.to_owned()).collect()
}

fn text() -> String {
    "x".to_owned()
}

fn check() -> NicCheck {
    NicCheck {
        reason: Some(text()),
        example: Some(NicExample {
            offset: Some(1),
            frame: Some(text()),
            ..NicExample::default()
        }),
        change: Some(change()),
        ..NicCheck::default()
    }
}

fn setting_change() -> SettingChange {
    SettingChange {
        interface: Some(String::new()),
        before: Some(String::new()),
        effective: Some(String::new()),
        reason: Some(String::new()),
        commands: vec![String::new()],
        undo: vec![String::new()],
        persisted_file: Some(String::new()),
        comparison: Some(comparison()),
        ..SettingChange::default()
    }
}

fn dataplane() -> Dataplane {
    Dataplane {
        mode: Some(text()),
        bridge: Some(text()),
        attached: Some(text()),
        generic_because: Some(text()),
        ports: vec![DataplanePort {
            rx_packets: Some(1),
            tx_packets: Some(1),
            rx_dropped: Some(1),
            tx_dropped: Some(1),
            ..DataplanePort::default()
        }],
        verdicts: vec![DataplaneVerdict::default()],
        notes: vec![text()],
        ..Dataplane::default()
    }
}

fn populated() -> Output {
    Output {
        run_dir: Some(text()),
        command: vec![text()],
        hosts: vec![host()],
        tests: vec![test()],
        latency: vec![Latency {
            rtt_ns: Some(Quantiles::default()),
            ..Latency::default()
        }],
        verdicts: vec![Verdict {
            line_rate_bits_per_second: Some(1.0),
            ..Verdict::default()
        }],
        knees: vec![knee()],
        costs: vec![cost()],
        cost_fits: vec![CostFit::default()],
        cost_profiles: vec![CostProfile {
            test_ids: vec![text()],
            processors: vec![0],
            families: vec![CostShare::default()],
            contexts: vec![CostShare::default()],
            others: vec![CostFunction {
                module: Some(text()),
                ..CostFunction::default()
            }],
            missing: Some(SamplingMissing::NoSymbols),
            ..CostProfile::default()
        }],
        comparison: vec![comparison()],
        experiment: Some(experiment()),
        matrix: Some(matrix()),
        cells: vec![cell()],
        forward: Some(device::forward()),
        trials: vec![device::trial()],
        results: vec![ForwardResult {
            genome: Some(text()),
            lower_fps: Some(1.0),
            upper_fps: Some(1.0),
            throughput_fps: Some(1.0),
            l1_bits_per_second: Some(1.0),
            l2_bits_per_second: Some(1.0),
            line_rate_ratio: Some(1.0),
            latency_ns: Some(Quantiles::default()),
            irregular: Some(text()),
            ..ForwardResult::default()
        }],
        benchmarks: device::benchmarks(),
        checks: vec![check()],
        history: Some(history()),
        dataplane: Some(dataplane()),
        changes: vec![setting_change()],
        tuning: Some(tuning::tuning(&comparison())),
        moved: vec![Moved {
            interface: Some(text()),
            owner: Some(text()),
            ..Moved::default()
        }],
        lab_wire: vec![LabWire::default()],
        ledger: vec![ledger()],
        findings: vec![finding()],
        cannot_tell: vec![CannotTell {
            facts: vec![text()],
            missing: vec![text()],
            test_ids: vec![text()],
            ..CannotTell::default()
        }],
        settings: vec![Setting {
            interface: Some(text()),
            ..Setting::default()
        }],
        facts: vec![Fact {
            test_id: Some(text()),
            host: Some(Role::Local),
            interface: Some(text()),
            ..Fact::default()
        }],
        odd: vec![Passage::default()],
        weights: vec![Weight {
            line: Some(1),
            ..Weight::default()
        }],
        understood: vec![Passage::default()],
        ignored: vec![Passage::default()],
        next_commands: vec![text()],
        expectations: vec![Expectation {
            value: Some(1.0),
            of: Some(text()),
            ..Expectation::default()
        }],
        error: Some(ErrorReport::default()),
        ..Output::new("check", "0.1.0")
    }
}

fn cost() -> Cost {
    Cost {
        test_ids: vec![text()],
        mode: test().mode,
        requested_pps: Some(1.0),
        softirq_ns: Some(1.0),
        irq_ns: Some(1.0),
        stream_ns_per_packet: Some(1.0),
        machine_ns_per_packet: Some(1.0),
        shared_ns_per_packet: Some(1.0),
        resolution_ns: Some(1.0),
        background_ratio: Some(1.0),
        stolen_ratio: Some(1.0),
        cycles_per_packet: Some(1.0),
        instructions_per_packet: Some(1.0),
        cache_misses_per_packet: Some(1.0),
        events_missing: Some(EventsMissing::NoCounters),
        processors: vec![CostProcessor::default()],
        ..Cost::default()
    }
}

fn matrix() -> Matrix {
    Matrix {
        axes: vec![Axis {
            values: vec![text()],
            ..Axis::default()
        }],
        rows: vec![text()],
        plan: [("time".to_owned(), text())].into(),
        ran_on: vec![RanOn {
            hosts: vec![text()],
            ..RanOn::default()
        }],
        ..Matrix::default()
    }
}

fn cell() -> Cell {
    Cell {
        axes: [("axis".to_owned(), text())].into(),
        figures: vec![CellFigure {
            ci95: Some([1.0, 1.0]),
            values: vec![1.0],
            outliers: vec![0],
            ..CellFigure::default()
        }],
        reason: Some(text()),
        note: Some(text()),
        run_ids: vec![text()],
        excluded: vec![Excluded::default()],
        ..Cell::default()
    }
}
