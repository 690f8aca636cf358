// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lab: two hosts on this machine, in private namespaces, with a link to measure.
//!
//! ```no_run
//! use linerate::lab::{Ground, Lab, LabPlan};
//! // First thing in the program, before any thread exists:
//! let ground = Ground::enter();
//! let lab = Lab::open(&ground, &LabPlan::default())?;
//! let [a, b] = lab.hosts();
//! let server = b.enter(|| std::net::TcpListener::bind((b.ipv4, 5201)))??;
//! let client = a.enter(|| std::net::TcpStream::connect((b.ipv4, 5201)))??;
//! # drop((server, client));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything is gone when the process ends, however it ends.

mod error;
mod fault;
mod ground;
mod host;
mod size;
mod topology;
mod wire;

pub use error::LabError;
pub use fault::{FAULTS, Fault, FaultKind, UnknownFault};
pub use ground::Ground;
pub use host::Host;
pub use topology::Topology;
pub use wire::{DirectionReport, Wire, WireReport, WireSpec};

/// What to build.
#[derive(Clone, Debug)]
pub struct LabPlan {
    pub topology: Topology,
    /// MTU of every interface, bytes of IP packet: 100 … 65535; IPv6 exists from 1280 on.
    pub mtu_bytes: u32,
}

impl Default for LabPlan {
    fn default() -> Self {
        Self {
            topology: Topology::Pair,
            mtu_bytes: 1500,
        }
    }
}

/// A lab that is standing.
#[derive(Debug)]
pub struct Lab {
    hosts: [Host; 2],
    device: Option<Host>,
}

impl Lab {
    /// Builds the hosts and their link. On a loopback ground both hosts are this machine.
    ///
    /// # Errors
    /// [`LabError`]: what the kernel refused, or what a loopback ground cannot be.
    pub fn open(ground: &Ground, plan: &LabPlan) -> Result<Self, LabError> {
        topology::build(ground, plan)
    }

    /// Host A, from which commands run, and host B, its peer.
    pub fn hosts(&self) -> &[Host; 2] {
        &self.hosts
    }

    /// The device between the hosts, in the topologies that have one.
    pub fn device(&self) -> Option<&Host> {
        self.device.as_ref()
    }
}
