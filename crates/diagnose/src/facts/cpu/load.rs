// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the processors spent a test's time, each for itself: from `/proc/stat` and `/proc/schedstat`,
//! else from the shares that the test keeps.

use linerate_model::map::Map;

use crate::evidence::{Evidence, Source};

use super::idle;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let ends = vantages(evidence).into_iter();
    for host in ends.filter(Vantage::is_host).map(Vantage::as_host) {
        let cpus = evidence.record.host(host.host).and_then(|host| host.cpus);
        host.add(facts, "cpus", cpus.map(f64::from), "the host's description");
        match Shares::of(&host) {
            Some(shares) => each(&host, &shares, facts),
            None => together(&host, facts),
        }
        let ratio = run_delay_ratio(&host);
        host.add(facts, "run_delay_ratio", ratio, "/proc/schedstat run_delay");
    }
}

fn each(host: &Vantage<'_>, shares: &Shares, facts: &mut Facts) {
    let mut add = |name, share: f64| host.add(facts, name, share, "/proc/stat");
    if let Some(busiest) = shares.busiest() {
        add("busiest_cpu", shares.busy(busiest));
        let others: Vec<f64> = shares
            .cpus()
            .filter(|cpu| *cpu != busiest)
            .map(|cpu| shares.busy(cpu))
            .collect();
        if !others.is_empty() {
            let mean = others.iter().sum::<f64>() / others.len() as f64;
            add("other_cpus_busy", mean);
        }
        let most = |names: &[&str]| {
            let each = shares.cpus().map(|cpu| shares.of_cpu(cpu, names));
            each.fold(0.0, f64::max)
        };
        add("most_softirq_cpu", most(SOFTIRQ));
        add("most_user_cpu", most(USER));
    }
    add("cpu_idle", shares.all(IDLE));
    add("cpu_idle_least", idle::least(host, shares));
    add("cpu_missing_ratio", idle::missing(host, shares));
    add("cpu_steal", shares.all(&["steal"]));
    let node = shares.busiest().and_then(|cpu| node(host, cpu));
    host.add(facts, "busiest_cpu_node", node, "/sys/devices/system/node");
}

/// All processors together, as the test has them.
fn together(host: &Vantage<'_>, facts: &mut Facts) {
    let Some(cpu) = host.test.and_then(|test| test.cpu.of(host.host)) else {
        return;
    };
    let mut add = |name, share: f64| host.add(facts, name, share, "the test's processor load");
    add("busiest_cpu", cpu.busiest_cpu.max(cpu.busy()));
    let idle = (1.0 - cpu.busy()).max(0.0);
    add("cpu_idle", idle);
    add("cpu_idle_least", idle);
    add("cpu_missing_ratio", 0.0);
    add("cpu_steal", cpu.steal);
}

/// Ticks of a span, by processor and kind. `cpu` is all together.
pub(crate) struct Shares {
    ticks: Map<String, Map<String, u64>>,
}

impl Shares {
    pub(in crate::facts) fn of(vantage: &Vantage<'_>) -> Option<Self> {
        Self::of_ticks(vantage.host_counters().end_to_end(Source::Stat))
    }

    /// `None` where no time passed.
    pub(crate) fn of_ticks<'r>(grown: impl IntoIterator<Item = (&'r str, u64)>) -> Option<Self> {
        let mut ticks: Map<String, Map<String, u64>> = Map::new();
        for (name, grown) in grown {
            let (cpu, kind) = name.split_once('.')?;
            let kinds = ticks.entry(cpu.to_owned()).or_default();
            kinds.insert(kind.to_owned(), grown);
        }
        let passed = ticks.values().any(|kinds| sum(kinds) > 0);
        passed.then_some(Self { ticks })
    }

    /// Those with a number.
    fn cpus(&self) -> impl Iterator<Item = &str> {
        self.ticks
            .keys()
            .map(String::as_str)
            .filter(|name| *name != "cpu")
    }

    /// The user-mode share of each.
    pub(in crate::facts) fn each_user(&self) -> impl Iterator<Item = (&str, f64)> {
        self.cpus().map(|cpu| (cpu, self.user(cpu)))
    }

    pub(crate) fn busiest(&self) -> Option<&str> {
        self.cpus()
            .max_by(|one, other| self.busy(one).total_cmp(&self.busy(other)))
    }

    pub(crate) fn busy(&self, cpu: &str) -> f64 {
        1.0 - self.of_cpu(cpu, IDLE)
    }

    /// All that were counted of a processor.
    pub(crate) fn ticks_of(&self, cpu: &str) -> u64 {
        self.ticks.get(cpu).map_or(0, sum)
    }

    /// The share of a time of which each processor has ticks: less than all where a virtual machine was not run.
    pub(super) fn counted(&self, span_s: f64) -> f64 {
        let cpus = self.cpus().count();
        let ticks: u64 = self.cpus().map(|cpu| self.ticks_of(cpu)).sum();
        let expected = span_s * TICKS_PER_SECOND * cpus as f64;
        if expected > 0.0 {
            (ticks as f64 / expected).min(1.0)
        } else {
            1.0
        }
    }

    pub(super) fn idle(&self) -> f64 {
        self.all(IDLE)
    }

    pub(super) fn softirq(&self, cpu: &str) -> f64 {
        self.of_cpu(cpu, SOFTIRQ)
    }

    /// Of programs in user mode.
    pub(super) fn user(&self, cpu: &str) -> f64 {
        self.of_cpu(cpu, USER)
    }

    fn of_cpu(&self, cpu: &str, names: &[&str]) -> f64 {
        let Some(kinds) = self.ticks.get(cpu) else {
            return 0.0;
        };
        let these: u64 = names.iter().filter_map(|name| kinds.get(*name)).sum();
        match sum(kinds) {
            0 => f64::from(u8::from(names == IDLE)),
            all => these as f64 / all as f64,
        }
    }

    /// Of all processors together.
    pub(crate) fn all_busy(&self) -> f64 {
        1.0 - self.all(IDLE)
    }

    pub(super) fn all(&self, names: &[&str]) -> f64 {
        if self.ticks.contains_key("cpu") {
            return self.of_cpu("cpu", names);
        }
        let each: Vec<f64> = self.cpus().map(|cpu| self.of_cpu(cpu, names)).collect();
        each.iter().sum::<f64>() / each.len().max(1) as f64
    }
}

fn sum(kinds: &Map<String, u64>) -> u64 {
    kinds.values().sum()
}

/// Of the processor for which threads waited longest.
fn run_delay_ratio(vantage: &Vantage<'_>) -> Option<f64> {
    let source = "/proc/schedstat";
    let host = vantage.host_counters();
    let span_s = host.span_s(source)?;
    let delays = host.end_to_end(source).into_iter();
    let delays = delays.filter(|(name, _)| name.ends_with(".run_delay"));
    let waited_ns = delays.map(|(_, grown)| grown).max()?;
    Some(waited_ns as f64 / 1e9 / span_s)
}

/// The memory node whose list of processors names this one.
fn node(vantage: &Vantage<'_>, cpu: &str) -> Option<f64> {
    let number: u32 = cpu.strip_prefix("cpu")?.parse().ok()?;
    (0..NODES_MAX).find_map(|node| {
        let list = vantage.host_set_up("/sys/devices/system/node", &format!("node{node}"))?;
        in_list(list, number).then_some(f64::from(node))
    })
}

/// Whether `0-3,8` names a number.
pub(super) fn in_list(list: &str, number: u32) -> bool {
    list.trim().split(',').any(|part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let ends = from
            .trim()
            .parse::<u32>()
            .ok()
            .zip(to.trim().parse::<u32>().ok());
        ends.is_some_and(|(from, to)| (from..=to).contains(&number))
    })
}

const IDLE: &[&str] = &["idle", "iowait"];
const SOFTIRQ: &[&str] = &["irq", "softirq"];
const USER: &[&str] = &["user", "nice"];
const NODES_MAX: u32 = 64;
/// USER_HZ (proc_stat(5)).
pub(crate) const TICKS_PER_SECOND: f64 = 100.0;
