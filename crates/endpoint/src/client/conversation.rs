// SPDX-License-Identifier: MIT OR Apache-2.0
//! The control connection: waits for events, handles messages, detects silence and breaks.

use super::{Client, Ended, Remote, STEP_NS};
use crate::extension::Message;
use crate::fold::can_have_sent;
use crate::heartbeat::{Heartbeat, SILENCE_LIMIT_NS};
use crate::sampler::UNREAD;
use crate::token::known;
use crate::{Direction, Protocol};
use linerate_linux::clock::monotonic_ns;
use linerate_model::failure::Failure;
use linerate_model::output::Role;
use linerate_wire::iperf3::client::ClientEvent;
use linerate_wire::json::Raw;

impl Client<'_> {
    /// Waits for an event that `wanted` accepts and handles the others.
    pub(super) fn await_event(
        &mut self,
        what: &str,
        wanted: impl Fn(&ClientEvent) -> bool,
    ) -> Result<(), Ended> {
        loop {
            if self.interrupt.requested().is_some() {
                self.control.session.terminate();
                let _ = self.control.flush();
                return Err(
                    Failure::interrupted(format!("wait for {what} of {}", self.server)).into(),
                );
            }
            match self.pump(monotonic_ns() + STEP_NS)? {
                Some(event) if wanted(&event) => return Ok(()),
                Some(event) => self.note(event)?,
                None => {}
            }
        }
    }

    /// Handles events until `done`, or until a time-out of the session.
    pub(super) fn until(&mut self, done: impl Fn(&Self) -> bool) -> Result<(), Ended> {
        while !done(self) {
            if let Some(event) = self.pump(monotonic_ns() + STEP_NS)? {
                self.note(event)?;
            }
        }
        Ok(())
    }

    pub(super) fn pump(&mut self, until_ns: u64) -> Result<Option<ClientEvent>, Ended> {
        if self.interrupt.impatient() {
            self.control.session.terminate();
            let _ = self.control.flush();
            let what = format!("wait for the counters of {}", self.server);
            return Err(Failure::interrupted(what).into());
        }
        let until_ns = until_ns.min(monotonic_ns() + STEP_NS);
        self.beat();
        let event = self.control.next(until_ns);
        let event = event.map_err(|error| self.lost("the test was running", &error))?;
        self.check_silence()?;
        Ok(event)
    }

    /// From the start signal on both ends send heartbeats, if both announced them.
    pub(super) fn start_heartbeat(&mut self) {
        let beats = self.remote.as_ref().map(|remote| remote.beats);
        let silence_limit_ns = beats.map(|beats| if beats { SILENCE_LIMIT_NS } else { SILENCE_NS });
        let receives = self.plan.direction != Direction::Up;
        let chosen_ms = self.plan.receive_timeout_ms.filter(|_| receives);
        let silence_limit_ns = chosen_ms.map(|ms| ms * 1_000_000).or(silence_limit_ns);
        self.heart = Heartbeat::begin(beats == Some(true), silence_limit_ns, monotonic_ns());
    }

    fn beat(&mut self) {
        if self.heart.is_due(monotonic_ns()) {
            self.control.session.agent(&Message::Beat);
        }
    }

    fn check_silence(&mut self) -> Result<(), Ended> {
        let (bytes, _) = self.streams.received();
        let signs = self.control.read_bytes().wrapping_add(bytes);
        match self.heart.look(signs, monotonic_ns()) {
            Some(silent_ns) => Err(self.silent(silent_ns).into()),
            None => Ok(()),
        }
    }

    pub(super) fn note(&mut self, event: ClientEvent) -> Result<(), Ended> {
        match event {
            ClientEvent::Agent(message) => self.handle(&message),
            ClientEvent::Running => self.running = true,
            ClientEvent::ExchangeResults => self.exchange = true,
            ClientEvent::CreateStreams
            | ClientEvent::Start
            | ClientEvent::PeerResults(_)
            | ClientEvent::Display => {}
            ending => return Err(self.explain(ending)),
        }
        Ok(())
    }

    /// The number of intervals that have ended.
    fn intervals_due(&self) -> u64 {
        let interval_ns = self.plan.interval_ms.saturating_mul(1_000_000);
        let age_ns = match self.start_ns {
            0 => 0,
            start_ns => monotonic_ns().saturating_sub(start_ns),
        };
        age_ns.checked_div(interval_ns).unwrap_or(0)
    }

    /// Whether the server did not prove the token: its report is that of an unauthenticated peer.
    fn is_withheld(&self) -> bool {
        let host = self.remote.as_ref().map(|remote| &remote.host);
        host.is_some_and(|host| host.withheld.is_some())
    }

    fn handle(&mut self, message: &Raw) {
        match Message::read(message) {
            Some(Message::Hello {
                version,
                host,
                beats,
                token,
                proof,
            }) => {
                let withheld = self.auth.judge(token, proof.as_deref());
                let mut host = *host;
                self.reports.note_host(&mut host);
                self.remote = Some(Remote {
                    version,
                    host: known(host, withheld),
                    beats,
                });
            }
            Some(Message::Challenge { nonce }) => {
                if let Some(answer) = self.auth.answer(&nonce) {
                    self.control.session.agent(&answer);
                }
            }
            Some(Message::Final { streams, .. }) => {
                self.server_is_done = true;
                let udp = self.config.protocol == Protocol::Udp;
                let seconds = monotonic_ns().saturating_sub(self.opened_ns) / 1_000_000_000 + 1;
                let known = streams.into_iter().filter(|&(id, packets, bytes)| {
                    let can_be = can_have_sent(packets, bytes, seconds);
                    can_be && self.config.has_stream(id)
                });
                self.sent_by_peer.extend(
                    known.map(|(id, packets, bytes)| (id, if udp { packets } else { bytes })),
                );
                for (&id, &packets) in &self.sent_by_peer {
                    self.streams.announce_sent(id, packets);
                }
            }
            Some(Message::Samples { samples }) => {
                let age_ns = monotonic_ns().saturating_sub(self.opened_ns);
                if self.reports.takes_samples(age_ns / 1_000_000_000) {
                    let samples = self.reports.credible(age_ns, samples);
                    self.report_samples_of(Role::Remote, samples);
                }
            }
            Some(Message::Settings { mut settings }) => {
                if self.plan.settings && self.reports.takes_settings() {
                    if self.is_withheld() {
                        settings.retain(|setting| setting.source == UNREAD);
                    }
                    self.report_settings(Role::Remote, settings);
                }
            }
            Some(Message::State { settings }) => {
                let wanted = self.plan.state.is_some() && !self.is_withheld();
                if wanted && self.reports.takes_state() {
                    self.report_state(Role::Remote, settings);
                }
            }
            Some(Message::Interval { sent, received }) => {
                let due = self.intervals_due();
                self.reports.note(&self.config, due, sent, received);
                self.show_complete();
            }
            // Messages of an agent.
            Some(
                Message::Beat
                | Message::Read { .. }
                | Message::Setup { .. }
                | Message::Done { .. }
                | Message::Proof { .. }
                | Message::Error { .. },
            )
            | None => {}
        }
    }
}

/// For a server without heartbeats: it sends its counters every second, but nothing while it drains.
const SILENCE_NS: u64 = 11_000_000_000;
