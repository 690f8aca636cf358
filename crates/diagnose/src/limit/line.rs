// SPDX-License-Identifier: MIT OR Apache-2.0
//! The line rate of the link between the two hosts, where it is a wire.

use linerate_method::line_rate::{Family, Framing, Transport};
use linerate_model::output::{Host, Interface, LinkKind, Protocol, Role, Test};

/// Whether a test reached line rate.
pub(super) fn at_line_rate(hosts: &[Host], test: &Test) -> bool {
    // What was offered at line rate and lost is the link's as well.
    let lost = test.lost_packets > Some(0);
    let rate = match lost {
        true => test.offered_bits_per_second,
        false => test.delivered_bits_per_second,
    };
    let delivered = test.delivered_bits_per_second.unwrap_or(0.0);
    rate.zip(line_rate(hosts, test))
        .is_some_and(|(rate, line)| rate >= line * AT_LINE_RATE && delivered <= line * BEYOND)
}

/// Returns the payload rate that the slower link carries with this test's framing; `None` unless
/// all known interfaces are wires.
#[must_use]
pub fn line_rate(hosts: &[Host], test: &Test) -> Option<f64> {
    let family = if test.af == 6 { Family::V6 } else { Family::V4 };
    match test.protocol {
        Protocol::Tcp => {
            framing(hosts, Transport::Tcp { timestamps: true }, family)?.goodput_bits_per_second()
        }
        Protocol::Udp => udp_line_rate(hosts, test.payload_bytes, family),
    }
}

/// Returns the line rate for UDP datagrams of `payload_bytes`, as payload.
#[must_use]
pub fn udp_line_rate(hosts: &[Host], payload_bytes: u32, family: Family) -> Option<f64> {
    let rate = framing(hosts, Transport::Udp, family)?.line_rate(payload_bytes)?;
    Some(rate.l4_bits_per_second)
}

fn framing(hosts: &[Host], transport: Transport, family: Family) -> Option<Framing> {
    Some(Framing {
        link_bits_per_second: link_bits_per_second(hosts)?,
        mtu_bytes: interfaces(hosts).filter_map(|one| one.mtu).min()?,
        transport,
        family,
    })
}

/// The speed of the slower interface; `None` unless every known one is a wire of known speed.
fn link_bits_per_second(hosts: &[Host]) -> Option<u64> {
    let speeds = interfaces(hosts).map(|interface| match interface.link_kind {
        Some(LinkKind::Wire) => interface.link_bits_per_second,
        _ => None,
    });
    speeds.collect::<Option<Vec<u64>>>()?.into_iter().min()
}

fn interfaces(hosts: &[Host]) -> impl Iterator<Item = &Interface> {
    let ends = hosts.iter().filter(|host| host.role != Role::Device);
    ends.flat_map(|host| &host.interfaces)
}

/// Within 3 % of line rate there is nothing to find.
const AT_LINE_RATE: f64 = 0.97;
/// What carries more is not limited by the speed that it says it has: an emulated link, a wrong entry.
const BEYOND: f64 = 1.05;
