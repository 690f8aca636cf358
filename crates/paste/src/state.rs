// SPDX-License-Identifier: MIT OR Apache-2.0
//! One state of a host, or of the two hosts of a test. Whatever contradicts it starts another state: a setting with
//! another value, a counter that decreased, a sweep that starts again.

use std::collections::{BTreeMap, BTreeSet};

use crate::text::{Counters, CpuShare, Ping, Settings, Transfer};
use linerate_model::counters::{Width, growth};
use linerate_model::order::Gather as _;
use linerate_model::output::{Latency, Quantiles, Role, Test};

use super::flows::Flows;
use super::limits::TESTS_MAX;
use super::transfers;

/// Host, source, interface.
pub(super) type Key = (Role, String, Option<String>);

/// A state, filled item by item.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) label: Option<String>,
    /// The heading under which it began.
    pub(super) title: Option<String>,
    /// Hosts by name: the local one, then its peer.
    pub(super) hosts: Vec<String>,
    pub(super) settings: BTreeMap<Key, BTreeMap<String, String>>,
    /// Settings of an earlier state, valid unless this one overrides them.
    pub(super) inherited: BTreeMap<Key, BTreeMap<String, String>>,
    pub(super) counters: BTreeMap<Key, Vec<Snapshot>>,
    pub(super) shares: Vec<(Role, CpuShare)>,
    pub(super) latency: Vec<Latency>,
    pub(super) flows: BTreeMap<Role, Flows>,
    pub(super) transfers: Vec<Test>,
    pub(super) commands: Vec<String>,
    /// The environment of an earlier state that this one is compared with.
    pub(super) before: BTreeMap<Key, BTreeMap<String, String>>,
    /// What exceeded a limit.
    pub(super) too_many: BTreeSet<&'static str>,
    names: BTreeSet<String>,
    rates: BTreeSet<u64>,
    sections: usize,
    between: bool,
}

/// Counters at one moment.
#[derive(Debug, Clone, Default)]
pub(super) struct Snapshot {
    pub(super) values: BTreeMap<String, u64>,
    /// `before` or `after`, if the text marks them.
    pub(super) label: Option<String>,
    /// Whether a test precedes it in the text.
    pub(super) after_test: bool,
    section: usize,
}

/// The place of what is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) role: Role,
    pub(super) label: Option<&'a str>,
    pub(super) section: usize,
    pub(super) title: Option<&'a str>,
}

impl State {
    /// Returns a later state of the same hosts, which inherits the settings.
    pub(super) fn later(&self, label: Option<&str>) -> Self {
        let mut inherited = self.inherited.clone();
        for (key, values) in &self.settings {
            let heir = inherited.entry(key.clone()).or_default();
            heir.extend(
                values
                    .iter()
                    .map(|(name, value)| (name.clone(), value.clone())),
            );
        }
        inherited.retain(|(_, source, _), _| source != "dmesg");
        Self {
            label: label.map(str::to_owned),
            hosts: self.hosts.clone(),
            inherited,
            ..Self::default()
        }
    }

    /// Whether settings differ from those of this state.
    pub(super) fn contradicts(&self, at: At<'_>, settings: &Settings) -> bool {
        let Some(known) = self.settings.get(&key(
            at.role,
            &settings.source,
            settings.interface.as_deref(),
        )) else {
            return false;
        };
        let steady = |name: &str| {
            let source = settings.source.as_str();
            let moves = READINGS.contains(&source) || source.starts_with("sar ");
            !(moves || name.ends_with("_count") || is_statistic(name))
        };
        settings.values.iter().any(|(name, value)| {
            steady(name) && known.get(name).is_some_and(|known| known != value)
        })
    }

    pub(super) fn set(&mut self, at: At<'_>, settings: &Settings) {
        let key = key(at.role, &settings.source, settings.interface.as_deref());
        if self.settings.len() >= KEYS_MAX && !self.settings.contains_key(&key) {
            self.too_many.insert(TOO_MANY_SETTINGS);
            return;
        }
        let known = self.settings.entry(key).or_default();
        for (name, value) in &settings.values {
            let name = if settings.source == "dmesg" {
                format!("line{}", known.len() + 1)
            } else {
                name.clone()
            };
            if known.len() < VALUES_MAX {
                known.insert(name, value.clone());
            } else {
                self.too_many.insert(TOO_MANY_SETTINGS);
            }
        }
    }

    /// Whether counters cannot be a later (or another) reading of those that this state has.
    pub(super) fn refutes(&self, at: At<'_>, counters: &Counters) -> bool {
        let Some(last) = self
            .counters
            .get(&key(
                at.role,
                &counters.source,
                counters.interface.as_deref(),
            ))
            .and_then(|all| all.last())
        else {
            return false;
        };
        let same: Vec<(u64, u64)> = counters
            .values
            .iter()
            .filter_map(|(name, value)| Some((*last.values.get(name)?, *value)))
            .collect();
        if same.is_empty() || counters.source == "registers" || counts_events(&counters.source) {
            return false;
        }
        let marked = matches!(
            (last.label.as_deref(), at.label),
            (Some("before"), Some("after"))
        );
        let swapped = matches!(
            (last.label.as_deref(), at.label),
            (Some("after"), Some("before"))
        );
        let grew = |(before, after): &(u64, u64)| {
            growth(&[(0, *before), (0, *after)], Width::Unknown, f64::INFINITY).is_some()
        };
        let forth = same.iter().all(grew);
        let back = same.iter().all(|(before, after)| grew(&(*after, *before)));
        let same_place = last.section == at.section && self.between;
        !((marked && forth) || (swapped && back) || (at.label.is_none() && same_place && forth))
    }

    pub(super) fn count(&mut self, at: At<'_>, counters: &Counters) {
        let key = key(at.role, &counters.source, counters.interface.as_deref());
        if self.counters.len() >= KEYS_MAX && !self.counters.contains_key(&key) {
            self.too_many.insert(TOO_MANY_COUNTERS);
            return;
        }
        let after_test = self.has_measured();
        let all = self.counters.entry(key).or_default();
        let values: BTreeMap<String, u64> = counters.values.iter().cloned().gather();
        let snapshot = Snapshot {
            values,
            label: at.label.map(str::to_owned),
            after_test,
            section: at.section,
        };
        self.between = false;
        let room = all.len() < SNAPSHOTS_MAX;
        match all.last_mut() {
            // Each reading counts packets of its own.
            Some(last) if counts_events(&counters.source) => {
                for (name, value) in snapshot.values {
                    let sum = last.values.entry(name).or_default();
                    *sum = sum.saturating_add(value);
                }
            }
            // Parts of one reading, as left by grep.
            Some(last)
                if !snapshot
                    .values
                    .keys()
                    .any(|name| last.values.contains_key(name)) =>
            {
                last.values.extend(snapshot.values)
            }
            // The text shows the later reading first.
            Some(last) if last.label.as_deref() == Some("after") && at.label == Some("before") => {
                all.insert(all.len() - 1, snapshot)
            }
            _ if room => all.push(snapshot),
            _ => {
                self.too_many.insert(TOO_MANY_READINGS);
            }
        }
    }

    /// Whether the sweep already had this rate, with something else in between.
    pub(super) fn swept(&self, rate: f64) -> bool {
        self.rates.contains(&rate.to_bits()) && self.sections > 0
    }

    pub(super) fn requested(&mut self, role: Role, rate: f64) {
        self.rates.insert(rate.to_bits());
        self.sections = 0;
        self.between = true;
        self.flows.entry(role).or_default().requested(rate);
    }

    pub(super) fn typed(&mut self, role: Role, command: &str) {
        self.sections += 1;
        self.between = true;
        if command.contains("iperf") && self.commands.len() < VALUES_MAX {
            self.commands.push(command.to_owned());
        }
        self.flows.entry(role).or_default().typed(command);
    }

    /// Prose or a heading came between.
    pub(super) fn between(&mut self) {
        self.sections += 1;
        self.between = true;
    }

    /// Whether a test of this name is known already. Tables of flows are
    /// distinguished by their headings: one host may have both.
    pub(super) fn measured(&self, at: At<'_>, transfer: &Transfer) -> bool {
        let named = transfer.name.is_some() || transfer.mtu.is_some();
        named && self.names.contains(&known_as(at, transfer))
    }

    pub(super) fn transfer(&mut self, at: At<'_>, transfer: &Transfer) {
        if self.transfers.len() < TESTS_MAX {
            self.names.insert(known_as(at, transfer));
            self.transfers.push(transfers::test(transfer, at.title));
        } else {
            self.too_many.insert(TOO_MANY_TESTS);
        }
    }

    pub(super) fn share(&mut self, role: Role, share: CpuShare) {
        self.shares
            .retain(|(host, known)| (*host, known.cpu) != (role, share.cpu));
        if self.shares.len() < VALUES_MAX {
            self.shares.push((role, share));
        }
    }

    pub(super) fn ping(&mut self, ping: &Ping) {
        let nanoseconds = |milliseconds: f64| (milliseconds * 1e6) as i64;
        let rtt_ns = ping.rtt_ms.map(|(min, mean, max)| Quantiles {
            min: nanoseconds(min),
            p50: nanoseconds(mean),
            p99: nanoseconds(max),
            p999: nanoseconds(max),
            max: nanoseconds(max),
        });
        let sent = ping.sent.unwrap_or_default();
        let lost = sent.saturating_sub(ping.received.unwrap_or(sent));
        if self.latency.len() < VALUES_MAX {
            self.latency.push(Latency {
                method: "icmp-echo".to_owned(),
                rtt_ns,
                sent,
                lost,
                ..Latency::default()
            });
        }
    }

    /// Sets the chip that the whole text is about, unless this state names another.
    pub(super) fn is_machine(&mut self, settings: &Settings) {
        let key = key(Role::Local, &settings.source, None);
        let known = self.inherited.entry(key).or_default();
        for (name, value) in &settings.values {
            known.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }

    /// The kernel, its command line and its configuration, if this state has them.
    pub(super) fn environment(&self) -> BTreeMap<Key, BTreeMap<String, String>> {
        let said = self.settings.iter();
        let mine = said.filter(|((_, source, _), _)| ENVIRONMENT.contains(&source.as_str()));
        mine.map(|(key, values)| (key.clone(), values.clone()))
            .gather()
    }

    pub(super) fn has_measured(&self) -> bool {
        !self.transfers.is_empty() || self.flows.values().any(Flows::has_measured)
    }

    /// Whether it has nothing for a record.
    pub(super) fn is_empty(&self) -> bool {
        self.settings.is_empty()
            && self.counters.is_empty()
            && self.shares.is_empty()
            && self.latency.is_empty()
    }
}

/// The name that identifies a test.
fn known_as(at: At<'_>, transfer: &Transfer) -> String {
    let title = at
        .title
        .filter(|_| !transfer.flows_bits_per_second.is_empty());
    transfers::test(transfer, title).name
}

fn key(role: Role, source: &str, interface: Option<&str>) -> Key {
    (role, source.to_owned(), interface.map(str::to_owned))
}

/// Whether a register is a counter.
fn is_statistic(name: &str) -> bool {
    ["IEEE_", "RMON_", "MMC_"]
        .iter()
        .any(|mark| name.contains(mark))
}

/// Whether a reading of this source has only what it counted itself, not a sum since the start.
fn counts_events(source: &str) -> bool {
    ["tcpdump", "skb:kfree_skb", "dropwatch"].contains(&source)
}

/// Sources of the environment of a measurement.
const ENVIRONMENT: &[&str] = &["/proc/version", "/proc/cmdline", "/proc/config.gz"];
/// Settings that are readings: another value is a later one, not another state.
const READINGS: &[&str] = &[
    "dmesg",
    "/proc/meminfo",
    "perf top",
    "ss -ti",
    "dd",
    "copy",
    "speedtest",
    "bridge",
    "bridge fdb",
    "bridge mdb",
    "bridge vlan",
    "brctl",
    "devlink",
    "devlink dev info",
    "ip neigh",
    "ip route",
    "ip rule",
    "iw",
    "iwconfig",
    "mtr",
    "tracepath",
    "traceroute",
    "route print",
];
/// Values of one kind in one state.
const VALUES_MAX: usize = 4096;
const TOO_MANY_SETTINGS: &str = "too many settings";
const TOO_MANY_COUNTERS: &str = "counters of further interfaces: too many";
const TOO_MANY_READINGS: &str = "further readings of the same counters: too many";
const TOO_MANY_TESTS: &str = "further tests: too many";
/// Sources with their interfaces.
const KEYS_MAX: usize = 512;
/// Readings of one source.
const SNAPSHOTS_MAX: usize = 1000;
