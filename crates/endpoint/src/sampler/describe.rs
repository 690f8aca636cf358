// SPDX-License-Identifier: MIT OR Apache-2.0
//! This host and its interface as the results describe them.

use super::{Audience, Sampler};
use linerate_linux::{host, nic};
use linerate_model::output::{Host, Interface, LinkKind, Role};

impl Sampler {
    /// This host as the results describe it.
    pub fn host(&self) -> Host {
        let facts = host::facts();
        Host {
            role: Role::Local,
            hostname: Some(facts.hostname),
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
            withheld: None,
        }
    }
}

/// As much of a host as the audience may know: of a stranger's only what makes two counts one
/// machine's or two, and what its interfaces' counters have to be read with.
pub fn host_for(audience: Audience, host: Host) -> Host {
    match audience {
        Audience::User => host,
        Audience::Peer => Host {
            role: host.role,
            boot_id: host.boot_id,
            cpus: host.cpus,
            interfaces: host.interfaces,
            agent: host.agent,
            withheld: host.withheld,
            ..Host::default()
        },
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
