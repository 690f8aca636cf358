// SPDX-License-Identifier: MIT OR Apache-2.0
//! A hundred frames before the first trial, and what is wrong if they do not come through.

use linerate_method::frame_size::Mix;
use linerate_wire::frame::TTL;

use super::diagnosis::Evidence;
use super::plan::Way;
use super::rig::{Path, Rig};
use super::trial::{Ask, Tried};
use linerate_model::failure::Failure;

impl Rig<'_> {
    /// Sends 100 frames of the first size each way; then of the largest, of which it only says what became.
    ///
    /// # Errors
    /// Less than half of the first came through; with what was seen instead.
    pub(super) fn probe(&mut self, way: Way) -> Result<Vec<String>, Failure> {
        let plan = self.plan;
        let Some(first) = plan.sizes.first() else {
            return Ok(Vec::new());
        };
        let mut remarks = self.come_through(way, first)?;
        let longest = |sizes: &&Mix| sizes.sizes_bytes().iter().copied().max();
        let longest = plan.sizes.iter().max_by_key(longest).unwrap_or(first);
        if longest != first {
            let (what, found) = (name(longest), self.come_through(way, longest));
            let found = found.unwrap_or_else(|failure| vec![failure.why]);
            remarks.extend(found.into_iter().map(|remark| format!("{what}: {remark}")));
            self.interrupted()?;
        }
        Ok(remarks)
    }

    /// Tries again twice, for a device may still be learning.
    fn come_through(&mut self, way: Way, sizes: &Mix) -> Result<Vec<String>, Failure> {
        let ask = Ask {
            purpose: "probe",
            load_fps: Some(PROBE_FPS),
            duration_s: PROBE_FRAMES as f64 / PROBE_FPS,
            judges_ttl: false,
            ..Ask::of(sizes, way)
        };
        let mut tried = self.trial(&ask)?;
        for _ in 1..ATTEMPTS {
            if came_through(&tried) {
                break;
            }
            self.pause(BETWEEN_S);
            tried = self.trial(&ask)?;
        }
        if came_through(&tried) {
            Ok(self.remarks(&tried))
        } else {
            Err(self.diagnosis(&tried))
        }
    }

    /// What is odd about a device that does forward.
    fn remarks(&self, tried: &Tried) -> Vec<String> {
        let mut said = Vec::new();
        let ttl = tried.seen.iter().find_map(|seen| seen.first_ttl);
        if let Some(ttl) = ttl.filter(|ttl| *ttl != self.ttl()) {
            let kind = match self.path {
                Path::Bridged => "a bridge",
                Path::Routed { .. } => "one router",
            };
            let left = self.ttl();
            said.push(format!(
                "frames arrive with TTL {ttl}, where {kind} leaves {left} of {TTL}"
            ));
        }
        let lost: u64 = tried
            .trial
            .directions
            .iter()
            .map(|one| one.lost_frames)
            .sum();
        if lost > 0 {
            said.push(format!(
                "{lost} of the first {PROBE_FRAMES} frames were lost"
            ));
        }
        said
    }

    fn diagnosis(&self, tried: &Tried) -> Failure {
        let mut ways = tried.trial.directions.iter();
        let dead = ways.find(|one| one.received_frames * 2 < PROBE_FRAMES);
        let (from, to) = match dead {
            Some(one) if one.from == "b" => (1, 0),
            _ => (0, 1),
        };
        let [a, b] = [from, to].map(|at| self.stations[at].interface.as_str());
        let evidence = Evidence {
            ports: [a, b],
            path: self.path,
            failure: tried.trial.invalid_reason.as_deref(),
            returned: dead.map_or(0, |one| one.misforwarded_frames),
            corrupt: dead.map_or(0, |one| one.corrupt_frames),
            fragments: dead.map_or(0, |one| one.fragment_frames),
            foreign: dead.map_or(0, |one| one.foreign_frames),
            vlan: self.plan.vlan,
            seen: [tried.seen[from], tried.seen[to]],
        };
        let (why, hint) = evidence.reason();
        Failure::measuring(
            format!("get frames through the device from {a} to {b}"),
            why,
        )
        .hint(hint)
    }
}

fn came_through(tried: &Tried) -> bool {
    let ways = &tried.trial.directions;
    !ways.is_empty()
        && ways
            .iter()
            .all(|one| one.received_frames * 2 >= PROBE_FRAMES)
}

fn name(sizes: &Mix) -> String {
    match sizes.sizes_bytes() {
        [one] => format!("frames of {one} bytes"),
        _ => "the mix of sizes".to_owned(),
    }
}

const PROBE_FRAMES: u64 = 100;
const PROBE_FPS: f64 = 1000.0;
const ATTEMPTS: u32 = 3;
const BETWEEN_S: f64 = 0.5;
