// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lab: two hosts on this machine, in private namespaces, with a link to measure.
//!
//! ```no_run
//! use linerate_lab::{Ground, Lab, LabPlan};
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
#![forbid(unsafe_code)]

mod apply;
pub mod bench;
mod cable;
mod fault;
mod ground;
mod host;
mod nuisance;
mod size;
mod token;
mod topology;
mod wire;

use std::fmt;
use std::path::PathBuf;

pub use fault::{FAULTS, Fault, FaultKind, UnknownFault};
pub use ground::Ground;
pub use host::Host;
use linerate_model::failure::Failure;
use nuisance::Nuisance;
pub use token::LabToken;
pub use topology::Topology;
pub use wire::{Ceiling, DirectionReport, Wire, WireReport, WireSpec};

/// Why a lab could not be built.
pub type LabError = Failure;

/// What to build.
#[derive(Clone, Debug)]
pub struct LabPlan {
    pub topology: Topology,
    /// MTU of every interface, bytes of IP packet: 68 … 65535; IPv6 exists from 1280 on.
    pub mtu_bytes: u32,
    /// Carry the frames in user space even if no fault needs it.
    pub wire: Option<WireSpec>,
    /// Where the wire writes down each datagram's fate.
    pub wire_log: Option<PathBuf>,
    pub faults: Vec<Fault>,
}

impl Default for LabPlan {
    fn default() -> Self {
        Self {
            topology: Topology::Pair,
            mtu_bytes: 1500,
            wire: None,
            wire_log: None,
            faults: Vec::new(),
        }
    }
}

impl LabPlan {
    /// The wire that the plan needs, if it needs one.
    fn wire(&self) -> Option<WireSpec> {
        let needed = self.wire_log.is_some() || self.faults.iter().any(Fault::needs_wire);
        let spec = self.wire.or(needed.then(WireSpec::default))?;
        Some(
            self.faults
                .iter()
                .fold(spec, |spec, fault| spec.with(*fault)),
        )
    }

    /// What of the plan cannot be had over the loopback.
    fn beyond_loopback(&self) -> Option<String> {
        if self.topology != Topology::Pair {
            return Some(format!("build the topology '{}'", self.topology));
        }
        let wish = if !self.faults.is_empty() {
            "make a fault"
        } else if self.wire().is_some() {
            "lay a wire"
        } else {
            return None;
        };
        Some(wish.to_owned())
    }
}

/// A lab that is standing.
#[derive(Debug)]
pub struct Lab {
    hosts: [Host; 2],
    device: Option<Host>,
    wire: Option<Wire>,
    nuisance: Nuisance,
}

impl Lab {
    /// Builds the hosts and their link, then makes the faults. On a loopback ground both hosts
    /// are this machine.
    ///
    /// # Errors
    /// [`LabError`]: what the kernel refused, or what a loopback ground cannot be.
    pub fn open(ground: &Ground, plan: &LabPlan) -> Result<Self, LabError> {
        match (ground, plan.beyond_loopback()) {
            (Ground::Namespaces(_), _) => {
                let mut lab = topology::build(plan)?;
                plan.faults
                    .iter()
                    .try_for_each(|fault| lab.make(*fault, plan))?;
                Ok(lab)
            }
            (Ground::Loopback { .. }, None) => Ok(topology::loopback()),
            (Ground::Loopback { because }, Some(wish)) => {
                Err(Failure::measuring(wish, because).hint(because.remedy()))
            }
        }
    }

    fn of(hosts: [Host; 2], device: Option<Host>, wire: Option<Wire>) -> Self {
        let nuisance = Nuisance::default();
        Self {
            hosts,
            device,
            wire,
            nuisance,
        }
    }

    /// Host A, from which commands run, and host B, its peer.
    pub fn hosts(&self) -> &[Host; 2] {
        &self.hosts
    }

    /// The device between the hosts, in the topologies that have one.
    pub fn device(&self) -> Option<&Host> {
        self.device.as_ref()
    }

    /// Takes the lab down; says what its wire did, if it had one.
    pub fn close(self) -> Option<WireReport> {
        self.wire.map(Wire::finish)
    }
}

/// For `map_err`: names what was attempted.
pub fn cannot<E: fmt::Display>(what: &'static str) -> impl Fn(E) -> LabError {
    move |why| Failure::measuring(what, why)
}
