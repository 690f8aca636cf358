// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the tester, the DUT and the cables between them.

use std::net::Ipv4Addr;

use linerate_linux::nft;
use linerate_linux::rtnl::{Rtnl, RtnlError};
use linerate_wire::frame::{Family, Side};

use super::{DeviceFault, DeviceKind, DutLab, DutPlan};
use crate::host::{disable_ipv6, enable_forwarding, kernel_has_ipv6};
use crate::link::{self, End};
use crate::{Host, LabError};

/// The tester and the device, joined and up.
pub(super) fn build(plan: &DutPlan) -> Result<[Host; 2], LabError> {
    let [tester, device] = [new_host("tester")?, new_host("device")?];
    for (port, interface) in DutLab::PORTS.into_iter().zip(DEVICE_PORTS) {
        let ends = [End::new(&tester, port), End::new(&device, interface)];
        link::veth(ends[0], ends[1], MTU_BYTES)?;
    }
    let [near, far] = DutLab::LOOP.map(|port| End::new(&tester, port));
    link::veth(near, far, MTU_BYTES)?;
    silent(&tester, |net| {
        let mut ports = DutLab::PORTS.iter().chain(&DutLab::LOOP);
        ports.try_for_each(|port| net.set_up(port, true))
    })?;
    match plan.device {
        DeviceKind::Bridge => {
            let floods = plan.faults.contains(&DeviceFault::Flood);
            silent(&device, |net| link::bridge(net, &DEVICE_PORTS, floods))?;
        }
        DeviceKind::Route => route(&device)?,
        DeviceKind::Flowtable => {
            route(&device)?;
            device
                .configure("give the device a flowtable", || {
                    nft::flowtable(&DEVICE_PORTS)
                })
                .map_err(|failure| {
                    failure.hint(
                        "a kernel with nft_flow_offload and nf_flow_table_inet; or --lab route",
                    )
                })?;
        }
        DeviceKind::UserRoute => silent(&device, |net| {
            let mut ports = DEVICE_PORTS.iter();
            ports.try_for_each(|port| net.set_up(port, true))
        })?,
    }
    tester.wait_for_links()?;
    device.wait_for_links()?;
    Ok([tester, device])
}

fn new_host(name: &'static str) -> Result<Host, LabError> {
    Host::create(name, (Ipv4Addr::UNSPECIFIED, None))
}

/// Configures a host without IPv6: router solicitations and multicast reports would disturb the count.
fn silent(
    host: &Host,
    act: impl FnOnce(&mut Rtnl) -> Result<(), RtnlError> + Send,
) -> Result<(), LabError> {
    host.set(|net| {
        disable_ipv6();
        act(net)
    })
}

/// Adds addresses on both sides, and routes to the networks that the tester emulates behind its ports.
fn route(device: &Host) -> Result<(), LabError> {
    let has_ipv6 = kernel_has_ipv6();
    let mut families = vec![Family::Ipv4];
    families.extend(has_ipv6.then_some(Family::Ipv6));
    device.set(|net| {
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
        }
        Ok(())
    })?;
    enable_forwarding(device, has_ipv6)
}

const fn prefix_bits(family: Family) -> u8 {
    match family {
        Family::Ipv4 => 24,
        Family::Ipv6 => 64,
    }
}

pub(super) const DEVICE_PORTS: [&str; 2] = ["eth0", "eth1"];
/// Room for a 1518-byte frame, also with a tag.
pub(super) const MTU_BYTES: u32 = 1504;
