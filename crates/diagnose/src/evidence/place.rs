// SPDX-License-Identifier: MIT OR Apache-2.0
//! One interface, or one host as a whole, in one window: what its counters did there.

use linerate_model::counters::{Growth, Width, growth};
use linerate_model::output::{Host, Interface, MovedCounter, Role, TrialDevice};
use linerate_model::sample::Sample;

use super::source::Bits;
use super::{Evidence, Moved, Source, Window};
use linerate_knowledge::{self as knowledge, Driver, Unit};

/// Where and when counters are read.
#[derive(Debug, Clone, Copy)]
pub struct Place<'e, 'r> {
    pub(super) evidence: &'e Evidence<'r>,
    /// On which host.
    pub host: Role,
    /// Of which interface; `None` for counters of the whole host.
    pub interface: Option<&'r str>,
    /// When.
    pub window: Window<'r>,
}

/// How a counter behaves: where it wraps, and how fast it can grow at most.
#[derive(Debug, Clone, Copy)]
struct Nature {
    width: Width,
    most_per_second: f64,
}

impl<'e, 'r> Place<'e, 'r> {
    /// The host of this place, as a whole.
    #[must_use]
    pub const fn whole_host(self) -> Self {
        Self {
            interface: None,
            ..self
        }
    }

    /// The table of the interface's driver.
    #[must_use]
    pub fn driver(&self) -> Option<&'static Driver> {
        self.evidence.driver(self.host, self.interface?)
    }

    /// What the counter `name` did; `None` if it was not read, or was reset.
    #[must_use]
    pub fn moved(&self, source: impl AsRef<str>, name: &str) -> Option<Moved> {
        let source = source.as_ref();
        let nature = || self.nature(source, name);
        match self.window {
            Window::Trial(_) => Some(self.in_trial(source, name, nature())),
            Window::Load(group) if self.evidence.record.samples.is_empty() => {
                self.in_document(group, source, name)
            }
            Window::Load(_) => self.measured(source, name, nature()),
            Window::Outside => self.pasted(source, name, nature()),
        }
    }

    /// The names that a list had when it was read last.
    #[must_use]
    pub fn names(&self, source: impl AsRef<str>) -> Vec<&'r str> {
        let source = source.as_ref();
        let listed = |one: &&'r MovedCounter| self.is_of(one, source);
        match self.window {
            Window::Trial(device) => {
                let listed = device.counters.iter().filter(listed);
                listed.map(|one| one.name.as_str()).collect()
            }
            Window::Load(group) if self.evidence.record.samples.is_empty() => {
                let listed = self.document(group).filter(listed);
                listed.map(|one| one.name.as_str()).collect()
            }
            _ => {
                let last = self.samples(source).last();
                let names = last.map(|sample| sample.counters.keys().map(String::as_str));
                names.into_iter().flatten().collect()
            }
        }
    }

    /// What every counter of a list did that was neither reset nor read only once.
    pub(crate) fn each<S: AsRef<str>>(
        self,
        source: S,
    ) -> impl Iterator<Item = (&'r str, Moved)> + use<'e, 'r, S> {
        let names = self.names(&source).into_iter();
        names.filter_map(move |name| Some((name, self.moved(&source, name)?)))
    }

    /// Growth in the idle interval, as it was counted.
    pub(crate) fn idle(&self, source: impl AsRef<str>, name: &str) -> Option<u64> {
        let source = source.as_ref();
        let idle = values(&self.idle_samples(source), name);
        let grew = self.nature(source, name).growth(&idle)?;
        (idle.len() > 1).then_some(grew.at_least)
    }

    /// Every reading of a value that is no counter (a fill level), in the order of time.
    pub(crate) fn levels(&self, source: impl AsRef<str>, name: &str) -> Vec<u64> {
        let readings = values(self.samples(source.as_ref()), name);
        readings.into_iter().map(|(_, value)| value).collect()
    }

    /// The time between the first and the last reading of a list, seconds; `None` where there are not two.
    pub(crate) fn span_s(&self, source: impl AsRef<str>) -> Option<f64> {
        span_s(self.samples(source.as_ref()))
    }

    /// How far the first and the last reading of a list in the idle interval are apart, seconds.
    pub(crate) fn idle_span_s(&self, source: impl AsRef<str>) -> Option<f64> {
        span_s(&self.idle_samples(source.as_ref()))
    }

    /// What each counter of a list grew by from reading to reading.
    pub(crate) fn steps(&self, source: Source) -> Vec<Vec<(&'r str, u64)>> {
        let samples = self.samples(source.text());
        let pairs = samples
            .windows(2)
            .map(|pair| grown(pair[0], pair[1]).collect());
        pairs.collect()
    }

    /// What each value of a list grew by from its first to its last reading, steps back in between included (as those of
    /// a processor's waiting time). Empty where there are not two.
    pub(crate) fn end_to_end(&self, source: impl AsRef<str>) -> Vec<(&'r str, u64)> {
        between_ends(self.samples(source.as_ref()))
    }

    /// The same of the idle interval.
    pub(crate) fn idle_end_to_end(&self, source: impl AsRef<str>) -> Vec<(&'r str, u64)> {
        between_ends(&self.idle_samples(source.as_ref()))
    }

    /// What each value of a list grew by between its first two readings in the idle interval, and the seconds between them.
    pub(crate) fn at_rest(&self, source: impl AsRef<str>) -> Option<(Vec<(&'r str, u64)>, f64)> {
        let idle = self.idle_samples(source.as_ref());
        let first = idle.get(..2)?;
        Some((between_ends(first), span_s(first)?))
    }

    fn samples<'k>(&'k self, source: &'k str) -> &'k [&'r Sample] {
        let list = self
            .evidence
            .index
            .list((self.host, source, self.interface));
        list.map_or(&[], |list| list.load(self.window))
    }

    fn idle_samples(&self, source: &str) -> Vec<&'r Sample> {
        let list = self
            .evidence
            .index
            .list((self.host, source, self.interface));
        list.map(|list| list.idle(self.window)).unwrap_or_default()
    }

    fn measured(&self, source: &str, name: &str, nature: Nature) -> Option<Moved> {
        let load = values(self.samples(source), name);
        let grew = nature.growth(&load).filter(|_| load.len() > 1)?;
        let idle = values(&self.idle_samples(source), name);
        Some(Moved {
            grew,
            background: nature.background(&idle, &load),
            since_boot: false,
        })
    }

    /// One reading, or the last one after a reset, counts since the host started.
    fn pasted(&self, source: &str, name: &str, nature: Nature) -> Option<Moved> {
        let readings = values(self.samples(source), name);
        let (_, total) = *readings.last()?;
        let since_boot = || Growth {
            at_least: total,
            turn: nature.width.turn().filter(|turn| *turn <= NARROW),
        };
        let between = nature.growth(&readings).filter(|_| readings.len() > 1);
        Some(Moved {
            grew: between.unwrap_or_else(since_boot),
            background: None,
            since_boot: between.is_none(),
        })
    }

    /// A document without samples still has what moved. What it does not list may as well not have been read.
    fn in_document(&self, group: &str, source: &str, name: &str) -> Option<Moved> {
        let mut listed = self.document(group);
        let found = listed.find(|one| self.is_of(one, source) && one.name == name)?;
        Some(Moved::by(found.delta).of_others_too())
    }

    fn document(&self, group: &str) -> impl Iterator<Item = &'r MovedCounter> {
        let listed = self.evidence.documents.get(group);
        listed.into_iter().flatten().copied()
    }

    /// What a trial does not list did not move. The background is the most that a trial counted which lost nothing, in
    /// proportion to the time.
    fn in_trial(&self, source: &str, name: &str, nature: Nature) -> Moved {
        let Window::Trial(device) = self.window else {
            return Moved::nothing();
        };
        let delta = |device: &TrialDevice| {
            let found = device
                .counters
                .iter()
                .find(|one| self.is_of(one, source) && one.name == name);
            found.map_or(0, |one| one.delta)
        };
        let quiet = self
            .evidence
            .quiet
            .iter()
            .filter(|quiet| quiet.elapsed_s > 0.0);
        let per_second = quiet
            .map(|quiet| delta(quiet) as f64 / quiet.elapsed_s)
            .reduce(f64::max);
        let most = nature.most_per_second * device.elapsed_s;
        Moved {
            grew: Growth {
                at_least: delta(device),
                turn: nature.width.turn().filter(|turn| most >= *turn as f64),
            },
            background: per_second.map(|most| (most * device.elapsed_s).ceil() as u64),
            since_boot: false,
        }
    }

    fn is_of(&self, counter: &MovedCounter, source: &str) -> bool {
        counter.host == self.host
            && counter.source == source
            && counter.interface.as_deref() == self.interface
    }

    /// By the driver's table, else by the source.
    fn nature(&self, source: &str, name: &str) -> Nature {
        let known = Source::of_text(source);
        let described = known
            .and_then(Source::group)
            .and_then(|group| self.driver()?.counter(group, name));
        let width = match (described, known.map(Source::bits)) {
            (Some(counter), _) => self.width(counter.width),
            (None, Some(Bits::All)) => Width::Bits64,
            (None, Some(Bits::Half)) => Width::Bits32,
            (None, Some(Bits::Long)) => self.long(),
            (None, Some(Bits::Unknown) | None) => Width::Unknown,
        };
        let packets = described.map_or(
            known.is_some() && !name.contains("ytes") && !name.contains("ctets"),
            |counter| matches!(counter.unit, Unit::Frames | Unit::Segments),
        );
        Nature {
            width,
            most_per_second: if packets {
                self.frames_per_second()
            } else {
                f64::INFINITY
            },
        }
    }

    /// The kernel's width of a counter that a table describes.
    fn width(&self, width: knowledge::Width) -> Width {
        match width {
            knowledge::Width::U16 => Width::Bits16,
            knowledge::Width::U32 => Width::Bits32,
            knowledge::Width::U64 => Width::Bits64,
            knowledge::Width::Long => self.long(),
        }
    }

    /// A kernel whose processor is not known to have 64 bits may wrap after 32.
    fn long(&self) -> Width {
        let arch = self.described_host().and_then(|host| host.arch.as_deref());
        match arch {
            Some(arch) if arch.contains("64") || arch == "s390x" => Width::Bits64,
            _ => Width::Bits32,
        }
    }

    /// The highest rate of frames on the interface's link.
    fn frames_per_second(&self) -> f64 {
        let bits = self
            .described()
            .and_then(|interface| interface.link_bits_per_second);
        bits.map_or(FRAMES_PER_SECOND, |bits| bits as f64 / FRAME_BITS)
    }

    fn described_host(&self) -> Option<&'r Host> {
        self.evidence.record.host(self.host)
    }

    /// The interface as its host describes it.
    pub(crate) fn described(&self) -> Option<&'r Interface> {
        let mut all = self.described_host()?.interfaces.iter();
        all.find(|known| Some(known.name.as_str()) == self.interface)
    }
}

impl Nature {
    fn growth(self, readings: &[(u64, u64)]) -> Option<Growth> {
        growth(readings, self.width, self.most_per_second)
    }

    /// What the idle interval counted, in proportion to the length of the load.
    fn background(self, idle: &[(u64, u64)], load: &[(u64, u64)]) -> Option<u64> {
        let length = |readings: &[(u64, u64)]| {
            let (first, last) = (readings.first()?, readings.last()?);
            last.0.checked_sub(first.0).filter(|length| *length > 0)
        };
        let (idle_ns, load_ns) = (length(idle)?, length(load)?);
        let scaled = u128::from(self.growth(idle)?.at_least) * u128::from(load_ns);
        u64::try_from(scaled.div_ceil(u128::from(idle_ns))).ok()
    }
}

fn values(samples: &[&Sample], name: &str) -> Vec<(u64, u64)> {
    let readings = samples.iter();
    readings
        .filter_map(|sample| Some((sample.t_ns, *sample.counters.get(name)?)))
        .collect()
}

fn span_s(samples: &[&Sample]) -> Option<f64> {
    let span_ns = samples.last()?.t_ns.checked_sub(samples.first()?.t_ns)?;
    (span_ns > 0).then_some(span_ns as f64 / 1e9)
}

fn between_ends<'r>(samples: &[&'r Sample]) -> Vec<(&'r str, u64)> {
    match samples {
        [first, .., last] => grown(first, last).collect(),
        _ => Vec::new(),
    }
}

/// What each value of `after` grew by since `before`.
pub(crate) fn grown<'r>(
    before: &Sample,
    after: &'r Sample,
) -> impl Iterator<Item = (&'r str, u64)> {
    after.counters.iter().filter_map(|(name, value)| {
        let grown = value.saturating_sub(*before.counters.get(name)?);
        Some((name.as_str(), grown))
    })
}

/// A counter that may have wrapped between two readings of a text, or since the host started.
const NARROW: u64 = 1 << 16;
/// The shortest frame with preamble and gap, IEEE 802.3.
const FRAME_BITS: f64 = 672.0;
/// No link is known: the shortest frames at 400 Gbit/s.
const FRAMES_PER_SECOND: f64 = 595e6;
