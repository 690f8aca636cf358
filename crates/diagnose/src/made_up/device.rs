// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device in the middle, made line by line: its trials, what it counted, and the bound they gave.

use linerate_model::output::{
    DeviceProcessor, Forward, ForwardResult, Host, Interface, MovedCounter, Role, Trial,
    TrialDevice, TrialDirection,
};
use linerate_model::run::Run;

use linerate_model::record::Record;

/// One second from a to b, of 64 bytes, with an idle device of two processors.
pub(crate) fn trial(id: u32, load_fps: f64, offered: u64, lost: u64) -> Trial {
    let way = TrialDirection {
        from: "a".to_owned(),
        to: "b".to_owned(),
        intended_frames: offered,
        offered_frames: offered,
        received_frames: offered - lost,
        lost_frames: lost,
        ..TrialDirection::default()
    };
    Trial {
        id,
        purpose: "search".to_owned(),
        frame_bytes: 64,
        load_fps,
        duration_s: 1.0,
        directions: vec![way],
        loss_ratio: lost as f64 / offered as f64,
        device: Some(device([0.1, 0.1])),
        valid: true,
        ..Trial::default()
    }
}

/// Two processors, so busy, all of it with soft interrupts.
pub(crate) fn device(busy: [f64; 2]) -> TrialDevice {
    let processor = |number: u32| DeviceProcessor {
        number,
        busy_ratio: busy[number as usize],
        softirq_ratio: busy[number as usize],
        ..DeviceProcessor::default()
    };
    let busiest = u32::from(busy[1] > busy[0]);
    TrialDevice {
        elapsed_s: 1.0,
        processor: busiest,
        busy_ratio: busy[busiest as usize],
        softirq_ratio: busy[busiest as usize],
        processors: vec![processor(0), processor(1)],
        ..TrialDevice::default()
    }
}

pub(crate) fn counter(
    source: &str,
    interface: Option<&str>,
    name: &str,
    delta: u64,
) -> MovedCounter {
    MovedCounter {
        host: Role::Device,
        interface: interface.map(str::to_owned),
        name: name.to_owned(),
        delta,
        source: source.to_owned(),
    }
}

/// A bound for each size at the loads of its trials, and a device of its own with two ports.
pub(crate) fn record(trials: Vec<Trial>) -> Record {
    let mut results: Vec<ForwardResult> = Vec::new();
    for trial in &trials {
        let known = results
            .iter()
            .position(|one| one.frame_bytes == trial.frame_bytes);
        let at = known.unwrap_or_else(|| {
            results.push(ForwardResult {
                frame_bytes: trial.frame_bytes,
                goal: "ndr".to_owned(),
                direction: "a-b".to_owned(),
                ..ForwardResult::default()
            });
            results.len() - 1
        });
        let result = &mut results[at];
        if trial.loss_ratio == 0.0 {
            result.lower_fps = Some(result.lower_fps.unwrap_or(0.0).max(trial.load_fps));
            result.throughput_fps = result.lower_fps;
        } else {
            let upper = result.upper_fps.unwrap_or(f64::INFINITY);
            result.upper_fps = Some(upper.min(trial.load_fps));
        }
    }
    let host = |role, boot: &str, ports: &[&str]| Host {
        role,
        boot_id: Some(boot.to_owned()),
        cpus: Some(2),
        agent: true,
        withheld: None,
        interfaces: ports
            .iter()
            .map(|name| Interface {
                name: (*name).to_owned(),
                ..Interface::default()
            })
            .collect(),
        ..Host::default()
    };
    let run = Run {
        kind: "forward".to_owned(),
        hosts: vec![
            host(Role::Local, "tester", &["eth8", "eth9"]),
            host(Role::Device, "device", &["eth0", "eth1"]),
        ],
        forward: Some(Forward {
            flows: 4,
            ..Forward::default()
        }),
        results,
        ..Run::default()
    };
    Record::of_run(run, Vec::new()).with_trials(&trials)
}
