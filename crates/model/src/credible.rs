// SPDX-License-Identifier: MIT OR Apache-2.0
//! What cannot be: figures beyond what their time and any link allow, hosts that no kernel describes so, counters that
//! no link fills. Reports of a far end, stored runs and pasted texts are not trusted: such a part is taken out, and
//! named, before anything is concluded from it.

mod figures;
mod readings;

use std::collections::BTreeMap;

use crate::output::{Host, Moved, Test, Warning};
use crate::sample::Sample;

pub use readings::Readings;

/// What was not believed, as far as it is worth naming.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doubts {
    named: Vec<String>,
    more: u64,
}

impl Doubts {
    /// Adds one, in a few words.
    pub fn add(&mut self, what: String) {
        match self.named.len() < MOST_NAMED && !self.named.contains(&what) {
            true => self.named.push(what),
            false => self.more += 1,
        }
    }

    /// The warning of a test; `None` if all was believed.
    #[must_use]
    pub fn warning(&self) -> Option<Warning> {
        let more = match self.more {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        (!self.named.is_empty()).then(|| Warning {
            id: "impossible-reports".to_owned(),
            text: format!(
                "reported, but impossible, so not used: {}{more}",
                self.named.join("; ")
            ),
            try_: "check that a `linerate` runs at that end, and that the file was not changed"
                .to_owned(),
        })
    }
}

/// Takes out of a record from elsewhere what cannot be. A test with an impossible figure has none after that and is not
/// valid; other parts are named in the warnings of the tests that they belong to.
pub fn settle(
    duration_s: Option<f64>,
    hosts: &mut [Host],
    tests: &mut [Test],
    samples: &mut Vec<Sample>,
) {
    let mut of_hosts = Doubts::default();
    hosts.iter_mut().for_each(|one| host(one, &mut of_hosts));
    let of_samples = doubted(duration_s, hosts, samples);
    let of_none = of_samples.get(&None);
    for (at, test) in tests.iter_mut().enumerate() {
        figures::settle(test);
        let general = [Some(&of_hosts), of_none].into_iter().filter(|_| at == 0);
        let own = of_samples.get(&Some(test.group.clone()));
        let all = general.flatten().chain(own);
        test.warnings.extend(all.filter_map(Doubts::warning));
    }
}

/// Takes out what cannot have changed: a value equal before and after, one without a place, one longer than any source
/// prints; and more than a run keeps.
pub fn moved(all: &mut Vec<Moved>) {
    let lengths = |one: &Moved| {
        let texts = [&one.source, &one.name, &one.before, &one.after];
        texts.into_iter().map(String::len).max()
    };
    all.retain(|one| {
        let has_place = !one.source.is_empty() && !one.name.is_empty();
        has_place && one.before != one.after && lengths(one) <= Some(VALUE_BYTES)
    });
    all.truncate(MOVED_MOST);
}

/// Keeps the samples that can be; returns the doubts by group.
fn doubted(
    duration_s: Option<f64>,
    hosts: &[Host],
    samples: &mut Vec<Sample>,
) -> BTreeMap<Option<String>, Doubts> {
    let span_s = duration_s.filter(|seconds| *seconds > 0.0);
    let span_ns = span_s.map_or(u64::MAX, |seconds| ((seconds + SLACK_S) * 1e9) as u64);
    let mut readings = Readings::of(hosts);
    let mut doubts: BTreeMap<Option<String>, Doubts> = BTreeMap::new();
    samples.retain_mut(|sample| match readings.take(sample, span_ns) {
        (kept, None) => kept,
        (kept, Some(what)) => {
            doubts.entry(sample.group.clone()).or_default().add(what);
            kept
        }
    });
    doubts
}

/// Takes out of a description what no host can be.
pub fn host(host: &mut Host, doubts: &mut Doubts) {
    let mut text = |what: &str, text: &mut Option<String>| {
        if let Some(long) = text.take_if(|text| text.len() > TEXT_BYTES) {
            doubts.add(format!("{what} of {} bytes", long.len()));
        }
    };
    text("a host name", &mut host.hostname);
    text("a boot id", &mut host.boot_id);
    text("a kernel's name", &mut host.kernel);
    text("an architecture", &mut host.arch);
    text("a processor's name", &mut host.cpu_model);
    for interface in &mut host.interfaces {
        text("a driver's name", &mut interface.driver);
    }
    let before = host.interfaces.len();
    host.interfaces.retain(|one| one.name.len() <= NAME_BYTES);
    host.interfaces.truncate(INTERFACES);
    if host.interfaces.len() < before {
        doubts.add(format!("{before} interfaces, or one with a long name"));
    }
    if let Some(cpus) = host.cpus.take_if(|cpus| !(1..=CPUS).contains(cpus)) {
        doubts.add(format!("{cpus} processors"));
    }
    for interface in &mut host.interfaces {
        let name = &interface.name;
        if let Some(mtu) = interface.mtu.take_if(|mtu| *mtu > MTU_BYTES) {
            doubts.add(format!("an MTU of {mtu} bytes at {name}"));
        }
        let speed = &mut interface.link_bits_per_second;
        if let Some(speed) = speed.take_if(|speed| *speed > BITS_PER_SECOND) {
            doubts.add(format!("a link of {speed} bit/s at {name}"));
        }
    }
}

/// Each in a few words.
const MOST_NAMED: usize = 4;
/// What clocks, drains and time-outs may add to a test.
const SLACK_S: f64 = 120.0;
/// 10 Tbit/s: faster than any link or stream.
const BITS_PER_SECOND: u64 = 10_000_000_000_000;
/// The longest text that a kernel has for a name is a processor's.
const TEXT_BYTES: usize = 256;
/// The link modes of a card with all speeds take about 1,500 bytes.
const VALUE_BYTES: usize = 4096;
/// What is kept of a run, and of an `ab`: a profile of tuned changes some dozens.
pub const MOVED_MOST: usize = 256;
/// IFNAMSIZ is 16; alternative names have up to 128.
const NAME_BYTES: usize = 128;
const INTERFACES: usize = 256;
/// NR_CPUS of Linux is 8192 at most.
const CPUS: u32 = 65_536;
/// No packet is longer than 64 KiB; dummy devices allow more.
const MTU_BYTES: u32 = 1 << 24;

#[cfg(test)]
mod tests;
