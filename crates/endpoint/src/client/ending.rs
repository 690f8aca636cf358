// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a test: late datagrams, and the exchange of results.

use super::{Client, Ended};
use crate::account::{SideAccount, StreamAccount};
use crate::extension::Message;
use crate::{Direction, Protocol, standard};
use linerate_linux::clock::monotonic_ns;
use linerate_linux::tcp;
use linerate_wire::iperf3::client::ClientEvent;
use linerate_wire::iperf3::results::Results;
use std::time::Duration;

impl Client<'_> {
    /// Stops, waits until the far end has received everything, and exchanges the results.
    pub(super) fn end(&mut self) -> Result<Option<SideAccount>, Ended> {
        self.streams.stop_sending();
        self.streams.cut(monotonic_ns());
        self.settle()?;
        if self.remote.is_some() {
            let streams = self.streams.sent_counts();
            let drift = self.judge_clock().map(|clock| clock.drift_there());
            self.control.session.agent(&Message::Final {
                streams,
                drift: drift.map(|drift| (drift.at_ns, drift.ppb)),
            });
        }
        self.control.session.end_test(monotonic_ns());
        if self.config.protocol == Protocol::Tcp {
            let longest = self.longest_tcp_drain();
            self.streams.drain(longest, longest);
        }
        self.until(|client| client.exchange)?;
        self.show_remaining();
        self.finish_receiving()?;
        let sent_by_peer = std::mem::take(&mut self.sent_by_peer);
        let drift = self.drift_here();
        let streams = self
            .streams
            .accounts(drift, |id| sent_by_peer.get(&id).copied());
        self.sent_by_peer = sent_by_peer;
        self.exchange_results(streams)
    }

    /// How long TCP receivers wait for the amount that the server says it has sent: its last bytes are on their way, or in
    /// the receive buffer.
    fn longest_tcp_drain(&self) -> Duration {
        let is_awaited = self.plan.is_by_amount() && self.server_is_done;
        match is_awaited && !self.interrupt.impatient() {
            true => LONGEST_DRAIN,
            false => Duration::ZERO,
        }
    }

    /// What this side must wait for before TEST_END: a stock server closes its sockets at once.
    fn settle(&mut self) -> Result<(), Ended> {
        let sends = self.config.direction != Direction::Down;
        if !sends || self.interrupt.impatient() {
            return Ok(());
        }
        let now_ns = monotonic_ns();
        match self.config.protocol {
            Protocol::Tcp if self.plan.is_by_amount() => {
                self.idle_until(now_ns + FLUSH_NS, |client| {
                    client.streams.unacknowledged_bytes() == 0
                })?;
                match self.remote {
                    Some(_) => Ok(()),
                    None => self.await_reader(now_ns + FLUSH_NS),
                }
            }
            Protocol::Udp if self.remote.is_none() => {
                let rtt_ns = tcp::info(self.control.stream()).map_or(0, |info| info.rtt_ns);
                self.idle_until(now_ns + TAIL_NS + 2 * rtt_ns, |_| false)
            }
            _ => Ok(()),
        }
    }

    /// A stock server counts what its program had read when TEST_END came; its kernel acknowledged more. Waits until the
    /// windows do not open any further.
    fn await_reader(&mut self, deadline_ns: u64) -> Result<(), Ended> {
        let mut windows = self.streams.send_windows();
        let mut moved_ns = monotonic_ns();
        while monotonic_ns() < deadline_ns.min(moved_ns + READ_NS) {
            self.idle_until(monotonic_ns() + SHORT_STEP_NS, |_| false)?;
            let now = self.streams.send_windows();
            if now != windows {
                (windows, moved_ns) = (now, monotonic_ns());
            }
        }
        Ok(())
    }

    pub(super) fn idle_until(
        &mut self,
        deadline_ns: u64,
        done: impl Fn(&Self) -> bool,
    ) -> Result<(), Ended> {
        while monotonic_ns() < deadline_ns && !done(self) {
            if let Some(event) = self.pump(deadline_ns.min(monotonic_ns() + SHORT_STEP_NS))? {
                self.note(event)?;
            }
        }
        Ok(())
    }

    /// Waits for late datagrams: until the server's count is reached, or silence.
    fn finish_receiving(&mut self) -> Result<(), Ended> {
        for (&id, &packets) in &self.sent_by_peer {
            self.streams.announce_sent(id, packets);
        }
        let longest = if self.interrupt.impatient() {
            Duration::ZERO
        } else {
            LONGEST_DRAIN
        };
        let rtt = Duration::from_nanos(
            tcp::info(self.control.stream()).map_or(0, |info| 2 * info.rtt_ns),
        );
        match self.config.protocol {
            Protocol::Udp => self.streams.drain(QUIET + rtt, longest),
            Protocol::Tcp => {}
        }
        self.idle_until(u64::MAX, |client| client.streams.receiving_is_over())?;
        self.streams.join_receivers();
        self.sample_last()
    }

    fn exchange_results(
        &mut self,
        streams: Vec<StreamAccount>,
    ) -> Result<Option<SideAccount>, Ended> {
        let own = self.sampler.account(streams);
        // No server reads our account.
        let results = standard::results(&own, &self.config, self.sampler.process_cpu(), false);
        self.own = own;
        self.control.session.send_results(&results, monotonic_ns());
        let mut remote = None;
        loop {
            match self.pump(u64::MAX)? {
                Some(ClientEvent::PeerResults(results)) => {
                    if self.plan.server_output {
                        self.server_output.clone_from(&results.server_output_text);
                    }
                    remote = Some(self.peer_account(&results));
                }
                Some(ClientEvent::Display) => break,
                Some(event) => self.note(event)?,
                None => {}
            }
        }
        self.control.session.done();
        // The test is over: it does not matter if the server has disconnected.
        let _ = self.control.flush();
        Ok(remote)
    }

    fn peer_account(&self, results: &Results) -> SideAccount {
        let exact = results
            .linerate
            .as_ref()
            .and_then(|account| account.read().ok())
            .map(|account| self.reports.complete(account));
        let elapsed_ns =
            monotonic_ns().saturating_sub(self.start_ns.saturating_add(self.config.limit.omit_ns));
        exact.unwrap_or_else(|| standard::account(results, &self.config, &self.own, elapsed_ns))
    }
}

const SHORT_STEP_NS: u64 = 5_000_000;
/// After the last datagram a stock server needs this long, and two round trips, to have received it.
const TAIL_NS: u64 = 50_000_000;
/// The longest wait for the acknowledgement of the last bytes of a test by amount.
const FLUSH_NS: u64 = 10_000_000_000;
/// A reader that takes data does not pause for this long.
const READ_NS: u64 = 100_000_000;
/// UDP receivers leave after this much silence, or when all is in.
const QUIET: Duration = Duration::from_millis(200);
const LONGEST_DRAIN: Duration = Duration::from_secs(10);
