// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run keeps of both hosts' counters: which test and which part of it each belongs to, that
//! they moved by what was sent, and that what cannot be read is not there.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use linerate_model::output::{Direction, Role};
use linerate_model::run::Run;
use linerate_model::sample::{Phase, Sample};

use crate::turns::Turn;

#[test]
fn both_ends_are_sampled_at_rest_and_under_load() {
    let Some(kept) = Kept::of("udp --lab --bidir -b 5M -l 500 -t 2500ms") else {
        return;
    };
    for host in [Role::Local, Role::Remote] {
        let link = kept.of_source(host, "udp", "rtnl_link_stats64");
        let phases: Vec<_> = link.iter().map(|sample| sample.phase.unwrap()).collect();
        let loaded = phases.iter().filter(|phase| **phase == Phase::Load).count();
        assert_eq!(phases[..2], [Phase::Idle; 2], "{host:?}");
        assert!(loaded >= 3 && loaded + 2 == phases.len(), "{phases:?}");
        let times: Vec<_> = link.iter().map(|sample| sample.t_ns).collect();
        assert!(times.is_sorted(), "{host:?}: {times:?}");
        assert!(times[1] - times[0] >= 400_000_000, "a control: {times:?}");
    }
}

#[test]
fn counters_move_by_what_was_sent() {
    let Some(kept) = Kept::of("udp --lab --bidir -b 5M -l 500 -t 600ms") else {
        return;
    };
    for test in &kept.run.tests {
        let (sent, received) = (test.sent_packets.unwrap(), test.received_packets.unwrap());
        let (from, to) = match test.direction {
            Direction::Up => (Role::Local, Role::Remote),
            Direction::Down => (Role::Remote, Role::Local),
        };
        let grew = |host, source, name| kept.grew(host, &test.group, source, name).unwrap();
        for (host, source, name, least) in [
            (from, "rtnl_link_stats64", "tx_packets", sent),
            (to, "rtnl_link_stats64", "rx_packets", received),
            (from, "/proc/net/snmp", "UdpOutDatagrams", sent),
            (to, "/proc/net/snmp", "UdpInDatagrams", received),
            (to, "/proc/net/softnet_stat", "processed", received),
        ] {
            let moved = grew(host, source, name);
            assert!(moved >= least, "{host:?} {name}: {moved} of {least}");
        }
        // Beside the test there are its latency probes and what asks for neighbours.
        let (packets, both) = (grew(to, "rtnl_link_stats64", "rx_packets"), received + sent);
        assert!(packets < both, "{packets} packets for {received} datagrams");
    }
}

#[test]
fn what_the_host_does_not_show_is_absent() {
    let Some(kept) = Kept::of("udp --lab -b 5M -t 300ms") else {
        return;
    };
    assert!(
        kept.samples
            .iter()
            .all(|sample| !sample.counters.is_empty())
    );
    let sources: BTreeSet<_> = kept
        .samples
        .iter()
        .map(|sample| sample.source.as_str())
        .collect();
    for absent in ["eth-mac", "eth-phy", "rmon", "ethtool -I -a", "qstats"] {
        assert!(!sources.contains(absent), "a veth has no {absent}");
    }
}

#[test]
fn the_kernel_says_why_each_lost_datagram_died() {
    for (fault, reason) in [
        ("nft-drop", "NETFILTER_DROP"),
        ("rcvbuf=2304", "SOCKET_RCVBUFF"),
    ] {
        let line = format!("udp --lab --fault {fault} -b 100M -l 1000 -t 600ms");
        let Some(kept) = Kept::of(&line) else { return };
        if !kept.watches(FLOW) {
            return;
        }
        let lost = kept.run.tests[0].lost_packets.unwrap();
        let died = |host| kept.grew(host, "udp", FLOW, reason);
        assert_eq!(died(Role::Remote), Some(lost), "{fault}");
        assert_eq!(died(Role::Local), Some(0), "{fault}");
        assert!(lost > 0, "{fault}");
    }
}

#[test]
fn losses_of_each_direction_are_distinguished() {
    let Some(kept) = Kept::of("udp --lab --bidir --fault nft-drop -b 20M -l 1000 -t 600ms") else {
        return;
    };
    let (sent, received) = ("skb:kfree_skb flow sent", "skb:kfree_skb flow received");
    if !kept.watches(sent) {
        return;
    }
    let tests = kept.run.tests.iter();
    let up = tests.filter(|test| test.direction == Direction::Up);
    let lost: u64 = up.map(|test| test.lost_packets.unwrap()).sum();
    let died = |source| kept.grew(Role::Remote, "udp", source, "NETFILTER_DROP");
    assert_eq!((died(sent), died(received)), (Some(0), Some(lost)));
    assert!(lost > 0 && kept.of_source(Role::Remote, "udp", FLOW).is_empty());
}

/// On the wire between, each frame passes a host that it is not for.
#[test]
fn what_another_namespace_drops_is_not_this_host_s() {
    let Some(kept) = Kept::of("udp --lab --fault loss -b 20M -l 1000 -t 600ms") else {
        return;
    };
    if !kept.watches(FLOW) {
        return;
    }
    for host in [Role::Local, Role::Remote] {
        let list = kept.of_source(host, "udp", FLOW);
        let last = list
            .last()
            .unwrap()
            .counters
            .iter()
            .map(|(_, value)| value)
            .sum::<u64>();
        assert_eq!(last, 0, "{host:?}: {:?}", list.last());
    }
}

#[test]
fn each_end_tells_once_how_it_is_set_up() {
    let Some(kept) = Kept::of("udp --lab -b 5M -t 300ms") else {
        return;
    };
    let of = |host| {
        let settings = kept
            .run
            .settings
            .iter()
            .filter(move |setting| setting.host == host);
        settings.map(|setting| (setting.source.as_str(), setting.interface.as_deref()))
    };
    for host in [Role::Local, Role::Remote] {
        for source in ["ethtool -i", "ethtool -k", "ip link", "tc qdisc"] {
            let reported = of(host)
                .filter(|setting| *setting == (source, Some("eth0")))
                .count();
            assert_eq!(reported, 1, "{host:?}: {source}");
        }
        let virtual_ones = ["ethtool -a", "ethtool -g", "/sys/class/net/device"];
        assert!(
            of(host).all(|(source, _)| !virtual_ones.contains(&source)),
            "{host:?}"
        );
    }
    // The lab's hosts know a token: each end reports its whole host.
    for host in [Role::Local, Role::Remote] {
        for whole in ["sysctl", "/proc/version", "/proc/meminfo"] {
            assert!(
                of(host).any(|setting| setting == (whole, None)),
                "{host:?}: {whole}"
            );
        }
    }
}

#[test]
fn each_test_of_a_check_has_its_own_samples() {
    let Some(kept) = Kept::of("check --lab --quick") else {
        return;
    };
    let mut groups = BTreeSet::new();
    for test in &kept.run.tests {
        groups.insert(test.group.clone());
        for host in [Role::Local, Role::Remote] {
            let link = kept.of_source(host, &test.group, "rtnl_link_stats64");
            assert!(link.len() >= 2, "{}: {host:?}", test.group);
            assert!(link.iter().all(|sample| sample.phase == Some(Phase::Load)));
        }
    }
    let directions = |group: &String| {
        kept.run
            .tests
            .iter()
            .filter(|test| test.group == *group)
            .count()
    };
    assert!(
        groups.iter().all(|group| directions(group) <= 2),
        "{groups:?}"
    );
    let idle = kept
        .samples
        .iter()
        .filter(|sample| sample.phase == Some(Phase::Idle));
    let hosts: BTreeSet<_> = idle.map(|sample| sample.host as u8).collect();
    assert_eq!(hosts.len(), 2, "both ends have a control interval");
}

/// A run, read back from its directory, which is gone with it.
struct Kept {
    run: Run,
    samples: Vec<Sample>,
    directory: PathBuf,
}

impl Kept {
    /// `None` (and a word about it) where there can be no lab.
    fn of(line: &str) -> Option<Self> {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let name = format!("linerate-sampling-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let _turn = Turn::together();
        let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(line.split_whitespace())
            .arg("-o")
            .arg(&directory)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let run =
            linerate::store::read(&directory).unwrap_or_else(|error| panic!("{error}: {said}"));
        let kept = Self {
            run: run.0,
            samples: run.1,
            directory,
        };
        let kind = kept
            .run
            .tests
            .first()
            .and_then(|test| test.local_interface.clone());
        if kind.as_deref() == Some("lo") {
            println!("skipped: no namespaces for a lab: {said}");
            return None;
        }
        assert!(!kept.run.partial, "{said}");
        Some(kept)
    }

    /// Whether both hosts could ask the kernel; a word about it if not.
    fn watches(&self, source: &str) -> bool {
        let watches = [Role::Local, Role::Remote]
            .iter()
            .all(|host| !self.of_source(*host, "udp", source).is_empty());
        if !watches {
            println!("skipped: no `{source}` here: that takes root in the initial user namespace");
        }
        watches
    }

    fn of_source(&self, host: Role, group: &str, source: &str) -> Vec<&Sample> {
        let wanted = |sample: &&Sample| {
            sample.host == host && sample.source == source && sample.group.as_deref() == Some(group)
        };
        self.samples.iter().filter(wanted).collect()
    }

    /// By how much a counter grew under load.
    fn grew(&self, host: Role, group: &str, source: &str, name: &str) -> Option<u64> {
        let mut loaded = self.of_source(host, group, source);
        loaded.retain(|sample| sample.phase == Some(Phase::Load));
        let value = |sample: &&Sample| sample.counters.get(name).copied();
        loaded
            .last()
            .and_then(value)?
            .checked_sub(loaded.first().and_then(value)?)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // What is left of a failed test is of use to nobody.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// The kernel's drop reasons for the test's own packets.
const FLOW: &str = "skb:kfree_skb flow";
