// SPDX-License-Identifier: MIT OR Apache-2.0
//! This host and its interface as the results describe them.

use super::Sampler;
use linerate_linux::{host, nic};
use linerate_model::output::{Host, Interface, LinkKind, Role};

impl Sampler {
    /// This host as the results describe it. `brief` leaves out what a stranger has no need of.
    pub fn host(&self, brief: bool) -> Host {
        let facts = host::facts();
        Host {
            role: Role::Local,
            hostname: (!brief).then_some(facts.hostname),
            boot_id: facts.boot_id,
            kernel: Some(facts.kernel),
            arch: Some(facts.arch),
            cpu_model: facts.cpu_model,
            cpus: u32::try_from(facts.cpus).ok(),
            interfaces: self
                .interface
                .as_deref()
                .and_then(describe)
                .into_iter()
                .collect(),
            agent: true,
        }
    }
}

/// An interface as the results describe it; `None` when it is gone.
pub fn describe(name: &str) -> Option<Interface> {
    let link = nic::link(name).ok()?;
    let kind = match link.link_kind {
        nic::LinkKind::Wire => LinkKind::Wire,
        nic::LinkKind::Veth => LinkKind::Veth,
        nic::LinkKind::Tap => LinkKind::Tap,
        nic::LinkKind::Loopback => LinkKind::Loopback,
    };
    // A veth claims 10 Gbit/s that mean nothing.
    let speed = if kind == LinkKind::Wire {
        nic::speed_bits_per_second(name).ok().flatten()
    } else {
        None
    };
    Some(Interface {
        name: name.to_owned(),
        driver: nic::driver(name).ok(),
        link_bits_per_second: speed,
        mtu: Some(link.mtu_bytes),
        link_kind: Some(kind),
    })
}
