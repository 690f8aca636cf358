// SPDX-License-Identifier: MIT OR Apache-2.0
//! Joins two hosts: by a veth, or by two veths with the wire between them.

use std::io;
use std::path::Path;

use linerate_linux::ethtool_features::{self, Offload};
use linerate_linux::netns::NetNs;
use linerate_linux::packet::{PacketReceiver, PacketSender};
use linerate_linux::rtnl::{Rtnl, RtnlError};
use linerate_linux::sysctl;

use super::wire::{Port, Ports, Wire, WireSpec};
use super::{Host, LabError, LabPlan, cannot};

/// Where a cable is plugged in.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    host: &'a Host,
    interface: &'static str,
}

impl<'a> End<'a> {
    pub(super) fn new(host: &'a Host, interface: &'static str) -> Self {
        Self { host, interface }
    }

    fn plug(self) -> Result<(&'static str, &'a NetNs), LabError> {
        let namespace = self.host.namespace().ok_or_else(|| {
            LabError::measuring("plug a cable into this machine", "it is a host of its own")
        })?;
        Ok((self.interface, namespace))
    }
}

/// A plain veth with this MTU at both ends.
pub(super) fn veth(near: End<'_>, far: End<'_>, mtu_bytes: u32) -> Result<(), LabError> {
    join(near.plug()?, far.plug()?, mtu_bytes)
}

/// The wire between two veths; the ends give it only what a real one could carry.
pub(super) fn wire(
    near: End<'_>,
    far: End<'_>,
    plan: &LabPlan,
    spec: &WireSpec,
) -> Result<Wire, LabError> {
    let middle = NetNs::create().map_err(cannot("create a network namespace"))?;
    middle.run(silence).map_err(cannot("enter the wire"))?;
    join(near.plug()?, ("near", &middle), plan.mtu_bytes)?;
    join(far.plug()?, ("far", &middle), plan.mtu_bytes)?;
    for end in [near, far] {
        whole_frames(end)?;
    }
    let ports = middle
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

/// The wire itself says nothing. (A kernel without IPv6 has nothing to say.)
fn silence() {
    let _without_ipv6 = sysctl::write("net.ipv6.conf.default.disable_ipv6", "1");
}

/// No frame longer than the MTU, none without its checksum.
fn whole_frames(end: End<'_>) -> Result<(), LabError> {
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
    let done = end.host.enter(switch).and_then(|done| done);
    done.map_err(cannot("switch offloads off"))
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
