// SPDX-License-Identifier: MIT OR Apache-2.0
//! Injects the faults that are not the wire's. A setting is made by its command line, as a person would, and as `tune` restores it.

use std::time::Duration;

use linerate_linux::cpu;
use linerate_linux::nft;

use super::settings::{echo, set, sysctl};
use super::topology::SECOND;
use super::{Fault, Host, Lab, LabError, LabPlan, Topology, cannot};

impl Lab {
    pub(super) fn inject(&mut self, fault: Fault, plan: &LabPlan) -> Result<(), LabError> {
        let [a, b] = &mut self.hosts;
        match fault {
            Fault::QdiscLimit { bits_per_second } => {
                let words = limit(bits_per_second, plan.mtu_bytes);
                let line =
                    |host: &Host| format!("tc qdisc replace dev {} root {words}", host.interface);
                each([a, b], |host| set(host, &line(host)))
            }
            Fault::NftDrop { every } => b.configure("drop datagrams", || nft::drop_udp(every)),
            Fault::ThreadedNapi => {
                // A veth polls only with GRO; long segments would not fill its ring.
                set(a, &format!("ethtool -K {} tso off gso off", a.interface))?;
                set(b, &format!("ethtool -K {} gro on", b.interface))?;
                echo(b, "1", &format!("/sys/class/net/{}/threaded", b.interface))
            }
            Fault::Mtu { bytes } => shrink(a, b, bytes),
            Fault::OffloadOff => each([a, b], |host| {
                set(
                    host,
                    &format!("ethtool -K {} {OFFLOADS_OFF}", host.interface),
                )
            }),
            Fault::Reno { .. } => each([a, b], |host| {
                sysctl(host, "ipv4.tcp_congestion_control", "reno")
            }),
            Fault::Steering { threads } => {
                let (busy, other) = two_cpus()?;
                b.commands.cpu = Some(other);
                let queue = format!("/sys/class/net/{}/queues/rx-0/rps_cpus", b.interface);
                echo(b, &cpu::mask(busy), &queue)?;
                let done = self.disturbances.burn_cpu(busy, threads);
                done.map_err(cannot("start a busy thread"))
            }
            Fault::TcpReceiveMemory { bytes } => {
                each([a, b], |host| sysctl(host, "ipv4.tcp_rmem", &memory(bytes)))
            }
            Fault::TcpSendMemory { bytes } => {
                each([a, b], |host| sysctl(host, "ipv4.tcp_wmem", &memory(bytes)))
            }
            Fault::AcceptQueue { connections } => {
                sysctl(b, "core.somaxconn", &connections.to_string())
            }
            // Of packets that are not ECN-capable nothing is cleared or marked.
            Fault::EcnClear | Fault::EcnMark { .. } => {
                each([a, b], |host| sysctl(host, "ipv4.tcp_ecn", "1"))
            }
            Fault::ArpFlux => answer_from_second(b, plan),
            Fault::CpuContention { threads } => {
                let cpu = cpu::allowed().last().copied().unwrap_or(0);
                b.commands.cpu = Some(cpu);
                let done = self.disturbances.burn_cpu(cpu, threads);
                done.map_err(cannot("start a busy thread"))
            }
            Fault::PausedReader { ns } => {
                let done = self
                    .disturbances
                    .pause_commands(b, Duration::from_nanos(ns));
                done.map_err(cannot("start the pause thread"))
            }
            Fault::LinkDown { after_ns, for_ns } => {
                let done = self
                    .disturbances
                    .take_link_down(b, b.interface, after_ns, for_ns);
                done.map_err(cannot("start the link-down thread"))
            }
            Fault::ReceiveBuffer { bytes } => {
                b.commands.receive_buffer_bytes = Some(bytes);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A token bucket with room for two packets, and 16 in its queue.
fn limit(bits_per_second: u64, mtu_bytes: u32) -> String {
    let frame_bytes = mtu_bytes + 14;
    let (burst, queue) = (2 * frame_bytes, 16 * frame_bytes);
    let rate = bits_per_second.min(FASTEST);
    format!("tbf rate {rate}bit burst {burst} limit {queue}")
}

/// One to steer to, and one that has time.
fn two_cpus() -> Result<(usize, usize), LabError> {
    match cpu::allowed().as_slice() {
        [one, .., other] => Ok((*other, *one)),
        _ => Err(LabError::measuring(
            "steer packets to a busy CPU",
            "this process may use only one CPU",
        )),
    }
}

/// An interface loses IPv6 below its minimum MTU.
fn shrink(a: &mut Host, b: &mut Host, mtu_bytes: u32) -> Result<(), LabError> {
    b.set(|net| net.set_mtu(b.interface, mtu_bytes))?;
    if mtu_bytes < 1280 {
        (a.ipv6, b.ipv6) = (None, None);
    }
    Ok(())
}

/// The first interface leaves all ARP requests to the second, so that which one answers first is no chance.
fn answer_from_second(b: &Host, plan: &LabPlan) -> Result<(), LabError> {
    if plan.topology == Topology::Route {
        return Err(LabError::measuring(
            "let another interface answer",
            "host A and host B are in different networks with the topology 'route'",
        ));
    }
    sysctl(
        b,
        &format!("ipv4.conf.{}.arp_ignore", b.interface),
        ANSWERS_NOTHING,
    )?;
    each_interface(b, |name| format!("ipv4.conf.{name}.rp_filter"), "0")
}

fn each_interface(host: &Host, name: impl Fn(&str) -> String, value: &str) -> Result<(), LabError> {
    let mut all = ["all", host.interface, SECOND].into_iter();
    all.try_for_each(|interface| sysctl(host, &name(interface), value))
}

/// No address is answered for (Documentation/networking/ip-sysctl.rst, arp_ignore).
const ANSWERS_NOTHING: &str = "8";

/// Bits per second that a token bucket can be set to: 32 bits of bytes.
pub(super) const FASTEST: u64 = 8 * u32::MAX as u64;

/// In an order in which each can be switched off.
const OFFLOADS_OFF: &str = "tso off gso off gro off tx off";

/// The minimum, default and maximum size of TCP's buffers.
fn memory(bytes: u32) -> String {
    format!("{} {bytes} {bytes}", bytes.min(4096))
}

fn each(hosts: [&Host; 2], make: impl Fn(&Host) -> Result<(), LabError>) -> Result<(), LabError> {
    hosts.into_iter().try_for_each(make)
}
