// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many flows out of one: so that a device can spread them over its queues and processors.

use super::address::{Family, Side};
use super::flow::{Flow, SOURCE_PORT};

/// In what the flows differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// In the source port alone: any device that forwards the first flow forwards all. 16352 differ.
    Ports,
    /// In source and destination networks, of the 190 behind each tester port ([`Side::behind`]), and in the source
    /// port. The device needs a route to each half; flows come from this side of it.
    Networks(Side),
}

/// `count` flows that differ from the first only as `spread` says.
pub fn flows(first: Flow, spread: Spread, count: u32) -> impl Iterator<Item = Flow> + Clone {
    (0..count).map(move |number| nth(first, spread, number))
}

fn nth(first: Flow, spread: Spread, number: u32) -> Flow {
    let mut flow = first;
    flow.source_port = SOURCE_PORT + (number % PORTS) as u16;
    if let Spread::Networks(from) = spread {
        let family = Family::of(first.source);
        flow.source = from.behind(family, number);
        flow.destination = from.opposite().behind(family, number);
    }
    flow
}

const PORTS: u32 = 0x1_0000 - SOURCE_PORT as u32;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::net::IpAddr;

    fn first(family: Family) -> Flow {
        Flow::first(Side::A, family, [2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
    }

    fn tuple(flow: &Flow) -> (IpAddr, IpAddr, u16, u16) {
        (
            flow.source,
            flow.destination,
            flow.source_port,
            flow.destination_port,
        )
    }

    #[test]
    fn flows_differ_in_what_they_may() {
        for family in [Family::Ipv4, Family::Ipv6] {
            let first = first(family);
            let ports: Vec<Flow> = flows(first, Spread::Ports, 16_352).collect();
            assert_eq!(ports[0], first);
            assert!(
                ports.iter().all(
                    |flow| (flow.source, flow.destination) == (first.source, first.destination)
                )
            );
            assert_eq!(
                ports.iter().map(tuple).collect::<HashSet<_>>().len(),
                16_352
            );
            let networks: Vec<Flow> = flows(first, Spread::Networks(Side::A), 50_000).collect();
            assert_eq!(
                networks.iter().map(tuple).collect::<HashSet<_>>().len(),
                50_000
            );
            assert!(
                networks
                    .iter()
                    .all(|flow| flow.destination != first.destination)
            );
            assert_eq!(networks[189].destination, Side::B.behind(family, 189));
        }
    }
}
