// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes the faults that are not the wire's.

use std::io;
use std::time::Duration;

use linerate_linux::cpu;
use linerate_linux::ethtool_features::{self, Offload};
use linerate_linux::nft;
use linerate_linux::rtnl::{Qdisc, Rtnl, RtnlError};
use linerate_linux::sysctl;

use super::{Fault, Host, Lab, LabError, LabPlan, cannot};

impl Lab {
    pub(super) fn make(&mut self, fault: Fault, plan: &LabPlan) -> Result<(), LabError> {
        let [a, b] = &mut self.hosts;
        match fault {
            Fault::QdiscLimit { bits_per_second } => {
                let qdisc = limit(bits_per_second, plan.mtu_bytes);
                each([a, b], |host| {
                    set(host, |net| net.set_qdisc(host.interface, &qdisc))
                })
            }
            Fault::NftDrop { every } => inside(b, || nft::drop_udp(every)),
            Fault::Mtu { bytes } => shrink(a, b, bytes),
            Fault::OffloadOff => each([a, b], |host| {
                let off = |offload| ethtool_features::switch(host.interface, offload, false);
                inside(host, || Offload::ALL.into_iter().try_for_each(off))
            }),
            Fault::Reno { .. } => each([a, b], |host| {
                inside(host, || {
                    sysctl::write("net.ipv4.tcp_congestion_control", "reno")
                })
            }),
            Fault::TcpReceiveMemory { bytes } => each([a, b], |host| {
                inside(host, || memory("net.ipv4.tcp_rmem", bytes))
            }),
            Fault::TcpSendMemory { bytes } => each([a, b], |host| {
                inside(host, || memory("net.ipv4.tcp_wmem", bytes))
            }),
            Fault::CpuContention { threads } => {
                let cpu = cpu::allowed().last().copied().unwrap_or(0);
                b.treatment.cpu = Some(cpu);
                self.nuisance
                    .burn(cpu, threads)
                    .map_err(cannot("start a busy thread"))
            }
            Fault::PausedReader { ns } => {
                let done = self.nuisance.hold_up(b, Duration::from_nanos(ns));
                done.map_err(cannot("start the pausing thread"))
            }
            Fault::LinkDown { after_ns, for_ns } => {
                let (after, time) = (Duration::from_nanos(after_ns), Duration::from_nanos(for_ns));
                let done = self.nuisance.unplug(b, b.interface, after, time);
                done.map_err(cannot("start the unplugging thread"))
            }
            Fault::ReceiveBuffer { bytes } => {
                b.treatment.receive_buffer_bytes = Some(bytes);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A token bucket with room for two packets, and 16 in its queue.
fn limit(bits_per_second: u64, mtu_bytes: u32) -> Qdisc {
    let frame_bytes = mtu_bytes + 14;
    Qdisc::TokenBucket {
        rate_bytes_per_second: u32::try_from(bits_per_second / 8)
            .unwrap_or(u32::MAX)
            .max(1),
        burst_bytes: 2 * frame_bytes,
        limit_bytes: 16 * frame_bytes,
    }
}

/// IPv6 leaves an interface below its smallest MTU.
fn shrink(a: &mut Host, b: &mut Host, mtu_bytes: u32) -> Result<(), LabError> {
    set(b, |net| net.set_mtu(b.interface, mtu_bytes))?;
    if mtu_bytes < 1280 {
        (a.ipv6, b.ipv6) = (None, None);
    }
    Ok(())
}

/// The least, the first and the largest size of TCP's buffers.
fn memory(name: &str, bytes: u32) -> io::Result<()> {
    sysctl::write(name, &format!("{} {bytes} {bytes}", bytes.min(4096)))
}

fn each(hosts: [&Host; 2], make: impl Fn(&Host) -> Result<(), LabError>) -> Result<(), LabError> {
    hosts.into_iter().try_for_each(make)
}

fn inside(host: &Host, make: impl FnOnce() -> io::Result<()> + Send) -> Result<(), LabError> {
    let done = host.enter(make).and_then(|done| done);
    done.map_err(|why| LabError::measuring(format!("change host {}", host.name), why))
}

fn set(
    host: &Host,
    make: impl FnOnce(&mut Rtnl) -> Result<(), RtnlError> + Send,
) -> Result<(), LabError> {
    host.enter(|| make(&mut Rtnl::open()?))
        .map_err(cannot("enter a host"))?
        .map_err(|why| LabError::measuring(format!("change host {}", host.name), why))
}
