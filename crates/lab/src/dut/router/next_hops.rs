// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tester's MAC addresses: learnt from its ARP and ND messages, and resolved again when they expire.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use linerate_wire::frame::{Arrived, Family, Side};

/// The next hops of both sides, shared by the ports.
#[derive(Clone, Debug)]
pub(super) struct NextHops {
    known: Arc<Mutex<Vec<Known>>>,
    fresh: Option<Duration>,
}

#[derive(Debug)]
struct Known {
    address: IpAddr,
    mac: [u8; 6],
    since: Instant,
    asked: Option<Instant>,
}

/// What is known of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextHop {
    /// `None`: not resolved, or forgotten.
    pub(super) mac: Option<[u8; 6]>,
    /// It is time to send a request.
    pub(super) ask: bool,
}

impl NextHops {
    /// After `fresh` an address is resolved again, and after [`FORGOTTEN`] times as long it is forgotten; `None`: never.
    pub(super) fn new(fresh: Option<Duration>) -> Self {
        Self {
            known: Arc::default(),
            fresh,
        }
    }

    /// Learns the address of a frame's sender.
    pub(super) fn learn(&self, arrived: &Arrived, now: Instant) {
        let (address, mac): (IpAddr, _) = match arrived {
            Arrived::Arp(packet) => (packet.sender_ip.into(), packet.sender_mac),
            Arrived::Neighbour(message) => match message.mac {
                Some(mac) => (message.source.into(), mac),
                None => return,
            },
            _ => return,
        };
        if ![Side::A, Side::B]
            .into_iter()
            .any(|side| side.tester(Family::of(address)) == address)
        {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|one| one.address != address);
        known.push(Known {
            address,
            mac,
            since: now,
            asked: None,
        });
    }

    /// Looks an address up; the caller sends the request if it is time to.
    pub(super) fn find(&self, address: IpAddr, now: Instant) -> NextHop {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(one) = known.iter_mut().find(|one| one.address == address) else {
            return NextHop {
                mac: None,
                ask: true,
            };
        };
        let age = now.duration_since(one.since);
        let old = self.fresh.is_some_and(|fresh| age >= fresh);
        let asked_lately = one
            .asked
            .is_some_and(|at| now.duration_since(at) < ASK_AGAIN);
        let ask = old && !asked_lately;
        if ask {
            one.asked = Some(now);
        }
        let forgotten = self.fresh.is_some_and(|fresh| age >= fresh * FORGOTTEN);
        NextHop {
            mac: (!forgotten).then_some(one.mac),
            ask,
        }
    }
}

const ASK_AGAIN: Duration = Duration::from_millis(20);
const FORGOTTEN: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::arp::{Operation, Packet};

    fn arp(sender_ip: [u8; 4]) -> Arrived {
        Arrived::Arp(Packet {
            operation: Operation::Reply,
            sender_mac: [2; 6],
            sender_ip: sender_ip.into(),
            target_mac: [4; 6],
            target_ip: [198, 18, 1, 1].into(),
        })
    }

    #[test]
    fn an_address_is_learnt_asked_for_again_and_forgotten() {
        let hops = NextHops::new(Some(Duration::from_millis(100)));
        let (begin, tester) = (Instant::now(), Side::A.tester(Family::Ipv4));
        let at = |ms| begin + Duration::from_millis(ms);
        let found = |ms| hops.find(tester, at(ms));
        assert_eq!(
            found(0),
            NextHop {
                mac: None,
                ask: true
            }
        );
        hops.learn(&arp([198, 18, 1, 99]), begin);
        assert_eq!(found(0).mac, None, "somebody else");
        hops.learn(&arp([198, 18, 1, 2]), begin);
        let mac = Some([2; 6]);
        assert_eq!(found(99), NextHop { mac, ask: false });
        assert_eq!(found(100), NextHop { mac, ask: true });
        assert_eq!(found(110), NextHop { mac, ask: false });
        assert_eq!(found(120), NextHop { mac, ask: true });
        assert_eq!(found(500).mac, None, "nobody answered");
        hops.learn(&arp([198, 18, 1, 2]), at(500));
        assert_eq!(found(501), NextHop { mac, ask: false });
    }
}
