// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters of hosts, reading by reading.

use std::collections::BTreeMap;

use super::NAME_BYTES;
use crate::output::{Host, LinkKind, Role};
use crate::sample::Sample;

/// The last reading of each source, against which the next one is held.
#[derive(Debug, Default)]
pub struct Readings {
    /// The speed of each wire.
    links: BTreeMap<(Role, String), u64>,
    first_ns: BTreeMap<Role, u64>,
    last: BTreeMap<Source, Last>,
}

type Source = (Role, String, Option<String>);

#[derive(Debug, Default)]
struct Last {
    t_ns: u64,
    counters: BTreeMap<String, u64>,
}

impl Readings {
    /// The readings of these hosts, of which none was taken yet.
    #[must_use]
    pub fn of(hosts: &[Host]) -> Self {
        let links = hosts.iter().flat_map(|host| {
            let wires = host.interfaces.iter();
            let wires = wires.filter(|one| one.link_kind == Some(LinkKind::Wire));
            wires.filter_map(|one| Some(((host.role, one.name.clone()), one.link_bits_per_second?)))
        });
        Self {
            links: links.filter(|(_, speed)| *speed > 0).collect(),
            ..Self::default()
        }
    }

    /// Takes the next reading, of a span that began with its host's first one and lasts `span_ns` at most. Counters that
    /// cannot have grown so are taken out of it. Returns whether the rest can be, and what cannot.
    pub fn take(&mut self, sample: &mut Sample, span_ns: u64) -> (bool, Option<String>) {
        if sample.source.len() > TEXT_BYTES
            || sample
                .interface
                .as_ref()
                .is_some_and(|name| name.len() > NAME_BYTES)
        {
            return (
                false,
                Some("counters of a source with a long name".to_owned()),
            );
        }
        let source = (sample.host, sample.source.clone(), sample.interface.clone());
        // A device may start again.
        let is_timed = sample.host != Role::Device;
        let first_ns = *self.first_ns.entry(sample.host).or_insert(sample.t_ns);
        let last = self.last.entry(source).or_default();
        // A line of /proc/interrupts that begins to count is reported with its earlier readings.
        let is_outside = sample.t_ns.abs_diff(first_ns) > span_ns;
        if is_timed && is_outside {
            let what = format!("{} read outside of the test", sample.source);
            return (false, Some(what));
        }
        let speed = self
            .links
            .get(&(sample.host, sample.interface.clone().unwrap_or_default()));
        let is_link = sample.source == LINK;
        let per_second = speed.copied().filter(|_| is_link).unwrap_or(PER_SECOND);
        let seconds = sample.t_ns.abs_diff(last.t_ns) / 1_000_000_000 + 2;
        let most = seconds.saturating_mul(per_second);
        let wrong = last.compare(sample, most);
        last.t_ns = sample.t_ns;
        (true, wrong)
    }
}

impl Last {
    /// Takes out what grew by more than `most`; remembers the rest.
    fn compare(&mut self, sample: &mut Sample, most: u64) -> Option<String> {
        let (source, known) = (&sample.source, &self.counters);
        let mut wrong = None;
        sample.counters.retain(|name, value| {
            let grew = known
                .get(name)
                .map_or(0, |before| value.saturating_sub(*before));
            let can = grew <= most && name.len() <= TEXT_BYTES;
            if !can && wrong.is_none() {
                let name: String = name.chars().take(NAME_BYTES).collect();
                wrong = Some(format!("{source} {name} +{grew}"));
            }
            can
        });
        let next = sample.counters.iter();
        self.counters
            .extend(next.map(|(name, value)| (name.clone(), *value)));
        wrong
    }
}

/// Bytes and packets of one interface: at the link's bits per second, eight times its speed.
const LINK: &str = "rtnl_link_stats64";
/// Of any counter, also of bytes and nanoseconds of all processors together.
const PER_SECOND: u64 = 10_000_000_000_000;
const TEXT_BYTES: usize = 256;
