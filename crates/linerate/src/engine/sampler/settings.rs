// SPDX-License-Identifier: MIT OR Apache-2.0
//! How this host is set up, once a run. A peer is told of the interface only.

use super::Audience;
use linerate_linux::setup::{self, Told};
use linerate_model::output::Role;
use linerate_model::setting::Setting;

/// Everything that the audience may know.
pub(super) fn read(interface: Option<&str>, audience: Audience) -> Vec<Setting> {
    let of_interface = interface.map(setup::of_interface).unwrap_or_default();
    let of_interface = of_interface
        .into_iter()
        .map(|told| setting(told, interface));
    let of_host = match audience {
        Audience::User => setup::of_host(),
        Audience::Peer => Vec::new(),
    };
    let of_host = of_host.into_iter().map(|told| setting(told, None));
    of_interface.chain(of_host).collect()
}

fn setting(told: Told, interface: Option<&str>) -> Setting {
    Setting {
        host: Role::Local,
        source: told.source,
        interface: interface.map(str::to_owned),
        values: told.values.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_told_of_the_interface_only() {
        let peer = read(Some("lo"), Audience::Peer);
        assert!(!peer.is_empty());
        assert!(
            peer.iter()
                .all(|setting| setting.interface.as_deref() == Some("lo"))
        );
        let user = read(Some("lo"), Audience::User);
        assert!(user.iter().any(|setting| setting.source == "/proc/version"));
        assert_eq!(read(None, Audience::Peer), []);
    }
}
