// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CPU time of a whole machine during a test, without what it used before.
//!
//! Busy is what is not idle: with tickless idle (`CONFIG_NO_HZ_COMMON`) the kernel measures idle time, where it counts the
//! rest by the tick that happens to find it (kernel/sched/cputime.c). What was busy is then divided in proportion to those
//! ticks. What the sampler used between its readings is the tester's own and is taken off.

use linerate_model::output::{Role, Test};

use crate::evidence::{Evidence, Source};

/// CPU time of all processors for one test, nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MachineTime {
    pub(super) busy_ns: f64,
    pub(super) user_ns: f64,
    pub(super) system_ns: f64,
    pub(super) softirq_ns: f64,
    pub(super) irq_ns: f64,
    /// By how much `busy_ns` may be wrong: a tick in the test, a tick in the idle interval.
    pub(super) resolution_ns: f64,
    /// The processors that the test made busier.
    pub(super) processors: Vec<Processor>,
}

/// One processor's part.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Processor {
    pub(super) cpu: u32,
    pub(super) busy_ns: f64,
    pub(super) softirq_ns: f64,
}

impl MachineTime {
    /// `None` where the times were not read during the test or before it, the test shows in none of them, or other programs
    /// used more than half of the machine: then they had less while the test ran, by an unknown amount.
    pub(super) fn of<'r>(evidence: &Evidence<'r>, test: &'r Test, host: Role) -> Option<Self> {
        let place = evidence.at(host, None, evidence.window(test));
        let load = Ticks(place.end_to_end(Source::Stat));
        let span_ns = place.span_s(Source::Stat)? * 1e9;
        let (rest, rest_s) = place.at_rest(Source::Stat)?;
        let (rest, rest_ns) = (Ticks(rest), rest_s * 1e9);
        let own = place.end_to_end(Source::OwnUsage);
        let own_ns = Ticks(own).of("sampler_ns").unwrap_or(0.0);
        let net = Net {
            load: &load,
            rest: &rest,
            span_ns,
            rest_ns,
        };
        let cpus = load.cpus();
        let count = cpus.len() as f64;
        let busy_ns = net.busy_ns("cpu", count)? - own_ns;
        let [user, system, softirq, irq] = net.kinds("cpu");
        let all = user + system + softirq + irq;
        let part = |ns: f64| busy_ns * ns / all;
        let processors = cpus.into_iter().filter_map(|cpu| net.processor(cpu));
        let is_free = background(evidence, test, host)? <= BACKGROUND_MOST;
        (busy_ns > 0.0 && all > 0.0 && is_free).then(|| Self {
            busy_ns,
            user_ns: part(user),
            system_ns: part(system),
            softirq_ns: part(softirq),
            irq_ns: part(irq),
            resolution_ns: TICK_NS + TICK_NS * span_ns / rest_ns,
            processors: processors.collect(),
        })
    }
}

/// The share of all CPU time that was used in the idle interval.
pub(super) fn background<'r>(evidence: &Evidence<'r>, test: &'r Test, host: Role) -> Option<f64> {
    let place = evidence.at(host, None, evidence.window(test));
    let (rest, rest_s) = place.at_rest(Source::Stat)?;
    let rest = Ticks(rest);
    let whole_ns = rest_s * 1e9 * rest.cpus().len() as f64;
    Some(rest.busy_ns("cpu", whole_ns)? / whole_ns)
}

/// The share of all CPU time that a hypervisor took during the test.
pub(super) fn stolen<'r>(evidence: &Evidence<'r>, test: &'r Test, host: Role) -> Option<f64> {
    let place = evidence.at(host, None, evidence.window(test));
    let load = Ticks(place.end_to_end(Source::Stat));
    let whole_ns = place.span_s(Source::Stat)? * 1e9 * load.cpus().len() as f64;
    (whole_ns > 0.0).then_some(load.ns("cpu", "steal")? / whole_ns)
}

/// By how much `cpu.user`, `cpu0.idle` … grew.
struct Ticks<'r>(Vec<(&'r str, u64)>);

impl Ticks<'_> {
    fn of(&self, name: &str) -> Option<f64> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, grown)| *grown as f64)
    }

    /// Nanoseconds of one kind.
    fn ns(&self, cpu: &str, kind: &str) -> Option<f64> {
        Some(self.of(&format!("{cpu}.{kind}"))? * TICK_NS)
    }

    /// The numbers of the processors.
    fn cpus(&self) -> Vec<u32> {
        let number = |name: &str| {
            name.strip_prefix("cpu")?
                .strip_suffix(".idle")?
                .parse()
                .ok()
        };
        let names = self.0.iter();
        names.filter_map(|(name, _)| number(name)).collect()
    }

    /// What a processor had of this time and did not idle.
    fn busy_ns(&self, cpu: &str, whole_ns: f64) -> Option<f64> {
        let kinds = ["idle", "iowait", "steal"];
        let idle: Option<f64> = kinds.iter().map(|kind| self.ns(cpu, kind)).sum();
        Some((whole_ns - idle?).max(0.0))
    }
}

/// A test less its background.
struct Net<'t, 'r> {
    load: &'t Ticks<'r>,
    rest: &'t Ticks<'r>,
    span_ns: f64,
    rest_ns: f64,
}

impl Net<'_, '_> {
    /// Of one line of /proc/stat, which has this number of processors.
    fn busy_ns(&self, cpu: &str, count: f64) -> Option<f64> {
        let load = self.load.busy_ns(cpu, self.span_ns * count)?;
        let rest = self.rest.busy_ns(cpu, self.rest_ns * count)?;
        Some(load - rest * self.span_ns / self.rest_ns)
    }

    /// User, system, softirq and irq.
    fn kinds(&self, cpu: &str) -> [f64; 4] {
        let net = |kind: &str| {
            let load = self.load.ns(cpu, kind).unwrap_or(0.0);
            load - self.rest.ns(cpu, kind).unwrap_or(0.0) * self.span_ns / self.rest_ns
        };
        let user = net("user") + net("nice");
        [user, net("system"), net("softirq"), net("irq")].map(|ns| ns.max(0.0))
    }

    /// A processor, if the test made it busier.
    fn processor(&self, number: u32) -> Option<Processor> {
        let cpu = format!("cpu{number}");
        let busy_ns = self.busy_ns(&cpu, 1.0)?;
        let kinds = self.kinds(&cpu);
        let all: f64 = kinds.iter().sum();
        let [_, _, softirq, _] = kinds;
        (busy_ns > self.span_ns * CARRIES && all > 0.0).then(|| Processor {
            cpu: number,
            busy_ns,
            softirq_ns: busy_ns * softirq / all,
        })
    }
}

/// `USER_HZ`: 100 on every Linux of today.
const TICK_NS: f64 = 1e7;
const BACKGROUND_MOST: f64 = 0.5;
/// A processor whose load grew by less than this share did not carry the test.
const CARRIES: f64 = 0.02;
