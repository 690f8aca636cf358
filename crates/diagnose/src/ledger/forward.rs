// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a device in the middle lost the frames of a deciding trial, by what its own kernel counted.
//!
//! The ports of a test are isolated, so what else moves their counters shows in trials that lost nothing:
//! that is the background, in proportion to the time.

mod claims;
mod internet;
mod ports;

use linerate_model::output::{LedgerEntry, Stage as Entry, Trial, TrialDevice};

use crate::dut::{name, told};
use claims::Claim;
use linerate_model::record::Record;
pub(crate) use ports::Ports;

/// Every stage on the way through a device, in its order.
pub const FORWARD_STAGES: &[&str] = &[
    "fwd-wire-in",
    "fwd-rx-mac",
    "fwd-rx-ring",
    "fwd-softnet",
    "fwd-conntrack",
    "fwd-ip",
    "fwd-neighbour",
    "fwd-bridge",
    "fwd-qdisc",
    "fwd-tx-ring",
    "fwd-tx-mac",
    "fwd-wire-out",
];

/// What a trial's counters are read with.
struct View<'r> {
    record: &'r Record,
    trial: &'r Trial,
    device: &'r TrialDevice,
    /// Trials of the record that lost nothing.
    quiet: Vec<&'r TrialDevice>,
}

/// One entry a deciding trial that lost frames and of which the device told.
pub(super) fn entries(record: &Record) -> Vec<LedgerEntry> {
    let lossless = |trial: &&Trial| trial.valid && lost(trial) == 0;
    let quiet: Vec<&TrialDevice> = record
        .trials
        .iter()
        .filter(lossless)
        .filter_map(|trial| trial.device.as_ref())
        .collect();
    let entry = |trial| {
        let view = View {
            record,
            trial,
            device: trial.device.as_ref()?,
            quiet: quiet.clone(),
        };
        (lost(trial) > 0).then(|| view.entry())
    };
    told(record).filter_map(|one| entry(one.trial)).collect()
}

impl View<'_> {
    fn entry(&self) -> LedgerEntry {
        let ports = Ports::of(self.device);
        let mut claims = ports::counted(self);
        claims.extend(internet::counted(self));
        let counted = claims.clone();
        claims.extend(ports::between(self, &ports, &counted));
        settle(self.trial, claims)
    }

    /// What a counter did on its own account in so long a trial, at most; `None` if nobody knows.
    fn background(&self, source: &str, interface: Option<&str>, name: &str) -> Option<u64> {
        let per_second = self.quiet.iter().filter(|quiet| quiet.elapsed_s > 0.0);
        let most = per_second
            .map(|quiet| delta(quiet, source, interface, name) as f64 / quiet.elapsed_s)
            .reduce(f64::max)?;
        Some((most * self.device.elapsed_s).ceil() as u64)
    }

    /// A counter of drops as a claim of a stage; `None` if it stood still.
    fn dropped(
        &self,
        stage: &'static str,
        (source, interface, name): (&str, Option<&str>, &str),
    ) -> Option<Claim> {
        let grew = delta(self.device, source, interface, name);
        let least = self
            .background(source, interface, name)
            .map_or(0, |background| grew.saturating_sub(background));
        (grew > 0).then(|| Claim::shared(stage, (source, interface, name), least, grew))
    }
}

/// What a counter grew by; one that did not move is not told.
fn delta(device: &TrialDevice, source: &str, interface: Option<&str>, name: &str) -> u64 {
    let mut all = device.counters.iter();
    let found = all.find(|one| {
        one.source == source && one.interface.as_deref() == interface && one.name == name
    });
    found.map_or(0, |one| one.delta)
}

/// Frames of all directions.
fn lost(trial: &Trial) -> u64 {
    trial.directions.iter().map(|way| way.lost_frames).sum()
}

/// No more than was lost, the best evidence first; what other stages lost at least was not lost here.
fn settle(trial: &Trial, claims: Vec<Claim>) -> LedgerEntry {
    let lost = lost(trial);
    let mut stages = claims::joined(claims);
    let mut left = lost;
    for balance in [false, true] {
        for stage in stages.iter_mut().filter(|one| one.balance == balance) {
            stage.least = stage.least.min(left);
            left -= stage.least;
        }
    }
    let least: u64 = stages.iter().map(|stage| stage.least).sum();
    for stage in &mut stages {
        let elsewhere = least - stage.least;
        stage.most = stage.most.min(lost - elsewhere).max(stage.least);
    }
    let most: u64 = stages.iter().map(|stage| stage.most).sum();
    LedgerEntry {
        test_id: name(trial),
        unit: "frames".to_owned(),
        lost_packets: lost,
        unattributed_lo: signed(lost.saturating_sub(most)),
        unattributed_hi: signed(lost - least),
        stages: stages.into_iter().map(Entry::from).collect(),
        ..LedgerEntry::default()
    }
}

fn signed(frames: u64) -> i64 {
    i64::try_from(frames).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
