// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where an agent on the device is: `ssh:USER@HOST`, or `HOST[:PORT]` of a `linerate serve`.

use std::str::FromStr;

use linerate_endpoint::PORT;

/// How the device is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum DevicePlace {
    Ssh(String),
    Served { host: String, port: u16 },
}

impl FromStr for DevicePlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "HOST, HOST:PORT, [ADDRESS]:PORT or ssh:USER@HOST".to_owned();
        if let Some(target) = text.strip_prefix("ssh:") {
            // ssh would take it for an option.
            let plain = !target.is_empty() && !target.starts_with('-');
            return plain
                .then(|| Self::Ssh(target.to_owned()))
                .ok_or_else(wrong);
        }
        let (host, port) = split(text).ok_or_else(wrong)?;
        let port = port.map_or(Ok(PORT), |port| port.parse().map_err(|_| wrong()))?;
        if host.is_empty() || port == 0 {
            return Err(wrong());
        }
        let host = host.to_owned();
        Ok(Self::Served { host, port })
    }
}

/// A bare IPv6 address has no port.
fn split(text: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest {
            "" => Some((host, None)),
            rest => Some((host, Some(rest.strip_prefix(':')?))),
        };
    }
    match text.split_once(':') {
        Some((_, rest)) if rest.contains(':') => Some((text, None)),
        Some((host, port)) => Some((host, Some(port))),
        None => Some((text, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        let served = |host: &str, port| {
            let host = host.to_owned();
            Ok(DevicePlace::Served { host, port })
        };
        assert_eq!("router".parse(), served("router", 5201));
        assert_eq!("router:99".parse(), served("router", 99));
        assert_eq!("fe80::1%eth0".parse(), served("fe80::1%eth0", 5201));
        assert_eq!("[2001:db8::1]:7".parse(), served("2001:db8::1", 7));
        assert_eq!("[2001:db8::1]".parse(), served("2001:db8::1", 5201));
        assert_eq!(
            "ssh:root@router".parse(),
            Ok(DevicePlace::Ssh("root@router".to_owned()))
        );
        for wrong in [
            "",
            "ssh:",
            "ssh:-oProxyCommand=x",
            "a:0",
            "a:b",
            "[::1",
            "[::1]x",
            ":1",
        ] {
            assert!(wrong.parse::<DevicePlace>().is_err(), "{wrong}");
        }
    }
}
