// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel kept of the packets of a stream as they arrived.

use std::io;
use std::net::TcpStream;

use crate::message::ControlMessages;
use crate::sockopt;

/// The TOS or traffic class byte with which the packet arrived that completed the handshake of an
/// **accepted** stream (`tcp_v4_syn_recv_sock`, `tcp_v6_syn_recv_sock` keep it). For a stream that this
/// end connected the kernel returns 0, which means nothing.
///
/// `None` if the kernel reports nothing; errors are the kernel's (`ENOPROTOOPT`: it has no such option).
pub fn arrived_tos(stream: &TcpStream) -> io::Result<Option<u8>> {
    let ipv6 = stream.peer_addr()?.ip().to_canonical().is_ipv6();
    let (level, report, packet_options, kind) = if ipv6 {
        (
            libc::SOL_IPV6,
            libc::IPV6_RECVTCLASS,
            libc::IPV6_2292PKTOPTIONS,
            libc::IPV6_TCLASS,
        )
    } else {
        (
            libc::SOL_IP,
            libc::IP_RECVTOS,
            libc::IP_PKTOPTIONS,
            libc::IP_TOS,
        )
    };
    sockopt::set_int(stream, level, report, 1)?;
    let mut control = [0; CONTROL_BYTES];
    let length = sockopt::get_bytes(stream, level, packet_options, &mut control)?;
    let mut messages = ControlMessages::new(&control[..length]);
    Ok(messages
        .find_map(|(at, what, data)| (at == level && what == kind).then(|| byte_of(data))?))
}

/// A `u8` from IPv4 datagrams, an `int` else.
fn byte_of(data: &[u8]) -> Option<u8> {
    match *data {
        [byte] => Some(byte),
        [a, b, c, d, ..] => u8::try_from(i32::from_ne_bytes([a, b, c, d])).ok(),
        _ => None,
    }
}

/// Room for the few that are asked for.
const CONTROL_BYTES: usize = 128;
