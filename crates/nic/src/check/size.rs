// SPDX-License-Identifier: MIT OR Apache-2.0
//! The largest frame passes, and none that is longer is sent.

use std::io;

use linerate_linux::udp::{self, Options};
use linerate_model::output::{NicCheck, NicExample};

use super::transmit_udp::{is_from, missing};
use crate::bench::{Bench, Family};
use crate::craft::{self, Marks};
use crate::packet::{Packet, UDP, ports_of_beginning, shown};
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
        "packets of {} bytes pass whole, and those longer than {}, the MTU, are refused",
        bench.here.mtu_bytes.min(bench.there.mtu_bytes),
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
    let own_largest = bench.own_largest_payload(family);
    for size in [largest - 1, largest] {
        let payload = vectors::payload(size, 41);
        let mut fault = Some(missing("datagram", size, "at the other end"));
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
    // The other end may have a smaller MTU: this host sends what is longer than that.
    let longer = socket.send(&vectors::payload(own_largest + 1, 41));
    let fault = longer.is_ok().then(|| NicExample {
        what: format!(
            "datagram of {} bytes that must not be fragmented",
            own_largest + 1
        ),
        expected: "refused".to_owned(),
        seen: "sent".to_owned(),
        ..NicExample::default()
    });
    tally.case(0, fault);
    Ok(())
}

/// Frames around this host's MTU from the other end. A longer one may be taken or dropped, never cut.
pub(super) fn received(bench: &mut Bench) -> io::Result<Vec<NicCheck>> {
    let mut tally = Tally::default();
    let mut longer = Longer::default();
    for family in bench.families.clone() {
        arrived(bench, &family, &mut tally, &mut longer)?;
    }
    let what = format!(
        "received packets of {} bytes are whole; {}",
        bench.here.mtu_bytes.min(bench.there.mtu_bytes),
        longer.said()
    );
    let property = bench.property("rx-mtu".to_owned(), "size", what, "");
    Ok(vec![tally.check(property)])
}

/// Frames longer than the MTU: those tried, and those taken whole.
#[derive(Default)]
struct Longer {
    tried: u32,
    taken: u32,
}

impl Longer {
    fn said(&self) -> String {
        match self.tried {
            0 => "longer ones were not tried: the other end's MTU is not larger".to_owned(),
            tried => format!("of {tried} longer ones {} were taken whole", self.taken),
        }
    }
}

fn arrived(
    bench: &mut Bench,
    family: &Family,
    tally: &mut Tally,
    longer: &mut Longer,
) -> io::Result<()> {
    let (own, both) = (
        bench.own_largest_payload(family),
        bench.largest_payload(family),
    );
    let room = (bench.there.mtu_bytes as usize).saturating_sub(bench.here.mtu_bytes as usize);
    let fitting = [both - 1, both].map(|size| (size, false));
    let beyond = [1, 4].map(|more| (own + more, true));
    let beyond = beyond.into_iter().filter(|(size, _)| *size <= own + room);
    for (size, is_longer) in fitting.into_iter().chain(beyond) {
        // A frame of an earlier size may come late, or twice.
        let port = bench.fresh_port();
        let path = bench.inward(family, port, family.near_udp);
        let frame = craft::udp(&path, Marks::default(), &vectors::payload(size, 42));
        let came = came(bench, family, port, &frame)?;
        longer.tried += u32::from(is_longer);
        longer.taken += u32::from(is_longer && came.as_ref() == Some(&frame));
        tally.case(0, unlike(&frame, came.as_deref(), is_longer));
    }
    Ok(())
}

/// What came of a frame that was sent: it, or another from the same port.
fn came(
    bench: &mut Bench,
    family: &Family,
    port: u16,
    frame: &[u8],
) -> io::Result<Option<Vec<u8>>> {
    let mut came = None;
    for _ in 0..ROUNDS {
        bench.send_inward(&[frame.to_vec()])?;
        bench.arrived(family, |seen, bytes| {
            if !seen.is_outgoing && has_port(bytes, port) {
                came = Some(bytes.to_vec());
            }
            came.is_some()
        })?;
        if came.is_some() {
            break;
        }
    }
    Ok(came)
}

/// Another size has another port.
fn has_port(frame: &[u8], port: u16) -> bool {
    ports_of_beginning(frame).is_some_and(|[from, _]| from == port)
}

fn unlike(sent: &[u8], came: Option<&[u8]>, is_longer: bool) -> Option<NicExample> {
    let expected = match (is_longer, came) {
        (_, Some(came)) if came == sent => return None,
        (true, None) => return None,
        (true, Some(_)) => "whole, or dropped".to_owned(),
        (false, _) => "whole".to_owned(),
    };
    Some(NicExample {
        what: format!("received frame of {} bytes", sent.len()),
        expected,
        seen: came.map_or("nothing".to_owned(), |came| {
            match came.len() == sent.len() {
                true => "other bytes".to_owned(),
                false => format!("{} bytes", came.len()),
            }
        }),
        frame: came.map(shown),
        ..NicExample::default()
    })
}

const ROUNDS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::craft::Path;

    /// On its way for longer than the check waits: it comes while the next size is tried.
    #[test]
    fn a_late_frame_of_an_earlier_size_is_not_taken_for_the_next_one() {
        let of = |source_port, size| {
            let path = Path {
                source_port,
                ..craft::tests::path(false)
            };
            craft::udp(&path, Marks::default(), &vectors::payload(size, 42))
        };
        let (late, next) = (of(61_000, 1471), of(61_001, 1472));
        let came = [&late, &next].map(|frame| has_port(frame, 61_001));
        assert_eq!(came, [false, true]);
        let cut = &next[..1000];
        assert!(has_port(cut, 61_001), "whatever came of it");
    }

    #[test]
    fn a_longer_frame_may_be_dropped_and_never_cut() {
        let sent = craft::udp(&craft::tests::path(false), Marks::default(), &[7; 200]);
        let cut = &sent[..150];
        for (came, is_longer, is_wrong) in [
            (Some(&sent[..]), false, false),
            (Some(&sent[..]), true, false),
            (None, true, false),
            (None, false, true),
            (Some(cut), true, true),
            (Some(cut), false, true),
        ] {
            let fault = unlike(&sent, came, is_longer);
            assert_eq!(
                fault.is_some(),
                is_wrong,
                "{is_longer} {:?}",
                came.map(<[u8]>::len)
            );
        }
        assert_eq!(unlike(&sent, Some(cut), true).unwrap().seen, "150 bytes");
    }
}
