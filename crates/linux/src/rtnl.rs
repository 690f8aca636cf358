// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interfaces, addresses and routes of one network namespace.
//!
//! [`Rtnl::open`] binds to the namespace of the calling thread and stays there.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use linerate_wire::netlink::order::{self, End, Order};

use crate::netlink::Netlink;
use crate::netns::NetNs;

/// An operation that the kernel refused.
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
    socket: Netlink,
}

impl Rtnl {
    /// Opens a socket in the namespace of the calling thread.
    ///
    /// # Errors
    /// Those of socket(2).
    pub fn open() -> Result<Self, RtnlError> {
        let socket = Netlink::route_orders().map_err(refused("open", "netlink"))?;
        Ok(Self { socket })
    }

    /// Makes a pair of virtual Ethernet interfaces, each end where it belongs.
    ///
    /// The ends get different numbers: the kernel takes a link whose ends have the same one
    /// (easily so in two namespaces) for a plain device, and then may let a second pass before
    /// a carrier that came up is used (net/core/link_watch.c, `linkwatch_urgent_event`).
    pub fn veth(&mut self, near: (&str, &NetNs), far: (&str, &NetNs)) -> Result<(), RtnlError> {
        let order = order::veth(end(near), end(far));
        self.request("link add veth", near.0, &order)
    }

    /// As [`Self::veth`], with these numbers of receive queues at the near end and transmit queues at the far one: each of these
    /// fills the receive queue of its number (drivers/net/veth.c, `veth_xmit`).
    pub fn veth_with_queues(
        &mut self,
        near: (&str, &NetNs),
        far: (&str, &NetNs),
        [receive, transmit]: [u32; 2],
    ) -> Result<(), RtnlError> {
        // The kernel uses all queues of both ends only if the first names both numbers (`veth_init_queues`).
        let near_end = End {
            receive_queues: receive,
            transmit_queues: 1,
            ..end(near)
        };
        let far_end = End {
            receive_queues: 1,
            transmit_queues: transmit,
            ..end(far)
        };
        let order = order::veth(near_end, far_end);
        self.request("link add veth", near.0, &order)
    }

    /// Makes a bridge.
    pub fn bridge(&mut self, name: &str) -> Result<(), RtnlError> {
        self.request("link add bridge", name, &order::bridge(name, None))
    }

    /// Makes a bridge with an ageing time of 0, which floods everything.
    pub fn flooding_bridge(&mut self, name: &str) -> Result<(), RtnlError> {
        self.request("link add bridge", name, &order::bridge(name, Some(0)))
    }

    /// Puts `port` under `bridge`.
    pub fn enslave(&mut self, port: &str, bridge: &str) -> Result<(), RtnlError> {
        let op = "link set master";
        let order = order::enslave(index(op, port)?, index(op, bridge)?);
        self.request(op, port, &order)
    }

    /// Takes `port` out of its bridge or bond.
    pub fn release(&mut self, port: &str) -> Result<(), RtnlError> {
        let op = "link set nomaster";
        self.request(op, port, &order::enslave(index(op, port)?, 0))
    }

    /// Sets the MTU (bytes of IP packet).
    pub fn set_mtu(&mut self, name: &str, mtu_bytes: u32) -> Result<(), RtnlError> {
        let op = "link set mtu";
        self.request(op, name, &order::set_mtu(index(op, name)?, mtu_bytes))
    }

    /// Sets how many packets the interface's queue holds.
    pub fn set_tx_queue_length(&mut self, name: &str, packets: u32) -> Result<(), RtnlError> {
        let op = "link set txqueuelen";
        let order = order::set_tx_queue_length(index(op, name)?, packets);
        self.request(op, name, &order)
    }

    /// Sets the longest packet that is left to the interface to cut, with its Ethernet header.
    pub fn set_gso_max_size(&mut self, name: &str, bytes: u32) -> Result<(), RtnlError> {
        let op = "link set gso_max_size";
        self.request(op, name, &order::set_gso_max_size(index(op, name)?, bytes))
    }

    /// Takes an interface up or down.
    pub fn set_up(&mut self, name: &str, up: bool) -> Result<(), RtnlError> {
        let op = if up { "link set up" } else { "link set down" };
        self.request(op, name, &order::set_up(index(op, name)?, up))
    }

    /// Removes an interface (and the other end of a veth).
    pub fn delete(&mut self, name: &str) -> Result<(), RtnlError> {
        let op = "link del";
        self.request(op, name, &order::delete(index(op, name)?))
    }

    /// Adds an address, usable at once (no duplicate detection).
    pub fn add_address(&mut self, name: &str, ip: IpAddr, prefix: u8) -> Result<(), RtnlError> {
        let op = "address add";
        let order = order::add_address(index(op, name)?, ip, prefix);
        self.request(op, &ip.to_string(), &order)
    }

    /// Adds a route to `to`/`prefix` through `gateway`.
    pub fn add_route(&mut self, to: IpAddr, prefix: u8, gateway: IpAddr) -> Result<(), RtnlError> {
        let order = order::add_route(to, prefix, gateway);
        self.request("route add", &to.to_string(), &order)
    }

    /// Deletes a neighbour entry.
    pub fn forget_neighbour(&mut self, name: &str, ip: IpAddr) -> Result<(), RtnlError> {
        let op = "neigh del";
        let order = order::forget_neighbour(index(op, name)?, ip);
        self.request(op, &ip.to_string(), &order)
    }

    fn request(&mut self, op: &'static str, object: &str, order: &Order) -> Result<(), RtnlError> {
        self.socket.order(order).map_err(refused(op, object))
    }
}

/// Above the indices that the kernel assigns in a new namespace.
static NEXT_INDEX: AtomicU32 = AtomicU32::new(100);

fn end<'a>((name, namespace): (&'a str, &NetNs)) -> End<'a> {
    End {
        name,
        index: NEXT_INDEX.fetch_add(1, Ordering::Relaxed),
        namespace: namespace.as_raw_fd(),
        receive_queues: 0,
        transmit_queues: 0,
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
