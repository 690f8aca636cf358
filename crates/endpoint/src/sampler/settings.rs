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
