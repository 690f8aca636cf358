// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two open ports and what is known of the device between them.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use linerate_linux::nic;
use linerate_linux::port::Wanted;
use linerate_linux::signal::Interrupt;
use linerate_method::frame_size::Mix;
use linerate_wire::frame::{self, AddressRange, Flow, Neighbours, Side};

use super::forecast::Overhead;
use super::frames::Frames;
use super::plan::{ForwardPlan, PathWish, Way};
use super::station::Station;
use linerate_model::failure::Failure;

/// What frames are addressed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// The other port.
    Bridged,
    /// The device, at these addresses; A's side first.
    Routed {
        gateways: [IpAddr; 2],
        macs: [[u8; 6]; 2],
    },
}

/// The tester, ready to send.
#[derive(Debug)]
pub(super) struct Rig<'a> {
    pub plan: &'a ForwardPlan,
    pub stations: [Station; 2],
    pub path: Path,
    pub interrupt: &'a Interrupt,
    /// Frames of an earlier trial bear another number.
    pub runs: u16,
    /// Trials that are counted.
    pub trials: u32,
    /// Frames that the tester's kernel dropped at each port until now.
    pub kernel_drops: [u64; 2],
    /// What trials take beside their traffic.
    pub overhead: Overhead,
}

impl<'a> Rig<'a> {
    /// Opens two interfaces of the calling thread's network namespace.
    ///
    /// # Errors
    /// No link, no right, no backend.
    pub(super) fn open(
        plan: &'a ForwardPlan,
        ports: &[String; 2],
        interrupt: &'a Interrupt,
    ) -> Result<Self, Failure> {
        let wanted = Wanted {
            backend: plan.backend,
            frame_bytes_max: plan
                .sizes
                .iter()
                .flat_map(Mix::sizes_bytes)
                .max()
                .map_or(1518, |size| usize::from(*size)),
            tagged: plan.vlan.is_some(),
            ..Wanted::default()
        };
        let open = |side: Side, interface: &str| {
            Station::open(side, interface, behind(plan, side, interface)?, &wanted)
        };
        Ok(Self {
            plan,
            stations: [open(Side::A, &ports[0])?, open(Side::B, &ports[1])?],
            path: Path::Bridged,
            interrupt,
            runs: 0,
            trials: 0,
            kernel_drops: [0; 2],
            overhead: Overhead::default(),
        })
    }

    /// Finds out what the device is, as far as it was not said.
    ///
    /// # Errors
    /// A router that does not answer.
    pub(super) fn find_path(&mut self) -> Result<(), Failure> {
        let usual = [Side::A, Side::B].map(|side| side.device(self.plan.family));
        let (gateways, must) = match self.plan.path {
            PathWish::Bridged => return Ok(()),
            PathWish::Either => (usual, false),
            PathWish::Routed(gateways) => (gateways, true),
        };
        let [a, b] = [0, 1].map(|at| self.resolve(at, gateways[at]));
        match (a, b) {
            (Some(a), Some(b)) => {
                self.path = Path::Routed {
                    gateways,
                    macs: [a, b],
                };
                Ok(())
            }
            (None, None) if !must => Ok(()),
            (a, _) => Err(self.no_answer(usize::from(a.is_some()), gateways)),
        }
    }

    fn resolve(&self, at: usize, gateway: IpAddr) -> Option<[u8; 6]> {
        let station = &self.stations[at];
        let from = station.side.tester(self.plan.family);
        (0..QUESTIONS).find_map(|_| {
            station.say(&station.neighbours.request(from, gateway)?);
            station.await_neighbour(gateway, ANSWER_WITHIN)
        })
    }

    fn no_answer(&self, at: usize, gateways: [IpAddr; 2]) -> Failure {
        let (interface, gateway) = (&self.stations[at].interface, gateways[at]);
        let family = match gateway {
            IpAddr::V4(_) => "ARP",
            IpAddr::V6(_) => "neighbour discovery",
        };
        Failure::measuring(
            format!("reach the router behind {interface}"),
            format!("{gateway} does not answer {family} there"),
        )
        .hint(format!(
            "give the device {gateway}/{} on the port that {interface} is connected to{}; or --bridged",
            if gateway.is_ipv4() { 24 } else { 64 },
            match self.plan.vlan {
                Some(vlan) => format!(", in VLAN {vlan}, tagged"),
                None => String::new(),
            }
        ))
    }

    /// The frames of these sizes, as this side sends them.
    ///
    /// # Errors
    /// What is no flow.
    pub(super) fn frames(&self, side: Side, sizes: &Mix) -> Result<Frames, Failure> {
        let own = at(side);
        let destination_mac = match self.path {
            Path::Bridged => self.stations[1 - own].neighbours.mac,
            Path::Routed { macs, .. } => macs[own],
        };
        let first = Flow {
            vlan: self.plan.vlan,
            ..Flow::first(
                side,
                self.plan.family,
                self.stations[own].neighbours.mac,
                destination_mac,
            )
        };
        let flows = frame::flows(first, self.plan.spread(side), self.plan.flows);
        let flows: Vec<_> = flows.collect();
        Frames::new(&flows, sizes).map_err(|why| Failure::usage("send the frames of a flow", why))
    }

    /// Shows the device where the receivers of the next frames are.
    pub(super) fn learn(&self, way: Way) {
        for side in way.senders() {
            let (from, to) = (&self.stations[at(*side)], &self.stations[1 - at(*side)]);
            match self.path {
                Path::Bridged => to.say(&frame::learning(
                    to.neighbours.mac,
                    from.neighbours.mac,
                    self.plan.vlan,
                )),
                Path::Routed { gateways, .. } => {
                    for station in [to, from] {
                        let own = station.side.tester(self.plan.family);
                        let gateway = gateways[at(station.side)];
                        if let Some(question) = station.neighbours.request(own, gateway) {
                            station.say(&question);
                        }
                    }
                }
            }
        }
    }

    /// # Errors
    /// The user interrupted.
    pub(super) fn interrupted(&self) -> Result<(), Failure> {
        match self.interrupt.requested() {
            Some(_) => Err(Failure::interrupted("measure the device")),
            None => Ok(()),
        }
    }

    /// Waits; an interruption ends it early.
    pub(super) fn pause(&self, seconds: f64) {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        while self.interrupt.requested().is_none() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(NAP));
        }
    }

    /// What a frame has left of its TTL behind the device.
    pub(super) fn ttl(&self) -> u8 {
        match self.path {
            Path::Bridged => frame::TTL,
            Path::Routed { .. } => frame::TTL - 1,
        }
    }

    /// What the slower of the ports carries, layer 1; `None` where there is no medium.
    pub(super) fn line_bits_per_second(&self) -> Option<u64> {
        let [a, b] = &self.stations;
        Some(a.line_bits_per_second?.min(b.line_bits_per_second?))
    }
}

/// The number of a side.
pub(super) fn at(side: Side) -> usize {
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

/// Whether the port itself takes the longest frame.
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

/// Everyone behind a port: all benchmark addresses of its side but the device's.
fn behind(plan: &ForwardPlan, side: Side, interface: &str) -> Result<Neighbours, Failure> {
    let link = nic::link(interface).map_err(|why| no_interface(interface, &why))?;
    let longest = plan.sizes.iter().flat_map(Mix::sizes_bytes).max();
    fits(
        interface,
        link.mtu_bytes,
        longest.copied().unwrap_or(0),
        plan.vlan,
    )?;
    let (half, prefix_bits) = side.half(plan.family);
    let mut except = vec![side.device(plan.family)];
    if let PathWish::Routed(gateways) = plan.path {
        except.extend(gateways);
    }
    Ok(Neighbours {
        mac: own_mac(&link.address),
        vlan: plan.vlan,
        own: vec![AddressRange::network(half, prefix_bits)],
        except,
    })
}

/// Like the interface's, but nobody's: what is for it, the tester's own kernel throws away at once.
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
const QUESTIONS: u32 = 3;
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
