// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts and interfaces as the results describe them.

use super::Audience;
use linerate_model::output::Host;
use linerate_wire::linerate::boot_id;
use std::net::SocketAddr;

/// This host as a server describes it to an audience that reached it at this address.
pub(crate) fn host_at(reached: Option<SocketAddr>, audience: Audience, host: Host) -> Host {
    let mut host = host_for(audience, host);
    if let Audience::Peer = audience {
        let hash = |id: String| Some(boot_id::hashed(&id, reached?.ip()));
        host.boot_id = host.boot_id.and_then(hash);
    }
    host
}

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
