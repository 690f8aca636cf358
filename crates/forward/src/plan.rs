// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a device is measured: ports, frames, procedures, goals.

mod procedure;
mod router_port;

use std::sync::Arc;

use linerate_linux::port::Backend;
use linerate_method::frame_size::Mix;
use linerate_method::profile::Profile;
use linerate_method::search::Goal;
use linerate_wire::frame::{Family, Side, Spread};

use crate::device::Device;
pub use procedure::Procedure;
pub use router_port::RouterPort;

/// The parameters of a measurement.
#[derive(Debug, Clone)]
pub struct ForwardPlan {
    /// Interfaces of the tester, port A first.
    pub ports: [String; 2],
    /// Two more ports that a cable connects, to measure the tester's own ceiling; without them it is measured through
    /// the device.
    pub own_cable: Option<[String; 2]>,
    /// Whether the device bridges or routes.
    pub path: PathMode,
    /// IPv4 or IPv6.
    pub family: Family,
    /// The tag of every frame.
    pub vlan: Option<u16>,
    /// The number of flows.
    pub flows: u32,
    /// Whether flows differ in networks instead of UDP ports.
    pub networks: bool,
    /// Frames of one size, or a mix of several; with FCS.
    pub sizes: Vec<Mix>,
    /// Measured one after the other.
    pub ways: Vec<Way>,
    /// Durations and rigour.
    pub profile: Profile,
    /// The benchmarks requested; the throughput is added where they need it.
    pub procedures: Vec<Procedure>,
    /// The command that resets the device; without one the user is asked to.
    pub reset_command: Option<String>,
    /// The goals of one search, each with its name.
    pub goals: Vec<(String, Goal)>,
    /// The maximum offered load.
    pub max_load: Option<MaxLoad>,
    /// The time limit of a search, seconds.
    pub time_limit_s: Option<f64>,
    /// The only backend to use.
    pub backend: Option<Backend>,
    /// Reads the device's own counters.
    pub device: Option<Arc<Device>>,
}

/// How the device forwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathMode {
    /// A router if it answers ARP or ND requests, else a bridge.
    Either,
    Bridged,
    /// A router with these ports, A's side first.
    Routed([RouterPort; 2]),
}

/// Which port sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    AToB,
    BToA,
    Both,
}

impl Way {
    /// The sides that send.
    #[must_use]
    pub fn senders(self) -> &'static [Side] {
        match self {
            Self::AToB => &[Side::A],
            Self::BToA => &[Side::B],
            Self::Both => &[Side::A, Side::B],
        }
    }

    /// The name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AToB => "a-b",
            Self::BToA => "b-a",
            Self::Both => "both",
        }
    }
}

/// The maximum offered load of each direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MaxLoad {
    FramesPerSecond(f64),
    L1BitsPerSecond(f64),
    LineRateRatio(f64),
}

impl ForwardPlan {
    /// The benchmarks in the order of measuring: those requested, and what they need.
    #[must_use]
    pub fn tests(&self) -> Vec<Procedure> {
        let needed = self.procedures.iter().any(|one| one.needs_throughput());
        let is_wanted = |one: &Procedure| {
            self.procedures.contains(one) || *one == Procedure::Throughput && needed
        };
        Procedure::ALL.into_iter().filter(is_wanted).collect()
    }

    /// The ways as one.
    pub(crate) fn all_ways(&self) -> Way {
        match self.ways[..] {
            [Way::AToB] => Way::AToB,
            [Way::BToA] => Way::BToA,
            _ => Way::Both,
        }
    }

    pub(crate) fn search_goals(&self) -> Vec<Goal> {
        self.goals.iter().map(|(_, goal)| *goal).collect()
    }

    /// The time limit of a search, seconds.
    pub(crate) fn search_limit_s(&self) -> Option<f64> {
        self.time_limit_s.or(self.profile.search_limit_s)
    }

    /// How flows from this side differ.
    pub(crate) fn spread(&self, from: Side) -> Spread {
        if self.networks {
            Spread::Networks(from)
        } else {
            Spread::Ports
        }
    }
}
