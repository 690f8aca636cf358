// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks, in the order in which they are made.

mod counters;
mod merging;
mod queues;
mod receive_tcp;
mod receive_udp;
mod refusal;
mod segmentation;
mod size;
mod tag;
mod time_stamps;
mod transmit_tcp;
mod transmit_udp;
mod vlan_received;
mod vlan_sent;

use std::io;

use linerate_model::output::NicCheck;

use crate::bench::{Bench, Family};

/// Checks that are made with the addresses of each family, and the offloads that change what is checked.
pub(crate) const OF_FAMILY: [(OfFamily, &[&str]); 8] = [
    (transmit_udp::sums, &["tx-checksumming"]),
    (transmit_udp::fragments, &["tx-checksumming"]),
    (transmit_tcp::sums, &["tx-checksumming"]),
    (receive_udp::sums, &["rx-checksumming"]),
    (receive_tcp::sums, &["rx-checksumming"]),
    (segmentation::tcp, &["tcp-segmentation-offload"]),
    (segmentation::udp, &["tx-udp-segmentation"]),
    (
        merging::kept_apart,
        &["generic-receive-offload", "large-receive-offload"],
    ),
];

/// Checks that are made once, and the offloads that change what is checked.
pub(crate) const OF_INTERFACE: [(OfInterface, &[&str]); 8] = [
    (size::largest, &[]),
    (size::received, &[]),
    (vlan_received::tags, &["rx-vlan-offload"]),
    (vlan_sent::tags, &["tx-vlan-offload"]),
    (counters::counted, &[]),
    (queues::spread, &[]),
    (time_stamps::of_software, &[]),
    (time_stamps::of_hardware, &[]),
];

type OfFamily = fn(&mut Bench, &Family) -> io::Result<Vec<NicCheck>>;
type OfInterface = fn(&mut Bench) -> io::Result<Vec<NicCheck>>;

/// Of a checksum or a segment that the interface makes when it sends.
const TRANSMIT: &str = "transmit";
const RECEIVE: &str = "receive";
