// SPDX-License-Identifier: MIT OR Apache-2.0
//! How this host is set up, once a run. A peer is told of the interface, and of the host only how much TCP, UDP and
//! the kernel's receive path may hold: numbers that judge a test and tell nobody who this host is.

use super::Audience;
use linerate_linux::setup::{self, Told};
use linerate_model::output::Role;
use linerate_model::setting::Setting;

/// Everything that the audience may know.
pub(super) fn read(interface: Option<&str>, audience: Audience) -> Vec<Setting> {
    let of_interface = interface.map(of_interface).unwrap_or_default();
    let of_host = match audience {
        Audience::User => setup::of_host(),
        Audience::Peer => vec![limits(setup::sysctls())],
    };
    let of_host = of_host.into_iter().filter(|told| !told.values.is_empty());
    let of_host = of_host.map(|told| setting(told, None));
    of_interface.into_iter().chain(of_host).collect()
}

/// How an interface is set up: nobody is told less.
pub(super) fn of_interface(interface: &str) -> Vec<Setting> {
    let told = setup::of_interface(interface).into_iter();
    told.map(|told| setting(told, Some(interface))).collect()
}

/// Of the system controls those that a peer may know.
fn limits(mut told: Told) -> Told {
    told.values
        .retain(|(name, _)| LIMITS.contains(&name.as_str()));
    told
}

/// What was told of this host, or of an interface of it.
pub(super) fn setting(told: Told, interface: Option<&str>) -> Setting {
    Setting {
        host: Role::Local,
        source: told.source,
        interface: interface.map(str::to_owned),
        values: told.values.into_iter().collect(),
    }
}

const LIMITS: &[&str] = &[
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_wmem",
    "net.ipv4.udp_mem",
    "net.ipv4.udp_rmem_min",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_told_of_the_interface_and_of_limits() {
        let peer = read(Some("lo"), Audience::Peer);
        let (of_interface, of_host): (Vec<_>, Vec<_>) = peer
            .iter()
            .partition(|setting| setting.interface.as_deref() == Some("lo"));
        assert!(!of_interface.is_empty());
        let sources: Vec<_> = of_host
            .iter()
            .map(|setting| setting.source.as_str())
            .collect();
        assert_eq!(sources, ["sysctl"]);
        let mut names = of_host[0].values.keys();
        assert!(of_host[0].values.contains_key("net.ipv4.tcp_rmem"));
        assert!(
            names.all(|name| LIMITS.contains(&name.as_str())),
            "{of_host:?}"
        );
        let user = read(Some("lo"), Audience::User);
        assert!(user.iter().any(|setting| setting.source == "/proc/version"));
        let sysctls = user.iter().find(|setting| setting.source == "sysctl");
        assert!(sysctls.is_some_and(|all| all.values.len() > LIMITS.len()));
        assert_eq!(
            read(None, Audience::Peer),
            of_host.into_iter().cloned().collect::<Vec<_>>()
        );
    }
}
