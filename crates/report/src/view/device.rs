// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the DUT itself counted at the bound of each size: one line per size and direction.

use linerate_diagnose::dut;
use linerate_model::output::{ForwardResult, LedgerEntry, Output, Trial, TrialDevice};

use super::ledger::span;
use super::{Block, Line, Tone};

pub(super) fn block(output: &Output) -> Option<Block> {
    let source = output.forward.as_ref()?.device.as_ref()?;
    let mut shown: Vec<(u16, &str)> = Vec::new();
    let mut lines = Vec::new();
    for result in &output.results {
        let row = (result.frame_bytes, result.direction.as_str());
        let Some(trial) = dut::of(result, &output.trials).filter(|_| !shown.contains(&row)) else {
            continue;
        };
        shown.push(row);
        lines.extend(line(output, result, trial));
    }
    if let Some(why) = &source.stopped {
        let text = format!("it stopped reporting during the run: {why}");
        lines.push(Line::new(2, text).tone(Tone::Warn));
    }
    Block::lines("The device at its bound, by its own counters", lines)
}

fn line(output: &Output, result: &ForwardResult, trial: &Trial) -> Option<Line> {
    let device = trial.device.as_ref()?;
    let name = dut::name(trial);
    let entry = output.ledger.iter().find(|entry| entry.test_id == name);
    let parts = [
        Some(processor(device)),
        queue(device),
        entry.and_then(stage),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Some(Line::new(
        2,
        format!(
            "{} bytes {}, {name}: {}",
            result.frame_bytes,
            result.direction,
            parts.join("; ")
        ),
    ))
}

fn processor(device: &TrialDevice) -> String {
    let others: Vec<f64> = device
        .processors
        .iter()
        .filter(|one| one.number != device.processor)
        .map(|one| one.busy_ratio)
        .collect();
    let rest = match others.len() {
        0 => String::new(),
        count => {
            let mean = others.iter().sum::<f64>() / count as f64;
            format!(", the others {}", percent(mean))
        }
    };
    format!(
        "CPU{} {} busy, {} softirq{rest}",
        device.processor,
        percent(device.busy_ratio),
        percent(device.softirq_ratio)
    )
}

/// The queue that took nearly all, where several are counted.
fn queue(device: &TrialDevice) -> Option<String> {
    let top = device.queues.iter().max_by_key(|queue| queue.packets)?;
    let own = device
        .queues
        .iter()
        .filter(|queue| queue.interface == top.interface);
    let (count, all) = own.fold((0, 0), |(count, all), queue| {
        (count + 1, all + queue.packets)
    });
    let share = top.packets as f64 / all.max(1) as f64;
    (count > 1 && share >= NEARLY_ALL).then(|| {
        format!(
            "{} of {} on rx-{} of {count}",
            percent(share),
            top.interface,
            top.number
        )
    })
}

/// The stage that lost most.
fn stage(entry: &LedgerEntry) -> Option<String> {
    let most = entry
        .stages
        .iter()
        .max_by_key(|stage| (stage.lo, stage.hi))?;
    let span = span(most.lo as i64, most.hi as i64);
    let place = most
        .interface
        .as_ref()
        .map_or_else(String::new, |interface| format!(" {interface}"));
    (most.hi > 0).then(|| {
        format!(
            "{span} of {} lost at {}{place}",
            entry.lost_packets, most.stage
        )
    })
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

const NEARLY_ALL: f64 = 0.8;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::{
        DeviceProcessor, DeviceQueue, DeviceSource, Forward, Stage, TrialDirection,
    };

    fn document() -> Output {
        let processor = |number, busy_ratio| DeviceProcessor {
            number,
            busy_ratio,
            ..DeviceProcessor::default()
        };
        let queue = |number, packets| DeviceQueue {
            interface: "eth0".to_owned(),
            number,
            packets,
        };
        let trial = Trial {
            id: 17,
            purpose: "search".to_owned(),
            frame_bytes: 64,
            load_fps: 1.36e6,
            loss_ratio: 0.01,
            directions: vec![TrialDirection {
                from: "a".to_owned(),
                to: "b".to_owned(),
                ..TrialDirection::default()
            }],
            device: Some(TrialDevice {
                processor: 0,
                busy_ratio: 1.0,
                softirq_ratio: 0.98,
                processors: vec![processor(0, 1.0), processor(1, 0.04)],
                queues: vec![queue(0, 990), queue(1, 10)],
                ..TrialDevice::default()
            }),
            valid: true,
            ..Trial::default()
        };
        let result = |goal: &str| ForwardResult {
            frame_bytes: 64,
            goal: goal.to_owned(),
            direction: "a-b".to_owned(),
            upper_fps: Some(1.36e6),
            ..ForwardResult::default()
        };
        let stage = |stage: &str, lo, hi| Stage {
            stage: stage.to_owned(),
            interface: Some("eth0".to_owned()),
            lo,
            hi,
            ..Stage::default()
        };
        Output {
            forward: Some(Forward {
                device: Some(DeviceSource::default()),
                ..Forward::default()
            }),
            results: vec![result("ndr"), result("pdr")],
            trials: vec![trial],
            ledger: vec![LedgerEntry {
                test_id: "trial-17".to_owned(),
                lost_packets: 500,
                stages: vec![stage("fwd-rx-ring", 490, 500), stage("fwd-ip", 0, 10)],
                ..LedgerEntry::default()
            }],
            ..Output::default()
        }
    }

    #[test]
    fn a_line_a_size_says_what_was_full_and_where_frames_died() {
        let Some(Block::Lines { lines, .. }) = block(&document()) else {
            panic!("no block");
        };
        assert_eq!(lines.len(), 1, "of two goals one: {lines:?}");
        assert_eq!(
            lines[0].text,
            "64 bytes a-b, trial-17: CPU0 100 % busy, 98 % softirq, the others 4 %; \
             99 % of eth0 on rx-0 of 2; 490 … 500 of 500 lost at fwd-rx-ring eth0"
        );
    }

    #[test]
    fn without_a_device_there_is_no_block_and_one_that_stopped_says_why() {
        let mut output = document();
        output.trials[0].device = None;
        assert_eq!(block(&output), None);
        if let Some(source) = output.forward.as_mut().and_then(|one| one.device.as_mut()) {
            source.stopped = Some("no answer in time".to_owned());
        }
        let Some(Block::Lines { lines, .. }) = block(&output) else {
            panic!("no block");
        };
        assert!(lines[0].text.ends_with("no answer in time"), "{lines:?}");
        output.forward = None;
        assert_eq!(block(&output), None);
    }
}
