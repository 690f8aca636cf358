// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices that forward nothing, each for its own reason, and what the user reads.

use super::bench::forward;
use crate::turns::side_by_side;

/// Arguments, and what the reason must say.
const DEVICES: &[(&str, &str)] = &[
    ("--lab route --bridged", "neither bridges nor routes"),
    (
        "--lab bridge --routed",
        "198.18.1.1 does not answer ARP of 198.18.1.2 there",
    ),
    (
        "--lab bridge --routed -6",
        "2001:2:0:1::1 does not answer neighbour discovery of 2001:2:0:1::2 there",
    ),
    (
        "--lab user-route --routed 198.18.1.1,198.19.1.9",
        "198.19.1.9 does not answer ARP of 198.19.1.2 there",
    ),
    // The kernel's router knows nothing of the tag.
    (
        "--lab route --vlan 7",
        "198.18.1.1 does not answer ARP of 198.18.1.2 there",
    ),
    (
        "--lab user-route --fault untagged --vlan 7",
        "arrive at port1 untagged, sent with the tag of VLAN 7",
    ),
    (
        "--lab user-route --fault hops=10",
        "198.18.1.1 reports TTL exceeded",
    ),
    (
        "--lab user-route --fault hops=10 -6 --vlan 9",
        "2001:2:0:1::1 reports TTL exceeded",
    ),
    (
        "--lab user-route --fault send-back=1",
        "they return to port0",
    ),
    (
        "--lab user-route --fault send-back=1 -6 -R",
        "they return to port1",
    ),
    (
        "--lab user-route --fault corrupt=1",
        "they arrive at port1 damaged",
    ),
    (
        "--lab route --fault loss=1",
        "the router answers ARP but sends no ARP request on port1",
    ),
    (
        "--lab route --fault mtu=1400 --sizes 1518",
        "they arrive at port1 in fragments",
    ),
    (
        "--lab route --fault mtu=1400 --sizes 1518 -6",
        "reports an MTU of 1400 bytes",
    ),
    ("--lab route --fault link-down=0s:60s", "there is no link"),
];

#[test]
fn a_device_that_forwards_nothing_gets_a_diagnosis() {
    side_by_side(DEVICES, is_diagnosed);
}

fn is_diagnosed((arguments, why): &(&str, &str)) {
    let name: String = arguments.split(' ').collect();
    let Some(ran) = forward(&name, &format!("{arguments} --profile quick")) else {
        return;
    };
    assert_eq!(ran.code, 3, "{arguments}: {}", ran.said);
    let reported = ran.document["error"]["why"].as_str().unwrap();
    assert!(reported.contains(why), "{arguments}: {reported}");
    let results = ran.document["results"].as_array().unwrap();
    assert_eq!(results.len(), 0, "{arguments}: not a zero");
}
