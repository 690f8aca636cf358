// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of this host, read once a run, and only for its user.

use super::Audience;
use linerate_linux::setup::{self, RawSetting};
use linerate_model::order::Gather as _;
use linerate_model::output::Role;
use linerate_model::setting::Setting;

/// Everything that the audience may know.
pub(super) fn read<'a>(
    interfaces: impl IntoIterator<Item = &'a str>,
    audience: Audience,
) -> Vec<Setting> {
    if audience == Audience::Peer {
        return Vec::new();
    }
    let all =
        |raw: Vec<RawSetting>, interface| raw.into_iter().map(move |one| setting(one, interface));
    let of_interfaces = interfaces
        .into_iter()
        .flat_map(|name| all(setup::of_interface(name), Some(name)));
    let of_host = setup::of_host().into_iter();
    let of_host = of_host.filter(|raw| !raw.values.is_empty());
    of_interfaces
        .chain(of_host.map(|one| setting(one, None)))
        .collect()
}

/// The part of them that is read again after each test.
pub(super) fn state<'a>(
    interfaces: impl IntoIterator<Item = &'a str>,
    audience: Audience,
) -> Vec<Setting> {
    if audience == Audience::Peer {
        return Vec::new();
    }
    let of_interfaces = interfaces.into_iter().flat_map(|name| {
        let all = setup::state::of_interface(name).into_iter();
        all.map(move |raw| setting(raw, Some(name)))
    });
    let of_host = setup::state::of_host().into_iter();
    of_interfaces
        .chain(of_host.map(|raw| setting(raw, None)))
        .collect()
}

/// The running programs that change settings: a file per process, so only after something has changed.
pub(super) fn programs() -> Setting {
    setting(setup::programs(), None)
}

/// Makes a setting of this host, or of an interface.
pub(super) fn setting(raw: RawSetting, interface: Option<&str>) -> Setting {
    Setting {
        host: Role::Local,
        source: raw.source,
        interface: interface.map(str::to_owned),
        values: raw.values.into_iter().gather(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::MovedKind;

    #[test]
    fn only_its_user_gets_a_hosts_state() {
        assert_eq!(state(["lo"], Audience::Peer), []);
        let user = state(["lo"], Audience::User);
        assert!(user.iter().any(|setting| setting.source == "sysctl"));
        let link = |setting: &Setting| setting.source == "ip link";
        let link = user.iter().find(|setting| link(setting)).unwrap();
        assert_eq!(link.interface.as_deref(), Some("lo"));
    }

    #[test]
    fn every_owner_of_a_setting_is_seen_while_it_runs() {
        let seen: Vec<&str> = setup::known_programs().collect();
        for owner in linerate_knowledge::owners() {
            assert!(seen.contains(&owner.program.as_str()), "{}", owner.program);
        }
    }

    /// What the first reading and the state have in common is the same while nothing is changed.
    #[test]
    fn a_host_at_rest_has_not_changed() {
        let first = read(["lo"], Audience::User);
        let again = state(["lo"], Audience::User);
        let moved = linerate_model::state::difference(&first, &again);
        let settings = moved.iter().filter(|one| one.kind == MovedKind::Setting);
        assert_eq!(settings.count(), 0, "{moved:?}");
        // Otherwise each test would report it again.
        let digests = [&first, &again].map(|all| linerate_model::state::digest(all));
        assert!(!moved.is_empty() || digests[0] == digests[1]);
    }

    #[test]
    fn only_its_user_gets_a_hosts_settings() {
        assert_eq!(read(["lo"], Audience::Peer), []);
        let user = read(["lo"], Audience::User);
        let of_interface = |setting: &Setting| setting.interface.as_deref() == Some("lo");
        assert!(user.iter().any(of_interface));
        assert!(user.iter().any(|setting| setting.source == "/proc/version"));
        assert!(user.iter().any(|setting| setting.source == "sysctl"));
        let of_host = read([], Audience::User);
        assert!(!of_host.is_empty() && !of_host.iter().any(of_interface));
    }
}
