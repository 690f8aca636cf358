// SPDX-License-Identifier: MIT OR Apache-2.0
//! Test frames as another implementation (etherparse) reads and writes them, and what damage does to them.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod damage;
mod device;
mod neighbours;
mod round_trip;

use linerate_wire::frame::{Family, Flow, Side, Signature, Template};

const OURS: [u8; 6] = [2, 0, 0, 0, 0, 1];
const DEVICE: [u8; 6] = [2, 0, 0, 0, 0, 2];

const SIGNATURE: Signature = Signature {
    run: 0xBEEF,
    stream: 1,
    sequence: 0x01_2345_6789,
    sent_ns: 0x1122_3344_5566,
};

fn flow(family: Family, vlan: Option<u16>) -> Flow {
    Flow {
        vlan,
        ..Flow::first(Side::A, family, OURS, DEVICE)
    }
}

fn stamped(flow: &Flow, size_bytes: u16, signature: &Signature) -> Vec<u8> {
    let template = Template::new(flow, size_bytes).unwrap();
    let mut bytes = template.bytes().to_vec();
    template.stamp(&mut bytes, signature);
    bytes
}

/// Every kind of frame.
fn flows() -> [Flow; 4] {
    let (v4, v6) = (Family::Ipv4, Family::Ipv6);
    [
        flow(v4, None),
        flow(v4, Some(100)),
        flow(v6, None),
        flow(v6, Some(4094)),
    ]
}
