// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a device does not forward frames, by what was seen instead.

use linerate_wire::frame::{Complaint, ComplaintKind, TTL};

use crate::account::Seen;
use crate::tester::Path;

/// What was seen when nothing was forwarded, at the sending and at the receiving port.
pub(crate) struct Symptoms<'a> {
    pub ports: [&'a str; 2],
    pub path: Path,
    pub failure: Option<&'a str>,
    pub returned: u64,
    pub corrupt: u64,
    pub fragments: u64,
    pub foreign: u64,
    pub vlan: Option<u16>,
    pub seen: [Seen; 2],
}

impl Symptoms<'_> {
    /// Returns why, and what to try: the most specific symptom first.
    pub(crate) fn diagnosis(&self) -> (String, String) {
        let [a, b] = self.ports;
        let [sending, receiving] = &self.seen;
        if let Some(complaint) = sending.complaint.or(receiving.complaint) {
            complained(&complaint)
        } else if let Some(failure) = self.failure {
            because(failure, format!("look at the link of {a} and {b}: ip link"))
        } else if self.returned > 0 {
            because(
                format!("they return to {a}, the sending port"),
                format!("connect {a} and {b} to different networks of the device"),
            )
        } else if self.corrupt > 0 {
            because(
                format!("they arrive at {b} damaged: {} in all", self.corrupt),
                "a device that does not rewrite ports; other cables",
            )
        } else if self.fragments > 0 {
            because(
                format!("they arrive at {b} in fragments: a link of the device has a smaller MTU"),
                LARGER_MTU,
            )
        } else if let Some(tags) = receiving.wrong_tags {
            let (arrived, sent) = (tagged(tags), tagged([self.vlan, None]));
            because(
                format!("they arrive at {b} {arrived}, sent {sent}"),
                "carry the same VLAN on both of the device's ports, tagged if --vlan is given",
            )
        } else if receiving.spanning_tree || sending.spanning_tree {
            because(
                "the device speaks the spanning tree protocol, and may block a new port for 30 s",
                "wait and run again; or switch it off on the device's ports",
            )
        } else if self.foreign > 0 && self.vlan.is_some() {
            because(
                format!("other frames arrive at {b}, none with the tag"),
                "let both of the device's ports carry the VLAN tagged",
            )
        } else {
            self.silence()
        }
    }

    fn silence(&self) -> (String, String) {
        let [a, b] = self.ports;
        let [sending, receiving] = &self.seen;
        match self.path {
            Path::Routed { routers, .. } if receiving.questions == 0 => because(
                format!("the router answers ARP but sends no ARP request on {b}"),
                format!(
                    "is forwarding on (sysctl net.ipv4.ip_forward=1), does a filter drop it, has the device {}/{} on the port that {b} is connected to?",
                    routers[1].address, routers[1].prefix_bits
                ),
            ),
            Path::Routed { .. } => because(
                format!("nothing arrives at {b}, although the router resolved the receiver there"),
                "does a filter of the device drop it?",
            ),
            Path::Bridged if receiving.learning + sending.learning > 0 => because(
                format!("only learning frames pass; test frames do not arrive at {b}"),
                "does a filter of the device drop IP?",
            ),
            Path::Bridged => because(
                format!(
                    "nothing arrives at {b}, and 198.18.1.1 does not answer ARP: the device neither bridges nor routes"
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
        ComplaintKind::TimeExceeded => because(
            format!("{from} reports TTL exceeded: a routing loop, or {TTL} hops"),
            "look at the routes of the device",
        ),
        ComplaintKind::Unreachable { code } => because(
            format!("{from} reports that the destination is unreachable (code {code})"),
            "give the device a route to the other port's network, and no filter",
        ),
        ComplaintKind::TooBig { mtu_bytes } => because(
            format!("{from} reports an MTU of {mtu_bytes} bytes"),
            LARGER_MTU,
        ),
        ComplaintKind::Redirect { gateway } => because(
            format!("{from} redirects to {gateway}: both ports are on the same side of it"),
            "connect the ports to different networks of the device",
        ),
    }
}

fn because(why: impl Into<String>, hint: impl Into<String>) -> (String, String) {
    (why.into(), hint.into())
}

const LARGER_MTU: &str = "a larger MTU on the device, or smaller --sizes";

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
    use crate::plan::RouterPort;
    use linerate_wire::frame::{Family, Side};

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

    fn silent(path: Path) -> Symptoms<'static> {
        Symptoms {
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
            routers: [Side::A, Side::B].map(|side| RouterPort::usual(side, Family::Ipv4)),
            macs: [[2; 6]; 2],
        }
    }

    #[test]
    fn silence_is_explained_by_what_the_device_did() {
        let why = |symptoms: Symptoms<'_>| symptoms.diagnosis().0;
        assert!(why(silent(Path::Bridged)).contains("neither bridges nor routes"));
        assert!(why(silent(routed())).contains("sends no ARP request on eth2"));
        let mut asked = silent(routed());
        asked.seen[1].questions = 3;
        assert!(why(asked).contains("resolved the receiver"));
        let mut learnt = silent(Path::Bridged);
        learnt.seen[0].learning = 1;
        assert!(why(learnt).contains("only learning frames pass"));
    }

    #[test]
    fn icmp_errors_of_the_device_come_first() {
        let complaint = Complaint {
            kind: ComplaintKind::TimeExceeded,
            from: "198.18.1.1".parse().unwrap(),
            about_source: None,
            about_destination: None,
        };
        let mut symptoms = silent(routed());
        symptoms.returned = 5;
        assert!(symptoms.diagnosis().0.contains("return to eth1"));
        symptoms.seen[0].complaint = Some(complaint);
        assert!(
            symptoms
                .diagnosis()
                .0
                .starts_with("198.18.1.1 reports TTL exceeded")
        );
    }

    #[test]
    fn tags_and_fragments_are_not_silence() {
        let mut symptoms = silent(routed());
        symptoms.foreign = 100;
        symptoms.vlan = Some(7);
        assert!(symptoms.diagnosis().0.contains("none with the tag"));
        symptoms.seen[1].wrong_tags = Some([Some(7), Some(8)]);
        let why = symptoms.diagnosis().0;
        assert!(
            why.ends_with("with the tags of VLAN 7 and 8, sent with the tag of VLAN 7"),
            "{why}"
        );
        symptoms.fragments = 200;
        assert!(symptoms.diagnosis().0.contains("in fragments"));
    }
}
