// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a test: late datagrams, and the exchange of results.

use super::Session;
use crate::account::{SideAccount, StreamAccount};
use crate::server::report;
use crate::standard;
use crate::totals::Totals;
use linerate_linux::clock::monotonic_ns;
use linerate_model::output::Protocol;
use linerate_wire::iperf3::results::Results;
use linerate_wire::iperf3::server::ServerEvent;
use std::collections::HashMap;
use std::time::Duration;

impl Session<'_, '_> {
    /// Stops, drains, closes, and exchanges the results.
    pub(super) fn finish(&mut self) -> Result<String, String> {
        self.streams.stop_sending();
        self.streams.cut(monotonic_ns());
        if self.request.is_some() {
            self.send_interval();
            self.send_final();
            self.control.flush().map_err(|error| error.to_string())?;
        }
        self.drain()?;
        self.sample_last()?;
        self.streams.close_tcp();
        if self.request.is_none() && self.config.protocol == Protocol::Udp {
            return self.finish_stock_udp();
        }
        let sent_by_peer = std::mem::take(&mut self.sent_by_peer);
        let streams = self
            .streams
            .accounts(self.drift, |id| sent_by_peer.get(&id).copied());
        self.control.session.exchange_results(monotonic_ns());
        let _client = self.await_results()?;
        self.close(streams)
    }

    /// A stock client reports its senders' counts in its results: the accounts stay open until then.
    fn finish_stock_udp(&mut self) -> Result<String, String> {
        self.control.session.exchange_results(monotonic_ns());
        let client = self.await_results()?;
        let sent: HashMap<u32, u64> = standard::sent_counts(&client, &self.config);
        let streams = self
            .streams
            .accounts(self.drift, |id| sent.get(&id).copied());
        self.close(streams)
    }

    fn drain(&mut self) -> Result<(), String> {
        for (&id, &packets) in &self.sent_by_peer {
            self.streams.announce_sent(id, packets);
        }
        let (quiet, longest) = match self.config.protocol {
            Protocol::Udp => (QUIET, LONGEST_DRAIN),
            Protocol::Tcp
                if self
                    .request
                    .as_ref()
                    .is_some_and(|request| request.duration_ns.is_none()) =>
            {
                (LONGEST_DRAIN, LONGEST_DRAIN)
            }
            // A stock client has sent its amount, but it may not have arrived yet.
            Protocol::Tcp if self.request.is_none() && self.is_by_amount() => {
                (QUIET, LONGEST_DRAIN)
            }
            Protocol::Tcp => (Duration::ZERO, Duration::ZERO),
        };
        self.streams.drain(quiet, longest);
        while !self.streams.receiving_is_over() {
            if let Some(event) = self.pump(monotonic_ns() + SHORT_STEP_NS)? {
                self.note(event)?;
            }
        }
        self.streams.join_receivers();
        Ok(())
    }

    /// Takes the last sample while the connection is served.
    fn sample_last(&mut self) -> Result<(), String> {
        self.sampler.finish();
        while !self.sampler.has_ended() {
            if let Some(event) = self.pump(monotonic_ns() + GLANCE_NS)? {
                self.note(event)?;
            }
        }
        self.report_samples();
        Ok(())
    }

    fn is_by_amount(&self) -> bool {
        let set = |amount: Option<u64>| amount.is_some_and(|amount| amount > 0);
        set(self.params.num_bytes) || set(self.params.blockcount)
    }

    fn await_results(&mut self) -> Result<Box<Results>, String> {
        loop {
            match self.pump(u64::MAX)? {
                Some(ServerEvent::ClientResults(results)) => return Ok(results),
                Some(event) => self.note(event)?,
                None => {}
            }
        }
    }

    fn close(&mut self, mut streams: Vec<StreamAccount>) -> Result<String, String> {
        for stream in &mut streams {
            if let (Some(rx), Some(&dscp)) = (&mut stream.rx, self.dscp_seen.get(&stream.id)) {
                rx.dscp_seen = Some(dscp);
            }
        }
        let account = SideAccount {
            buffer_cut_to_bytes: self.config.window_cut_to().map(|bytes| bytes as u64),
            ..self.sampler.account(streams)
        };
        let mut results = standard::results(
            &account,
            &self.config,
            self.sampler.process_cpu(),
            self.request.is_some(),
        );
        results.server_output_text = self
            .params
            .get_server_output
            .then(|| report::text(&account, &self.config));
        self.control.session.send_results(&results, monotonic_ns());
        loop {
            match self.pump(u64::MAX)? {
                Some(ServerEvent::Done) => {
                    let totals = Totals::of(&account.streams);
                    self.server.metrics.count(self.config.protocol, &totals);
                    return Ok(totals.line(self.config.protocol, self.config.streams_total()));
                }
                Some(event) => self.note(event)?,
                None => {}
            }
        }
    }
}

const SHORT_STEP_NS: u64 = 5_000_000;
/// A look at the control connection while the counters are read.
const GLANCE_NS: u64 = 1_000_000;
/// After the end UDP receivers leave after this much silence, or when all is in.
const QUIET: Duration = Duration::from_millis(250);
const LONGEST_DRAIN: Duration = Duration::from_secs(10);
