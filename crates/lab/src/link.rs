// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connects two hosts: by a veth, or by two veths with the wire between them; bridges interfaces of a host.

use std::io;
use std::path::Path;

use linerate_linux::ethtool_features::{self, Offload};
use linerate_linux::netns::NetNs;
use linerate_linux::packet::{PacketReceiver, PacketSender};
use linerate_linux::rtnl::{Rtnl, RtnlError};

use super::host::disable_ipv6;
use super::wire::{Port, Ports, Wire, WireSpec};
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
    join(near.namespace()?, far.namespace()?, mtu_bytes)
}

/// The wire between two veths, whose ends send only frames that a real one could carry.
pub(super) fn wire(
    near: End<'_>,
    far: End<'_>,
    plan: &LabPlan,
    spec: &WireSpec,
) -> Result<Wire, LabError> {
    let wire = NetNs::create().map_err(cannot("create a network namespace"))?;
    wire.run(disable_ipv6).map_err(cannot("enter the wire"))?;
    join(near.namespace()?, ("near", &wire), plan.mtu_bytes)?;
    join(far.namespace()?, ("far", &wire), plan.mtu_bytes)?;
    for end in [near, far] {
        disable_offloads(end)?;
    }
    let ports = wire
        .run(|| open_ports(plan.mtu_bytes))
        .map_err(cannot("enter the wire"))??;
    Wire::start(ports, spec, plan.wire_log.as_deref().map(Path::new))
}

fn join(near: (&str, &NetNs), far: (&str, &NetNs), mtu_bytes: u32) -> Result<(), LabError> {
    let link = || -> Result<(), RtnlError> { Rtnl::open()?.veth(near, far) };
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

fn open_ports(mtu_bytes: u32) -> Result<Ports, LabError> {
    let up = || -> Result<(), RtnlError> {
        let mut net = Rtnl::open()?;
        net.set_up("near", true)?;
        net.set_up("far", true)
    };
    up().map_err(cannot("set the wire up"))?;
    let frame_bytes_max = mtu_bytes as usize + ETHERNET_AND_TAG_BYTES;
    let open = |interface| -> io::Result<Port> {
        Ok(Port {
            receiver: PacketReceiver::open(interface, frame_bytes_max, RING_BYTES)?,
            sender: PacketSender::open(interface)?,
        })
    };
    let both = || {
        Ok(Ports {
            near: open("near")?,
            far: open("far")?,
            frame_bytes_max,
        })
    };
    both().map_err(cannot::<io::Error>("open the wire's sockets"))
}

const RING_BYTES: usize = 8 << 20;
const ETHERNET_AND_TAG_BYTES: usize = 18;
