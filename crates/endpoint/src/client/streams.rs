// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connecting the data streams of a test, TCP and UDP, to our own server or a stock one.

mod udp;

use super::{Client, Ended};
use crate::Protocol;
use crate::connect;
use crate::probe::Prober;
use crate::stream_config::StreamConfig;
use crate::streams::Work;
use linerate_linux::clock::monotonic_ns;
use linerate_linux::udp::Options;
use linerate_linux::{clock, tcp};
use linerate_model::failure::Failure;
use std::io::{self, Write};
use std::time::Duration;

impl Client<'_> {
    /// Connects all streams and puts a worker on each.
    pub(super) fn connect_streams(&mut self) -> Result<(), Ended> {
        if self.plan.probe {
            self.start_prober();
        }
        if !self.load {
            return Ok(());
        }
        match (self.config.protocol, self.remote.is_some()) {
            (Protocol::Tcp, _) => self.connect_tcp(),
            (Protocol::Udp, true) => self.connect_udp(),
            (Protocol::Udp, false) => self.connect_stock_udp(),
        }
    }

    /// Starts our own probe against a linerate, or ICMP echo against a stock server where it is permitted.
    /// The test also runs without.
    pub(super) fn start_prober(&mut self) {
        let options = Options {
            tos: self.config.tos,
            bind_device: self.plan.bind_device.clone(),
            ..Options::default()
        };
        let local = self.plan.bind_address.map(|address| (address, 0).into());
        self.prober = match self.remote {
            Some(_) => Prober::start(self.server, &self.cookie, &options, local).ok(),
            None => Prober::echo(self.server.ip(), self.plan.bind_device.as_deref()),
        };
    }

    fn connect_tcp(&mut self) -> Result<(), Ended> {
        for index in 0..self.config.streams_total() {
            let stream = self
                .open_tcp(index)
                .map_err(|error| self.stream_failure(index, &error))?;
            let port = stream.local_addr().ok().map(|address| address.port());
            let work = self
                .config
                .tcp_work(self.config.client_sends(index), index, stream);
            let work = work.map_err(|error| self.stream_failure(index, &error))?;
            self.spawn(index, port, work)?;
        }
        Ok(())
    }

    /// A stock server may close its listener for an instant to change its options: try again.
    fn open_tcp(&self, index: u32) -> io::Result<std::net::TcpStream> {
        let options = tcp::Options {
            local: connect::local(self.plan, self.server, index),
            ..self.config.tcp_options()
        };
        let timeout = Duration::from_millis(self.plan.connect_timeout_ms);
        for _ in 0..STREAM_TRIES {
            match tcp::connect(self.server, &options, timeout, || {
                self.interrupt.requested().is_some()
            }) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    clock::sleep_until_ns(monotonic_ns() + RETRY_NS, 0);
                }
                Err(error) => return Err(error),
                Ok(connected) => {
                    let mut stream = connected.stream;
                    self.sampler
                        .follow(&stream, self.config.client_sends(index));
                    stream.write_all(self.cookie.as_bytes())?;
                    return Ok(stream);
                }
            }
        }
        Err(io::ErrorKind::ConnectionRefused.into())
    }

    fn spawn(&mut self, index: u32, port: Option<u16>, work: Work) -> Result<(), Ended> {
        let added = self
            .streams
            .add(StreamConfig::id(index), port, work, self.config.worker);
        added.map_err(|error| self.stream_failure(index, &error).into())
    }

    fn stream_failure(&self, index: u32, error: &io::Error) -> Failure {
        let place = (index, self.config.streams_total());
        connect::stream_failure(self.plan, self.server, place, error)
    }
}

const STREAM_TRIES: u32 = 20;
const RETRY_NS: u64 = 50_000_000;
