// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel of one end counts around a test: the interface that carries it, protocol
//! statistics, softnet, processors. Raw values; a source that cannot be read is absent, never 0.

use linerate_linux::cpu::{Load, SystemTimes, Usage, process_usage};
use linerate_linux::{clock, host, nic, proc};
use linerate_model::counters;
use linerate_model::output::{Cpu, Host, Interface, LinkKind, MovedCounter, Role};
use linerate_model::sample::Sample;
use linerate_wire::proc::{netstat, snmp, snmp6, softnet};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Counters around one test.
#[derive(Debug)]
pub struct Sampler {
    interface: Option<String>,
    before: Option<Snapshot>,
    after: Option<Snapshot>,
}

#[derive(Debug)]
struct Snapshot {
    samples: Vec<Sample>,
    times: Option<SystemTimes>,
    usage: Usage,
    at_ns: u64,
}

impl Sampler {
    /// For a test that runs over the interface of `local`.
    pub fn of(local: Option<SocketAddr>) -> Self {
        let address = local.map(|local| local.ip().to_canonical());
        let interface = address.and_then(|address| nic::interface_of(address).ok().flatten());
        Self {
            interface,
            before: None,
            after: None,
        }
    }

    /// The interface that carries the test.
    pub fn interface(&self) -> Option<String> {
        self.interface.clone()
    }

    /// Reads everything before the load.
    pub fn begin(&mut self) {
        self.before = Some(Snapshot::take(self.interface.as_deref()));
    }

    /// Reads everything after the traffic has stopped.
    pub fn end(&mut self) {
        self.after = Some(Snapshot::take(self.interface.as_deref()));
    }

    /// The raw counters as they are now.
    pub fn read(&self) -> Vec<Sample> {
        read_samples(self.interface.as_deref())
    }

    /// Those of [`Sampler::begin`].
    pub fn first(&self) -> &[Sample] {
        self.before
            .as_ref()
            .map_or(&[], |snapshot| &snapshot.samples)
    }

    /// Those of [`Sampler::end`].
    pub fn last(&self) -> &[Sample] {
        self.after
            .as_ref()
            .map_or(&[], |snapshot| &snapshot.samples)
    }

    /// Counters that moved between begin and end.
    pub fn moved(&self) -> Vec<MovedCounter> {
        let both: Vec<_> = self.first().iter().chain(self.last()).cloned().collect();
        counters::over(&both)
    }

    /// Load of this host's processors between begin and end.
    pub fn cpu(&self) -> Option<Cpu> {
        let load = Load::between(
            self.before.as_ref()?.times.as_ref()?,
            self.after.as_ref()?.times.as_ref()?,
        )?;
        Some(Cpu {
            user: load.user,
            system: load.system,
            softirq: load.softirq,
            irq: load.irq,
            steal: load.steal,
            busiest_cpu: load.busiest_cpu,
        })
    }

    /// This process's use of processors, percent of one: total, user, system (iperf3's figures).
    pub fn process_cpu(&self) -> (f64, f64, f64) {
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            return (0.0, 0.0, 0.0);
        };
        let elapsed = after.at_ns.saturating_sub(before.at_ns).max(1) as f64;
        let user =
            100.0 * after.usage.user_ns.saturating_sub(before.usage.user_ns) as f64 / elapsed;
        let system =
            100.0 * after.usage.system_ns.saturating_sub(before.usage.system_ns) as f64 / elapsed;
        (user + system, user, system)
    }

    /// This host as the results describe it. `brief` leaves out what a stranger has no need of.
    pub fn host(&self, brief: bool) -> Host {
        let facts = host::facts();
        Host {
            role: Role::Local,
            hostname: (!brief).then_some(facts.hostname),
            boot_id: facts.boot_id,
            kernel: Some(facts.kernel),
            arch: Some(facts.arch),
            cpu_model: facts.cpu_model,
            cpus: u32::try_from(facts.cpus).ok(),
            interfaces: self
                .interface
                .as_deref()
                .and_then(describe)
                .into_iter()
                .collect(),
            agent: true,
        }
    }
}

impl Snapshot {
    fn take(interface: Option<&str>) -> Self {
        Self {
            samples: read_samples(interface),
            times: SystemTimes::read().ok(),
            usage: process_usage(),
            at_ns: clock::monotonic_ns(),
        }
    }
}

/// An interface as the results describe it; `None` when it is gone.
pub fn describe(name: &str) -> Option<Interface> {
    let link = nic::link(name).ok()?;
    let kind = match link.link_kind {
        nic::LinkKind::Wire => LinkKind::Wire,
        nic::LinkKind::Veth => LinkKind::Veth,
        nic::LinkKind::Tap => LinkKind::Tap,
        nic::LinkKind::Loopback => LinkKind::Loopback,
    };
    // A veth claims 10 Gbit/s that mean nothing.
    let speed = if kind == LinkKind::Wire {
        nic::speed_bits_per_second(name).ok().flatten()
    } else {
        None
    };
    Some(Interface {
        name: name.to_owned(),
        driver: nic::driver(name).ok(),
        link_bits_per_second: speed,
        mtu: Some(link.mtu_bytes),
        link_kind: Some(kind),
    })
}

/// One sample a source; what cannot be read is absent.
fn read_samples(interface: Option<&str>) -> Vec<Sample> {
    let now = (clock::monotonic_ns(), i64::try_from(clock::wall_ns()).ok());
    let host = |source: &str, counters| sample(now, source, None, counters);
    let mut all = vec![
        host(
            "/proc/net/snmp",
            protocol(proc::net("snmp").map(|text| snmp::parse(&text))),
        ),
        host(
            "/proc/net/snmp6",
            protocol(proc::net("snmp6").map(|text| snmp6::parse(&text))),
        ),
        host(
            "/proc/net/netstat",
            protocol(proc::net("netstat").map(|text| netstat::parse(&text))),
        ),
        host("/proc/net/softnet_stat", softnet_counters()),
    ];
    if let Some(name) = interface {
        let link = nic::stats64(name).unwrap_or_default();
        let link = link
            .into_iter()
            .map(|(counter, value)| (counter.to_owned(), value))
            .collect();
        all.push(sample(now, "rtnl_link_stats64", interface, link));
        all.push(sample(
            now,
            "ethtool -S",
            interface,
            nic::ethtool_stats(name)
                .unwrap_or_default()
                .into_iter()
                .collect(),
        ));
    }
    all.retain(|sample| !sample.counters.is_empty());
    all
}

fn sample(
    now: (u64, Option<i64>),
    source: &str,
    interface: Option<&str>,
    counters: BTreeMap<String, u64>,
) -> Sample {
    Sample {
        host: Role::Local,
        t_ns: now.0,
        wall_ns: now.1,
        source: source.to_owned(),
        interface: interface.map(str::to_owned),
        counters,
        ..Sample::default()
    }
}

/// Some values of these tables are gauges and may be negative: those are no counters.
fn protocol(parsed: std::io::Result<Vec<(String, i64)>>) -> BTreeMap<String, u64> {
    let counter = |(name, value): (String, i64)| Some((name, u64::try_from(value).ok()?));
    parsed
        .unwrap_or_default()
        .into_iter()
        .filter_map(counter)
        .collect()
}

fn softnet_counters() -> BTreeMap<String, u64> {
    let Ok(text) = proc::net("softnet_stat") else {
        return BTreeMap::new();
    };
    let rows = softnet::parse(&text);
    let sum =
        |pick: fn(&softnet::SoftnetCpu) -> u32| rows.iter().map(|row| u64::from(pick(row))).sum();
    BTreeMap::from([
        ("dropped".to_owned(), sum(|row| row.dropped)),
        ("time_squeeze".to_owned(), sum(|row| row.time_squeeze)),
    ])
}
