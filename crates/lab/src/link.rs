// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connects two hosts: by a veth, or by two veths with the wire between them; bridges interfaces of a host.
//!
//! The ends of the wire either switch their offloads off, or leave them to the wire's cards ([`Nic`]).

use std::io;
use std::path::Path;
use std::sync::Arc;

use linerate_linux::ethtool_features::{self, InForce, Offload};
use linerate_linux::netns::NetNs;
use linerate_linux::packet::{PacketReceiver, PacketSender};
use linerate_linux::rtnl::{Rtnl, RtnlError};

use super::host::disable_ipv6;
use super::wire::{Nic, Port, Ports, RECEIVE_QUEUES, Senders, Wire, WireSpec};
use super::{Host, LabError, LabPlan, cannot};

/// One end of a link.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    host: &'a Host,
    interface: &'static str,
}

impl<'a> End<'a> {
    pub(super) fn new(host: &'a Host, interface: &'static str) -> Self {
        Self { host, interface }
    }

    fn namespace(self) -> Result<(&'static str, &'a NetNs), LabError> {
        let namespace = self.host.namespace().ok_or_else(|| {
            LabError::measuring("connect this machine to a host", "it has no namespace")
        })?;
        Ok((self.interface, namespace))
    }
}

/// A plain veth with this MTU at both ends.
pub(super) fn veth(near: End<'_>, far: End<'_>, mtu_bytes: u32) -> Result<(), LabError> {
    join(near.namespace()?, far.namespace()?, mtu_bytes, None)
}

/// The wire between two veths. It carries only frames that a real one could carry.
pub(super) fn wire(
    near: End<'_>,
    far: End<'_>,
    plan: &LabPlan,
    spec: &WireSpec,
) -> Result<Wire, LabError> {
    let wire = NetNs::create().map_err(cannot("create a network namespace"))?;
    wire.run(disable_ipv6).map_err(cannot("enter the wire"))?;
    let queues = spec.nic.map(|nic| [RECEIVE_QUEUES, nic.queues()]);
    join(near.namespace()?, ("near", &wire), plan.mtu_bytes, queues)?;
    join(far.namespace()?, ("far", &wire), plan.mtu_bytes, None)?;
    match spec.nic {
        None => [near, far].into_iter().try_for_each(disable_offloads)?,
        Some(_) => limit_segmentation(near, far)?,
    }
    let mut ports = wire
        .run(|| open_ports(plan.mtu_bytes, spec.nic))
        .map_err(cannot("enter the wire"))??;
    if spec.nic.is_some() {
        let offloads = near.host.enter(|| InForce::of(near.interface));
        ports.offloads = offloads.and_then(|opened| opened).ok().map(Arc::new);
    }
    Wire::start(ports, spec, plan.wire_log.as_deref().map(Path::new))
}

/// `queues`: as [`Rtnl::veth_with_queues`] has them.
fn join(
    near: (&str, &NetNs),
    far: (&str, &NetNs),
    mtu_bytes: u32,
    queues: Option<[u32; 2]>,
) -> Result<(), LabError> {
    let link = || -> Result<(), RtnlError> {
        let mut net = Rtnl::open()?;
        match queues {
            Some(queues) => net.veth_with_queues(near, far, queues),
            None => net.veth(near, far),
        }
    };
    link().map_err(cannot("join two hosts"))?;
    for (interface, namespace) in [near, far] {
        let set = || -> Result<(), RtnlError> { Rtnl::open()?.set_mtu(interface, mtu_bytes) };
        let done = namespace.run(set).map_err(cannot("enter a host"))?;
        done.map_err(cannot("set the MTU"))?;
    }
    Ok(())
}

/// Then no frame exceeds the MTU, and every frame has its checksum.
fn disable_offloads(end: End<'_>) -> Result<(), LabError> {
    let switch = || -> io::Result<()> {
        let offloads = [
            Offload::TcpSegmentation,
            Offload::GenericSegmentation,
            Offload::TransmitChecksum,
        ];
        offloads
            .into_iter()
            .try_for_each(|offload| ethtool_features::switch(end.interface, offload, false))
    };
    end.host.configure("switch offloads off", switch)
}

/// Both cards cut packets up to a limit, as real ones do. Host A's has a queue for each flow's hash, and GRO: a veth
/// counts its queues only where it polls (drivers/net/veth.c, `veth_xdp_rcv`).
fn limit_segmentation(near: End<'_>, far: End<'_>) -> Result<(), LabError> {
    for end in [near, far] {
        end.host
            .set(|net| net.set_gso_max_size(end.interface, GSO_BYTES_MAX))?;
    }
    near.host.configure("switch GRO on", || {
        ethtool_features::switch(near.interface, Offload::GenericReceive, true)
    })
}

/// A bridge of these interfaces, up.
pub(super) fn bridge(net: &mut Rtnl, ports: &[&str], floods: bool) -> Result<(), RtnlError> {
    match floods {
        true => net.flooding_bridge("br0")?,
        false => net.bridge("br0")?,
    }
    for port in ports {
        net.enslave(port, "br0")?;
        net.set_up(port, true)?;
    }
    net.set_up("br0", true)
}

fn open_ports(mtu_bytes: u32, nic: Option<Nic>) -> Result<Ports, LabError> {
    let up = || -> Result<(), RtnlError> {
        let mut net = Rtnl::open()?;
        net.set_up("near", true)?;
        net.set_up("far", true)
    };
    up().map_err(cannot("set the wire up"))?;
    let frame_bytes_max = mtu_bytes as usize + ETHERNET_AND_TAG_BYTES;
    let is_unstable = nic.is_some_and(|nic| nic.has_unstable_rss);
    let open = |interface, is_unstable| match nic {
        None => plain_port(interface, frame_bytes_max),
        Some(_) => offloading_port(interface, frame_bytes_max, is_unstable),
    };
    let both = || {
        Ok(Ports {
            near: open("near", is_unstable)?,
            far: open("far", false)?,
            frame_bytes_max,
            offloads: None,
        })
    };
    both().map_err(cannot::<io::Error>("open the wire's sockets"))
}

fn plain_port(interface: &str, frame_bytes_max: usize) -> io::Result<Port> {
    Ok(Port {
        receiver: PacketReceiver::open(interface, frame_bytes_max, RING_BYTES)?,
        senders: Senders::one(PacketSender::open(interface)?),
    })
}

/// Takes packets with what their host leaves to its card, and spreads flows over the queues, or each flow's frames.
fn offloading_port(interface: &str, frame_bytes_max: usize, is_unstable: bool) -> io::Result<Port> {
    // The other end polls only for what was not sent by a card that cuts packets itself.
    ethtool_features::switch(interface, Offload::TcpSegmentation, false)?;
    let longest = frame_bytes_max.max(GSO_BYTES_MAX as usize + ETHERNET_AND_TAG_BYTES);
    Ok(Port {
        receiver: PacketReceiver::open_offloaded(interface, longest, OFFLOADED_RING_BYTES)?,
        senders: match is_unstable {
            true => Senders::in_turn(interface)?,
            false => Senders::by_flow(interface)?,
        },
    })
}

const RING_BYTES: usize = 8 << 20;
/// 1024 slots.
const OFFLOADED_RING_BYTES: usize = 32 << 20;
/// As of some Gigabit cards (drivers/net/ethernet/realtek/r8169_main.c, `RTL_GSO_MAX_SIZE_V1`).
const GSO_BYTES_MAX: u32 = 32_000;
const ETHERNET_AND_TAG_BYTES: usize = 18;
