// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lab: hosts on this machine, in private namespaces, with a link, faults or a DUT to measure. Needs no root.
//!
//! In: a [`LabPlan`] (topology, MTU, wire, faults) or a [`dut::DutPlan`]. Out: [`Host`]s to open sockets and start
//! commands in, and the [`WireReport`] of the user-space wire. [`Isolation::enter`] comes first: it moves the process
//! into private namespaces, or reports why it cannot; then hosts are this machine, over its loopback.
//! Nothing outside the namespaces changes, and everything is gone when the process ends.
//!
//! ```no_run
//! use linerate_lab::{Isolation, Lab, LabPlan};
//! // First thing in the program, before any thread exists:
//! let isolation = Isolation::enter();
//! let faults = vec!["loss=1%".parse()?];
//! let lab = Lab::open(&isolation, &LabPlan { faults, ..LabPlan::default() })?;
//! let [a, b] = lab.hosts();
//! let server = b.enter(|| std::net::TcpListener::bind((b.ipv4, 5201)))??;
//! let client = a.enter(|| std::net::TcpStream::connect((b.ipv4, 5201)))??;
//! # drop((server, client));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod disturbances;
pub mod dut;
mod fault;
mod fault_kind;
mod host;
mod inject;
mod isolation;
mod link;
mod settings;
mod size;
mod token;
mod topology;
mod wire;

use std::fmt;
use std::path::PathBuf;

pub use fault::{FAULTS, Fault};
pub use fault_kind::FaultKind;
pub use host::Host;
pub use isolation::Isolation;
pub use token::LabToken;
pub use topology::Topology;
use wire::Wire;
pub use wire::{
    Ceiling, DirectionCounters, DirectionReport, EcnChange, Nic, WireCounters, WireReport, WireSpec,
};

use disturbances::Disturbances;
use linerate_model::failure::Failure;

/// Why a lab could not be built.
pub type LabError = Failure;

/// What to build.
#[derive(Clone, Debug)]
pub struct LabPlan {
    pub topology: Topology,
    /// MTU of every interface, bytes: 68 … 65535; IPv6 needs 1280 or more.
    pub mtu_bytes: u32,
    /// The user-space wire, even if no fault needs it.
    pub wire: Option<WireSpec>,
    /// The file to which the wire logs each datagram.
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

    /// Whether a fault needs a second link of host B to the network of host A.
    fn has_second_link(&self) -> bool {
        self.faults.contains(&Fault::ArpFlux)
    }

    /// What the loopback cannot provide of the plan.
    fn beyond_loopback(&self) -> Option<String> {
        if self.topology != Topology::Pair {
            return Some(format!("build the topology '{}'", self.topology));
        }
        let what = if self.faults.is_empty() {
            "start a wire"
        } else {
            "inject a fault"
        };
        (self.wire().is_some() || !self.faults.is_empty()).then(|| what.to_owned())
    }
}

/// A lab, which exists as long as this value.
#[derive(Debug)]
pub struct Lab {
    hosts: [Host; 2],
    device: Option<Host>,
    wire: Option<Wire>,
    disturbances: Disturbances,
}

impl Lab {
    /// Builds the hosts and their link, then injects the faults. Over the loopback both hosts are this machine.
    ///
    /// # Errors
    /// What the kernel refused, or what the loopback cannot provide.
    pub fn open(isolation: &Isolation, plan: &LabPlan) -> Result<Self, LabError> {
        match (isolation, plan.beyond_loopback()) {
            (Isolation::Namespaces(_), _) => {
                let mut lab = topology::build(plan)?;
                for fault in &plan.faults {
                    lab.inject(*fault, plan)?;
                }
                Ok(lab)
            }
            (Isolation::Loopback { .. }, None) => Ok(topology::loopback()),
            (Isolation::Loopback { because }, Some(what)) => {
                Err(Failure::measuring(what, because).hint(because.remedy()))
            }
        }
    }

    fn new(hosts: [Host; 2], device: Option<Host>, wire: Option<Wire>) -> Self {
        Self {
            hosts,
            device,
            wire,
            disturbances: Disturbances::default(),
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

    /// The counters of its wire, if it has one.
    pub fn wire_counters(&self) -> Option<WireCounters> {
        self.wire.as_ref().map(Wire::counters)
    }

    /// Closes the lab; returns the report of its wire.
    pub fn close(self) -> Option<WireReport> {
        self.wire.map(Wire::finish)
    }
}

/// For `map_err`: names what failed.
pub fn cannot<E: fmt::Display>(what: &'static str) -> impl Fn(E) -> LabError {
    move |why| Failure::measuring(what, why)
}
