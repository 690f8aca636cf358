// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connecting the data streams of a test, TCP and UDP, to our own server or a stock one.

use super::{Client, Ended};
use crate::engine::connect;
use crate::engine::probe::Prober;
use crate::engine::shape::Shape;
use crate::engine::{Direction, Protocol};
use crate::error::Failure;
use linerate_linux::clock::monotonic_ns;
use linerate_linux::udp::{self, Opened};
use linerate_linux::{clock, tcp};
use linerate_wire::iperf3::hello as stock;
use linerate_wire::linerate::hello::{Hello, Kind, Reply};
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
        match (self.shape.protocol, self.remote.is_some()) {
            (Protocol::Tcp, _) => self.connect_tcp(),
            (Protocol::Udp, true) => self.connect_udp(),
            (Protocol::Udp, false) => self.connect_stock_udp(),
        }
    }

    /// Beside a linerate our own probe, beside a stock server ICMP echo where it is permitted. An
    /// extra: without it the test runs all the same.
    pub(super) fn start_prober(&mut self) {
        let options = udp::Options {
            tos: self.shape.tos,
            bind_device: self.plan.bind_device.clone(),
            ..udp::Options::default()
        };
        let local = self.plan.bind_address.map(|address| (address, 0).into());
        self.prober = match self.remote {
            Some(_) => Prober::start(self.server, &self.cookie, &options, local).ok(),
            None => Prober::echo(self.server.ip(), self.plan.bind_device.as_deref()),
        };
    }

    fn connect_tcp(&mut self) -> Result<(), Ended> {
        for index in 0..self.shape.streams_total() {
            let stream = self
                .open_tcp(index)
                .map_err(|error| self.stream_failure(index, &error))?;
            let port = stream.local_addr().ok().map(|address| address.port());
            let work = self
                .shape
                .tcp_work(self.shape.client_sends(index), index, stream);
            let work = work.map_err(|error| self.stream_failure(index, &error))?;
            self.employ(index, port, work)?;
        }
        Ok(())
    }

    /// A stock server may close its listener for an instant to change its options: try again.
    fn open_tcp(&self, index: u32) -> io::Result<std::net::TcpStream> {
        let options = tcp::Options {
            local: connect::local(self.plan, self.server, index),
            ..self.shape.tcp_options()
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
                    stream.write_all(self.cookie.as_bytes())?;
                    return Ok(stream);
                }
            }
        }
        Err(io::ErrorKind::ConnectionRefused.into())
    }

    /// All hellos at once, each again every 250 ms until answered or until the server starts.
    fn connect_udp(&mut self) -> Result<(), Ended> {
        let mut open = Vec::new();
        for index in 0..self.shape.streams_total() {
            let opened = self
                .open_udp(index)
                .map_err(|error| self.stream_failure(index, &error))?;
            open.push((index, opened));
        }
        self.introduce(&open)?;
        for (index, opened) in open {
            self.employ_udp(index, opened)?;
        }
        Ok(())
    }

    fn introduce(&mut self, open: &[(u32, Opened)]) -> Result<(), Ended> {
        let deadline_ns = monotonic_ns() + HELLO_NS;
        let mut answered = vec![false; open.len()];
        let mut next_ns = 0;
        while !self.running && !answered.iter().all(|&yes| yes) {
            let now_ns = monotonic_ns();
            if now_ns >= deadline_ns {
                return Err(self.udp_is_eaten().into());
            }
            if self.interrupt.requested().is_some() {
                return Err(Failure::interrupted("connect the UDP streams").into());
            }
            if now_ns >= next_ns {
                self.say_hello(open, &answered);
                next_ns = now_ns + HELLO_EVERY_NS;
            }
            for (seen, (_, opened)) in answered.iter_mut().zip(open) {
                *seen = *seen || is_answered(opened, |bytes| Reply::decode(bytes).is_some());
            }
            if let Some(event) = self.pump(now_ns + SHORT_STEP_NS)? {
                self.note(event)?;
            }
        }
        Ok(())
    }

    fn say_hello(&self, open: &[(u32, Opened)], answered: &[bool]) {
        for ((index, opened), _) in open.iter().zip(answered).filter(|(_, seen)| !**seen) {
            let hello = Hello {
                cookie: self.cookie,
                index: *index as u16,
                kind: Kind::Data,
            };
            // What cannot be sent now is sent again; a closed port shows as a missing answer.
            let _ = opened.socket.send(&hello.encode());
        }
    }

    /// One after the other, each hello once: a stock server takes a second one for the next stream.
    /// Only after two seconds of silence it is more likely lost than late.
    fn connect_stock_udp(&mut self) -> Result<(), Ended> {
        for index in 0..self.shape.streams_total() {
            let opened = self
                .open_udp(index)
                .map_err(|error| self.stream_failure(index, &error))?;
            self.greet_stock(&opened)?;
            self.employ_udp(index, opened)?;
        }
        Ok(())
    }

    fn greet_stock(&mut self, opened: &Opened) -> Result<(), Ended> {
        let deadline_ns = monotonic_ns() + HELLO_NS;
        let mut next_ns = 0;
        while !self.running {
            let now_ns = monotonic_ns();
            if now_ns >= deadline_ns {
                return Err(self.udp_is_eaten().into());
            }
            if self.interrupt.requested().is_some() {
                return Err(Failure::interrupted("connect the UDP streams").into());
            }
            if now_ns >= next_ns {
                let _ = opened.socket.send(&stock::HELLO);
                next_ns = now_ns + STOCK_HELLO_EVERY_NS;
            }
            if is_answered(opened, stock::is_reply) {
                return Ok(());
            }
            if let Some(event) = self.pump(now_ns + SHORT_STEP_NS)? {
                self.note(event)?;
            }
        }
        Ok(())
    }

    fn open_udp(&self, index: u32) -> io::Result<Opened> {
        let options = self.shape.udp_options(self.shape.client_sends(index));
        let opened = udp::connect(
            self.server,
            connect::local(self.plan, self.server, index),
            &options,
        )?;
        opened.socket.set_nonblocking(true)?;
        Ok(opened)
    }

    fn employ_udp(&mut self, index: u32, opened: Opened) -> Result<(), Ended> {
        let port = opened
            .socket
            .local_addr()
            .ok()
            .map(|address| address.port());
        let ready = opened.socket.set_nonblocking(false);
        let work = ready.and_then(|()| {
            self.shape
                .udp_work(self.shape.client_sends(index), index, opened)
        });
        let work = work.map_err(|error| self.stream_failure(index, &error))?;
        self.employ(index, port, work)
    }

    fn employ(
        &mut self,
        index: u32,
        port: Option<u16>,
        work: crate::engine::crew::Work,
    ) -> Result<(), Ended> {
        let added = self.crew.add(Shape::id(index), port, work, self.shape.cpu);
        added.map_err(|error| self.stream_failure(index, &error).into())
    }

    fn stream_failure(&self, index: u32, error: &io::Error) -> Failure {
        let what = format!(
            "open stream {} of {} to {}",
            index + 1,
            self.shape.streams_total(),
            self.server
        );
        if error.kind() == io::ErrorKind::Interrupted {
            return Failure::interrupted(what);
        }
        if let (io::ErrorKind::NotFound, Some(name)) = (error.kind(), &self.plan.congestion) {
            let why = format!("congestion control {name} is not available here ({error})");
            let hint = "one of `sysctl net.ipv4.tcp_available_congestion_control`";
            return Failure::measuring(what, why).hint(hint);
        }
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable => {
                "another --cport or --bind"
            }
            io::ErrorKind::PermissionDenied => {
                "--bind-dev and some --dscp values need CAP_NET_RAW or CAP_NET_ADMIN"
            }
            _ if error.raw_os_error() == Some(connect::NO_SUCH_DEVICE) => {
                "an interface that `ip link` lists"
            }
            _ => "fewer streams with -P, or see `ulimit -n`",
        };
        Failure::measuring(what, error).hint(hint)
    }

    fn udp_is_eaten(&self) -> Failure {
        let way = if self.shape.direction == Direction::Down {
            "from"
        } else {
            "to"
        };
        Failure::measuring(
            format!("set up UDP with {}", self.server),
            format!(
                "TCP works, but no UDP hello was answered within {} s",
                HELLO_NS / 1_000_000_000
            ),
        )
        .hint(format!(
            "let UDP port {} {way} {} through the firewalls on both hosts and between",
            self.server.port(),
            self.server.ip()
        ))
    }
}

/// Whether the server knows this stream: it replied, or, when its reply was lost, it sends already.
/// A datagram of the test is left to the receiver, who has to account for it.
fn is_answered(opened: &Opened, is_reply: impl Fn(&[u8]) -> bool) -> bool {
    let mut bytes = [0; 64];
    match opened.socket.peek(&mut bytes) {
        Ok(length) if is_reply(&bytes[..length]) => opened.socket.recv(&mut bytes).is_ok(),
        Ok(_) => true,
        Err(_) => false,
    }
}

const STREAM_TRIES: u32 = 20;
const RETRY_NS: u64 = 50_000_000;
const SHORT_STEP_NS: u64 = 2_000_000;
/// Without any answer for so long UDP does not pass.
const HELLO_NS: u64 = 6_000_000_000;
const HELLO_EVERY_NS: u64 = 250_000_000;
const STOCK_HELLO_EVERY_NS: u64 = 2_500_000_000;
