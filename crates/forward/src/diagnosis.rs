// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why frames do not come through a device, by what was seen instead.

use linerate_wire::frame::{Complaint, ComplaintKind, TTL};

use super::account::Seen;
use super::rig::Path;

/// What was seen when nothing came through, at the sending and at the receiving port.
pub(super) struct Evidence<'a> {
    pub(super) ports: [&'a str; 2],
    pub(super) path: Path,
    pub(super) failure: Option<&'a str>,
    pub(super) returned: u64,
    pub(super) corrupt: u64,
    /// Pieces of frames.
    pub(super) fragments: u64,
    pub(super) foreign: u64,
    pub(super) vlan: Option<u16>,
    pub(super) seen: [Seen; 2],
}

impl Evidence<'_> {
    /// Why, and what to try: the most telling sign first.
    pub(super) fn reason(&self) -> (String, String) {
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
        if self.fragments > 0 {
            let why = format!("they arrive at {b} in fragments: a link of the device takes less");
            return (
                why,
                "a larger MTU on the device, or smaller --sizes".to_owned(),
            );
        }
        if let Some(tags) = self.seen[1].wrong_tags {
            let why = format!(
                "they arrive at {b} {}, sent {}",
                tagged(tags),
                tagged([self.vlan, None])
            );
            return (
                why,
                "carry the same VLAN on both of the device's ports, tagged if --vlan is given"
                    .to_owned(),
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

fn tagged(vlans: [Option<u16>; 2]) -> String {
    match vlans {
        [None, _] => "untagged".to_owned(),
        [Some(vlan), None] => format!("with the tag of VLAN {vlan}"),
        [Some(outer), Some(inner)] => format!("with the tags of VLAN {outer} and {inner}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Seen = Seen {
        first_ttl: None,
        complaint: None,
        questions: 0,
        learning: 0,
        unsigned: 0,
        fragments: 0,
        wrong_tags: None,
        spanning_tree: false,
    };

    fn silent(path: Path) -> Evidence<'static> {
        Evidence {
            ports: ["eth1", "eth2"],
            path,
            failure: None,
            returned: 0,
            corrupt: 0,
            fragments: 0,
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

    #[test]
    fn tags_and_fragments_are_told_from_silence() {
        let mut evidence = silent(routed());
        evidence.foreign = 100;
        evidence.vlan = Some(7);
        assert!(evidence.reason().0.contains("none with the tag"));
        evidence.seen[1].wrong_tags = Some([Some(7), Some(8)]);
        let why = evidence.reason().0;
        assert!(
            why.ends_with("with the tags of VLAN 7 and 8, sent with the tag of VLAN 7"),
            "{why}"
        );
        evidence.fragments = 200;
        assert!(evidence.reason().0.contains("in fragments"));
    }
}
