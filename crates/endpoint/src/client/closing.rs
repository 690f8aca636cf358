// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the accounts to the outcome, whether the test ended normally or early.

use super::{Client, Ended, STEP_NS};
use crate::account::SideAccount;
use crate::probe::{Probed, Prober};
use crate::{Direction, Event, Peer, TestOutcome, fold};
use linerate_linux::clock::monotonic_ns;
use linerate_method::clock_offset::{ClockOffset, Drift};
use linerate_model::failure::Failure;
use linerate_model::output::{self, Host, Role};
use std::time::Duration;

impl Client<'_> {
    /// Makes the outcome from what was counted, whatever happened.
    pub(super) fn close(
        mut self,
        peer: Peer,
        remote: Option<SideAccount>,
        failure: Option<Failure>,
    ) -> Result<TestOutcome, Ended> {
        if self.own.streams.is_empty() {
            self.give_up();
        }
        let probed = self.prober.take().map(Prober::finish).unwrap_or_default();
        let (phase, buckets) = (self.phase(), probed.buckets());
        self.observer.observe(&Event::Latency {
            phase,
            buckets: &buckets,
            over_time: &probed.over_time.series(),
        });
        let reports = std::mem::take(&mut self.reports);
        let (unasked_messages, doubts) = (reports.unasked(), reports.doubts().clone());
        let remote = remote.or_else(|| reports.account(&self.config));
        let remote = remote.map(|remote| SideAccount {
            unasked_messages,
            doubts,
            ..remote
        });
        Ok(self.outcome(peer, remote.as_ref(), &probed, failure))
    }

    /// Probes with echo requests: a stock server answers no probes.
    pub(super) fn ping_idle(mut self, peer: Peer) -> Result<TestOutcome, Ended> {
        self.idle_control()?;
        self.sampler.begin(self.sample_phase());
        self.sampler.read_settings(self.plan.settings);
        self.start_prober();
        self.start_ns = monotonic_ns();
        let end_ns = self.end_ns();
        while monotonic_ns() < end_ns && self.interrupt.requested().is_none() {
            linerate_linux::clock::sleep_until_ns(end_ns.min(monotonic_ns() + STEP_NS), 0);
        }
        self.close(peer, None, None)
    }

    fn phase(&self) -> output::Phase {
        match (self.load, self.config.direction) {
            (false, _) => output::Phase::Idle,
            (true, Direction::Up) => output::Phase::Up,
            (true, Direction::Down) => output::Phase::Down,
            (true, Direction::Both) => output::Phase::Both,
        }
    }

    /// Closes all accounts after the connection broke.
    fn give_up(&mut self) {
        self.show_remaining();
        self.streams.stop_sending();
        self.streams.cut(monotonic_ns());
        self.streams.drain(Duration::ZERO, Duration::ZERO);
        self.streams.join_receivers();
        self.sampler.end();
        self.report_samples();
        let sent_by_peer = std::mem::take(&mut self.sent_by_peer);
        self.judge_clock();
        let drift = self.drift_here();
        let streams = self
            .streams
            .accounts(drift, |id| sent_by_peer.get(&id).copied());
        self.own = self.sampler.account(streams);
    }

    /// The server's clock as the probes of the load saw it: once for both ends.
    pub(super) fn judge_clock(&mut self) -> Option<ClockOffset> {
        let seen = || self.prober.as_ref().and_then(Prober::clock);
        self.clock = self.clock.or_else(seen);
        self.clock
    }

    pub(super) fn drift_here(&self) -> Drift {
        self.clock
            .map_or_else(Drift::default, |clock| clock.drift_here())
    }

    fn outcome(
        self,
        peer: Peer,
        remote: Option<&SideAccount>,
        probed: &Probed,
        failure: Option<Failure>,
    ) -> TestOutcome {
        let partial = failure.is_some() || self.interrupt.requested().is_some();
        let mut hosts = vec![self.sampler.host()];
        let remote_host = self.remote.as_ref().map(|remote| Host {
            role: Role::Remote,
            ..remote.host.clone()
        });
        hosts.push(remote_host.unwrap_or_else(|| Host {
            role: Role::Remote,
            ..Host::default()
        }));
        let measured = fold::Measured {
            plan: self.plan,
            config: &self.config,
            server: self.server,
            own_address: self.own_address(),
            local: &self.own,
            remote,
            clock: self.clock,
            hosts: &hosts,
            elapsed_ns: monotonic_ns().saturating_sub(self.start_ns),
        };
        let tests = if self.load {
            fold::tests(&measured)
        } else {
            Vec::new()
        };
        TestOutcome {
            tests,
            latency: probed.latency(self.phase()).into_iter().collect(),
            hosts,
            partial,
            error: failure,
            peer,
            server_output: self.server_output,
        }
    }
}
