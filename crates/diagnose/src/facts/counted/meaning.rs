// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a driver counts, asked by meaning rather than by name: frames that died in the receiving
//! MAC, pause frames. Each driver has its own names; its table in `knowledge/drivers` says what they mean.

use std::collections::BTreeMap;

use linerate_model::output::{Role, Test};
use linerate_model::sample::{Phase, Sample};

use super::{Counted, counted, series};
use linerate_knowledge::{self as knowledge, Counter, Counts, Driver, Group, Stage, Unit};
use linerate_model::order;
use linerate_model::record::Record;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::facts) enum Meaning {
    /// Packets that died at this stage.
    Dropped(Stage),
    /// Packets that came through this stage.
    Passed(Stage),
    /// Pause frames that this end sent: it stopped its partner.
    PauseSent,
    /// Pause frames that this end received: its partner stopped it.
    PauseReceived,
    /// Frames cut off because the sending MAC's FIFO ran empty.
    Underrun,
}

/// Growth of everything that the driver's table gives this meaning. Counters in which the same packet
/// shows are not added up. `None` where the table has no such counter or none of them was read.
pub(in crate::facts) fn meaning(
    record: &Record,
    host: Role,
    interface: Option<&str>,
    test: Option<&Test>,
    asked: Meaning,
) -> Option<Counted> {
    let driver = table(record, host, interface)?;
    let mut found: Vec<Found<'_>> = Vec::new();
    for (group, source) in SOURCES {
        let samples = series(record, host, source, interface, test, Phase::Load);
        for counter in driver
            .counters
            .iter()
            .filter(|counter| counter.group == *group && asked.is(counter))
        {
            found.extend(queues(counter, source, &samples));
        }
    }
    let counting: Vec<&Found<'_>> = found
        .iter()
        .filter(|found| found.counted.value > 0)
        .collect();
    let named = if counting.is_empty() {
        found.iter().collect()
    } else {
        counting
    };
    let names: Vec<&str> = named
        .iter()
        .map(|found| found.counted.source.as_str())
        .collect();
    (!found.is_empty()).then(|| Counted {
        value: once(&found),
        since_boot: found.iter().any(|found| found.counted.since_boot),
        source: names.join(", "),
    })
}

/// The driver of an interface, as `ethtool -i` or the host names it; else the one whose names a
/// pasted `ethtool -S` shows.
pub(in crate::facts) fn driver<'r>(
    record: &'r Record,
    host: Role,
    interface: Option<&str>,
) -> Option<&'r str> {
    let told = super::set_up(record, host, "ethtool -i", interface, "driver");
    let described = || {
        let mut all = record.host(host)?.interfaces.iter();
        all.find(|known| Some(known.name.as_str()) == interface)?
            .driver
            .as_deref()
    };
    told.or_else(described)
}

pub(in crate::facts) fn table(
    record: &Record,
    host: Role,
    interface: Option<&str>,
) -> Option<&'static Driver> {
    match driver(record, host, interface) {
        Some(name) => knowledge::driver(name),
        None => recognised(record, host, interface),
    }
}

/// The one driver that knows most of the names that `ethtool -S` printed, if it knows most of them. Of very many names,
/// which are mostly queues, some of each part of the list are asked.
fn recognised(record: &Record, host: Role, interface: Option<&str>) -> Option<&'static Driver> {
    let here = |sample: &&Sample| {
        sample.host == host && sample.source == ETHTOOL && sample.interface.as_deref() == interface
    };
    let names: Vec<&String> = record
        .samples
        .iter()
        .filter(here)
        .flat_map(|sample| sample.counters.keys())
        .collect();
    let every = names.len().div_ceil(NAMES_ASKED).max(1);
    let names: Vec<&String> = names.into_iter().step_by(every).collect();
    let known = |driver: &Driver| {
        names
            .iter()
            .filter(|name| knowledge::counter(driver, name).is_some())
            .count()
    };
    let mut ranked: Vec<(usize, &Driver)> = knowledge::drivers()
        .iter()
        .map(|driver| (known(driver), driver))
        .collect();
    order::by_key(&mut ranked, |(count, _)| std::cmp::Reverse(*count));
    match ranked.as_slice() {
        [(best, driver), (second, _), ..] if best > second && best * 2 > names.len() => {
            Some(driver)
        }
        _ => None,
    }
}

/// A counter of the table, its queues added up.
struct Found<'d> {
    counter: &'d Counter,
    counted: Counted,
}

fn queues<'d>(counter: &'d Counter, source: &str, samples: &[&Sample]) -> Option<Found<'d>> {
    let names = samples
        .first()?
        .counters
        .keys()
        .filter(|name| counter.name.matches(name));
    let mut all =
        names.filter_map(|name| counted(samples, name, format!("{source} {name}"), counter.width));
    let mut sum = all.next()?;
    for more in all {
        sum.value += more.value;
        sum.source = format!("{source} {}", counter.name.text());
    }
    Some(Found {
        counter,
        counted: sum,
    })
}

/// The sum in which no packet stands twice: within an alias set the largest, and instead of several
/// sets the counter that contains them all where it says more.
fn once(found: &[Found<'_>]) -> u64 {
    let alone = found.iter().filter(|found| found.counter.alias.is_empty());
    let alone: u64 = alone.map(|found| found.counted.value).sum();
    let mut sets: BTreeMap<&str, u64> = BTreeMap::new();
    for one in found.iter().filter(|found| found.counter.alias.len() == 1) {
        let largest = sets.entry(one.counter.alias[0].as_str()).or_default();
        *largest = one.counted.value.max(*largest);
    }
    let mut contained = 0;
    for whole in found.iter().filter(|found| found.counter.alias.len() > 1) {
        let parts: u64 = whole
            .counter
            .alias
            .iter()
            .filter_map(|set| sets.get(set.as_str()))
            .sum();
        contained += whole.counted.value.saturating_sub(parts);
    }
    alone + sets.values().sum::<u64>() + contained
}

impl Meaning {
    fn is(self, counter: &Counter) -> bool {
        let packets = matches!(counter.unit, Unit::Frames | Unit::Segments);
        match self {
            Self::Dropped(stage) => {
                counter.stage == stage && counter.counts == Counts::Drop && packets
            }
            Self::Passed(stage) => {
                counter.stage == stage && counter.counts == Counts::Pass && packets
            }
            // Who sends a pause frame is short of room to receive, and who gets one has to wait with sending.
            Self::PauseSent => counter.stage == Stage::RxMac && is_pause(counter),
            Self::PauseReceived => counter.stage == Stage::TxMac && is_pause(counter),
            Self::Underrun => {
                let name = counter.name.text().to_ascii_lowercase();
                counter.stage == Stage::TxMac
                    && packets
                    && UNDERRUN_WORDS.iter().any(|word| name.contains(word))
            }
        }
    }
}

fn is_pause(counter: &Counter) -> bool {
    let name = counter.name.text().to_ascii_lowercase();
    counter.counts == Counts::Delay
        && counter.unit != Unit::Microseconds
        && PAUSE_WORDS.iter().any(|word| name.contains(word))
}

/// So many names tell a driver.
const NAMES_ASKED: usize = 400;
/// An XON releases the partner again and is left out.
const PAUSE_WORDS: &[&str] = &["pause", "xoff", "fdxfc", "pxoff"];
const UNDERRUN_WORDS: &[&str] = &["tx_fifo", "underflow", "underrun", "uflo", "tx_macerr"];
const ETHTOOL: &str = "ethtool -S";
const SOURCES: &[(Group, &str)] = &[
    (Group::Link, "rtnl_link_stats64"),
    (Group::Ethtool, ETHTOOL),
    (Group::EthMac, "eth-mac"),
    (Group::EthPhy, "eth-phy"),
    (Group::EthCtrl, "eth-ctrl"),
    (Group::Rmon, "rmon"),
    (Group::Qstats, "qstats"),
    (Group::Pause, "ethtool -I -a"),
];
