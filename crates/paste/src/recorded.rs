// SPDX-License-Identifier: MIT OR Apache-2.0
//! One state of a text → a record: tests, settings, samples, hosts.

use std::collections::BTreeMap;

use crate::text::bits_per_second;
use linerate_model::order;
use linerate_model::order::Gather as _;
use linerate_model::output::{Cpu, Host, Interface, Role, Test};
use linerate_model::run::{Run, SCHEMA};
use linerate_model::sample::Sample;
use linerate_model::setting::Setting;

use super::state::{Key, State};
use super::{connections, flows};
use linerate_model::record::Record;

/// The record of a state; `None` if it holds nothing.
pub(super) fn record(mut state: State) -> Option<Record> {
    let (mut tests, errors) = measured(&mut state);
    tests.append(&mut state.transfers);
    if tests.is_empty() {
        tests.extend(refused(errors));
    }
    if tests.is_empty() && state.is_empty() {
        return None;
    }
    let only = only_interfaces(&state);
    let settings = settings(&state, &only);
    let samples = samples(&state, &only, &tests);
    let hosts = hosts(&state, &settings, &samples);
    connections::fill(&mut tests, &settings);
    finish(&mut tests, &state, &only);
    let run = Run {
        schema: SCHEMA.to_owned(),
        kind: "explain".to_owned(),
        command: state
            .commands
            .last()
            .map(|command| command.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default(),
        plan: state
            .label
            .iter()
            .chain(state.title.iter())
            .take(1)
            .map(|label| ("state".to_owned(), label.clone()))
            .collect(),
        hosts,
        tests,
        latency: state.latency,
        settings,
        ..Run::default()
    };
    Some(Record {
        run,
        samples,
        trials: Vec::new(),
        pasted: true,
    })
}

/// Returns the tests of both ends' logs, each once, and the errors of the tools.
fn measured(state: &mut State) -> (Vec<Test>, Vec<String>) {
    let (mut tests, mut errors): (Vec<Test>, Vec<String>) = (Vec::new(), Vec::new());
    for (role, flows) in std::mem::take(&mut state.flows) {
        let (measured, complaints) = flows.finish();
        errors.extend(complaints);
        if role == Role::Local {
            tests = measured;
            continue;
        }
        for test in measured.into_iter().map(flows::seen_from_here) {
            if !tests.iter().any(|known| flows::same(known, &test)) {
                tests.push(test);
            }
        }
    }
    (tests, errors)
}

/// A test of which only the tool's error is known.
fn refused(errors: Vec<String>) -> Option<Test> {
    let why = errors.first()?.clone();
    Some(Test {
        name: "refused".to_owned(),
        invalid_reason: Some(why),
        warnings: errors.into_iter().map(flows::tool_error).collect(),
        ..Test::default()
    })
}

/// The only interface of each host, where there is only one.
fn only_interfaces(state: &State) -> BTreeMap<Role, String> {
    let keys = state
        .settings
        .keys()
        .chain(state.counters.keys())
        .chain(state.inherited.keys());
    let mut names: BTreeMap<Role, Vec<&str>> = BTreeMap::new();
    for (role, _, interface) in keys {
        if let Some(name) = interface.as_deref().filter(|name| *name != "lo") {
            let known = names.entry(*role).or_default();
            if !known.contains(&name) && known.len() < 3 {
                known.push(name);
            }
        }
    }
    names
        .into_iter()
        .filter(|(_, names)| names.len() == 1)
        .map(|(role, names)| (role, names[0].to_owned()))
        .gather()
}

/// The interface of a source that has one, where the text does not say which.
fn interface(key: &Key, only: &BTreeMap<Role, String>) -> Option<String> {
    let (role, source, interface) = key;
    let of_interface = source.starts_with("ethtool")
        || source.starts_with("/sys/class/net")
        || source.starts_with("/proc/irq/")
        || [
            "/proc/net/dev",
            "rtnl_link_stats64",
            "ip link",
            "tc -s qdisc",
            "tc qdisc",
            "registers",
            "/proc/net/packet",
        ]
        .contains(&source.as_str());
    interface
        .clone()
        .or_else(|| only.get(role).filter(|_| of_interface).cloned())
}

fn settings(state: &State, only: &BTreeMap<Role, String>) -> Vec<Setting> {
    let mut all: BTreeMap<Key, BTreeMap<String, String>> = BTreeMap::new();
    // What this state says overrides what it inherited.
    for (key, values) in state.inherited.iter().chain(&state.settings) {
        let (role, source, _) = key;
        all.entry((*role, source.clone(), interface(key, only)))
            .or_default()
            .extend(values.clone());
    }
    // The earlier environment first: of two settings the later one counts, and a comparison sees both.
    let setting = |((role, source, interface), values)| Setting {
        host: role,
        source,
        interface,
        values,
    };
    let now = all.into_iter().filter(|(_, values)| !values.is_empty());
    state
        .before
        .clone()
        .into_iter()
        .chain(now)
        .map(setting)
        .collect()
}

fn samples(state: &State, only: &BTreeMap<Role, String>, tests: &[Test]) -> Vec<Sample> {
    let mut samples = Vec::new();
    let between_ns = between_ns(tests);
    for (key, snapshots) in &state.counters {
        for snapshot in snapshots {
            if !snapshot.values.is_empty() {
                let counters = snapshot.values.clone();
                samples.push(Sample {
                    host: key.0,
                    source: key.1.clone(),
                    interface: interface(key, only),
                    t_ns: if snapshot.after_test { between_ns } else { 0 },
                    counters: counters.into(),
                    ..Sample::default()
                });
            }
        }
    }
    samples.extend(ticks(state));
    samples
}

/// The time between readings before and after the only test, its duration; 0 (unknown) for several tests.
fn between_ns(tests: &[Test]) -> u64 {
    match tests {
        [test] => (test.duration_s * 1e9) as u64,
        _ => 0,
    }
}

/// Shares of processor time as two readings of `/proc/stat`, ten thousand ticks apart: a difference of shares is exact.
fn ticks(state: &State) -> Vec<Sample> {
    let mut hosts: BTreeMap<Role, BTreeMap<String, u64>> = BTreeMap::new();
    for (role, share) in &state.shares {
        let cpu = share
            .cpu
            .map_or_else(|| "cpu".to_owned(), |cpu| format!("cpu{cpu}"));
        let ticks = share.shares.iter().map(|(name, percent)| {
            (
                format!("{cpu}.{name}"),
                (percent.clamp(0.0, 100.0) * 100.0).round() as u64,
            )
        });
        hosts.entry(*role).or_default().extend(ticks);
    }
    let both = |(role, ticks): (Role, BTreeMap<String, u64>)| {
        let zero = ticks.keys().map(|name| (name.clone(), 0)).gather();
        [zero, ticks].map(|counters| Sample {
            host: role,
            source: "/proc/stat".to_owned(),
            counters: counters.into(),
            ..Sample::default()
        })
    };
    hosts.into_iter().flat_map(both).collect()
}

fn hosts(state: &State, settings: &[Setting], samples: &[Sample]) -> Vec<Host> {
    let count = state.hosts.len().max(1);
    let host = |(at, role): (usize, Role)| {
        let of = |source: &'static str| {
            settings
                .iter()
                .filter(move |setting| setting.host == role && setting.source == source)
        };
        let mut versions = of("/proc/version").filter_map(|setting| setting.values.get("version"));
        let version = versions.next_back();
        Host {
            role,
            hostname: state.hosts.get(at).cloned(),
            kernel: version
                .and_then(|version| version.split_whitespace().nth(2))
                .map(str::to_owned),
            cpus: of("machine")
                .find_map(|setting| setting.values.get("cpus")?.parse().ok())
                .or_else(|| cpus(role, samples)),
            interfaces: interfaces(role, settings, samples),
            ..Host::default()
        }
    };
    [Role::Local, Role::Remote]
        .into_iter()
        .enumerate()
        .take(count)
        .map(host)
        .collect()
}

/// The number of CPUs, from a table that lists all of them.
fn cpus(role: Role, samples: &[Sample]) -> Option<u32> {
    let tables = samples.iter().filter(|sample| {
        sample.host == role
            && ["/proc/interrupts", "/proc/softirqs"].contains(&sample.source.as_str())
    });
    let cpu = |name: &String| name.rsplit_once("/cpu")?.1.parse::<u32>().ok();
    tables
        .flat_map(|sample| sample.counters.keys().filter_map(cpu))
        .max()?
        .checked_add(1)
}

fn interfaces(role: Role, settings: &[Setting], samples: &[Sample]) -> Vec<Interface> {
    let mine = settings
        .iter()
        .filter(|setting| setting.host == role)
        .filter_map(|setting| setting.interface.clone());
    let counted = samples
        .iter()
        .filter(|sample| sample.host == role)
        .filter_map(|sample| sample.interface.clone());
    let mut names: Vec<String> = mine.chain(counted).collect();
    order::by(&mut names, Ord::cmp);
    names.dedup();
    let value = |name: &str, source: &str, key: &str| {
        settings
            .iter()
            .find(|setting| {
                setting.host == role
                    && setting.source == source
                    && setting.interface.as_deref() == Some(name)
            })?
            .values
            .get(key)
            .cloned()
    };
    let interface = |name: String| Interface {
        driver: value(&name, "ethtool -i", "driver"),
        link_bits_per_second: value(&name, "ethtool", "Speed").and_then(|speed| speed_of(&speed)),
        mtu: value(&name, "ip link", "mtu").and_then(|mtu| mtu.parse().ok()),
        link_kind: None,
        name,
    };
    names.into_iter().take(64).map(interface).collect()
}

/// `1000Mb/s`.
fn speed_of(word: &str) -> Option<u64> {
    let end = word.find(|letter: char| !letter.is_ascii_digit())?;
    let bits = bits_per_second(word[..end].parse().ok()?, &word[end..])?;
    Some(bits as u64)
}

/// Names, interfaces and processor load of the tests.
fn finish(tests: &mut [Test], state: &State, only: &BTreeMap<Role, String>) {
    let load = cpu(state, Role::Local);
    let label = state.label.as_deref().unwrap_or_default();
    for test in tests {
        if test.name == "up" || test.name == "down" || test.name.contains("bit/s ") {
            test.name = format!("{label} {}", test.name).trim().to_owned();
        }
        test.local_interface = only.get(&(Role::Local)).cloned();
        test.remote_interface = only.get(&(Role::Remote)).cloned();
        test.cpu.local = test.cpu.local.or(load);
    }
}

/// The CPU load of a host, if the text has it.
fn cpu(state: &State, role: Role) -> Option<Cpu> {
    let mine = || {
        state
            .shares
            .iter()
            .filter(|(host, _)| *host == role)
            .map(|(_, share)| share)
    };
    let all = mine().find(|share| share.cpu.is_none());
    let value = |name: &str| {
        all.and_then(|all| all.shares.iter().find(|(key, _)| *key == name))
            .map_or(0.0, |(_, percent)| percent / 100.0)
    };
    let busy = |share: &crate::text::CpuShare| {
        share
            .shares
            .iter()
            .find(|(key, _)| *key == "idle")
            .map(|(_, percent)| 1.0 - percent / 100.0)
    };
    let busiest = mine().filter_map(busy).fold(0.0, f64::max);
    all?;
    Some(Cpu {
        user: value("user") + value("nice"),
        system: value("system"),
        softirq: value("softirq"),
        irq: value("irq"),
        steal: value("steal"),
        busiest_cpu: busiest,
    })
}
