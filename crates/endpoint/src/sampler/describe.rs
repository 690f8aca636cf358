// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts and interfaces as the results describe them.

use super::Audience;
use linerate_model::output::Host;

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
