// SPDX-License-Identifier: MIT OR Apache-2.0
//! One end: shows and sends the frames of one interface, and takes what sockets deliver. It changes nothing.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6, UdpSocket};
use std::time::Duration;

use linerate_linux::nic::{self, Counters, Ethtool, LinkKind};
use linerate_linux::packet::{PacketReceiver, PacketSender, Sight};
use linerate_linux::{host, proc, udp};
use linerate_wire::ether;
use linerate_wire::proc::{snmp, snmp6};

use crate::hex;
use crate::message::{Answer, Ask, Met, Seen};
use crate::packet::ports_of_beginning;
use crate::services;

/// The sockets of an end. Everything is of the network namespace of the thread that opens it.
#[derive(Debug, Default)]
pub struct Station {
    interface: String,
    index: u32,
    mtu_bytes: u32,
    own: Vec<u8>,
    peer: Vec<u8>,
    receiver: Option<PacketReceiver>,
    sender: Option<PacketSender>,
    counters: Option<Counters>,
    seen: VecDeque<Seen>,
    missed: u64,
    /// Of those, what answers have said since it was last asked for here.
    reported: u64,
    passed: Passed,
    sockets: Vec<UdpSocket>,
    /// The ports of the connections that the two ends are asked over: the ssh session that this runs in, and what the near
    /// end has noticed. They may cross the link: each answer would be frames to answer.
    talks: Vec<[u16; 2]>,
}

impl Station {
    /// Does what is asked.
    pub(crate) fn answer(&mut self, ask: &Ask) -> io::Result<Answer> {
        match ask {
            Ask::Meet { interface, peer } => self.meet(interface.as_deref(), *peer),
            Ask::Watch {
                peer,
                talks,
                is_promiscuous,
            } => self.watch(peer, talks, *is_promiscuous),
            Ask::Frames { wait_ms } => self.frames(*wait_ms),
            Ask::Send { frames } => self.send(frames),
            Ask::Datagrams { address } => self.datagrams(*address),
            Ask::Payloads { wait_ms } => Ok(self.payloads(*wait_ms)),
            Ask::Serve { address, peer } => {
                let port = services::serve(self.at(*address), *peer)?;
                Ok(Answer {
                    port,
                    ..Answer::default()
                })
            }
            Ask::Counters { driver } => self.count(*driver),
        }
    }

    fn meet(&mut self, interface: Option<&str>, peer: IpAddr) -> io::Result<Answer> {
        let name = match interface {
            Some(name) => name.to_owned(),
            None => {
                nic::route(peer)?.ok_or_else(|| io::Error::other(format!("no route to {peer}")))?
            }
        };
        let link = nic::link(&name)?;
        self.interface.clone_from(&link.name);
        self.index = link.index;
        self.mtu_bytes = link.mtu_bytes;
        self.own.clone_from(&link.address);
        let met = Met {
            host: host::describe([name.as_str()]),
            interface: link.name,
            index: link.index,
            link_address: hex::of(&link.address),
            mtu_bytes: link.mtu_bytes,
            is_veth: link.link_kind == LinkKind::Veth,
            addresses: nic::addresses_of(link.index)?,
            features: features(&name),
        };
        Ok(Answer {
            met: Some(Box::new(met)),
            ..Answer::default()
        })
    }

    fn watch(
        &mut self,
        peer: &str,
        talks: &[[u16; 2]],
        is_promiscuous: bool,
    ) -> io::Result<Answer> {
        self.peer = hex::bytes(peer).unwrap_or_default();
        let session = std::env::var("SSH_CONNECTION").ok();
        self.talks = talks.to_vec();
        self.talks.extend(session.and_then(|text| ports(&text)));
        let frame_bytes = self.mtu_bytes as usize + ether::Header::MAX_BYTES;
        let receiver = PacketReceiver::observer(&self.interface, frame_bytes, RING_BYTES)?;
        if is_promiscuous {
            receiver.join_promiscuous()?;
        }
        self.receiver = Some(receiver);
        self.sender = Some(PacketSender::open(&self.interface)?);
        self.counters = Some(Counters::open(&self.interface)?);
        Ok(Answer::default())
    }

    /// An answer is a line of limited length: what is left comes with the next.
    fn frames(&mut self, wait_ms: u64) -> io::Result<Answer> {
        if self.seen.is_empty() {
            let receiver = self.receiver.as_ref().ok_or_else(not_watching)?;
            receiver.wait(wait_ms.min(WAIT_MOST_MS) * 1_000_000)?;
        }
        self.take_seen()?;
        let mut room_bytes = ANSWER_BYTES;
        let mut frames = Vec::new();
        while let Some(seen) = self.seen.pop_front() {
            room_bytes = room_bytes.saturating_sub(seen.bytes.len() + SEEN_BYTES);
            if room_bytes == 0 && !frames.is_empty() {
                self.seen.push_front(seen);
                break;
            }
            frames.push(seen);
        }
        let missed = std::mem::take(&mut self.missed);
        self.reported += missed;
        Ok(Answer {
            frames,
            missed,
            ..Answer::default()
        })
    }

    pub(crate) fn take_reported(&mut self) -> u64 {
        std::mem::take(&mut self.reported)
    }

    /// Only frames between the two ends are kept.
    fn take_seen(&mut self) -> io::Result<()> {
        let receiver = self.receiver.as_mut().ok_or_else(not_watching)?;
        let (own, peer, seen) = (&self.own, &self.peer, &mut self.seen);
        let (passed, talks) = (&mut self.passed, &self.talks);
        receiver.observe(SEEN_MOST, |frame, sight| {
            let Some(header) = ether::Frame::parse(frame) else {
                return;
            };
            passed.note(&header, own, &sight);
            let ends = [header.source.as_slice(), header.destination.as_slice()];
            let is_between = ends == [own, peer] || ends == [peer, own];
            if is_between && !talks.iter().any(|ports| is_of(frame, *ports)) {
                seen.push_back(Seen {
                    bytes: hex::of(frame),
                    length: sight.length,
                    is_outgoing: sight.is_outgoing,
                    is_unfinished: sight.is_unfinished,
                    is_merged: sight.is_merged,
                    wall_ns: sight.wall_ns,
                });
            }
        });
        self.missed += receiver.take_losses()?;
        Ok(())
    }

    /// To the other end only, whatever the frames say.
    fn send(&mut self, frames: &[String]) -> io::Result<Answer> {
        let sender = self.sender.as_ref().ok_or_else(not_watching)?;
        for frame in frames {
            let frame = hex::bytes(frame).unwrap_or_default();
            let to = frame.get(..6).unwrap_or_default();
            if to != self.peer {
                return Err(io::Error::other("a frame for another host"));
            }
            sender.send(&frame)?;
        }
        Ok(Answer::default())
    }

    fn datagrams(&mut self, address: IpAddr) -> io::Result<Answer> {
        let options = udp::Options {
            recv_buffer_bytes: Some(BUFFER_BYTES),
            ..udp::Options::default()
        };
        let socket = udp::bind(self.at(address), &options)?.socket;
        socket.set_nonblocking(true)?;
        let port = socket.local_addr()?.port();
        self.sockets.push(socket);
        Ok(Answer {
            port,
            ..Answer::default()
        })
    }

    fn payloads(&mut self, wait_ms: u64) -> Answer {
        let mut answer = Answer::default();
        let mut wait =
            Duration::from_millis(wait_ms.min(WAIT_MOST_MS)) / (self.sockets.len().max(1) as u32);
        let mut bytes = vec![0; 65_536];
        let mut room_bytes = ANSWER_BYTES;
        for socket in &self.sockets {
            let _silent = udp::readable_within(socket, wait);
            while room_bytes > 0 {
                let Ok(count) = socket.recv(&mut bytes) else {
                    break;
                };
                wait = Duration::ZERO;
                let payload = hex::of(bytes.get(..count).unwrap_or_default());
                room_bytes = room_bytes.saturating_sub(payload.len() + SEEN_BYTES);
                answer.payloads.push(payload);
            }
        }
        answer
    }

    fn count(&mut self, driver: bool) -> io::Result<Answer> {
        self.take_seen()?;
        let interface = self.counters.as_mut().ok_or_else(not_watching)?;
        let mut counters: BTreeMap<String, u64> = BTreeMap::new();
        let link = interface.link().into_iter();
        counters.extend(link.map(|(name, count)| (name.to_owned(), count)));
        if driver {
            let all = interface.driver().into_iter();
            counters.extend(all.map(|(name, count)| (format!("{DRIVER}{name}"), count)));
        }
        let mut protocols = snmp::parse(&proc::net("snmp").unwrap_or_default());
        protocols.extend(snmp6::parse(&proc::net("snmp6").unwrap_or_default()));
        let known = protocols
            .into_iter()
            .filter(|(name, _)| name.ends_with(BAD_SUMS));
        counters.extend(known.filter_map(|(name, count)| Some((name, u64::try_from(count).ok()?))));
        counters.extend(self.passed.counters());
        Ok(Answer {
            counters,
            ..Answer::default()
        })
    }

    /// A link-local address needs its interface.
    fn at(&self, address: IpAddr) -> SocketAddr {
        end(address, 0, self.index)
    }
}

/// What passed the interface as the packet socket saw it.
#[derive(Debug, Default)]
struct Passed {
    received: [u64; 2],
    sent: [u64; 2],
}

impl Passed {
    /// What is for others is not received: an interface does not take it.
    fn note(&mut self, header: &ether::Frame<'_>, own: &[u8], sight: &Sight) {
        let is_for_several = header.destination[0] & 1 == 1;
        let way = match sight.is_outgoing {
            true => &mut self.sent,
            false if is_for_several || header.destination == own => &mut self.received,
            false => return,
        };
        let [packets, bytes] = way;
        *packets += 1;
        *bytes += u64::from(sight.length);
    }

    fn counters(&self) -> [(String, u64); 4] {
        let ([rx_packets, rx_bytes], [tx_packets, tx_bytes]) = (self.received, self.sent);
        [
            ("seen_rx_packets", rx_packets),
            ("seen_rx_bytes", rx_bytes),
            ("seen_tx_packets", tx_packets),
            ("seen_tx_bytes", tx_bytes),
        ]
        .map(|(name, count)| (name.to_owned(), count))
    }
}

/// A socket's end; a link-local address has the interface with it.
pub(crate) fn end(address: IpAddr, port: u16, index: u32) -> SocketAddr {
    match address {
        IpAddr::V6(v6) if v6.is_unicast_link_local() => {
            SocketAddrV6::new(v6, port, 0, index).into()
        }
        _ => SocketAddr::new(address, port),
    }
}

/// Those that this driver has.
pub(crate) fn features(interface: &str) -> BTreeMap<String, String> {
    let Ok(card) = Ethtool::of(interface) else {
        return BTreeMap::new();
    };
    let value = |name: &&str| Some(((*name).to_owned(), nic::feature::read(&card, name).ok()?));
    FEATURES.iter().filter_map(value).collect()
}

/// The ports of `SSH_CONNECTION`: address and port of the client, address and port of the server (ssh(1)).
fn ports(connection: &str) -> Option<[u16; 2]> {
    let mut words = connection.split_whitespace().skip(1).step_by(2);
    let mut port = || words.next()?.parse().ok();
    Some([port()?, port()?])
}

/// Whether a frame is between these ports, in either direction.
fn is_of(frame: &[u8], [one, other]: [u16; 2]) -> bool {
    // It may have been merged, and be seen in part.
    let ports = ports_of_beginning(frame);
    ports == Some([one, other]) || ports == Some([other, one])
}

fn not_watching() -> io::Error {
    io::Error::other("it was not asked to watch")
}

/// The features that are judged, or that change what is seen.
const FEATURES: [&str; 12] = [
    "tx-checksumming",
    "rx-checksumming",
    "tcp-segmentation-offload",
    "tx-tcp-mangleid-segmentation",
    "generic-segmentation-offload",
    "tx-udp-segmentation",
    "generic-receive-offload",
    "large-receive-offload",
    "rx-gro-hw",
    "rx-vlan-offload",
    "tx-vlan-offload",
    "rx-vlan-filter",
];
/// Before the name of a driver's counter.
pub(crate) const DRIVER: &str = "driver ";
/// `UdpInCsumErrors`, `Udp6InCsumErrors`, `TcpInCsumErrors`.
const BAD_SUMS: &str = "InCsumErrors";
const RING_BYTES: usize = 8 << 20;
const BUFFER_BYTES: usize = 4 << 20;
const SEEN_MOST: usize = 16_384;
/// An answer, with its frames as text, is a line of at most 64 KiB.
const ANSWER_BYTES: usize = 40 * 1024;
/// What is around a frame in an answer.
const SEEN_BYTES: usize = 160;
const WAIT_MOST_MS: u64 = 5_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frames_of_an_ssh_session_are_known_in_both_directions() {
        let session = ports("192.0.2.1 51234 192.0.2.7 22").unwrap();
        assert_eq!(session, [51234, 22]);
        assert_eq!(ports("UNKNOWN"), None);
        for (from, to, is_its) in [(51234, 22, true), (22, 51234, true), (51234, 23, false)] {
            assert_eq!(is_of(&segment(from, to), session), is_its, "{from} {to}");
        }
        assert!(!is_of(&segment(51234, 22)[..30], session));
    }

    fn segment(from: u16, to: u16) -> Vec<u8> {
        let mut frame = vec![0; 54];
        frame[12..14].copy_from_slice(&[8, 0]);
        frame[14] = 0x45;
        frame[17] = 40;
        frame[23] = crate::packet::TCP;
        frame[34..36].copy_from_slice(&from.to_be_bytes());
        frame[36..38].copy_from_slice(&to.to_be_bytes());
        frame[46] = 5 << 4;
        frame
    }
}
