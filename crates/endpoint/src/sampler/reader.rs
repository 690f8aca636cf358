// SPDX-License-Identifier: MIT OR Apache-2.0
//! All sources of one host, read in the order of a packet's path or against it.

use super::drops::Drops;
use super::interface::InterfaceSources;
use super::interrupts::InterruptSource;
use super::reading::Reading;
use super::sockets::SocketSource;
use super::texts::TextSource;
use super::{Audience, UdpSockets, settle};
use linerate_linux::clock;
use linerate_linux::cpu::{process_usage, thread_ns};
use linerate_model::order::Gather as _;
use linerate_model::output::Role;
use linerate_model::sample::{Phase, Sample};

/// All readable sources of this host.
#[derive(Debug)]
pub(crate) struct Reader {
    interfaces: Vec<InterfaceSources>,
    interrupts: Option<InterruptSource>,
    texts: Vec<TextSource>,
    sockets: SocketSource,
    drops: Option<Drops>,
}

impl Reader {
    /// Opens the sources in the network namespace of the calling thread.
    pub(crate) fn open(
        interfaces: impl IntoIterator<Item = String>,
        audience: Audience,
        sockets: UdpSockets,
    ) -> Self {
        let interfaces: Vec<String> = interfaces.into_iter().collect();
        let sources = interfaces.iter().cloned();
        Self {
            interfaces: sources.filter_map(InterfaceSources::open).collect(),
            interrupts: InterruptSource::open(interfaces, audience),
            texts: TextSource::all(),
            sockets: SocketSource::open(sockets),
            drops: None,
        }
    }

    /// Adds the kernel's drop reasons for the test's packets.
    pub(super) fn with(self, drops: Option<Drops>) -> Self {
        Self { drops, ..self }
    }

    /// The drivers of the interfaces, where they have one.
    pub(super) fn drivers(&self) -> impl Iterator<Item = &str> {
        let all = self.interfaces.iter();
        all.filter_map(|interface| interface.driver.as_deref())
    }

    /// Begins a new test: which interrupts moved before is forgotten.
    pub(crate) fn restart(&mut self) {
        if let Some(interrupts) = &mut self.interrupts {
            interrupts.restart();
        }
    }

    /// One sample a source: those of the interface first, then those of the sockets, so that what a test counts begins after
    /// all of them. The CPU times last: the readings themselves, which take long on a slow board, are not the test's.
    pub(crate) fn read(&mut self, phase: Phase) -> Vec<Sample> {
        Samples::collect(phase, |samples| {
            self.of_interface(samples);
            self.of_host(samples);
            self.of_load(samples);
        })
    }

    /// Reads for the last time, against the packets' path, after the counters have settled.
    pub(crate) fn read_settled(&mut self, phase: Phase) -> Vec<Sample> {
        settle::last(self, phase)
    }

    /// Reads in the reverse order, for the end of a test.
    pub(super) fn read_last(&mut self, phase: Phase) -> Vec<Sample> {
        Samples::collect(phase, |samples| {
            self.of_load(samples);
            self.of_host(samples);
            self.of_interface(samples);
        })
    }

    /// Reads only the CPU times.
    pub(crate) fn read_load(&mut self, phase: Phase) -> Vec<Sample> {
        Samples::collect(phase, |samples| self.of_load(samples))
    }

    /// Reads only the interfaces.
    pub(super) fn of_interface_now(&mut self, phase: Phase) -> Vec<Sample> {
        Samples::collect(phase, |samples| self.of_interface(samples))
    }

    fn of_interface(&mut self, samples: &mut Samples) {
        for interface in &mut self.interfaces {
            interface.read(|reading| samples.add(reading));
        }
    }

    fn of_load(&mut self, samples: &mut Samples) {
        for text in self.texts.iter_mut().filter(|text| text.is_load()) {
            samples.add(text.read());
        }
        samples.add(own_usage());
    }

    fn of_host(&mut self, samples: &mut Samples) {
        let interrupts = self.interrupts.as_mut().map(InterruptSource::read);
        interrupts
            .into_iter()
            .flatten()
            .for_each(|reading| samples.add(reading));
        for text in self.texts.iter_mut().filter(|text| !text.is_load()) {
            samples.add(text.read());
        }
        samples.add(self.sockets.read());
        if let Some(drops) = &self.drops {
            drops.read().into_iter().for_each(|list| samples.add(list));
        }
    }
}

/// CPU time of this process, and of this thread: exact, where the kernel's files have ticks. The thread's part is what
/// the readings cost.
fn own_usage() -> Reading {
    let process = process_usage();
    let times = [
        ("process.user_ns", process.user_ns),
        ("process.system_ns", process.system_ns),
        ("sampler_ns", thread_ns()),
    ];
    let named = times.map(|(name, ns)| (name.to_owned(), ns));
    Reading::of_host("getrusage", named.into())
}

struct Samples {
    phase: Phase,
    all: Vec<Sample>,
}

impl Samples {
    fn collect(phase: Phase, read: impl FnOnce(&mut Self)) -> Vec<Sample> {
        let all = Vec::new();
        let mut samples = Self { phase, all };
        read(&mut samples);
        samples.all
    }

    fn add(&mut self, reading: Reading) {
        if reading.counters.is_empty() {
            return;
        }
        self.all.push(Sample {
            host: Role::Local,
            t_ns: reading.t_ns.unwrap_or_else(clock::monotonic_ns),
            wall_ns: i64::try_from(clock::wall_ns()).ok(),
            source: reading.source.to_owned(),
            interface: reading.interface,
            group: None,
            phase: Some(self.phase),
            counters: reading.counters.into_iter().gather(),
        });
    }
}
