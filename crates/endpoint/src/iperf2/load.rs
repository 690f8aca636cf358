// SPDX-License-Identifier: MIT OR Apache-2.0
//! A running load against an iperf2 server, whatever its protocol: the streams, their intervals,
//! this host's counters around them, and at the end the outcome.

use crate::account::SideAccount;
use crate::probe::Prober;
use crate::sampler::{Audience, Sampler, UdpSockets};
use crate::stream_config::StreamConfig;
use crate::streams::{Streams, Work};
use crate::{Event, Observer, Peer, Protocol, TestOutcome, TestPlan, connect, fold};
use linerate_linux::clock::{monotonic_ns, sleep_until_ns};
use linerate_linux::signal::Interrupt;
use linerate_method::clock_offset::Drift;
use linerate_model::failure::Failure;
use linerate_model::output::{Host, Phase, Role, Test, Warning};
use linerate_model::sample::Phase as SamplePhase;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// The load of one test.
pub(super) struct Load<'a> {
    pub(super) plan: &'a TestPlan,
    pub(super) config: StreamConfig,
    pub(super) server: SocketAddr,
    own: Option<SocketAddr>,
    pub(super) streams: Streams,
    pub(super) interrupt: &'a Interrupt,
    observer: &'a mut dyn Observer,
    sampler: Sampler,
    prober: Option<Prober>,
    start_ns: u64,
    elapsed_ns: u64,
}

/// What became known of the far end.
#[derive(Debug, Default)]
pub(super) struct FarEnd {
    /// Its account; `None` if nothing was heard.
    pub(super) account: Option<SideAccount>,
    /// What the user has to know of it.
    pub(super) warnings: Vec<Warning>,
    /// Why there is none.
    pub(super) failure: Option<Failure>,
}

impl<'a> Load<'a> {
    /// Nothing sent yet; counters and probe run from here on.
    pub(super) fn new(
        plan: &'a TestPlan,
        config: StreamConfig,
        (server, local): (SocketAddr, Option<SocketAddr>),
        observer: &'a mut dyn Observer,
        interrupt: &'a Interrupt,
    ) -> Self {
        observer.observe(&Event::Connected {
            peer: &Peer::Stock,
            address: server,
        });
        let probe = || Prober::echo(server.ip(), plan.bind_device.as_deref());
        let sockets = UdpSockets::ConnectedTo(server.port());
        let mut sampler = Sampler::of(local, server, sockets, Audience::User);
        sampler.watch_state(plan.state.map(|known| known.local));
        idle_control(plan, &mut sampler, interrupt);
        sampler.begin(SamplePhase::Load);
        Self {
            plan,
            config,
            server,
            own: local,
            streams: Streams::default(),
            interrupt,
            observer,
            sampler,
            prober: plan.probe.then(probe).flatten(),
            start_ns: 0,
            elapsed_ns: 0,
        }
    }

    /// A stream, by its connected socket.
    pub(super) fn follow(&self, socket: &impl AsFd) {
        self.sampler.follow(socket, true);
    }

    /// Puts a worker on stream `index`.
    pub(super) fn spawn(
        &mut self,
        index: u32,
        port: Option<u16>,
        work: io::Result<Work>,
    ) -> Result<(), Failure> {
        let (id, worker) = (StreamConfig::id(index), self.config.worker);
        let added = work.and_then(|work| self.streams.add(id, port, work, worker));
        let place = (index, self.config.streams);
        added.map_err(|error| connect::stream_failure(self.plan, self.server, place, &error))
    }

    /// Sends until the end by time, by amount, by an error or by the user.
    pub(super) fn run(&mut self) {
        self.report_samples();
        self.show_streams();
        self.observer.observe(&Event::Started);
        self.start_ns = monotonic_ns();
        self.streams.go(self.start_ns);
        self.sampler.read_settings(self.plan.settings);
        self.run_until_end();
        self.streams.stop_sending();
        self.elapsed_ns = monotonic_ns() - self.start_ns;
        self.streams.cut(monotonic_ns());
    }

    fn show_streams(&mut self) {
        let Some(own) = self.own else { return };
        for (id, port) in self.streams.ports() {
            self.observer.observe(&Event::Stream {
                id,
                local: (own.ip(), port).into(),
                remote: self.server,
            });
        }
    }

    fn run_until_end(&mut self) {
        let interval_ns = match self.plan.interval_ms {
            0 => u64::MAX,
            ms => ms * 1_000_000,
        };
        let mut next_cut_ns = self.start_ns.saturating_add(interval_ns);
        while !self.streams.sending_is_over() {
            if self.interrupt.requested().is_some() {
                return self.observer.observe(&Event::Stopping);
            }
            let now_ns = sleep_until_ns(next_cut_ns.min(monotonic_ns() + STEP_NS), 0);
            if now_ns >= next_cut_ns {
                self.cut(next_cut_ns);
                next_cut_ns = next_cut_ns.saturating_add(interval_ns);
            }
            self.report_samples();
        }
    }

    /// Passes on what was read here, as a part of this test.
    fn report_samples(&mut self) {
        let mut samples = self.sampler.take();
        for sample in &mut samples {
            sample.group = Some(self.plan.group.clone());
        }
        if !samples.is_empty() {
            self.observer.observe(&Event::Samples(&samples));
        }
        let settings = self.sampler.take_settings();
        if !settings.is_empty() {
            self.observer.observe(&Event::Settings(&settings));
        }
        let state = self.sampler.take_state();
        if !state.is_empty() {
            self.observer.observe(&Event::State(&state));
        }
    }

    fn cut(&mut self, at_ns: u64) {
        self.streams.cut(at_ns);
        let (sent, received) = self.streams.last_intervals();
        for (direction, interval) in fold::live(&sent, &received) {
            self.observer.observe(&Event::Interval {
                direction,
                interval: &interval,
            });
        }
    }

    /// Time of the test at a monotonic time.
    pub(super) fn since_start_ns(&self, monotonic_ns: u64) -> u64 {
        monotonic_ns.saturating_sub(self.start_ns)
    }

    /// This end's account; the counters are read now.
    pub(super) fn account(&mut self) -> SideAccount {
        self.sampler.end();
        self.report_samples();
        let streams = self.streams.accounts(Drift::default(), |_| None);
        self.sampler.account(streams)
    }

    /// Folds both ends into the outcome.
    pub(super) fn close(mut self, own: &SideAccount, far: FarEnd) -> TestOutcome {
        let probed = self.prober.take().map(Prober::finish).unwrap_or_default();
        let buckets = probed.buckets();
        self.observer.observe(&Event::Latency {
            phase: Phase::Up,
            buckets: &buckets,
            over_time: &probed.over_time.series(),
        });
        let remote = Host {
            role: Role::Remote,
            ..Host::default()
        };
        let hosts = vec![self.sampler.host(), remote];
        let mut tests = fold::tests(&fold::Measured {
            plan: self.plan,
            config: &self.config,
            server: self.server,
            own_address: self.own.map(|own| own.ip()),
            local: own,
            remote: far.account.as_ref(),
            clock: None,
            hosts: &hosts,
            elapsed_ns: self.elapsed_ns,
        });
        tests.iter_mut().for_each(|test| add_reported(test, &far));
        TestOutcome {
            tests,
            latency: probed.latency(Phase::Up).into_iter().collect(),
            hosts,
            partial: far.failure.is_some() || self.interrupt.requested().is_some(),
            error: far.failure,
            peer: Peer::Stock,
            server_output: None,
        }
    }
}

/// The idle control interval, before the first datagram. TCP's connections stand already, and its
/// server counts the time from then on.
fn idle_control(plan: &TestPlan, sampler: &mut Sampler, interrupt: &Interrupt) {
    if plan.control_ms == 0 || plan.protocol == Protocol::Tcp {
        return;
    }
    sampler.read_idle();
    sampler.read_settings(plan.settings);
    let end_ns = monotonic_ns() + plan.control_ms * 1_000_000;
    while monotonic_ns() < end_ns && interrupt.requested().is_none() {
        sleep_until_ns(end_ns.min(monotonic_ns() + STEP_NS), 0);
    }
    sampler.read_idle();
}

/// Adds what only iperf2's report says.
fn add_reported(test: &mut Test, far: &FarEnd) {
    test.warnings.extend(far.warnings.iter().cloned());
    let receivers = far.account.iter().flat_map(|account| &account.streams);
    let reordered: Vec<_> = receivers
        .filter_map(|stream| Some(stream.rx.as_ref()?.sequence?.reordered))
        .collect();
    if reordered.len() == test.streams as usize {
        test.reordered_packets = Some(reordered.iter().sum());
    }
}

/// The longest wait before the stop sign is looked at again.
const STEP_NS: u64 = 20_000_000;
