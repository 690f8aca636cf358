// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tester: two open ports, and what is known of the device under test between them.

pub(crate) mod port;
mod refused;
mod rx_thread;

use std::net::IpAddr;
use std::time::{Duration, Instant};

use linerate_linux::nic;
use linerate_linux::port::Wanted;
use linerate_linux::signal::Interrupt;
use linerate_method::frame_size::Mix;
use linerate_model::failure::Failure;
use linerate_wire::frame::{self, AddressRange, Flow, Neighbours, Side};

use crate::frames::Frames;
use crate::overhead::Overhead;
use crate::plan::{ForwardPlan, PathMode, RouterPort, Way};
use port::TesterPort;

/// Where frames are addressed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path {
    /// The other port.
    Bridged,
    /// The DUT, a router with these ports; A's side first.
    Routed {
        routers: [RouterPort; 2],
        macs: [[u8; 6]; 2],
    },
}

/// The tester, ready for trials.
#[derive(Debug)]
pub(crate) struct Tester<'a> {
    pub plan: &'a ForwardPlan,
    pub ports: [TesterPort; 2],
    pub path: Path,
    pub interrupt: &'a Interrupt,
    /// The number in the signatures of this trial's frames.
    pub run: u16,
    /// The time that trials take in addition to their traffic.
    pub overhead: Overhead,
}

impl<'a> Tester<'a> {
    /// Opens two interfaces of the calling thread's network namespace.
    ///
    /// # Errors
    /// No link, no permission, no backend.
    pub(crate) fn open(
        plan: &'a ForwardPlan,
        ports: &[String; 2],
        interrupt: &'a Interrupt,
    ) -> Result<Self, Failure> {
        let wanted = Wanted {
            backend: plan.backend,
            frame_bytes_max: longest_bytes(plan).map_or(1518, usize::from),
            tagged: plan.vlan.is_some(),
            ..Wanted::default()
        };
        let open = |side: Side, interface: &str| {
            let link = nic::link(interface).map_err(|why| no_interface(interface, &why))?;
            TesterPort::open(side, &link, neighbours(plan, side, &link)?, &wanted)
        };
        Ok(Self {
            plan,
            ports: [open(Side::A, &ports[0])?, open(Side::B, &ports[1])?],
            path: Path::Bridged,
            interrupt,
            run: 0,
            overhead: Overhead::default(),
        })
    }

    /// Finds out whether the DUT is a bridge or a router, unless the plan says so.
    ///
    /// # Errors
    /// A router that does not answer.
    pub(crate) fn find_path(&mut self) -> Result<(), Failure> {
        let usual = [Side::A, Side::B].map(|side| RouterPort::usual(side, self.plan.family));
        let (routers, must) = match self.plan.path {
            PathMode::Bridged => return Ok(()),
            PathMode::Either => (usual, false),
            PathMode::Routed(routers) => (routers, true),
        };
        let [a, b] = [0, 1].map(|at| self.resolve(at, &routers[at]));
        match (a, b) {
            (Some(a), Some(b)) => {
                self.path = Path::Routed {
                    routers,
                    macs: [a, b],
                };
                Ok(())
            }
            (None, None) if !must => Ok(()),
            (a, _) => Err(self.no_answer(usize::from(a.is_some()), &routers)),
        }
    }

    fn resolve(&self, at: usize, router: &RouterPort) -> Option<[u8; 6]> {
        let port = &self.ports[at];
        (0..ATTEMPTS).find_map(|_| {
            port.send_control(&port.neighbours.request(router.host, router.address)?);
            port.await_neighbour(router.address, ANSWER_WITHIN)
        })
    }

    fn no_answer(&self, at: usize, routers: &[RouterPort; 2]) -> Failure {
        let interface = &self.ports[at].interface;
        let (gateway, prefix_bits) = (routers[at].address, routers[at].prefix_bits);
        let family = match gateway {
            IpAddr::V4(_) => "ARP",
            IpAddr::V6(_) => "neighbour discovery",
        };
        Failure::measuring(
            format!("reach the router at {interface}"),
            format!("{gateway} does not answer {family} of {} there", routers[at].host),
        )
        .hint(format!(
            "give the device {gateway}/{prefix_bits} on the port that {interface} is connected to{}; or its own addresses: --routed A/BITS,B/BITS; or --bridged",
            match self.plan.vlan {
                Some(vlan) => format!(", in VLAN {vlan}, tagged"),
                None => String::new(),
            }
        ))
    }

    /// The frames of these sizes, as this side sends them.
    ///
    /// # Errors
    /// A flow or a size that cannot be sent.
    pub(crate) fn frames(&self, side: Side, sizes: &Mix) -> Result<Frames, Failure> {
        let own = index(side);
        let destination_mac = match self.path {
            Path::Bridged => self.ports[1 - own].neighbours.mac,
            Path::Routed { macs, .. } => macs[own],
        };
        let first = Flow {
            vlan: self.plan.vlan,
            ..Flow::between(
                (self.host(side), self.host(side.opposite())),
                self.ports[own].neighbours.mac,
                destination_mac,
            )
        };
        let flows = frame::flows(first, self.plan.spread(side), self.plan.flows);
        let flows: Vec<_> = flows.collect();
        Frames::new(&flows, sizes).map_err(|why| Failure::usage("send the frames of a flow", why))
    }

    /// The tester's address on a side.
    fn host(&self, side: Side) -> IpAddr {
        match &self.path {
            Path::Bridged => side.tester(self.plan.family),
            Path::Routed { routers, .. } => routers[index(side)].host,
        }
    }

    /// Sends learning frames or ARP/ND requests, so that the DUT knows where the receivers are.
    pub(crate) fn learn(&self, way: Way) {
        for side in way.senders() {
            let (from, to) = (&self.ports[index(*side)], &self.ports[1 - index(*side)]);
            match self.path {
                Path::Bridged => to.send_control(&frame::learning(
                    to.neighbours.mac,
                    from.neighbours.mac,
                    self.plan.vlan,
                )),
                Path::Routed { routers, .. } => {
                    for port in [to, from] {
                        let router = routers[index(port.side)];
                        let question = port.neighbours.request(router.host, router.address);
                        if let Some(question) = question {
                            port.send_control(&question);
                        }
                    }
                }
            }
        }
    }

    /// # Errors
    /// The user interrupted.
    pub(crate) fn check_interrupt(&self) -> Result<(), Failure> {
        match self.interrupt.requested() {
            Some(_) => Err(Failure::interrupted("measure the device")),
            None => Ok(()),
        }
    }

    /// A port that is down may come back in the next trial; one that was removed does not.
    pub(crate) fn check_ports(&self) -> Result<(), Failure> {
        let gone = |port: &&TesterPort| nic::link(&port.interface).is_err();
        match self.ports.iter().find(gone) {
            None => Ok(()),
            Some(port) => Err(Failure::measuring(
                format!("continue with port {}", port.interface),
                "the interface is gone",
            )
            .hint("results so far are valid; see ip link, dmesg")),
        }
    }

    /// Waits; an interruption ends it early.
    pub(crate) fn pause(&self, seconds: f64) {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        while self.interrupt.requested().is_none() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(NAP));
        }
    }

    /// The time that a trial takes in addition to its traffic, seconds.
    pub(crate) fn per_trial_s(&self) -> f64 {
        self.overhead.per_trial_s(&self.plan.profile.waits)
    }

    /// The TTL of a frame after the device.
    pub(crate) fn ttl(&self) -> u8 {
        match self.path {
            Path::Bridged => frame::TTL,
            Path::Routed { .. } => frame::TTL - 1,
        }
    }

    /// The layer 1 rate of the slower port; `None` where there is no medium.
    pub(crate) fn line_bits_per_second(&self) -> Option<u64> {
        let [a, b] = &self.ports;
        Some(a.line_bits_per_second?.min(b.line_bits_per_second?))
    }
}

/// The index of a side's port.
pub(crate) fn index(side: Side) -> usize {
    match side {
        Side::A => 0,
        Side::B => 1,
    }
}

fn no_interface(interface: &str, why: &std::io::Error) -> Failure {
    let why = match why.kind() {
        std::io::ErrorKind::NotFound => "there is no such interface".to_owned(),
        _ => why.to_string(),
    };
    Failure::measuring(format!("use {interface} as a port"), why)
        .hint("`linerate inspect` lists the interfaces")
}

/// Checks the port's MTU against the longest frame.
fn fits(
    interface: &str,
    mtu_bytes: u32,
    size_bytes: u16,
    vlan: Option<u16>,
) -> Result<(), Failure> {
    let around_bytes = HEADER_AND_FCS_BYTES + if vlan.is_some() { TAG_BYTES } else { 0 };
    let packet_bytes = u32::from(size_bytes).saturating_sub(around_bytes);
    if packet_bytes <= mtu_bytes {
        return Ok(());
    }
    let what = format!("send frames of {size_bytes} bytes out of {interface}");
    let why = format!("its MTU is {mtu_bytes}, and the packet in such a frame has {packet_bytes}");
    Err(Failure::usage(what, why).hint(format!(
        "ip link set {interface} mtu {packet_bytes}; or smaller --sizes"
    )))
}

fn longest_bytes(plan: &ForwardPlan) -> Option<u16> {
    plan.sizes.iter().flat_map(Mix::sizes_bytes).max().copied()
}

/// The hosts that the tester emulates on a port: all benchmark addresses of its side, and the host in the router's
/// network, except the device's.
fn neighbours(plan: &ForwardPlan, side: Side, link: &nic::Link) -> Result<Neighbours, Failure> {
    let longest_bytes = longest_bytes(plan).unwrap_or(0);
    fits(&link.name, link.mtu_bytes, longest_bytes, plan.vlan)?;
    let (half, prefix_bits) = side.half(plan.family);
    let mut own = vec![AddressRange::network(half, prefix_bits)];
    let mut except = vec![side.device(plan.family)];
    if let PathMode::Routed(routers) = plan.path {
        own.push(routers[index(side)].host.into());
        except.extend(routers.iter().map(|router| router.address));
        except.retain(|address| *address != routers[index(side)].host);
    }
    Ok(Neighbours {
        mac: own_mac(&link.address),
        vlan: plan.vlan,
        own,
        except,
    })
}

/// The interface's address with a changed bit: the tester's own kernel drops frames to it at once.
fn own_mac(address: &[u8]) -> [u8; 6] {
    let mut mac = [0; 6];
    mac.iter_mut()
        .zip(address)
        .for_each(|(to, from)| *to = *from);
    mac[0] = (mac[0] | LOCAL) & !GROUP ^ OTHER;
    mac
}

const HEADER_AND_FCS_BYTES: u32 = 18;
const TAG_BYTES: u32 = 4;
const LOCAL: u8 = 0x02;
const GROUP: u8 = 0x01;
const OTHER: u8 = 0x04;
const ATTEMPTS: u32 = 3;
const ANSWER_WITHIN: Duration = Duration::from_millis(300);
const NAP: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_longer_than_the_port_takes_is_refused() {
        assert_eq!(fits("p", 1500, 1518, None), Ok(()));
        assert_eq!(fits("p", 1500, 1522, Some(7)), Ok(()));
        let failure = fits("p", 1499, 1518, None).unwrap_err();
        assert!(failure.why.contains("1499") && failure.why.ends_with("has 1500"));
    }

    #[test]
    fn the_testers_address_is_a_single_local_one_that_no_interface_has() {
        for first in 0..=255 {
            let interface = [first, 1, 2, 3, 4, 5];
            let mac = own_mac(&interface);
            assert_ne!(mac, interface);
            assert_eq!(mac[0] & (LOCAL | GROUP), LOCAL);
            assert_eq!(mac[1..], interface[1..]);
        }
    }
}
