// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device in the middle: what its samples before and after a trial's traffic come to.
//!
//! Differences only; the ledger and the facts interpret them.

mod deciding;
pub(crate) mod setup;

pub use deciding::{Deciding, deciding, name, of};
pub(crate) use deciding::{reported, way};

use linerate_knowledge::{Counts, Driver, counter, drivers};
use linerate_model::map::Map;
use linerate_model::output::{
    DeviceInterrupt, DeviceProcessor, DeviceQueue, MovedCounter, TrialDevice,
};
use linerate_model::record::Record;
use linerate_model::run::Run;
use linerate_model::sample::{Phase, Sample};

use crate::evidence::{Evidence, Source, Window, receive_queue};
use linerate_model::order;

/// Which interface took in most frames, and which sent most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ports<'r> {
    pub(crate) ingress: Option<&'r str>,
    pub(crate) egress: Option<&'r str>,
}

impl<'r> Ports<'r> {
    pub(crate) fn of(device: &'r TrialDevice) -> Self {
        let most = |name: &str| {
            let of_link =
                |one: &&MovedCounter| one.source == Source::Link.text() && one.name == name;
            let named = device.counters.iter().filter(of_link);
            named.max_by_key(|one| one.delta)?.interface.as_deref()
        };
        Self {
            ingress: most("rx_packets"),
            egress: most("tx_packets"),
        }
    }
}

/// What moved. `None` where the load of the processors was not read twice: then there was no device.
#[must_use]
pub fn moved(before: &[Sample], after: &[Sample]) -> Option<TrialDevice> {
    let elapsed_ns = elapsed_ns(before, after)?;
    let both = last_of_each(before).chain(last_of_each(after));
    let all = grown(both.collect());
    let processors = processors(&all);
    let busiest = processors
        .iter()
        .max_by(|one, other| one.busy_ratio.total_cmp(&other.busy_ratio))
        .cloned()
        .unwrap_or_default();
    Some(TrialDevice {
        elapsed_s: elapsed_ns as f64 / 1e9,
        processor: busiest.number,
        busy_ratio: busiest.busy_ratio,
        softirq_ratio: busiest.softirq_ratio,
        softnet_dropped: processors.iter().map(|one| one.dropped).sum(),
        processors,
        queues: queues(after, &all),
        interrupts: interrupts(&all),
        counters: all.into_iter().filter(of_packets).collect(),
    })
}

/// What every counter grew by from its first to its last reading.
fn grown(samples: Vec<Sample>) -> Vec<MovedCounter> {
    let record = Record::of_run(Run::default(), samples);
    Evidence::of(&record).moved_counters(Window::Load(TRAFFIC))
}

/// Of a source that was read twice, the later reading is the nearer to the traffic before it; the readings
/// after it have each source once.
fn last_of_each(samples: &[Sample]) -> impl Iterator<Item = Sample> + '_ {
    let is_last = |at: usize, sample: &Sample| {
        let mut later = samples.iter().skip(at + 1);
        !later.any(|other| other.same_source(sample))
    };
    let all = samples.iter().enumerate();
    all.filter(move |(at, sample)| is_last(*at, sample))
        .map(|(_, sample)| Sample {
            group: Some(TRAFFIC.to_owned()),
            phase: Some(Phase::Load),
            ..sample.clone()
        })
}

/// Between the two readings of the processors' time.
fn elapsed_ns(before: &[Sample], after: &[Sample]) -> Option<u64> {
    let read = |samples: &[Sample]| {
        let mut loads = samples.iter().rev();
        loads.find(|one| one.source == LOAD).map(|one| one.t_ns)
    };
    let elapsed_ns = read(after)?.checked_sub(read(before)?)?;
    (elapsed_ns > 0).then_some(elapsed_ns)
}

/// By number. Ticks of `USER_HZ` and packets of the receive path.
fn processors(all: &[MovedCounter]) -> Vec<DeviceProcessor> {
    let mut ticks: Map<u32, Ticks> = Map::new();
    let mut counted: Map<u32, DeviceProcessor> = Map::new();
    for counter in all {
        let Some((number, name)) = of_processor(&counter.name) else {
            continue;
        };
        let delta = counter.delta;
        match (counter.source.as_str(), name) {
            (LOAD, name) => ticks.entry(number).or_default().add(name, delta),
            (SOFTNET, "processed") => counted.entry(number).or_default().packets = delta,
            (SOFTNET, "dropped") => counted.entry(number).or_default().dropped = delta,
            (SOFTNET, "time_squeeze") => counted.entry(number).or_default().squeezed = delta,
            _ => {}
        }
    }
    for (number, ticks) in ticks {
        let one = counted.entry(number).or_default();
        one.busy_ratio = ticks.share(ticks.busy);
        one.softirq_ratio = ticks.share(ticks.interrupts);
    }
    let numbered = counted
        .into_iter()
        .map(|(number, one)| DeviceProcessor { number, ..one });
    numbered.collect()
}

#[derive(Debug, Clone, Copy, Default)]
struct Ticks {
    busy: u64,
    interrupts: u64,
    all: u64,
}

impl Ticks {
    fn add(&mut self, name: &str, ticks: u64) {
        self.all += ticks;
        if !matches!(name, "idle" | "iowait") {
            self.busy += ticks;
        }
        if matches!(name, "irq" | "softirq") {
            self.interrupts += ticks;
        }
    }

    fn share(self, part: u64) -> f64 {
        part as f64 / self.all.max(1) as f64
    }
}

/// `cpu3.softirq` → 3, `softirq`. The sums of all processors are none.
fn of_processor(name: &str) -> Option<(u32, &str)> {
    let (number, name) = name.strip_prefix("cpu")?.split_once('.')?;
    Some((number.parse().ok()?, name))
}

/// Idle queues, too: they show that flows share one.
fn queues(read: &[Sample], all: &[MovedCounter]) -> Vec<DeviceQueue> {
    let mut found: Map<(&str, u32), u64> = Map::new();
    let lists = read.iter().filter(|sample| sample.source == DRIVER);
    for list in lists {
        let Some(interface) = list.interface.as_deref() else {
            continue;
        };
        for name in list.counters.keys() {
            let Some(number) = receive_queue(name) else {
                continue;
            };
            let here = |one: &&MovedCounter| {
                one.source == DRIVER && one.interface.as_deref() == Some(interface)
            };
            let moved = all.iter().filter(here).find(|one| one.name == *name);
            let packets = found.entry((interface, number)).or_default();
            *packets = (*packets).max(moved.map_or(0, |one| one.delta));
        }
    }
    let each = found
        .into_iter()
        .map(|((interface, number), packets)| DeviceQueue {
            interface: interface.to_owned(),
            number,
            packets,
        });
    each.collect()
}

/// `24:PCI-MSI eth0-rx-0/cpu1`: the lines that moved most, whatever they are of.
fn interrupts(all: &[MovedCounter]) -> Vec<DeviceInterrupt> {
    let mut lines: Map<&str, DeviceInterrupt> = Map::new();
    for counter in all.iter().filter(|one| one.source == INTERRUPTS) {
        let Some((name, number)) = counter.name.rsplit_once("/cpu") else {
            continue;
        };
        let Ok(processor) = number.parse() else {
            continue;
        };
        // Those without a number of their own (timers, calls between processors) are of no device.
        if !name.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let line = lines.entry(name).or_insert_with(|| DeviceInterrupt {
            name: name.to_owned(),
            ..DeviceInterrupt::default()
        });
        line.count += counter.delta;
        if counter.delta > line.most {
            (line.most, line.processor) = (counter.delta, processor);
        }
    }
    let mut lines: Vec<_> = lines.into_values().collect();
    order::by_key(&mut lines, |line| std::cmp::Reverse(line.count));
    lines.truncate(MOST_INTERRUPTS);
    lines
}

/// Packets, drops and errors; not the rest of what a card counts, of which there may be thousands.
fn of_packets(counter: &MovedCounter) -> bool {
    let name = counter.name.as_str();
    match counter.source.as_str() {
        "rtnl_link_stats64" => !name.ends_with("_bytes"),
        "tc -s qdisc" => {
            name.ends_with("drops") || name.ends_with("plimit") || name == "overlimits"
        }
        "/proc/net/snmp" => name.starts_with("Ip") || name.starts_with("Icmp"),
        "/proc/net/snmp6" => name.starts_with("Ip6") || name.starts_with("Icmp6"),
        "/proc/net/netstat" => name.starts_with("IpExt") || name.contains("Filter"),
        "/proc/net/stat/arp_cache" | "/proc/net/stat/ndisc_cache" => {
            name.contains("discards") || name.contains("fulls") || name.contains("failed")
        }
        "/proc/net/stat/nf_conntrack" => name.contains("drop") || name.contains("fail"),
        SOFTNET => !name.contains('.'),
        DRIVER if is_drop_of_a_driver(&counter.name) => true,
        "ethtool -I --show-fec" => name == "uncorrectable_blocks",
        DRIVER | "qstats" | "eth-mac" | "eth-phy" | "phydev" | "eth-ctrl" | "rmon"
        | "ethtool -I -a" => {
            let name = name.to_ascii_lowercase();
            TELLING.iter().any(|word| name.contains(word))
        }
        _ => false,
    }
}

/// Names of a driver that its table knows for drops, however they are called (`pkts rx OOB` of vmxnet3).
fn is_drop_of_a_driver(name: &str) -> bool {
    let known =
        |driver: &Driver| counter(driver, name).is_some_and(|one| one.counts == Counts::Drop);
    drivers().iter().any(known)
}

/// The group of readings around a trial's traffic.
const TRAFFIC: &str = "traffic";
const LOAD: &str = Source::Stat.text();
const SOFTNET: &str = Source::Softnet.text();
const INTERRUPTS: &str = Source::Interrupts.text();
const DRIVER: &str = Source::Ethtool.text();
const MOST_INTERRUPTS: usize = 16;
/// What names of drops, errors and waits have in common.
const TELLING: &[&str] = &[
    "drop",
    "err",
    "miss",
    "discard",
    "fifo",
    "over",
    "no_",
    "pause",
    "fail",
    "full",
    "crc",
    "collision",
    "busy",
    "nobuf",
    "lost",
];

#[cfg(test)]
mod tests;
