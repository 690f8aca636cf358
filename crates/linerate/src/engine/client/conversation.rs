// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hearing the server: events are awaited, messages taken in, silence and breaks noticed.

use super::explain::is_it_gone;
use super::{Client, Ended, STEP_NS};
use crate::engine::extension::Message;
use crate::engine::{Event, Protocol};
use crate::error::Failure;
use linerate_linux::clock::monotonic_ns;
use linerate_model::output::Role;
use linerate_model::sample::Sample;
use linerate_wire::iperf3::client::ClientEvent;

impl Client<'_> {
    /// Pumps until an event that `wanted` knows; the others are noted.
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

    /// Pumps until `done`; the session's own time-outs end it otherwise.
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
            let what = format!("wait for the count of {}", self.server);
            return Err(Failure::interrupted(what).into());
        }
        let until_ns = until_ns.min(monotonic_ns() + STEP_NS);
        let event = self.control.next(until_ns);
        let event = event.map_err(|error| self.lost("the test went on", &error))?;
        match event {
            Some(_) => self.heard_ns = monotonic_ns(),
            None => self.miss_the_server()?,
        }
        Ok(event)
    }

    /// A linerate server tells its counters every second: one that says nothing for long is gone,
    /// though its kernel may still acknowledge.
    fn miss_the_server(&self) -> Result<(), Ended> {
        let silent_ns = monotonic_ns().saturating_sub(self.heard_ns);
        if self.remote.is_none() || self.start_ns == 0 || silent_ns < SILENCE_NS {
            return Ok(());
        }
        let why = format!("the server kept silent for {} s", silent_ns / 1_000_000_000);
        Err(
            Failure::measuring(format!("finish the test with {}", self.server), why)
                .hint(is_it_gone(self.server))
                .into(),
        )
    }

    pub(super) fn note(&mut self, event: ClientEvent) -> Result<(), Ended> {
        match event {
            ClientEvent::Agent(value) => self.hear(value),
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

    fn hear(&mut self, value: serde_json::Value) {
        match Message::from_value(value) {
            Some(Message::Hello { version, host }) => self.remote = Some((version, *host)),
            Some(Message::Final { streams }) => {
                self.server_is_done = true;
                let udp = self.shape.protocol == Protocol::Udp;
                self.told.extend(
                    streams
                        .into_iter()
                        .map(|(id, packets, bytes)| (id, if udp { packets } else { bytes })),
                );
                for (&id, &packets) in &self.told {
                    self.crew.expect(id, packets);
                }
            }
            Some(Message::Samples { samples }) => {
                let samples: Vec<_> = samples
                    .into_iter()
                    .map(|sample| Sample {
                        host: Role::Remote,
                        ..sample
                    })
                    .collect();
                self.observer.observe(&Event::Samples(&samples));
            }
            Some(Message::Interval { sent, received }) => self.heard.note(sent, received),
            None => {}
        }
    }
}

/// Longer than a retransmission after a pause of seconds, and than a server's longest drain.
const SILENCE_NS: u64 = 11_000_000_000;
