// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of files: those that linerate writes, and no others.

use crate::entry::Key;

pub(super) const SYSCTL: &str = "/etc/sysctl.d";
pub(super) const UDEV: &str = "/etc/udev/rules.d";
pub(super) const LINK: &str = "/etc/systemd/network";
pub(super) const UNIT: &str = "/etc/systemd/system";

/// Whether linerate may write or remove a file with this path.
pub(crate) fn is_ours(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else {
        return false;
    };
    let is_plain = |text: &str| text.bytes().all(is_plain);
    let below = |place: &str, suffix: &str| {
        let inner = folder
            .strip_prefix(place)
            .and_then(|rest| rest.strip_prefix('/'));
        inner.is_some_and(|inner| {
            inner.ends_with(suffix) && inner.len() > suffix.len() && inner.bytes().all(is_escaped)
        })
    };
    let is_numbered = |suffix: &str| {
        let rest = name.get(2..).unwrap_or_default();
        let (number, rest) = (name.get(..2).unwrap_or_default(), rest.strip_suffix(suffix));
        let rest = rest.and_then(|rest| rest.strip_prefix("-linerate-"));
        number.bytes().all(|byte| byte.is_ascii_digit())
            && rest.is_some_and(|rest| !rest.is_empty() && is_plain(rest))
    };
    let is_unit = || {
        let rest = name.strip_prefix("linerate-");
        let rest = rest.and_then(|rest| rest.strip_suffix(".service"));
        let rest = rest.map(|rest| rest.strip_suffix('@').unwrap_or(rest));
        rest.is_some_and(|rest| !rest.is_empty() && is_plain(rest))
    };
    match folder {
        SYSCTL => is_numbered(".conf"),
        UDEV => is_numbered(".rules"),
        UNIT => is_unit(),
        _ => {
            let is_drop_in = below(LINK, ".link.d") || below(UNIT, ".target.d");
            is_drop_in && is_numbered(".conf")
        }
    }
}

/// What the names of a setting's files have in common: `net.ipv4.tcp_rmem`, `eth0-ethtool-G-rx`.
pub(super) fn name(key: &Key) -> String {
    let knob = key.knob.strip_prefix("sysctl ").unwrap_or(&key.knob);
    let text = match key.place.device() {
        Some(device) => format!("{}-{knob}", device.name),
        None => knob.to_owned(),
    };
    let mut name = String::new();
    for letter in text.chars() {
        match u8::try_from(letter).is_ok_and(is_plain) {
            true => name.push(letter),
            false => name.push('-'),
        }
    }
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    name
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-".contains(&byte)
}

/// Also what systemd writes for other letters: `\x2d`.
fn is_escaped(byte: u8) -> bool {
    is_plain(byte) || b"\\:@".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_names_in_four_directories_are_ours() {
        for path in [
            "/etc/sysctl.d/90-linerate-net.ipv4.tcp_rmem.conf",
            "/etc/udev/rules.d/90-linerate-eth0-ip-link-txqueuelen.rules",
            "/etc/systemd/system/linerate-eth0-ethtool-A-rx.service",
            "/etc/systemd/system/linerate-eth0-ethtool-A-rx@.service",
            "/etc/systemd/system/multi-user.target.d/90-linerate-x.conf",
            "/etc/systemd/network/10-lan.link.d/90-linerate-x.conf",
        ] {
            assert!(is_ours(path), "{path}");
        }
        for path in [
            "/etc/sysctl.conf",
            "/etc/sysctl.d/99-sysctl.conf",
            "/etc/sysctl.d/90-linerate-.conf",
            "/etc/sysctl.d/90-linerate-x.rules",
            "/etc/sysctl.d/9x-linerate-x.conf",
            "/etc/sysctl.d/../90-linerate-x.conf",
            "/etc/sysctl.d/sub/90-linerate-x.conf",
            "/etc/passwd.d/90-linerate-x.conf",
            "etc/sysctl.d/90-linerate-x.conf",
            "/etc/systemd/system/ssh.service",
            "/etc/systemd/system/linerate-@.service",
            "/etc/systemd/system/dev-sda.device.d/90-linerate-x.conf",
            "/etc/systemd/system/ssh.service.d/90-linerate-x.conf",
            "/etc/systemd/network/../x.link.d/90-linerate-x.conf",
            "/etc/systemd/network/.link.d/90-linerate-x.conf",
            "/etc/systemd/network/90-linerate-x.link",
            "/etc/udev/rules.d/é-linerate-x.rules",
            "",
        ] {
            assert!(!is_ours(path), "{path}");
        }
    }
}
