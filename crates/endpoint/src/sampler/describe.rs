// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts and interfaces as the results describe them.

use super::Audience;
use linerate_linux::nic;
use linerate_model::output::{Host, Interface, LinkKind};

/// Removes what the audience may not know: a peer gets only what shows whether both ends are one
/// machine, and the interfaces that the counters belong to.
pub(crate) fn host_for(audience: Audience, host: Host) -> Host {
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

/// Describes an interface for the results; `None` if it does not exist.
pub(crate) fn describe(name: &str) -> Option<Interface> {
    let link = nic::link(name).ok()?;
    let kind = match link.link_kind {
        nic::LinkKind::Wire => LinkKind::Wire,
        nic::LinkKind::Veth => LinkKind::Veth,
        nic::LinkKind::Tap => LinkKind::Tap,
        nic::LinkKind::Loopback => LinkKind::Loopback,
    };
    // The 10 Gbit/s of a veth mean nothing.
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
