// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to collect next, where a pasted text does not show a cause: the outputs that most often do and
//! that are not in it.

use linerate_model::record::Record;

/// Commands whose output is missing, the most telling first.
#[must_use]
pub(crate) fn next(record: &Record) -> Vec<String> {
    let interface = interface(record);
    let missing = OUTPUTS
        .iter()
        .filter(|output| !shows(record, output.sources));
    let mut commands: Vec<String> = missing
        .map(|output| output.command.replace("IFACE", interface))
        .collect();
    if record.run.tests.is_empty() {
        commands.insert(0, MEASUREMENT.to_owned());
    }
    commands.truncate(MOST_COMMANDS);
    commands
}

/// An output, and the sources of samples and settings that it gives.
struct Output {
    command: &'static str,
    sources: &'static [&'static str],
}

const fn output(command: &'static str, sources: &'static [&'static str]) -> Output {
    Output { command, sources }
}

const OUTPUTS: &[Output] = &[
    output(
        "ip -s -s link show dev IFACE   # before and after the test",
        &["rtnl_link_stats64", "/proc/net/dev"],
    ),
    output(
        "ethtool -S IFACE   # before and after the test",
        &["ethtool -S"],
    ),
    output(
        "ethtool IFACE; ethtool -a IFACE; ethtool -i IFACE",
        &["ethtool", "ethtool -a"],
    ),
    output(
        "nstat -az   # before and after the test",
        &["/proc/net/snmp", "/proc/net/netstat"],
    ),
    output("cat /proc/net/softnet_stat", &["/proc/net/softnet_stat"]),
    output(
        "cat /proc/interrupts   # before and after the test",
        &["/proc/interrupts"],
    ),
    output("mpstat -P ALL 1 5   # during the test", &["/proc/stat"]),
    output("dmesg | grep -i -e IFACE -e eth", &["dmesg"]),
];

fn shows(record: &Record, sources: &[&str]) -> bool {
    let counted = record.samples.iter().map(|sample| sample.source.as_str());
    let set = record
        .run
        .settings
        .iter()
        .map(|setting| setting.source.as_str());
    counted.chain(set).any(|source| sources.contains(&source))
}

fn interface(record: &Record) -> &str {
    let counted = record
        .samples
        .iter()
        .find_map(|sample| sample.interface.as_deref());
    let described = || {
        record
            .run
            .hosts
            .iter()
            .flat_map(|host| &host.interfaces)
            .map(|interface| interface.name.as_str())
            .next()
    };
    counted.or_else(described).unwrap_or("eth0")
}

const MEASUREMENT: &str =
    "iperf3 -u -c HOST -b RATE -t 10 --json   # or: linerate udp HOST -b RATE";
const MOST_COMMANDS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::sample::Sample;

    #[test]
    fn what_is_there_is_not_asked_for_again() {
        let mut record = Record::default();
        assert!(next(&record)[0].contains("iperf3"));
        assert!(
            next(&record)
                .iter()
                .any(|command| command.starts_with("ethtool -S eth0"))
        );
        record.samples.push(Sample {
            source: "ethtool -S".to_owned(),
            interface: Some("enp3s0".to_owned()),
            ..Sample::default()
        });
        assert!(
            !next(&record)
                .iter()
                .any(|command| command.starts_with("ethtool -S"))
        );
        assert!(
            next(&record)
                .iter()
                .any(|command| command.contains("enp3s0"))
        );
    }
}
