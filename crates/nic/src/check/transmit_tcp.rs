// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checksums of the TCP segments that this host sends: of the handshake, data of every size, and acknowledgements.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use linerate_linux::tcp;
use linerate_model::output::NicCheck;

use super::TRANSMIT;
use super::transmit_udp::{TX_SUMS, is_from};
use crate::bench::{Bench, Family, GRACE_MS};
use crate::message::Seen;
use crate::packet::{Packet, TCP};
use crate::services::ECHO;
use crate::tally::Tally;
use crate::vectors;

/// Each size is sent alone and comes back; then every frame of the connection is judged.
pub(super) fn sums(bench: &mut Bench, family: &Family) -> io::Result<Vec<NicCheck>> {
    let mut tally = Tally::default();
    let port = port_of(bench.near_end(family, 0))?;
    // A connection that wrong checksums keep from opening has frames as well.
    let _kept_up = exchanged(bench, family, port);
    let all = until_its_end(bench, port, |_| true)?;
    for (seen, bytes) in all.iter().filter(|(_, bytes)| is_from(bytes, TCP, port)) {
        bench
            .unlike_a_wire(seen, bytes)
            .into_iter()
            .for_each(|why| tally.not_a_wire(why));
        if let Some(packet) = Packet::parse(bytes) {
            tally.case(packet.end, packet.fault());
        }
    }
    let what = format!(
        "TCP checksums over IPv{}, segments of every size, SYN, ACK and FIN",
        family.number
    );
    let id = format!("tx-tcp{}-sum", family.number);
    Ok(vec![
        tally.check(bench.property(id, TRANSMIT, what, TX_SUMS)),
    ])
}

/// The frames of the connection from this port, as the other end sees them, until its FIN if nothing is missing then; and
/// what TCP never sends, whose ports may be in another frame: fragments, and packets that end before their frames do.
pub(super) fn until_its_end(
    bench: &mut Bench,
    port: u16,
    mut has_all: impl FnMut(&Packet<'_>) -> bool,
) -> io::Result<Vec<(Seen, Vec<u8>)>> {
    let (mut all, mut has_ended) = (Vec::new(), false);
    let mut take = |seen: &Seen, bytes: &[u8]| {
        let Some(packet) = Packet::parse(bytes).filter(|_| !seen.is_outgoing) else {
            return false;
        };
        let is_its = is_from(bytes, TCP, port);
        if is_its || is_torn(&packet, seen) {
            all.push((seen.clone(), bytes.to_vec()));
        }
        if is_its {
            let is_whole = has_all(&packet);
            has_ended |= packet.tcp().is_some_and(|(_, flags)| flags & FIN != 0);
            return is_whole && has_ended;
        }
        false
    };
    let mut is_over = false;
    for _ in 0..ROUNDS {
        Bench::frames(&mut bench.far, |seen, bytes| {
            is_over |= take(seen, bytes);
            is_over
        })?;
        if is_over {
            break;
        }
    }
    Bench::frames_within(&mut bench.far, GRACE_MS, |seen, bytes| {
        take(seen, bytes);
        false
    })?;
    Ok(all)
}

/// A part of a TCP segment.
fn is_torn(packet: &Packet<'_>, seen: &Seen) -> bool {
    packet.protocol == TCP
        && (packet.fragment.is_some() || packet.length_fault(seen.length).is_some())
}

/// One that is free.
fn port_of(local: std::net::SocketAddr) -> io::Result<u16> {
    Ok(std::net::TcpListener::bind(local)?.local_addr()?.port())
}

fn exchanged(bench: &Bench, family: &Family, port: u16) -> io::Result<()> {
    let mut stream = connected(bench, family, port)?;
    let mut back = vec![0; 65_536];
    echoed(&mut stream, &[ECHO], &mut back)?;
    let largest = bench
        .largest_payload(family)
        .saturating_sub(TCP_OPTIONS_BYTES);
    for size in vectors::sizes(largest).into_iter().filter(|size| *size > 0) {
        echoed(&mut stream, &vectors::payload(size, 3), &mut back)?;
    }
    Ok(())
}

/// A connection from this port to the services of the other end.
pub(super) fn connected(bench: &Bench, family: &Family, port: u16) -> io::Result<TcpStream> {
    let options = tcp::Options {
        local: Some(bench.near_end(family, port)),
        nodelay: true,
        ..tcp::Options::default()
    };
    let connected = tcp::connect(bench.far_tcp(family), &options, WITHIN, || false)?;
    let stream = connected.stream;
    stream.set_read_timeout(Some(WITHIN))?;
    stream.set_write_timeout(Some(WITHIN))?;
    Ok(stream)
}

fn echoed(stream: &mut TcpStream, bytes: &[u8], back: &mut [u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    match back.get_mut(..bytes.len()) {
        Some(back) => stream.read_exact(back),
        None => Ok(()),
    }
}

const FIN: u8 = 1;
/// A slow machine, or a segment that is sent again and again, is silent for more than a second.
const ROUNDS: usize = 3;
/// TCP's header is 12 bytes longer than UDP's, and time stamps take as many.
const TCP_OPTIONS_BYTES: usize = 24;
/// A segment that was lost is sent again after a fifth of a second.
const WITHIN: Duration = Duration::from_secs(4);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::craft::{self, ACK, Marks, Tcp};

    fn torn(frame: &[u8]) -> bool {
        let seen = Seen {
            length: frame.len() as u32,
            ..Seen::default()
        };
        is_torn(&Packet::parse(frame).unwrap(), &seen)
    }

    #[test]
    fn a_fragment_and_a_packet_that_ends_before_its_frame_are_no_segments() {
        for is_ipv6 in [false, true] {
            let head = Tcp {
                sequence: 1,
                acknowledged: 2,
                flags: ACK,
                options: &[],
            };
            let path = craft::tests::path(is_ipv6);
            let mut frame = craft::tcp(&path, Marks::default(), head, &[7; 200]);
            assert!(!torn(&frame));
            match is_ipv6 {
                // No length, and more fragments.
                true => frame[18..20].fill(0),
                false => frame[20] = 0x20,
            }
            assert!(torn(&frame), "{is_ipv6}");
        }
    }
}
