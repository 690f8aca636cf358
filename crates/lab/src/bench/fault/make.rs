// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes the faults: in the kernel of the device, or in the router's own program.

use std::io;
use std::time::Duration;

use linerate_linux::nft;
use linerate_linux::rtnl::{Qdisc, Rtnl, RtnlError};
use linerate_wire::frame::{Family, Side};

use super::{DEVICE_FAULTS, DeviceFault};
use crate::bench::layout::DEVICE_PORTS;
use crate::bench::router::Mischief;
use crate::bench::{Bench, BenchPlan, DeviceKind};
use crate::{LabError, cannot};
use linerate_model::failure::Failure;

impl DeviceFault {
    /// What is not a matter of the router's own program.
    pub(in crate::bench) fn make(self, bench: &mut Bench) -> Result<(), LabError> {
        let Bench {
            device, nuisance, ..
        } = bench;
        match self {
            _ if bench.device_kind == DeviceKind::UserRoute
                && !matches!(self, Self::LinkDown { .. }) =>
            {
                Ok(())
            }
            Self::Rate { bits_per_second } => {
                let qdisc = bucket(bits_per_second);
                inside(bench, || {
                    let mut net = Rtnl::open()?;
                    DEVICE_PORTS
                        .iter()
                        .try_for_each(|port| net.set_qdisc(port, &qdisc))
                })
            }
            Self::Loss { every } => inside(bench, || nft::drop_forwarded_udp(every)),
            Self::Mtu { bytes } => inside(bench, || Rtnl::open()?.set_mtu(DEVICE_PORTS[1], bytes)),
            Self::NeighbourExpiry { ns } => {
                let done = nuisance.every(device, Duration::from_nanos(ns), forget_neighbours);
                done.map_err(cannot("start the forgetting thread"))
            }
            Self::LinkDown { after_ns, for_ns } => {
                if after_ns == 0 {
                    let down = || Rtnl::open()?.set_up(DEVICE_PORTS[1], false);
                    device
                        .enter(down)
                        .map_err(cannot("enter the device"))?
                        .map_err(cannot("take a link down"))?;
                }
                let (after, time) = (Duration::from_nanos(after_ns), Duration::from_nanos(for_ns));
                let done = nuisance.unplug(device, DEVICE_PORTS[1], after, time);
                done.map_err(cannot("start the unplugging thread"))
            }
            Self::PortGone { after_ns } => {
                let done = nuisance.every(device, Duration::from_nanos(after_ns), remove_port);
                done.map_err(cannot("start the deleting thread"))
            }
            // Made when the device was built.
            _ => Ok(()),
        }
    }
}

/// Refuses a fault that the device cannot have.
pub(in crate::bench) fn refuse_impossible(plan: &BenchPlan) -> Result<(), LabError> {
    for fault in &plan.faults {
        let name = fault.name();
        let known = DEVICE_FAULTS.iter().find(|kind| kind.name == name);
        let devices = known.map_or(&[][..], |kind| kind.devices);
        if !devices.contains(&plan.device) {
            let able: Vec<_> = devices.iter().map(ToString::to_string).collect();
            let what = format!("make the fault '{name}' in the device '{}'", plan.device);
            return Err(Failure::usage(what, "it has no such fault")
                .hint(format!("--lab {}", able.join(" or "))));
        }
    }
    Ok(())
}

/// What the user-space router does wrong.
pub(in crate::bench) fn mischief(faults: &[DeviceFault]) -> Mischief {
    let mut mischief = Mischief::default();
    for fault in faults {
        match *fault {
            DeviceFault::Loss { every } => mischief.lost = every,
            DeviceFault::SendBack { every } => mischief.sent_back = every,
            DeviceFault::Corrupt { every } => mischief.damaged = every,
            DeviceFault::Duplicate { every } => mischief.duplicated = every,
            DeviceFault::Reorder { every } => mischief.held_back = every,
            DeviceFault::Chatter { every } => mischief.chatter = every,
            DeviceFault::Hops { hops } => mischief.hops = hops,
            DeviceFault::Untagged => mischief.untagged = true,
            DeviceFault::NeighbourExpiry { ns } => {
                mischief.forgets_after = Some(Duration::from_nanos(ns));
            }
            _ => {}
        }
    }
    mischief
}

/// Room for what a sender that is a little late sends at once, and no more: a buffer would let
/// short trials pass above the rate.
fn bucket(bits_per_second: u64) -> Qdisc {
    Qdisc::TokenBucket {
        rate_bytes_per_second: u32::try_from(bits_per_second / 8)
            .unwrap_or(u32::MAX)
            .max(1),
        burst_bytes: LARGEST_FRAME_BYTES,
        limit_bytes: LARGEST_FRAME_BYTES,
    }
}

/// Fails the second time, which ends it.
fn remove_port() -> Result<(), RtnlError> {
    Rtnl::open()?.delete(DEVICE_PORTS[1])
}

fn forget_neighbours() -> Result<(), RtnlError> {
    let mut net = Rtnl::open()?;
    for (interface, side) in DEVICE_PORTS.into_iter().zip([Side::A, Side::B]) {
        for family in [Family::Ipv4, Family::Ipv6] {
            // Not everyone is known.
            let _unknown = net.forget_neighbour(interface, side.tester(family));
        }
    }
    Ok(())
}

fn inside<E: Into<Box<dyn std::error::Error + Send + Sync>> + Send>(
    bench: &Bench,
    make: impl FnOnce() -> Result<(), E> + Send,
) -> Result<(), LabError> {
    let done = bench
        .device
        .enter(make)
        .map_err(cannot("enter the device"))?;
    done.map_err(|why| LabError::measuring("change the device", io::Error::other(why)))
}

const LARGEST_FRAME_BYTES: u32 = 1518;
