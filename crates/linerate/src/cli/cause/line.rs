// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the link between the two hosts carries, where it has a rate of its own.

use linerate_method::line_rate::{Family, Framing, Transport};
use linerate_model::output::{Interface, LinkKind, Output, Protocol, Role, Test};

/// Did it reach what the link carries?
pub(super) fn at_line_rate(output: &Output, test: &Test) -> bool {
    // What was offered at the link's rate and lost is the link's as well.
    let lost = test.lost_packets > Some(0);
    let rate = match lost {
        true => test.offered_bits_per_second,
        false => test.delivered_bits_per_second,
    };
    rate.zip(line_rate(output, test))
        .is_some_and(|(rate, line)| rate >= line * AT_LINE_RATE)
}

/// The payload rate that the slower link carries with this test's framing; `None` unless all
/// interfaces that are known are wires.
pub(in crate::cli) fn line_rate(output: &Output, test: &Test) -> Option<f64> {
    let family = if test.af == 6 { Family::V6 } else { Family::V4 };
    match test.protocol {
        Protocol::Tcp => {
            framing(output, Transport::Tcp { timestamps: true }, family)?.goodput_bits_per_second()
        }
        Protocol::Udp => udp_line_rate(output, test.payload_bytes, family),
    }
}

/// The same for datagrams of a size.
pub(in crate::cli) fn udp_line_rate(
    output: &Output,
    payload_bytes: u32,
    family: Family,
) -> Option<f64> {
    let rate = framing(output, Transport::Udp, family)?.line_rate(payload_bytes)?;
    Some(rate.l4_bits_per_second)
}

fn framing(output: &Output, transport: Transport, family: Family) -> Option<Framing> {
    Some(Framing {
        link_bits_per_second: link_bits_per_second(output)?,
        mtu_bytes: interfaces(output)
            .filter_map(|interface| interface.mtu)
            .min()?,
        transport,
        family,
    })
}

/// The speed of the slower of the two interfaces; `None` unless both that are known are wires.
fn link_bits_per_second(output: &Output) -> Option<u64> {
    let speeds = interfaces(output).map(|interface| match interface.link_kind {
        Some(LinkKind::Wire) => interface.link_bits_per_second,
        _ => None,
    });
    // One interface of unknown speed makes the whole unknown; none at all too.
    speeds.collect::<Option<Vec<u64>>>()?.into_iter().min()
}

fn interfaces(output: &Output) -> impl Iterator<Item = &Interface> {
    let ends = output.hosts.iter().filter(|host| host.role != Role::Device);
    ends.flat_map(|host| &host.interfaces)
}

/// Within 3 % of the ceiling nothing is left to find.
const AT_LINE_RATE: f64 = 0.97;
