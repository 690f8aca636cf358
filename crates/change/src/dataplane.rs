// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways of forwarding between two interfaces, as changes that the journal undoes.
//!
//! In: what the host is like before ([`Surroundings`]). Out: a [`Plan`], which is the changes in their order, or why there
//! is none. What the kernel changes on the side and does not restore is a change of its own, made before:
//!
//! - large-receive-offload: a bridge, forwarding and XDP in generic mode switch it off (net/core/dev.c, `dev_disable_lro`);
//! - rx-gro-hw: XDP in generic mode switches it off, and drivers refuse XDP with it;
//! - routes that a router advertised: deleted when IPv6 is forwarded, unless `accept_ra` is 2 (`rt6_purge_dflt_routers`).
//!
//! IPv4 is forwarded by the two interfaces only: `net.ipv4.ip_forward` would overwrite the value of every interface, and
//! `accept_redirects` (net/ipv4/devinet.c, `inet_forward_change`). IPv6 has no such choice before Linux 6.17.

mod plan;
mod refusal;
mod surroundings;

pub use plan::{Plan, Step, plan};
pub use refusal::Refused;
pub use surroundings::{Merging, Port, Surroundings};

/// A way of forwarding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plane {
    /// By a bridge of the kernel.
    Bridge,
    /// By the kernel's routes.
    Route,
    /// By an XDP program, as a wire.
    XdpBridge,
    /// By an XDP program, by the kernel's routes.
    XdpRoute,
}

impl Plane {
    /// Whether the kernel's routes decide.
    #[must_use]
    pub const fn routes(self) -> bool {
        matches!(self, Self::Route | Self::XdpRoute)
    }

    /// Whether an XDP program forwards.
    #[must_use]
    pub const fn is_xdp(self) -> bool {
        matches!(self, Self::XdpBridge | Self::XdpRoute)
    }
}
