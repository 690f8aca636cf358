// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which driver an interface has: named by `ethtool -i` or by its host, else recognised by the names of its counters.

use linerate_model::order;
use linerate_model::output::Role;

use super::Source;
use linerate_knowledge::{self as knowledge, Counts, Driver};
use linerate_model::record::Record;

/// The driver's name, as `ethtool -i` or the host's description gives it.
pub(super) fn name<'r>(record: &'r Record, host: Role, interface: &str) -> Option<&'r str> {
    let mut settings = record.run.settings.iter().rev().filter(|one| {
        one.host == host
            && one.source == "ethtool -i"
            && one.interface.as_deref() == Some(interface)
    });
    let printed = settings.find_map(|one| one.values.get("driver").map(String::as_str));
    let described = || {
        let mut all = record.host(host)?.interfaces.iter();
        all.find(|known| known.name == interface)?.driver.as_deref()
    };
    printed.or_else(described)
}

/// The table of the driver.
pub(super) fn table(record: &Record, host: Role, interface: &str) -> Option<&'static Driver> {
    match name(record, host, interface) {
        Some(name) => knowledge::driver(name),
        None => recognised(record, host, interface),
    }
}

/// The one driver that knows most of the names that `ethtool -S` shows, if it knows most of them; of several that know as
/// many, the first, if they say the same of what is lost. Of very many names, which are mostly queues, some of each part
/// of the list are asked.
fn recognised(record: &Record, host: Role, interface: &str) -> Option<&'static Driver> {
    let mut names: Vec<&str> = record
        .samples
        .iter()
        .filter(|one| one.host == host && one.source == Source::Ethtool.text())
        .filter(|one| one.interface.as_deref() == Some(interface))
        .flat_map(|one| one.counters.keys().map(String::as_str))
        .collect();
    order::by_key(&mut names, |name| *name);
    names.dedup();
    if names.is_empty() {
        // All tables are megabytes, too much for a small board.
        return None;
    }
    let every = names.len().div_ceil(NAMES_ASKED).max(1);
    let names: Vec<&str> = names.into_iter().step_by(every).collect();
    let known = |driver: &&Driver| {
        let known = names
            .iter()
            .filter(|name| knowledge::counter(driver, name).is_some());
        known.count()
    };
    let mut ranked: Vec<(usize, &Driver)> = knowledge::drivers()
        .iter()
        .map(|one| (known(&one), one))
        .collect();
    order::by_key(&mut ranked, |(count, _)| std::cmp::Reverse(*count));
    let (best, driver) = ranked.first()?;
    let mut tied = ranked.iter().take_while(|(count, _)| count == best);
    let agree = tied.all(|(_, other)| names.iter().all(|name| say_the_same(driver, other, name)));
    (agree && best * 2 > names.len()).then_some(*driver)
}

/// Whether two tables have the same drop, or none, by this name.
fn say_the_same(one: &Driver, other: &Driver, name: &str) -> bool {
    let drop = |driver| {
        let counter = knowledge::counter(driver, name);
        let drop = counter.filter(|counter| counter.counts == Counts::Drop);
        drop.map(|counter| counter.stage)
    };
    drop(one) == drop(other)
}

/// Enough names to tell a driver.
const NAMES_ASKED: usize = 400;
