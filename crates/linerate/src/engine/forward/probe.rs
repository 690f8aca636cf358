// SPDX-License-Identifier: MIT OR Apache-2.0
//! A hundred frames before the first trial, and what is wrong if they do not come through.

use linerate_method::frame_size::Mix;
use linerate_wire::frame::{Complaint, ComplaintKind, TTL};

use super::account::Seen;
use super::plan::Way;
use super::rig::{Path, Rig};
use super::trial::{Ask, Tried};
use crate::error::Failure;

impl Rig<'_> {
    /// Sends 100 frames each way; tries again twice, for a device may still be learning.
    ///
    /// # Errors
    /// Less than half of them came through; with what was seen instead.
    pub(super) fn probe(&mut self, way: Way, sizes: &Mix) -> Result<Vec<String>, Failure> {
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

/// What was seen when nothing came through, at the sending and at the receiving port.
struct Evidence<'a> {
    ports: [&'a str; 2],
    path: Path,
    failure: Option<&'a str>,
    returned: u64,
    corrupt: u64,
    foreign: u64,
    vlan: Option<u16>,
    seen: [Seen; 2],
}

impl Evidence<'_> {
    /// Why, and what to try: the most telling sign first.
    fn reason(&self) -> (String, String) {
        let [a, b] = self.ports;
        if let Some(complaint) = self.seen.iter().find_map(|seen| seen.complaint) {
            return complained(&complaint);
        }
        if let Some(failure) = self.failure {
            return (
                failure.to_owned(),
                format!("look at the link of {a} and {b}: ip link"),
            );
        }
        if self.returned > 0 {
            let why = format!("they come back to {a}, the port that sent them");
            return (
                why,
                format!("connect {a} and {b} to different networks of the device"),
            );
        }
        if self.corrupt > 0 {
            let why = format!("they arrive at {b} damaged: {} in all", self.corrupt);
            return (
                why,
                "a device that does not rewrite ports; other cables".to_owned(),
            );
        }
        if self.seen[1].spanning_tree || self.seen[0].spanning_tree {
            let why = "the device speaks the spanning tree protocol, and may hold a new port back for 30 s";
            return (
                why.to_owned(),
                "wait and run again; or switch it off on the device's ports".to_owned(),
            );
        }
        if self.foreign > 0 && self.vlan.is_some() {
            let why = format!("other frames arrive at {b}, none with the tag");
            return (
                why,
                "let both of the device's ports carry the VLAN tagged".to_owned(),
            );
        }
        self.silence()
    }

    fn silence(&self) -> (String, String) {
        let [a, b] = self.ports;
        match self.path {
            Path::Routed { gateways, .. } if self.seen[1].questions == 0 => (
                format!("the router answers ARP, but never looks for anyone behind {b}"),
                format!(
                    "is forwarding on (sysctl net.ipv4.ip_forward=1), does a filter drop it, has the device {} on the port that {b} is connected to?",
                    gateways[1]
                ),
            ),
            Path::Routed { .. } => (
                format!(
                    "nothing arrives at {b}, though the router looked for the receiver there and was answered"
                ),
                "does a filter of the device drop it?".to_owned(),
            ),
            Path::Bridged if self.seen[1].learning + self.seen[0].learning > 0 => (
                format!("only learning frames pass; test frames do not arrive at {b}"),
                "does a filter of the device drop IP?".to_owned(),
            ),
            Path::Bridged => (
                format!(
                    "nothing at all arrives at {b}, and nobody answers ARP for 198.18.1.1: the device neither bridges nor routes"
                ),
                format!(
                    "are {a} and {b} connected to the device's forwarding ports? A router needs 198.18.1.1/24 towards {a} and 198.19.1.1/24 towards {b}"
                ),
            ),
        }
    }
}

fn complained(complaint: &Complaint) -> (String, String) {
    let from = complaint.from;
    match complaint.kind {
        ComplaintKind::TimeExceeded => (
            format!(
                "{from} says that their TTL ended: they go in circles, or through {TTL} routers"
            ),
            "look at the routes of the device".to_owned(),
        ),
        ComplaintKind::Unreachable { code } => (
            format!("{from} says that the destination is unreachable (code {code})"),
            "give the device a route to the other port's network, and no filter".to_owned(),
        ),
        ComplaintKind::TooBig { mtu_bytes } => (
            format!("{from} says that its link takes packets of {mtu_bytes} bytes at most"),
            "a larger MTU on the device, or smaller --sizes".to_owned(),
        ),
        ComplaintKind::Redirect { gateway } => (
            format!(
                "{from} says that {gateway} is a shorter way: both ports are on one side of it"
            ),
            "connect the ports to different networks of the device".to_owned(),
        ),
    }
}

fn came_through(tried: &Tried) -> bool {
    let ways = &tried.trial.directions;
    !ways.is_empty()
        && ways
            .iter()
            .all(|one| one.received_frames * 2 >= PROBE_FRAMES)
}

const PROBE_FRAMES: u64 = 100;
const PROBE_FPS: f64 = 1000.0;
const ATTEMPTS: u32 = 3;
const BETWEEN_S: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Seen = Seen {
        first_ttl: None,
        complaint: None,
        questions: 0,
        learning: 0,
        unsigned: 0,
        spanning_tree: false,
    };

    fn silent(path: Path) -> Evidence<'static> {
        Evidence {
            ports: ["eth1", "eth2"],
            path,
            failure: None,
            returned: 0,
            corrupt: 0,
            foreign: 0,
            vlan: None,
            seen: [NOTHING; 2],
        }
    }

    fn routed() -> Path {
        Path::Routed {
            gateways: ["198.18.1.1", "198.19.1.1"].map(|ip| ip.parse().unwrap()),
            macs: [[2; 6]; 2],
        }
    }

    #[test]
    fn silence_is_told_by_what_the_device_did() {
        let why = |evidence: Evidence<'_>| evidence.reason().0;
        assert!(why(silent(Path::Bridged)).contains("neither bridges nor routes"));
        assert!(why(silent(routed())).contains("never looks for anyone behind eth2"));
        let mut asked = silent(routed());
        asked.seen[1].questions = 3;
        assert!(why(asked).contains("was answered"));
        let mut learnt = silent(Path::Bridged);
        learnt.seen[0].learning = 1;
        assert!(why(learnt).contains("only learning frames pass"));
    }

    #[test]
    fn what_the_device_says_comes_first() {
        let complaint = Complaint {
            kind: ComplaintKind::TimeExceeded,
            from: "198.18.1.1".parse().unwrap(),
            about_source: None,
            about_destination: None,
        };
        let mut evidence = silent(routed());
        evidence.returned = 5;
        assert!(evidence.reason().0.contains("come back to eth1"));
        evidence.seen[0].complaint = Some(complaint);
        assert!(
            evidence
                .reason()
                .0
                .starts_with("198.18.1.1 says that their TTL ended")
        );
    }
}
