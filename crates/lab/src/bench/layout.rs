// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the tester, the device and the cables of a bench.

use std::net::Ipv4Addr;
use std::thread;
use std::time::{Duration, Instant};

use linerate_linux::rtnl::{Rtnl, RtnlError};
use linerate_linux::sysctl;
use linerate_linux::{nft, nic};
use linerate_wire::frame::{Family, Side};

use super::{Bench, BenchPlan, DeviceFault, DeviceKind};
use crate::cable::{self, End};
use crate::{Host, LabError, cannot};

/// The tester and the device, joined and up.
pub(super) fn build(plan: &BenchPlan) -> Result<[Host; 2], LabError> {
    let [tester, device] = [new_host("tester")?, new_host("device")?];
    for (port, interface) in Bench::PORTS.into_iter().zip(DEVICE_PORTS) {
        let ends = [End::new(&tester, port), End::new(&device, interface)];
        cable::veth(ends[0], ends[1], MTU_BYTES)?;
    }
    let [near, far] = Bench::LOOP.map(|port| End::new(&tester, port));
    cable::veth(near, far, MTU_BYTES)?;
    prepare(&tester, "make the tester quiet", || {
        quiet();
        up(&[&Bench::PORTS[..], &Bench::LOOP[..]].concat())
    })?;
    match plan.device {
        DeviceKind::Bridge => prepare(&device, "make the device a bridge", || {
            quiet();
            bridge(plan.faults.contains(&DeviceFault::Flood))
        })?,
        DeviceKind::Route => prepare(&device, "make the device a router", route)?,
        DeviceKind::Flowtable => {
            prepare(&device, "make the device a router", route)?;
            flowtable(&device)?;
        }
        DeviceKind::UserRoute => prepare(&device, "bring the device's ports up", || {
            quiet();
            up(&DEVICE_PORTS)
        })?,
    }
    wait_for_links(&tester)?;
    wait_for_links(&device)?;
    Ok([tester, device])
}

fn new_host(name: &'static str) -> Result<Host, LabError> {
    Host::create(name, (Ipv4Addr::UNSPECIFIED, None))
}

fn prepare(
    host: &Host,
    what: &'static str,
    set: impl FnOnce() -> Result<(), RtnlError> + Send,
) -> Result<(), LabError> {
    let done = host.enter(set).map_err(cannot("enter a namespace"))?;
    done.map_err(|why| LabError::measuring(what, why))
}

/// Neither a router solicitation nor a multicast report of its own disturbs the count.
fn quiet() {
    let interfaces = sysctl::write("net.ipv6.conf.all.disable_ipv6", "1");
    // A kernel without IPv6 is quiet already.
    let _without_ipv6 = interfaces.and_then(|()| sysctl::write(IPV6_OFF, "1"));
}

fn up(interfaces: &[&str]) -> Result<(), RtnlError> {
    let mut net = Rtnl::open()?;
    interfaces
        .iter()
        .try_for_each(|interface| net.set_up(interface, true))
}

fn bridge(floods: bool) -> Result<(), RtnlError> {
    let mut net = Rtnl::open()?;
    if floods {
        net.flooding_bridge("br0")?;
    } else {
        net.bridge("br0")?;
    }
    for port in DEVICE_PORTS {
        net.enslave(port, "br0")?;
        net.set_up(port, true)?;
    }
    net.set_up("br0", true)
}

/// Addresses on both sides, and routes to the networks that the tester plays behind its ports.
fn route() -> Result<(), RtnlError> {
    let mut net = Rtnl::open()?;
    let mut families = vec![Family::Ipv4];
    families.extend(sysctl::read(IPV6_OFF).is_ok().then_some(Family::Ipv6));
    let sides = || DEVICE_PORTS.into_iter().zip([Side::A, Side::B]);
    for (interface, side) in sides() {
        for family in &families {
            net.add_address(interface, side.device(*family), prefix_bits(*family))?;
        }
        net.set_up(interface, true)?;
    }
    for family in &families {
        for (_, side) in sides() {
            let (half, prefix_bits) = side.half(*family);
            net.add_route(half, prefix_bits, side.tester(*family))?;
        }
        forward(*family)?;
    }
    Ok(())
}

fn flowtable(device: &Host) -> Result<(), LabError> {
    let made = device.enter(|| nft::flowtable(&DEVICE_PORTS));
    made.and_then(|made| made).map_err(|why| {
        LabError::measuring("give the device a flowtable", why)
            .hint("a kernel with nft_flow_offload and nf_flow_table_inet; or --lab route")
    })
}

fn forward(family: Family) -> Result<(), RtnlError> {
    let name = match family {
        Family::Ipv4 => "net.ipv4.ip_forward",
        Family::Ipv6 => "net.ipv6.conf.all.forwarding",
    };
    sysctl::write(name, "1").map_err(|source| RtnlError {
        op: "sysctl -w",
        object: name.to_owned(),
        source,
    })
}

const fn prefix_bits(family: Family) -> u8 {
    match family {
        Family::Ipv4 => 24,
        Family::Ipv6 => 64,
    }
}

/// The kernel takes a moment after both ends are up, and swallows what is sent in it.
fn wait_for_links(host: &Host) -> Result<(), LabError> {
    let end = Instant::now() + LINKS_UP_WITHIN;
    let all_up = || {
        let links = nic::list()?;
        let down = |link: &&nic::Link| link.kind.as_deref() == Some("veth");
        Ok::<_, std::io::Error>(links.iter().filter(down).all(|link| link.operstate == "up"))
    };
    while !host
        .enter(all_up)
        .and_then(|up| up)
        .map_err(cannot("look at the links"))?
    {
        if Instant::now() > end {
            let what = format!("bring the links of the {} up", host.name);
            return Err(LabError::measuring(what, "they have no carrier"));
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

pub(super) const DEVICE_PORTS: [&str; 2] = ["eth0", "eth1"];
/// Room for a 1518-byte frame, and for one with a tag.
pub(super) const MTU_BYTES: u32 = 1504;
const LINKS_UP_WITHIN: Duration = Duration::from_secs(5);
/// Absent from a kernel without IPv6.
const IPV6_OFF: &str = "net.ipv6.conf.default.disable_ipv6";
