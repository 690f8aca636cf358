// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel as a router between two ports of a tester, with the addresses of RFC 2544.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use linerate_linux::netns::NetNs;
use linerate_linux::packet::{PacketReceiver, PacketSender};
use linerate_linux::rtnl::Rtnl;
use linerate_linux::sysctl;
use linerate_wire::frame::{self, AddressRange, Arrived, Family, Flow, Neighbours, Ours, Side};

use crate::{FAMILIES, destination, stamped};

/// The router and the ports around it.
pub(crate) struct Router {
    device: NetNs,
    macs: [[u8; 6]; 2],
    ports: [Port; 2],
}

/// A port of the tester: no address of the kernel's, all of its half are ours.
pub(crate) struct Port {
    pub(crate) neighbours: Neighbours,
    sender: PacketSender,
    receiver: PacketReceiver,
}

impl Router {
    pub(crate) fn new() -> Self {
        let (device, tester) = (NetNs::create().unwrap(), NetNs::create().unwrap());
        for name in NAMES {
            Rtnl::open()
                .unwrap()
                .veth((name, &device), (name, &tester))
                .unwrap();
        }
        let ports = tester.run(|| SIDES.map(Port::open)).unwrap();
        let macs = device.run(set_up_router).unwrap();
        Self {
            device,
            macs,
            ports,
        }
    }

    pub(crate) fn mac(&self, side: Side) -> [u8; 6] {
        self.macs[index(side)]
    }

    pub(crate) fn port(&self, side: Side) -> &Port {
        &self.ports[index(side)]
    }

    pub(crate) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.device.run(work).unwrap()
    }

    /// The first flow from a side, to the router's address there.
    pub(crate) fn flow(&self, from: Side, family: Family) -> Flow {
        Flow::first(from, family, self.port(from).neighbours.mac, self.mac(from))
    }

    /// Asks for the router's address.
    pub(crate) fn resolve(&mut self, side: Side, family: Family) -> [u8; 6] {
        let wanted = side.device(family);
        let question = self
            .port(side)
            .neighbours
            .request(side.tester(family), wanted)
            .unwrap();
        self.exchange(
            |router| router.port(side).send(&question),
            |_, bytes| {
                frame::resolved(bytes)
                    .filter(|(ip, _)| *ip == wanted)
                    .map(|(_, mac)| mac)
            },
        )
    }

    /// The Ethernet address to which the router sends datagrams of its own.
    pub(crate) fn where_kernel_sends(&mut self, side: Side, to: std::net::IpAddr) -> [u8; 6] {
        let own = side.device(Family::of(to));
        let socket = self.inside(|| UdpSocket::bind((own, 0)).unwrap());
        self.exchange(
            |_| {
                socket.send_to(b"?", (to, 9)).unwrap();
            },
            |_, bytes| (destination(bytes) == Some(to)).then(|| *bytes.first_chunk().unwrap()),
        )
    }

    /// Sends a frame of the flow from its side; where it comes out, and how.
    pub(crate) fn forward(&mut self, flow: &Flow, size_bytes: u16) -> (Side, Ours) {
        let bytes = stamped(flow, size_bytes);
        let from = SIDES
            .into_iter()
            .find(|side| self.port(*side).neighbours.mac == flow.source_mac)
            .unwrap();
        self.exchange(
            |router| router.port(from).send(&bytes),
            |side, read| match frame::read(read) {
                Arrived::Ours(ours)
                    if ours.source_port == flow.source_port && read.len() == bytes.len() =>
                {
                    Some((side, ours))
                }
                _ => None,
            },
        )
    }

    /// Acts, and answers the router's questions, until `wanted` arrives; acts again while nothing comes: links need a
    /// moment to be ready, and the kernel keeps few packets while it asks for a neighbour.
    pub(crate) fn exchange<T>(
        &mut self,
        mut act: impl FnMut(&Self),
        mut wanted: impl FnMut(Side, &[u8]) -> Option<T>,
    ) -> T {
        let deadline = Instant::now() + DEADLINE;
        while Instant::now() < deadline {
            act(self);
            let again = Instant::now() + PATIENCE;
            while Instant::now() < again {
                for (side, port) in SIDES.into_iter().zip(&mut self.ports) {
                    if let Some(found) = port.serve(|bytes| wanted(side, bytes)) {
                        return found;
                    }
                }
            }
        }
        panic!("nothing came in {DEADLINE:?}");
    }
}

impl Port {
    fn open(side: Side) -> Self {
        let name = NAMES[index(side)];
        Rtnl::open().unwrap().set_up(name, true).unwrap();
        let half = |family| {
            let (address, prefix_bits) = side.half(family);
            AddressRange::network(address, prefix_bits)
        };
        Self {
            neighbours: Neighbours {
                mac: [2, 0, 0, 0, 0xAA, index(side) as u8],
                vlan: None,
                own: FAMILIES.map(half).into(),
                except: FAMILIES.map(|family| side.device(family)).into(),
            },
            sender: PacketSender::open(name).unwrap(),
            receiver: PacketReceiver::open(name, 2048, 1 << 20).unwrap(),
        }
    }

    pub(crate) fn send(&self, bytes: &[u8]) {
        // A link that is not ready yet is asked again.
        let _unready = self.sender.send(bytes);
    }

    /// Answers what arrives within a moment; what of it is wanted.
    fn serve<T>(&mut self, mut wanted: impl FnMut(&[u8]) -> Option<T>) -> Option<T> {
        self.receiver.wait(1_000_000).unwrap();
        let (mut found, mut answers) = (None, Vec::new());
        let neighbours = &self.neighbours;
        self.receiver.receive(64, |bytes| {
            answers.extend(neighbours.answer(bytes));
            found = found.take().or_else(|| wanted(bytes));
        });
        answers.iter().for_each(|answer| self.send(answer));
        found
    }
}

fn set_up_router() -> [[u8; 6]; 2] {
    sysctl::write("net.ipv4.ip_forward", "1").unwrap();
    sysctl::write("net.ipv6.conf.all.forwarding", "1").unwrap();
    let mut net = Rtnl::open().unwrap();
    net.set_up("lo", true).unwrap();
    for (side, name) in SIDES.into_iter().zip(NAMES) {
        net.set_up(name, true).unwrap();
        for (family, prefix_bits) in FAMILIES.into_iter().zip([24, 64]) {
            net.add_address(name, side.device(family), prefix_bits)
                .unwrap();
            let (half, prefix_bits) = side.half(family);
            net.add_route(half, prefix_bits, side.tester(family))
                .unwrap();
        }
    }
    NAMES.map(mac_of)
}

fn mac_of(name: &str) -> [u8; 6] {
    let text = std::fs::read_to_string(format!("/sys/class/net/{name}/address")).unwrap();
    let octets: Vec<u8> = text
        .trim()
        .split(':')
        .map(|octet| u8::from_str_radix(octet, 16).unwrap())
        .collect();
    octets.try_into().unwrap()
}

const fn index(side: Side) -> usize {
    match side {
        Side::A => 0,
        Side::B => 1,
    }
}

const SIDES: [Side; 2] = [Side::A, Side::B];
const NAMES: [&str; 2] = ["left", "right"];
const DEADLINE: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_millis(100);
