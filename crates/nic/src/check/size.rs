// SPDX-License-Identifier: MIT OR Apache-2.0
//! The largest frame passes, and none that is longer is sent.

use std::io;

use linerate_linux::udp::{self, Options};
use linerate_model::output::{NicCheck, NicExample};

use super::transmit_udp::{is_from, missing};
use crate::bench::{Bench, Family};
use crate::packet::{Packet, UDP};
use crate::station::end;
use crate::tally::Tally;
use crate::vectors;

/// Datagrams around the MTU that must not be fragmented.
pub(super) fn largest(bench: &mut Bench) -> io::Result<Vec<NicCheck>> {
    let mut tally = Tally::default();
    for family in bench.families.clone() {
        sent(bench, &family, &mut tally)?;
    }
    let what = format!(
        "packets of {} bytes, the MTU, pass whole, and longer ones are refused",
        bench.here.mtu_bytes
    );
    Ok(vec![tally.check(bench.property(
        "tx-mtu".to_owned(),
        "size",
        what,
        "",
    ))])
}

fn sent(bench: &mut Bench, family: &Family, tally: &mut Tally) -> io::Result<()> {
    let options = Options {
        dont_fragment: true,
        ..Options::default()
    };
    let peer = end(family.far, family.far_udp, bench.here.index);
    let socket = udp::connect(peer, Some(bench.near_end(family, 0)), &options)?.socket;
    let port = socket.local_addr()?.port();
    let largest = bench.largest_payload(family);
    for size in [largest - 1, largest] {
        let payload = vectors::payload(size, 41);
        let mut fault = Some(missing("at the other end", size));
        for _ in 0..ROUNDS {
            socket.send(&payload)?;
            Bench::frames(&mut bench.far, |_, bytes| {
                let packet = Packet::parse(bytes).filter(|_| is_from(bytes, UDP, port));
                let is_whole = packet.is_some_and(|packet| packet.payload() == payload);
                fault = fault.take().filter(|_| !is_whole);
                is_whole
            })?;
            if fault.is_none() {
                break;
            }
        }
        tally.case(0, fault);
    }
    let longer = socket.send(&vectors::payload(largest + 1, 41));
    let fault = longer.is_ok().then(|| NicExample {
        what: format!(
            "datagram of {} bytes that must not be fragmented",
            largest + 1
        ),
        expected: "refused".to_owned(),
        seen: "sent".to_owned(),
        ..NicExample::default()
    });
    tally.case(0, fault);
    Ok(())
}

const ROUNDS: usize = 4;
