// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a device in the middle forwards, by its settings: a line for each interface that has an address or is a port of a
//! bridge, and for each flowtable.

use linerate_model::output::Role;
use linerate_model::record::Record;
use linerate_model::setting::Setting;

/// Empty where the device did not report its settings.
pub(crate) fn of(record: &Record) -> Vec<String> {
    let interfaces = values(record, "ip link address");
    let addresses: Vec<(&str, &str)> = values(record, "ip address").collect();
    let mut lines: Vec<String> = interfaces
        .filter_map(|(name, hardware)| interface(name, hardware, &addresses))
        .collect();
    let flowtables = values(record, "nft list flowtables");
    lines.extend(flowtables.map(|(name, devices)| format!("flowtable {name}: {devices}")));
    lines
}

fn values<'r>(record: &'r Record, source: &'r str) -> impl Iterator<Item = (&'r str, &'r str)> {
    let is_it = move |one: &&Setting| one.host == Role::Device && one.source == source;
    let found = record.run.settings.iter().filter(is_it);
    found.flat_map(|one| {
        one.values
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    })
}

/// `hardware` is an address, of a port of a bridge or bond followed by `master NAME`.
fn interface(name: &str, hardware: &str, addresses: &[(&str, &str)]) -> Option<String> {
    let (mac, master) = match hardware.split_once(" master ") {
        Some((mac, master)) => (mac, Some(format!("in {master}"))),
        None => (hardware, None),
    };
    let own = addresses.iter().filter(|(_, interface)| *interface == name);
    let parts: Vec<String> = master
        .into_iter()
        .chain(own.map(|(address, _)| (*address).to_owned()))
        .collect();
    (!parts.is_empty()).then(|| format!("{name}: {mac}, {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::run::Run;

    fn setting(host: Role, source: &str, values: &[(&str, &str)]) -> Setting {
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Setting {
            host,
            source: source.to_owned(),
            interface: None,
            values: values.iter().map(text).collect(),
        }
    }

    #[test]
    fn ports_of_a_bridge_addresses_and_flowtables_are_shown() {
        let settings = vec![
            setting(
                Role::Device,
                "ip link address",
                &[
                    ("br0", "02:00:00:00:00:01"),
                    ("eth0", "02:00:00:00:00:01 master br0"),
                    ("eth1.7", "02:00:00:00:00:02"),
                ],
            ),
            setting(Role::Device, "ip address", &[("198.19.1.1", "eth1.7")]),
            setting(
                Role::Device,
                "nft list flowtables",
                &[("inet fast f", "eth0 eth1")],
            ),
            setting(Role::Local, "ip address", &[("198.18.1.2", "br0")]),
        ];
        let run = Run {
            settings,
            ..Run::default()
        };
        assert_eq!(
            of(&Record::of_run(run, Vec::new())),
            [
                "eth0: 02:00:00:00:00:01, in br0",
                "eth1.7: 02:00:00:00:00:02, 198.19.1.1",
                "flowtable inet fast f: eth0 eth1",
            ]
        );
    }
}
