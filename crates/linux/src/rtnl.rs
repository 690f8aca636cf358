// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interfaces, addresses, routes and queueing disciplines of one network namespace.
//!
//! [`Rtnl::open`] binds to the namespace of the calling thread and stays there.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use netlink_packet_route::link::{
    InfoBridge, InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

use crate::netns::NetNs;

/// What the kernel refused.
#[derive(Debug, thiserror::Error)]
#[error("{op} {object}: {source}")]
pub struct RtnlError {
    /// The operation, in `ip`'s words.
    pub op: &'static str,
    /// The interface or address.
    pub object: String,
    pub source: io::Error,
}

/// A routing-netlink socket.
#[derive(Debug)]
pub struct Rtnl {
    socket: Socket,
    sequence: u32,
}

impl Rtnl {
    /// Opens a socket in the namespace of the calling thread.
    ///
    /// # Errors
    /// Those of socket(2).
    pub fn open() -> Result<Self, RtnlError> {
        Self::bound().map_err(refused("open", "netlink"))
    }

    fn bound() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self {
            socket,
            sequence: 0,
        })
    }

    /// Makes a pair of virtual Ethernet interfaces, each end where it belongs.
    ///
    /// The ends get different numbers: the kernel takes a link whose ends have the same one
    /// (easily so in two namespaces) for a plain device, and then may let a second pass before
    /// a carrier that came up is used (net/core/link_watch.c, `linkwatch_urgent_event`).
    pub fn veth(&mut self, near: (&str, &NetNs), far: (&str, &NetNs)) -> Result<(), RtnlError> {
        let mut link = link_end(near);
        let peer = InfoData::Veth(InfoVeth::Peer(link_end(far)));
        link.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(peer),
        ]));
        self.create("link add veth", near.0, RouteNetlinkMessage::NewLink(link))
    }

    /// Makes a bridge.
    pub fn bridge(&mut self, name: &str) -> Result<(), RtnlError> {
        self.new_bridge(name, Vec::new())
    }

    /// Makes a bridge that forgets at once where an address is, and so sends everything everywhere.
    pub fn flooding_bridge(&mut self, name: &str) -> Result<(), RtnlError> {
        let never = InfoData::Bridge(vec![InfoBridge::AgeingTime(0)]);
        self.new_bridge(name, vec![LinkInfo::Data(never)])
    }

    fn new_bridge(&mut self, name: &str, settings: Vec<LinkInfo>) -> Result<(), RtnlError> {
        let mut info = vec![LinkInfo::Kind(InfoKind::Bridge)];
        info.extend(settings);
        let mut link = LinkMessage::default();
        link.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::LinkInfo(info),
        ];
        self.create("link add bridge", name, RouteNetlinkMessage::NewLink(link))
    }

    /// Puts `port` under `bridge`.
    pub fn enslave(&mut self, port: &str, bridge: &str) -> Result<(), RtnlError> {
        let master = index("link set master", bridge)?;
        self.set(port, "link set master", LinkAttribute::Controller(master))
    }

    /// Sets the MTU (bytes of IP packet).
    pub fn set_mtu(&mut self, name: &str, mtu_bytes: u32) -> Result<(), RtnlError> {
        self.set(name, "link set mtu", LinkAttribute::Mtu(mtu_bytes))
    }

    /// Takes an interface up or down.
    pub fn set_up(&mut self, name: &str, up: bool) -> Result<(), RtnlError> {
        let op = if up { "link set up" } else { "link set down" };
        let mut link = LinkMessage::default();
        link.header.index = index(op, name)?;
        link.header.change_mask = LinkFlags::Up;
        if up {
            link.header.flags = LinkFlags::Up;
        }
        self.request(op, name, 0, RouteNetlinkMessage::SetLink(link))
    }

    /// Removes an interface (and the other end of a veth).
    pub fn delete(&mut self, name: &str) -> Result<(), RtnlError> {
        let mut link = LinkMessage::default();
        link.header.index = index("link del", name)?;
        self.request("link del", name, 0, RouteNetlinkMessage::DelLink(link))
    }

    /// Adds an address, usable at once (no duplicate detection).
    pub fn add_address(&mut self, name: &str, ip: IpAddr, prefix: u8) -> Result<(), RtnlError> {
        let mut address = AddressMessage::default();
        address.header.family = family(ip);
        address.header.prefix_len = prefix;
        address.header.index = index("address add", name)?;
        address.attributes = vec![
            AddressAttribute::Local(ip),
            AddressAttribute::Address(ip),
            AddressAttribute::Flags(AddressFlags::Nodad),
        ];
        self.create(
            "address add",
            &ip.to_string(),
            RouteNetlinkMessage::NewAddress(address),
        )
    }

    /// Adds a route to `to`/`prefix` through `gateway`.
    pub fn add_route(&mut self, to: IpAddr, prefix: u8, gateway: IpAddr) -> Result<(), RtnlError> {
        let mut route = RouteMessage::default();
        route.header = RouteHeader {
            address_family: family(to),
            destination_prefix_length: prefix,
            table: RouteHeader::RT_TABLE_MAIN,
            protocol: RouteProtocol::Static,
            scope: RouteScope::Universe,
            kind: RouteType::Unicast,
            ..RouteHeader::default()
        };
        route.attributes = vec![
            RouteAttribute::Destination(RouteAddress::from(to)),
            RouteAttribute::Gateway(RouteAddress::from(gateway)),
        ];
        self.create(
            "route add",
            &to.to_string(),
            RouteNetlinkMessage::NewRoute(route),
        )
    }

    /// Forgets the hardware address of a neighbour.
    pub fn forget_neighbour(&mut self, name: &str, ip: IpAddr) -> Result<(), RtnlError> {
        let op = "neigh del";
        let mut neighbour = NeighbourMessage::default();
        neighbour.header.family = family(ip);
        neighbour.header.ifindex = index(op, name)?;
        let address = match ip {
            IpAddr::V4(ip) => NeighbourAddress::Inet(ip),
            IpAddr::V6(ip) => NeighbourAddress::Inet6(ip),
        };
        neighbour.attributes = vec![NeighbourAttribute::Destination(address)];
        let message = RouteNetlinkMessage::DelNeighbour(neighbour);
        self.request(op, &ip.to_string(), 0, message)
    }

    /// Replaces the root queueing discipline of `name`.
    pub fn set_qdisc(&mut self, name: &str, qdisc: &Qdisc) -> Result<(), RtnlError> {
        let op = "qdisc replace";
        let mut message = TcMessage::with_index(index(op, name)? as i32);
        message.header.parent = TcHandle::ROOT;
        message.attributes = qdisc.attributes();
        let flags = NLM_F_CREATE | NLM_F_REPLACE;
        self.request(
            op,
            name,
            flags,
            RouteNetlinkMessage::NewQueueDiscipline(message),
        )
    }

    fn set(&mut self, name: &str, op: &'static str, to: LinkAttribute) -> Result<(), RtnlError> {
        let mut link = LinkMessage::default();
        link.header.index = index(op, name)?;
        link.attributes.push(to);
        self.request(op, name, 0, RouteNetlinkMessage::SetLink(link))
    }

    fn create(
        &mut self,
        op: &'static str,
        object: &str,
        message: RouteNetlinkMessage,
    ) -> Result<(), RtnlError> {
        self.request(op, object, NLM_F_CREATE | NLM_F_EXCL, message)
    }

    fn request(
        &mut self,
        op: &'static str,
        object: &str,
        flags: u16,
        message: RouteNetlinkMessage,
    ) -> Result<(), RtnlError> {
        self.exchange(flags, message).map_err(refused(op, object))
    }

    fn exchange(&mut self, flags: u16, message: RouteNetlinkMessage) -> io::Result<()> {
        self.sequence += 1;
        let mut packet = NetlinkMessage::from(message);
        packet.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        packet.header.sequence_number = self.sequence;
        packet.finalize();
        let mut bytes = vec![0; packet.buffer_len()];
        packet.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        self.acknowledgement()
    }

    fn acknowledgement(&self) -> io::Result<()> {
        loop {
            let (bytes, _from) = self.socket.recv_from_full()?;
            let reply = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&bytes)
                .map_err(io::Error::other)?;
            if reply.header.sequence_number != self.sequence {
                continue;
            }
            if let NetlinkPayload::Error(error) = reply.payload {
                return error.code.map_or(Ok(()), |_| Err(error.to_io()));
            }
        }
    }
}

/// A root queueing discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qdisc {
    /// A first-in first-out queue of packets (holds nothing back on a device without a queue).
    Fifo { limit_packets: u32 },
    /// A token bucket: sends at most at this rate, drops what exceeds the queue.
    TokenBucket {
        rate_bytes_per_second: u32,
        burst_bytes: u32,
        limit_bytes: u32,
    },
}

impl Qdisc {
    fn attributes(self) -> Vec<TcAttribute> {
        let (kind, options) = match self {
            Self::Fifo { limit_packets } => return fifo_attributes(limit_packets),
            Self::TokenBucket {
                rate_bytes_per_second,
                burst_bytes,
                limit_bytes,
            } => (
                "tbf",
                token_bucket(rate_bytes_per_second, burst_bytes, limit_bytes),
            ),
        };
        vec![
            TcAttribute::Kind(kind.to_owned()),
            TcAttribute::Options(options),
        ]
    }
}

/// `pfifo` takes a bare `struct tc_fifo_qopt`, not attributes, as its options.
fn fifo_attributes(limit_packets: u32) -> Vec<TcAttribute> {
    vec![
        TcAttribute::Kind("pfifo".to_owned()),
        TcAttribute::Other(DefaultNla::new(
            TCA_OPTIONS,
            limit_packets.to_ne_bytes().to_vec(),
        )),
    ]
}

/// `struct tc_tbf_qopt` (linux/pkt_sched.h): two `tc_ratespec`, limit, buffer, mtu. The buffer
/// is a time in scheduler ticks of 64 ns; `TCA_TBF_BURST` gives it exactly, in bytes.
fn token_bucket(rate: u32, burst: u32, limit: u32) -> Vec<TcOption> {
    let ticks = u64::from(burst) * 1_000_000_000 / u64::from(rate.max(1)) / 64;
    let mut parameters = rate_specification(rate);
    parameters.extend([0; 12]);
    for value in [limit, u32::try_from(ticks).unwrap_or(u32::MAX), 0] {
        parameters.extend(value.to_ne_bytes());
    }
    vec![
        TcOption::Other(DefaultNla::new(TCA_TBF_PARMS, parameters)),
        TcOption::Other(DefaultNla::new(TCA_TBF_BURST, burst.to_ne_bytes().to_vec())),
    ]
}

/// `struct tc_ratespec`: cell_log, linklayer (Ethernet), overhead, cell_align, mpu, rate.
fn rate_specification(rate: u32) -> Vec<u8> {
    let mut bytes = vec![0, TC_LINKLAYER_ETHERNET, 0, 0, 0, 0, 0, 0];
    bytes.extend(rate.to_ne_bytes());
    bytes
}

/// Above what the kernel counts up to by itself in a namespace of ours.
static NEXT_INDEX: AtomicU32 = AtomicU32::new(100);

const TCA_OPTIONS: u16 = 2;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_BURST: u16 = 6;
const TC_LINKLAYER_ETHERNET: u8 = 1;

fn link_end((name, namespace): (&str, &NetNs)) -> LinkMessage {
    let mut link = LinkMessage::default();
    link.header.index = NEXT_INDEX.fetch_add(1, Ordering::Relaxed);
    link.attributes = vec![
        LinkAttribute::IfName(name.to_owned()),
        LinkAttribute::NetNsFd(namespace.as_raw_fd()),
    ];
    link
}

fn family(ip: IpAddr) -> AddressFamily {
    match ip {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// The number of an interface of the calling thread's namespace.
fn index(op: &'static str, name: &str) -> Result<u32, RtnlError> {
    let socket = rustix::net::socket(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        None,
    )
    .map_err(|errno| refused(op, name)(errno.into()))?;
    rustix::net::netdevice::name_to_index(&socket, name)
        .map_err(|errno| refused(op, name)(errno.into()))
}

fn refused(op: &'static str, object: &str) -> impl FnOnce(io::Error) -> RtnlError {
    let object = object.to_owned();
    move |source| RtnlError { op, object, source }
}
