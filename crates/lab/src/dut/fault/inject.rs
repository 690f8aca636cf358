// SPDX-License-Identifier: MIT OR Apache-2.0
//! Injects the faults: into the kernel of the device, or into the user-space router.

use std::time::Duration;

use linerate_linux::nft;
use linerate_linux::rtnl::{Rtnl, RtnlError};
use linerate_model::failure::Failure;
use linerate_wire::frame::{Family, Side};

use super::DeviceFault;
use crate::dut::layout::DEVICE_PORTS;
use crate::dut::{DeviceKind, DutLab, DutPlan};
use crate::inject::FASTEST;
use crate::settings::set;
use crate::{LabError, cannot};

impl DeviceFault {
    /// Injects a fault that is not the user-space router's.
    pub(in crate::dut) fn inject(self, lab: &mut DutLab) -> Result<(), LabError> {
        let (device, disturbances) = (&lab.device, &mut lab.disturbances);
        let second = DEVICE_PORTS[1];
        match self {
            _ if lab.device_kind == DeviceKind::UserRoute
                && !matches!(self, Self::LinkDown { .. }) =>
            {
                Ok(())
            }
            Self::Rate { bits_per_second } => {
                let line = |port: &&str| {
                    format!(
                        "tc qdisc replace dev {port} root {}",
                        bucket(bits_per_second)
                    )
                };
                let mut lines = DEVICE_PORTS.iter().map(line);
                lines.try_for_each(|line| set(device, &line))
            }
            Self::Loss { every } => {
                device.configure("drop frames", || nft::drop_forwarded_udp(every))
            }
            Self::Mtu { bytes } => device.set(|net| net.set_mtu(second, bytes)),
            Self::NeighbourExpiry { ns } => disturbances
                .repeat(device, Duration::from_nanos(ns), forget_neighbours)
                .map_err(cannot("start the neighbour-flush thread")),
            Self::LinkDown { after_ns, for_ns } => {
                if after_ns == 0 {
                    device.set(|net| net.set_up(second, false))?;
                }
                disturbances
                    .take_link_down(device, second, after_ns, for_ns)
                    .map_err(cannot("start the link-down thread"))
            }
            Self::PortGone { after_ns } => disturbances
                .repeat(device, Duration::from_nanos(after_ns), remove_port)
                .map_err(cannot("start the port-removal thread")),
            // Part of the device from the start.
            _ => Ok(()),
        }
    }
}

/// Refuses a fault that the device cannot have.
pub(in crate::dut) fn refuse_impossible(plan: &DutPlan) -> Result<(), LabError> {
    for fault in &plan.faults {
        let devices = fault.kind().map_or(&[][..], |kind| kind.devices);
        if !devices.contains(&plan.device) {
            let able: Vec<_> = devices.iter().map(|kind| kind.name()).collect();
            let (name, device) = (fault.name(), plan.device);
            let what = format!("inject the fault '{name}' into the device '{device}'");
            return Err(Failure::usage(what, "it has no such fault")
                .hint(format!("--lab {}", able.join(" or "))));
        }
    }
    Ok(())
}

/// Takes one frame of a sender that is a little late: a larger buffer would let short trials pass above the rate.
fn bucket(bits_per_second: u64) -> String {
    let rate = bits_per_second.min(FASTEST);
    format!("tbf rate {rate}bit burst {LARGEST_FRAME_BYTES} limit {LARGEST_FRAME_BYTES}")
}

/// Fails the second time, which ends the repetition.
fn remove_port() -> Result<(), RtnlError> {
    Rtnl::open()?.delete(DEVICE_PORTS[1])
}

fn forget_neighbours() -> Result<(), RtnlError> {
    let mut net = Rtnl::open()?;
    for (interface, side) in DEVICE_PORTS.into_iter().zip([Side::A, Side::B]) {
        for family in [Family::Ipv4, Family::Ipv6] {
            // Not every neighbour is known.
            let _unknown = net.forget_neighbour(interface, side.tester(family));
        }
    }
    Ok(())
}

const LARGEST_FRAME_BYTES: u32 = 1518;
