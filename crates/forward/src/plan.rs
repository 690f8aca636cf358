// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a device is measured with, and how carefully.

use std::net::IpAddr;
use std::sync::Arc;

use linerate_linux::port::Backend;
use linerate_method::frame_size::Mix;
use linerate_method::profile::Profile;
use linerate_method::search::Goal;
use linerate_wire::frame::{Family, Side, Spread};

use super::device::Device;
use super::procedure::Procedure;

/// Everything that was asked for.
#[derive(Debug, Clone)]
pub struct ForwardPlan {
    /// Interfaces of the tester, port A first.
    pub ports: [String; 2],
    /// The tester's own cable, to find out what it can do; without one it tries with the device.
    pub own_cable: Option<[String; 2]>,
    /// What the device does, if it was said.
    pub path: PathWish,
    /// IPv4 or IPv6.
    pub family: Family,
    /// The tag of every frame.
    pub vlan: Option<u16>,
    /// So many flows.
    pub flows: u32,
    /// In what they differ.
    pub networks: bool,
    /// Frames of one size, or a mix of several; with FCS.
    pub sizes: Vec<Mix>,
    /// One after the other.
    pub ways: Vec<Way>,
    /// How long and how careful.
    pub profile: Profile,
    /// What else is measured than what these need.
    pub procedures: Vec<Procedure>,
    /// Resets the device; without one a person is asked to.
    pub reset_command: Option<String>,
    /// What is searched for, with its name, in one search.
    pub goals: Vec<(String, Goal)>,
    /// The most that is offered.
    pub max_load: Option<MaxLoad>,
    /// A search that is not finished by then ends, seconds.
    pub time_limit_s: Option<f64>,
    /// No other one.
    pub backend: Option<Backend>,
    /// Who tells what the device counts.
    pub device: Option<Arc<Device>>,
}

/// What the device is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathWish {
    /// A router if it answers as one, else a bridge.
    Either,
    Bridged,
    /// A router with these addresses, A's side first.
    Routed([IpAddr; 2]),
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

    /// As records name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AToB => "a-b",
            Self::BToA => "b-a",
            Self::Both => "both",
        }
    }
}

/// The most that is offered in each direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MaxLoad {
    FramesPerSecond(f64),
    L1BitsPerSecond(f64),
    LineRateRatio(f64),
}

impl ForwardPlan {
    /// What is measured, in order: what was asked for and what that needs.
    #[must_use]
    pub fn tests(&self) -> Vec<Procedure> {
        let needed = self.procedures.iter().any(|one| one.needs_throughput());
        let is_meant = |one: &Procedure| {
            self.procedures.contains(one) || *one == Procedure::Throughput && needed
        };
        Procedure::ALL.into_iter().filter(is_meant).collect()
    }

    /// When a search ends at the latest, seconds after its start.
    pub(super) fn search_limit_s(&self) -> Option<f64> {
        self.time_limit_s.or(self.profile.search_limit_s)
    }

    /// What the flows differ in, sent from this side.
    pub(super) fn spread(&self, from: Side) -> Spread {
        if self.networks {
            Spread::Networks(from)
        } else {
            Spread::Ports
        }
    }
}
