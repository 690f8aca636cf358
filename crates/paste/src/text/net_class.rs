// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a file of `/sys/class/net/eth0` says, by the names of the tool that prints the same value: `speed` and `duplex` as
//! ethtool, `mtu` as ip, `statistics/*` as `rtnl_link_stats64` (Documentation/ABI/testing/sysfs-class-net).

use super::{Content, Counters, Settings};

/// The content of a file; also of one below `/sys/devices/…/net/`.
pub(super) fn of_file(path: &str, line: &str) -> Option<Content> {
    let (_, net) = path
        .strip_prefix("/sys/")
        .filter(|rest| rest.starts_with("class/net/") || rest.starts_with("devices/"))?
        .split_once("net/")?;
    let (interface, name) = net.split_once('/')?;
    let interface = Some(interface).filter(|name| !name.contains('*'));
    let counted = name.strip_prefix("statistics/");
    if let Some(name) = counted.or_else(|| name.starts_with("carrier_").then_some(name)) {
        let plain = !name.contains(['/', '*']);
        let values = vec![(name.to_owned(), line.parse().ok().filter(|_| plain)?)];
        return Some(Counters::new("rtnl_link_stats64", interface, values));
    }
    let fits = name == "ifalias" || !line.contains(' ');
    (fits && !line.is_empty() && line.len() <= 64).then_some(())?;
    let (source, name, value) = setting(name, line)?;
    Some(Settings::new(source, interface, vec![(name, value)]))
}

fn setting(file: &str, line: &str) -> Option<(&'static str, String, String)> {
    let of = |source, name: &str, value: String| Some((source, name.to_owned(), value));
    match file {
        "speed" => return of("ethtool", "Speed", speed(line)?),
        "duplex" => return of("ethtool", "Duplex", duplex(line)?.to_owned()),
        "carrier" => return of("ethtool", "Link detected", link(line)?.to_owned()),
        "operstate" => return of("ip link", "state", line.to_uppercase()),
        "mtu" => return of("ip link", "mtu", number(line)?),
        "tx_queue_len" => return of("ip link", "txqueuelen", number(line)?),
        _ => {}
    }
    if let Some(name) = file.strip_prefix("device/") {
        return of(
            "/sys/class/net/device",
            &name.replace('/', "_"),
            line.to_owned(),
        );
    }
    if let Some(queue) = file.strip_prefix("queues/") {
        return of(
            "/sys/class/net/queues",
            &queue.replace('/', "."),
            line.to_owned(),
        );
    }
    let name = file.replace('/', "_");
    (!name.contains(['*', '$'])).then(|| ("/sys/class/net", name, line.to_owned()))
}

/// In Mbit/s; -1, as ethtool too prints it, if there is no link.
fn speed(line: &str) -> Option<String> {
    let speed: i64 = line.parse().ok()?;
    let known = (1..i64::from(i32::MAX)).contains(&speed);
    Some(if known {
        format!("{speed}Mb/s")
    } else {
        "Unknown!".to_owned()
    })
}

fn duplex(line: &str) -> Option<&'static str> {
    match line {
        "half" => Some("Half"),
        "full" => Some("Full"),
        "unknown" => Some("Unknown!"),
        _ => None,
    }
}

fn link(line: &str) -> Option<&'static str> {
    match line {
        "0" => Some("no"),
        "1" => Some("yes"),
        _ => None,
    }
}

fn number(line: &str) -> Option<String> {
    line.parse::<u32>().ok().map(|number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(file: &str, line: &str) -> Option<(String, String, String)> {
        let content = of_file(&format!("/sys/class/net/eth0/{file}"), line)?;
        let (source, interface, (name, value)) = match content {
            Content::Settings(mut one) => (one.source, one.interface, one.values.remove(0)),
            Content::Counters(mut one) => {
                let (name, value) = one.values.remove(0);
                (one.source, one.interface, (name, value.to_string()))
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(interface.as_deref(), Some("eth0"));
        Some((source, name, value))
    }

    #[test]
    fn values_as_other_tools_name_them() {
        for (file, line, source, name, value) in [
            ("speed", "100", "ethtool", "Speed", "100Mb/s"),
            ("speed", "-1", "ethtool", "Speed", "Unknown!"),
            ("duplex", "half", "ethtool", "Duplex", "Half"),
            ("carrier", "0", "ethtool", "Link detected", "no"),
            ("operstate", "down", "ip link", "state", "DOWN"),
            ("mtu", "1500", "ip link", "mtu", "1500"),
            ("tx_queue_len", "1000", "ip link", "txqueuelen", "1000"),
            (
                "carrier_changes",
                "12",
                "rtnl_link_stats64",
                "carrier_changes",
                "12",
            ),
            (
                "statistics/rx_crc_errors",
                "7",
                "rtnl_link_stats64",
                "rx_crc_errors",
                "7",
            ),
            (
                "queues/rx-0/rps_cpus",
                "0f",
                "/sys/class/net/queues",
                "rx-0.rps_cpus",
                "0f",
            ),
            ("threaded", "1", "/sys/class/net", "threaded", "1"),
        ] {
            let expected = (source.to_owned(), name.to_owned(), value.to_owned());
            assert_eq!(known(file, line), Some(expected), "{file}");
        }
    }

    #[test]
    fn what_no_file_holds() {
        for (file, line) in [
            ("duplex", "both"),
            ("speed", "fast"),
            ("statistics/rx_errors", "many"),
            ("threaded", "a sentence of several words"),
            ("$f", "10"),
        ] {
            assert_eq!(known(file, line), None, "{file}");
        }
        assert_eq!(of_file("/sys/kernel/mm/ksm/run", "0"), None);
        let device = "/sys/devices/pci0000:00/0000:00:1f.6/net/eno1/mtu";
        assert!(of_file(device, "1500").is_some());
    }
}
