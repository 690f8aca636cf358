// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device between two ports of a tester, all on this machine: what `forward --lab` measures.
//!
//! ```text
//! tester                device
//!  port0 ── veth ── eth0 ┐
//!                        │ bridges, or routes 198.18.1.1/24 ↔ 198.19.1.1/24
//!  port1 ── veth ── eth1 ┘
//!  loop0 ── veth ── loop1    (tester only: what it can do without a device)
//! ```
//! The tester's ports have no addresses: it answers for them itself. The device's are those that
//! RFC 2544 appendix C and RFC 5180 give to a device under test.

mod fault;
mod layout;
mod router;

use std::fmt;
use std::io;
use std::str::FromStr;

pub use fault::{DEVICE_FAULTS, DeviceFault, DeviceFaultKind};

use super::nuisance::Nuisance;
use super::{Ground, Host, LabError};
use linerate_model::failure::Failure;
use router::Router;

/// What the device does with frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Sends them on unchanged.
    Bridge,
    /// Routes IPv4, and IPv6 where the kernel has it.
    Route,
    /// Routes, and passes known flows on past most of the kernel (nftables flowtable).
    Flowtable,
    /// Routes in user space, tagged frames too.
    UserRoute,
}

impl DeviceKind {
    const ALL: [(Self, &str); 4] = [
        (Self::Bridge, "bridge"),
        (Self::Route, "route"),
        (Self::Flowtable, "flowtable"),
        (Self::UserRoute, "user-route"),
    ];
}

impl FromStr for DeviceKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|(_, name)| *name == text);
        known.map(|(kind, _)| kind).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("unknown device '{text}': {}", names.join(", "))
        })
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Self::ALL.into_iter().find(|(kind, _)| kind == self);
        f.write_str(known.map_or("", |(_, name)| name))
    }
}

/// What to build.
#[derive(Clone, Debug)]
pub struct BenchPlan {
    pub device: DeviceKind,
    pub faults: Vec<DeviceFault>,
    /// The tag on both sides of the user-space router; other devices pass tags on or know none.
    pub vlan: Option<u16>,
}

impl BenchPlan {
    fn router(&self, device: &Host) -> Result<Option<Router>, LabError> {
        let starts = self.device == DeviceKind::UserRoute;
        let start = || Router::start(device, self.vlan, fault::mischief(&self.faults));
        starts.then(start).transpose()
    }
}

/// A tester and a device that are standing. All of it ends with its value.
#[derive(Debug)]
pub struct Bench {
    tester: Host,
    device: Host,
    device_kind: DeviceKind,
    nuisance: Nuisance,
    _router: Option<Router>,
}

impl Bench {
    /// The tester's ports.
    pub const PORTS: [&str; 2] = ["port0", "port1"];
    /// The two ends of the tester's own cable.
    pub const LOOP: [&str; 2] = ["loop0", "loop1"];

    /// Builds both and joins them, then makes the faults.
    ///
    /// # Errors
    /// What the kernel refused, or why there are no namespaces here.
    pub fn open(ground: &Ground, plan: &BenchPlan) -> Result<Self, LabError> {
        if let Ground::Loopback { because } = ground {
            let what = "put a device between two ports of this machine";
            return Err(Failure::measuring(what, because).hint(because.remedy()));
        }
        fault::refuse_impossible(plan)?;
        let [tester, device] = layout::build(plan)?;
        let mut bench = Self {
            _router: plan.router(&device)?,
            tester,
            device,
            device_kind: plan.device,
            nuisance: Nuisance::default(),
        };
        plan.faults
            .iter()
            .try_for_each(|fault| fault.make(&mut bench))?;
        Ok(bench)
    }

    /// Runs `inside` where the tester's ports are.
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
