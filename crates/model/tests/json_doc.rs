// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/json.md` and `docs/run-directory.md` name what is written, no more and no less.

use std::collections::BTreeSet;

use linerate_model::cell_run::CellRun;
use linerate_model::output::*;
use linerate_model::run::Run;
use linerate_model::sample::Sample;
use linerate_model::setting::Setting;
use serde_json::Value;

#[path = "json_doc/device.rs"]
mod device;
#[path = "json_doc/tuning.rs"]
mod tuning;

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
        change: Some(Change {
            commands: vec![text()],
            undo: vec![text()],
            figure: Some(text()),
            tradeoffs: vec![text()],
            ..Change::default()
        }),
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

fn host() -> Host {
    Host {
        hostname: Some(text()),
        boot_id: Some(text()),
        kernel: Some(text()),
        arch: Some(text()),
        cpu_model: Some(text()),
        cpus: Some(1),
        withheld: Some(Withheld::NeedsToken),
        interfaces: vec![Interface {
            driver: Some(text()),
            link_bits_per_second: Some(1),
            mtu: Some(1),
            link_kind: Some(LinkKind::Wire),
            ..Interface::default()
        }],
        ..Host::default()
    }
}

fn test() -> Test {
    Test {
        requested_bits_per_second: Some(1.0),
        offered_bits_per_second: Some(1.0),
        delivered_bits_per_second: Some(1.0),
        sent_packets: Some(1),
        received_packets: Some(1),
        lost_packets: Some(1),
        duplicate_packets: Some(1),
        reordered_packets: Some(1),
        reorder_extent_max: Some(1),
        late_packets: Some(1),
        corrupt_packets: Some(1),
        loss_ratio: Some(1.0),
        loss_ratio_upper95: Some(1.0),
        jitter_ns: Some(1.0),
        retransmits: Some(1),
        rtt_ns: Some(Quantiles::default()),
        delay_ns: Some(Quantiles::default()),
        delay_error_ns: Some(1),
        clock_drift_ppm: Some(1.5),
        mode: Mode {
            tx: Some(IoMode::default()),
            rx: Some(IoMode::default()),
            burst: Some(1),
        },
        spacing_ns: Some(Spacing::default()),
        spacing_histogram: vec![(1, 1)],
        window_bytes_max: Some(1),
        receive_buffer_bytes: Some(ReceiveBuffer {
            asked: Some(1),
            granted: Some(1),
        }),
        socket_drops: Some(1),
        socket_drops_at_least: true,
        receiver_run_delay_ns_max: Some(3_100_000),
        receiver_cpu_ratio_max: Some(0.5),
        sender_behind_ns_max: Some(1),
        unsent_packets: Some(1),
        refused_packets: Some(1),
        dscp: Some(Dscp {
            requested: Some(1),
            seen: Some(1),
        }),
        ecn: Some(Ecn {
            requested: Some(Codepoint::Ect0),
            arrived: Some(Arrived::default()),
            negotiated: Some(true),
            ect_seen: Some(true),
            delivered_segments: Some(1),
            delivered_ce_segments: Some(1),
        }),
        congestion: Some(text()),
        mss_bytes: Some(1),
        stalled_mss_bytes: Some(1),
        pacing_bits_per_second: Some(1.0),
        busy_time_us: Some(1),
        rwnd_limited_us: Some(1),
        sndbuf_limited_us: Some(1),
        local_address: Some(text()),
        remote_address: Some(text()),
        sent_bytes: Some(1),
        received_bytes: Some(1),
        local_interface: Some(text()),
        remote_interface: Some(text()),
        link_kind: Some(LinkKind::Veth),
        cpu: CpuPair {
            local: Some(Cpu::default()),
            remote: Some(Cpu::default()),
        },
        stream_cpu: StreamCpu {
            tx: threads(),
            rx: threads(),
        },
        flows: vec![Flow {
            local_port: Some(1),
            remote_port: Some(1),
            offered_bits_per_second: Some(1.0),
            sent_bytes: Some(1),
            received_bytes: Some(1),
            sent_packets: Some(1),
            delivered_bits_per_second: Some(1.0),
            lost_packets: Some(1),
            retransmits: Some(1),
            ..Flow::default()
        }],
        intervals: vec![interval()],
        loss_bursts: vec![LossBurst::default()],
        counters: vec![MovedCounter {
            interface: Some(text()),
            ..MovedCounter::default()
        }],
        invalid_reason: Some(text()),
        warnings: vec![Warning::default()],
        ..Test::default()
    }
}

fn knee() -> Knee {
    Knee {
        test_ids: vec![text()],
        lossless_bits_per_second: Some(1.0),
        lossy_bits_per_second: Some(1.0),
        lossless_pps: Some(1.0),
        lossy_pps: Some(1.0),
        loss_ratio_upper95: Some(1.0),
        constant_loss: Some(ConstantLoss {
            highest_bits_per_second: Some(1.0),
            ..ConstantLoss::default()
        }),
        confirmation: Some(Confirmation {
            loss_ratio_upper95: Some(1.0),
            ..Confirmation::default()
        }),
        ..Knee::default()
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
        cycles_per_packet: Some(1.0),
        instructions_per_packet: Some(1.0),
        cache_misses_per_packet: Some(1.0),
        events_missing: Some(EventsMissing::NoCounters),
        processors: vec![CostProcessor::default()],
        ..Cost::default()
    }
}

fn threads() -> Option<ThreadTime> {
    Some(ThreadTime {
        events: Some(ThreadEvents::default()),
        events_missing: Some(EventsMissing::NoCounters),
        ..ThreadTime::default()
    })
}

fn comparison() -> Comparison {
    let side = Side {
        median: Some(1.0),
        mad: Some(1.0),
        mean: Some(1.0),
        sd: Some(1.0),
        mean_ci95: Some([1.0, 1.0]),
        min: Some(1.0),
        max: Some(1.0),
        values: vec![1.0],
        runs: vec![text()],
        far_out: vec![0],
        far_out_upper95: Some(1.0),
        flow_fairness: Some(1.0),
        flow_spread: Some(1.0),
        ..Side::default()
    };
    Comparison {
        before: side.clone(),
        after: side,
        cell: Some(1),
        blocks: Some(1),
        blocks_planned: Some(1),
        order_seed: Some(1),
        aa_sigma: Some(1.0),
        aa_p: Some(1.0),
        aa_log_ratios: vec![1.0],
        log_ratios: vec![1.0],
        ratio: Some(1.0),
        ci95: Some([1.0, 1.0]),
        ci90: Some([1.0, 1.0]),
        p: Some(1.0),
        p_adjusted: Some(1.0),
        smallest_p: Some(1.0),
        e_value: Some(1.0),
        mde: Some(1.0),
        needed: Some(1),
        stopped: Some(text()),
        guards: vec![Guard {
            before: Some(1.0),
            after: Some(1.0),
            ratio: Some(1.0),
            ci90: Some([1.0, 1.0]),
            needed: Some(1),
            ..Guard::default()
        }],
        environment_diff: vec![Difference {
            host: Some(Role::Local),
            interface: Some(text()),
            before: vec![text()],
            after: vec![text()],
            ..Difference::default()
        }],
        excluded: vec![Excluded::default()],
        ..Comparison::default()
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

fn experiment() -> Experiment {
    Experiment {
        measurement: vec![text()],
        metric: Some(text()),
        stopped: Some(text()),
        restored: Some(Restored {
            error: Some(text()),
            ..Restored::default()
        }),
        runs: vec![ExperimentRun {
            run_dir: Some(text()),
            invalid_reason: Some(text()),
            figures: vec![ExperimentFigure {
                flows: vec![1.0],
                ..ExperimentFigure::default()
            }],
            ..ExperimentRun::default()
        }],
        environment_diff: comparison().environment_diff,
        ..Experiment::default()
    }
}

fn history() -> History {
    History {
        runs: vec![StoredRun {
            figures: vec![StoredFigure::default()],
            verdict: Some(text()),
            error: Some(text()),
            ..StoredRun::default()
        }],
        unreadable: vec![Unreadable::default()],
        trend: Some(Trend {
            points: vec![TrendPoint::default()],
            levels: vec![TrendLevel {
                change_ratio: Some(1.0),
                p: Some(1.0),
                changed: vec![Difference {
                    host: Some(Role::Local),
                    interface: Some(text()),
                    before: vec![text()],
                    after: vec![text()],
                    ..Difference::default()
                }],
                ..TrendLevel::default()
            }],
            ..Trend::default()
        }),
        ..History::default()
    }
}

fn interval() -> Interval {
    Interval {
        sent_bits_per_second: Some(1.0),
        received_bits_per_second: Some(1.0),
        sent_packets: Some(1),
        lost_packets: Some(1),
        retransmits: Some(1),
        cwnd_bytes: Some(1),
        rtt_ns: Some(1),
        ..Interval::default()
    }
}

fn ledger() -> LedgerEntry {
    LedgerEntry {
        stages: vec![Stage {
            interface: Some(text()),
            evidence: vec![Evidence::default()],
            ..Stage::default()
        }],
        blind: vec![text()],
        unread: vec![Unread::default()],
        ..LedgerEntry::default()
    }
}

fn finding() -> Finding {
    Finding {
        interface: Some(text()),
        conflicts: vec![text()],
        check: Some(Check::default()),
        alternatives: vec![text()],
        test_ids: vec![text()],
        explains: Explains {
            lost_packets: Some(1),
            shared_packets: Some(1),
            shared_with: vec![text()],
            bits_per_second: Some(1.0),
        },
        evidence: vec![Evidence::default()],
        change: Some(Change {
            commands: vec![text()],
            undo: vec![text()],
            figure: Some(text()),
            tradeoffs: vec![text()],
            ..Change::default()
        }),
        ..Finding::default()
    }
}
