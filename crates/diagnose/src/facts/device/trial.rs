// SPDX-License-Identifier: MIT OR Apache-2.0
//! Of each trial that decided a rate: what the device did during it, and where it lost frames.

use crate::evidence::Source;
use linerate_model::output::{DeviceProcessor, DeviceQueue, Fact, LedgerEntry, Role, TrialDevice};

use crate::dut::{Deciding, Ports, name, reported};
use crate::facts::{Facts, MaybeValue, fact};
use crate::ledger::FORWARD_STAGES;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, ledger: &[LedgerEntry], facts: &mut Facts) {
    let here = record.device_is_here();
    facts.add_to_run("device_is_this_machine", here, "boot_id of both");
    let flows = record.run.forward.as_ref().map(|forward| forward.flows);
    facts.add_to_run("device_flows", flows.map(f64::from), "the plan");
    for one in reported(record) {
        let Some(device) = &one.trial.device else {
            continue;
        };
        let mut into = TrialFacts {
            id: name(one.trial),
            facts,
        };
        of_trial(&one, &mut into);
        processors(&device.processors, device, &mut into);
        queues(device, &mut into);
        into.add("device_pause_frames", pause_frames(device), PAUSE);
        stages(&one, ledger, &mut into);
    }
}

/// Facts of one trial.
struct TrialFacts<'f> {
    id: String,
    facts: &'f mut Facts,
}

impl TrialFacts<'_> {
    fn add(&mut self, name: &str, value: impl MaybeValue, source: &str) {
        if let Some(fact) = fact(name, value, source) {
            self.facts.add(Fact {
                test_id: Some(self.id.clone()),
                host: Some(Role::Device),
                ..fact
            });
        }
    }
}

fn of_trial(one: &Deciding<'_>, into: &mut TrialFacts<'_>) {
    let (trial, ways) = (one.trial, &one.trial.directions);
    let lost: u64 = ways.iter().map(|way| way.lost_frames).sum();
    let sent: u64 = ways.iter().map(|way| way.offered_frames).sum();
    let damaged: u64 = ways.iter().map(|way| way.corrupt_frames).sum();
    into.add("tester_limited", one.result.tester_limited, ACCOUNT);
    into.add("trial_frame_bytes", f64::from(trial.frame_bytes), ACCOUNT);
    into.add("trial_loss_ratio", trial.loss_ratio, ACCOUNT);
    into.add("sent_packets", sent as f64, ACCOUNT);
    into.add("lost_packets", lost as f64, ACCOUNT);
    into.add("device_damaged_frames", damaged as f64, ACCOUNT);
}

fn processors(all: &[DeviceProcessor], device: &TrialDevice, into: &mut TrialFacts<'_>) {
    let busiest = |one: &&DeviceProcessor| one.number == device.processor;
    let Some(first) = all.iter().find(busiest) else {
        return;
    };
    let mean = |of: &mut dyn Iterator<Item = &DeviceProcessor>| {
        let shares: Vec<f64> = of.map(|one| one.busy_ratio).collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    };
    into.add("device_cpus", all.len() as f64, STAT);
    into.add("device_busiest_cpu", first.busy_ratio, STAT);
    into.add("device_busiest_cpu_number", f64::from(first.number), STAT);
    into.add("device_softirq_cpu", first.softirq_ratio, STAT);
    let others = mean(&mut all.iter().filter(|one| !busiest(one)));
    into.add("device_other_cpus_busy", others, STAT);
    into.add("device_cpus_busy", mean(&mut all.iter()), STAT);
    let packets: u64 = all.iter().map(|one| one.packets).sum();
    let most = all.iter().map(|one| one.packets).max();
    let share = most.filter(|_| packets > 0);
    let share = share.map(|most| most as f64 / packets as f64);
    into.add("device_packets_top_cpu_share", share, SOFTNET);
    let squeezed: u64 = all.iter().map(|one| one.squeezed).sum();
    let per_second = squeezed as f64 / device.elapsed_s;
    into.add("device_squeezes_per_second", per_second, SOFTNET);
}

/// Of the port that took most.
fn queues(device: &TrialDevice, into: &mut TrialFacts<'_>) {
    let ingress = Ports::of(device).ingress;
    let own = |queue: &&DeviceQueue| Some(queue.interface.as_str()) == ingress;
    let own: Vec<&DeviceQueue> = device.queues.iter().filter(own).collect();
    let packets: u64 = own.iter().map(|queue| queue.packets).sum();
    let Some(top) = own
        .iter()
        .max_by_key(|queue| queue.packets)
        .filter(|_| packets > 0)
    else {
        return;
    };
    into.add("device_queues", own.len() as f64, DRIVER);
    into.add("device_queue_top", format!("rx-{}", top.number), DRIVER);
    let share = top.packets as f64 / packets as f64;
    into.add("device_queue_top_share", share, DRIVER);
}

/// Of the source that counted most: the driver repeats what the standard counters say.
fn pause_frames(device: &TrialDevice) -> f64 {
    let of = |source: &str| -> u64 {
        let named = device.counters.iter().filter(|one| {
            one.source == source && PAUSE_NAMES.iter().any(|name| one.name.contains(name))
        });
        named.map(|one| one.delta).sum()
    };
    [PAUSE, DRIVER].map(of).into_iter().max().unwrap_or(0) as f64
}

/// A trial without an entry lost nothing anywhere.
fn stages(one: &Deciding<'_>, ledger: &[LedgerEntry], into: &mut TrialFacts<'_>) {
    let entry = ledger.iter().find(|entry| entry.test_id == name(one.trial));
    for stage in FORWARD_STAGES {
        let found = entry.and_then(|entry| entry.stages.iter().find(|found| found.stage == *stage));
        let (least, most) = found.map_or((0, 0), |found| (found.lo, found.hi));
        let name = stage.replace('-', "_");
        into.add(&format!("lost_at_{name}"), most as f64, LEDGER);
        into.add(&format!("least_lost_at_{name}"), least as f64, LEDGER);
    }
}

const ACCOUNT: &str = "the trial's account";
const LEDGER: &str = "the ledger";
const STAT: &str = Source::Stat.text();
const SOFTNET: &str = Source::Softnet.text();
const DRIVER: &str = Source::Ethtool.text();
const PAUSE: &str = Source::Pause.text();
/// Not the time that a port was paused, nor what else a driver calls a pause.
const PAUSE_NAMES: [&str; 4] = ["pause_frames", "flow_control", "pause_ctrl", "pauseframes"];
