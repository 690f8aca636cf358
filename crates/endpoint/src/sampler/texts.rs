// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files of `/proc` that count: one line each.

use super::reading::Reading;
use linerate_linux::proc_kept::Kept;
use linerate_wire::proc::{
    interrupts, net_stat, netstat, pid_stat, pressure, schedstat, snmp, snmp6, sockstat, softnet,
    stat,
};

/// One file.
#[derive(Debug)]
pub(super) struct TextSource {
    name: &'static str,
    files: Vec<(&'static str, Kept)>,
    counters: Parse,
}

/// From a file's name and text to its counters.
type Parse = fn(&str, &str) -> Vec<(String, u64)>;

impl TextSource {
    /// Those that this kernel has, the sockets' own last.
    pub(super) fn all() -> Vec<Self> {
        let present = SOURCES.iter().map(|(name, files, counters)| {
            let open = |file: &&'static str| Some((*file, open(file).ok()?));
            let (name, counters) = (*name, *counters);
            let files = files.iter().filter_map(open).collect();
            Self {
                name,
                files,
                counters,
            }
        });
        present.filter(|source| !source.files.is_empty()).collect()
    }

    /// Whether it has the CPU times of the host or of this program.
    pub(super) fn is_load(&self) -> bool {
        ["/proc/stat", "/proc/self/stat"].contains(&self.name)
    }

    pub(super) fn read(&mut self) -> Reading {
        let mut counters = Vec::new();
        for (file, kept) in &mut self.files {
            if let Ok(text) = kept.read() {
                counters.extend((self.counters)(file, &text));
            }
        }
        Reading::of_host(self.name, counters)
    }
}

fn open(file: &str) -> std::io::Result<Kept> {
    match file.strip_prefix("net/") {
        Some(table) => Kept::net(table),
        None => Kept::open(file),
    }
}

/// The source's name, its files under `/proc`, and how they are read.
const SOURCES: &[(&str, &[&str], Parse)] = &[
    ("/proc/softirqs", &["softirqs"], |_, text| {
        let network =
            |_: usize, line: &interrupts::Line| matches!(line.name.as_str(), "NET_RX" | "NET_TX");
        interrupts::parse(text).counters(network)
    }),
    ("/proc/stat", &["stat"], |_, text| {
        stat::parse(text).counters()
    }),
    ("/proc/self/stat", &["self/stat"], |_, text| {
        pid_stat::counters(text)
    }),
    ("/proc/schedstat", &["schedstat"], |_, text| {
        schedstat::counters(&schedstat::parse(text))
    }),
    (
        "/proc/pressure",
        &["pressure/cpu", "pressure/memory"],
        |file, text| {
            let resource = file.rsplit('/').next().unwrap_or(file);
            let named = |(name, us): (&str, u64)| (format!("{resource}.{name}"), us);
            pressure::counters(text).into_iter().map(named).collect()
        },
    ),
    (
        "/proc/net/softnet_stat",
        &["net/softnet_stat"],
        |_, text| softnet::counters(&softnet::parse(text)),
    ),
    (
        "/proc/net/stat/nf_conntrack",
        &["net/stat/nf_conntrack"],
        |_, text| net_stat::counters(text),
    ),
    (
        "/proc/net/stat/arp_cache",
        &["net/stat/arp_cache"],
        |_, text| net_stat::counters(text),
    ),
    (
        "/proc/net/stat/ndisc_cache",
        &["net/stat/ndisc_cache"],
        |_, text| net_stat::counters(text),
    ),
    (
        "/proc/net/sockstat",
        &["net/sockstat", "net/sockstat6"],
        |_, text| sockstat::parse(text),
    ),
    ("/proc/net/snmp6", &["net/snmp6"], |_, text| {
        counted(snmp6::parse(text))
    }),
    ("/proc/net/netstat", &["net/netstat"], |_, text| {
        counted(netstat::parse(text))
    }),
    ("/proc/net/snmp", &["net/snmp"], |_, text| {
        counted(snmp::parse(text))
    }),
];

/// Some values of these tables are settings and may be negative: those are no counters.
fn counted(parsed: Vec<(String, i64)>) -> Vec<(String, u64)> {
    let counter = |(name, value): (String, i64)| Some((name, u64::try_from(value).ok()?));
    parsed.into_iter().filter_map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_s_files_are_read_and_absent_ones_are_absent() {
        let mut all = TextSource::all();
        let names: Vec<_> = all.iter().map(|source| source.name).collect();
        assert!(
            names.contains(&"/proc/stat") && names.contains(&"/proc/net/snmp"),
            "{names:?}"
        );
        for source in &mut all {
            let reading = source.read();
            assert!(!reading.counters.is_empty(), "{}", reading.source);
        }
        assert!(open("net/no-such-table").is_err());
    }
}
