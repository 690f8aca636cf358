// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device under test (DUT) between two ports of a tester, all on this machine: what `forward --lab` measures.
//!
//! ```text
//! tester                device
//!  port0 ── veth ── eth0 ┐
//!                        │ bridges, or routes 198.18.1.1/24 ↔ 198.19.1.1/24
//!  port1 ── veth ── eth1 ┘
//!  loop0 ── veth ── loop1    (tester only: its own ceiling)
//! ```
//! The tester's ports have no addresses: the tester itself answers ARP and ND. The device's are those that
//! RFC 2544 appendix C and RFC 5180 give to a DUT.

mod fault;
mod layout;
mod router;

use std::fmt;
use std::io;
use std::str::FromStr;

pub use fault::DeviceFault;

use linerate_model::failure::Failure;

use crate::disturbances::Disturbances;
use crate::{Host, Isolation, LabError};
use router::{Router, RouterFaults};

/// How the device forwards frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    Bridge,
    /// Routes IPv4, and IPv6 where the kernel has it.
    Route,
    /// Routes, with an nftables flowtable for known flows.
    Flowtable,
    /// Routes in user space, also tagged frames.
    UserRoute,
}

impl DeviceKind {
    const ALL: [Self; 4] = [Self::Bridge, Self::Route, Self::Flowtable, Self::UserRoute];

    fn name(self) -> &'static str {
        match self {
            Self::Bridge => "bridge",
            Self::Route => "route",
            Self::Flowtable => "flowtable",
            Self::UserRoute => "user-route",
        }
    }
}

impl FromStr for DeviceKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == text);
        known.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("unknown device '{text}': {names}")
        })
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What to build.
#[derive(Clone, Debug)]
pub struct DutPlan {
    pub device: DeviceKind,
    pub faults: Vec<DeviceFault>,
    /// The tag on both sides of the user-space router; other devices ignore it.
    pub vlan: Option<u16>,
}

impl DutPlan {
    fn router(&self, device: &Host) -> Result<Option<Router>, LabError> {
        let starts = self.device == DeviceKind::UserRoute;
        let start = || Router::start(device, self.vlan, RouterFaults::of(&self.faults));
        starts.then(start).transpose()
    }
}

/// A tester and a device, which exist as long as this value.
#[derive(Debug)]
pub struct DutLab {
    tester: Host,
    device: Host,
    device_kind: DeviceKind,
    disturbances: Disturbances,
    _router: Option<Router>,
}

impl DutLab {
    /// The tester's ports.
    pub const PORTS: [&str; 2] = ["port0", "port1"];
    /// The two ports of the tester that a cable connects.
    pub const LOOP: [&str; 2] = ["loop0", "loop1"];

    /// Builds both and joins them, then injects the faults.
    ///
    /// # Errors
    /// What the kernel refused, or why there are no namespaces here.
    pub fn open(isolation: &Isolation, plan: &DutPlan) -> Result<Self, LabError> {
        if let Isolation::Loopback { because } = isolation {
            let what = "put a device between two ports of this machine";
            return Err(Failure::measuring(what, because).hint(because.remedy()));
        }
        fault::refuse_impossible(plan)?;
        let [tester, device] = layout::build(plan)?;
        let mut lab = Self {
            _router: plan.router(&device)?,
            tester,
            device,
            device_kind: plan.device,
            disturbances: Disturbances::default(),
        };
        plan.faults
            .iter()
            .try_for_each(|fault| fault.inject(&mut lab))?;
        Ok(lab)
    }

    /// Runs `inside` in the tester's network namespace.
    ///
    /// # Errors
    /// As [`Host::enter`].
    pub fn enter<T: Send>(&self, inside: impl FnOnce() -> T + Send) -> io::Result<T> {
        self.tester.enter(inside)
    }

    /// The device.
    pub fn device(&self) -> &Host {
        &self.device
    }
}
