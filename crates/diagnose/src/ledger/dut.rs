// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a device under test lost the frames of a deciding trial, by what its own kernel counted.
//!
//! The ports of a test are isolated, so what else moves their counters shows in trials that lost nothing:
//! that is the background, in proportion to the time.

mod internet;
mod ports;
mod stage;

use linerate_model::output::{LedgerEntry, Role, Trial, TrialDevice};

use super::claim::{Claim, Kind, evidence};
use super::span::Span;
use super::tally::Tallies;
use crate::dut::{Ports, name, reported};
use crate::evidence::{Evidence, Moved, Place, Source, Window};
use stage::DutStage;
pub use stage::FORWARD_STAGES;

/// One deciding trial, and what the device counted during it.
struct Path<'r> {
    evidence: &'r Evidence<'r>,
    trial: &'r Trial,
    device: &'r TrialDevice,
    /// Frames of all directions.
    lost: u64,
}

/// One entry for each deciding trial that lost frames and of which the device reported.
pub(super) fn entries<'r>(evidence: &'r Evidence<'r>) -> impl Iterator<Item = LedgerEntry> {
    reported(evidence.record).filter_map(|one| {
        let path = Path {
            evidence,
            trial: one.trial,
            device: one.trial.device.as_ref()?,
            lost: one.trial.directions.iter().map(|way| way.lost_frames).sum(),
        };
        (path.lost > 0).then(|| path.entry())
    })
}

impl<'r> Path<'r> {
    fn entry(&self) -> LedgerEntry {
        let mut claims = ports::counted(self);
        claims.extend(internet::counted(self));
        claims.extend(ports::between(self, &Ports::of(self.device), &claims));
        LedgerEntry {
            test_id: name(self.trial),
            unit: "frames".to_owned(),
            ..Tallies::of(claims).entry(self.lost)
        }
    }

    fn at(&self, interface: Option<&'r str>) -> Place<'r, 'r> {
        self.evidence
            .at(Role::Device, interface, Window::Trial(self.device))
    }

    fn moved(&self, interface: Option<&'r str>, source: Source, name: &str) -> Moved {
        let moved = self.at(interface).moved(source, name);
        moved.unwrap_or_default()
    }

    fn grew(&self, interface: Option<&'r str>, source: Source, name: &str) -> u64 {
        self.moved(interface, source, name).grew.at_least
    }

    /// A counter of drops as a claim of a stage; `None` if it did not move.
    fn dropped(
        &self,
        stage: DutStage,
        interface: Option<&'r str>,
        source: Source,
        name: &str,
    ) -> Option<Claim<DutStage>> {
        let moved = self.moved(interface, source, name);
        self.claim(stage, interface, moved, (source, name))
    }

    fn claim(
        &self,
        stage: DutStage,
        interface: Option<&str>,
        moved: Moved,
        (source, name): (Source, &str),
    ) -> Option<Claim<DutStage>> {
        let grew = moved.grew.at_least;
        (grew > 0).then(|| Claim {
            stage,
            host: Role::Device,
            interface: interface.map(str::to_owned),
            kind: Kind::Shared,
            seen: moved.seen(self.lost),
            evidence: vec![evidence(name, grew, "frames", source.text())],
        })
    }
}

/// What is missing between two counts of what came through; `None` if so few that a reading explains them.
fn missing(
    stage: DutStage,
    interface: Option<&str>,
    frames: u64,
    noise: u64,
) -> Option<Claim<DutStage>> {
    (frames > noise).then(|| Claim {
        stage,
        host: Role::Device,
        interface: interface.map(str::to_owned),
        kind: Kind::Balance,
        seen: Span::new(frames - noise, frames),
        evidence: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
