// SPDX-License-Identifier: MIT OR Apache-2.0
//! Announces the UDP streams to the server, by our own hello or by iperf3's.

use crate::Direction;
use crate::client::{Client, Ended};
use crate::connect;
use linerate_linux::clock::monotonic_ns;
use linerate_linux::udp::{self, Opened};
use linerate_model::failure::Failure;
use linerate_wire::iperf3::hello as stock;
use linerate_wire::linerate::hello::{Hello, Kind, Reply};

impl Client<'_> {
    /// Sends all hellos at once, and each again every 250 ms until answered or until the server starts.
    pub(super) fn connect_udp(&mut self) -> Result<(), Ended> {
        let mut open = Vec::new();
        for index in 0..self.config.streams_total() {
            open.push((index, self.open_udp(index)?));
        }
        let is_reply = |bytes: &[u8]| Reply::decode(bytes).is_some();
        self.exchange_hellos(&open, HELLO_EVERY_NS, is_reply, |client, index| {
            let hello = Hello {
                cookie: client.cookie,
                index: index as u16,
                kind: Kind::Data,
            };
            hello.encode().to_vec()
        })?;
        for (index, opened) in open {
            self.spawn_udp(index, opened)?;
        }
        Ok(())
    }

    /// One after the other, each hello once: a stock server takes a second one for the next stream.
    /// After two seconds of silence it is more likely lost than late.
    pub(super) fn connect_stock_udp(&mut self) -> Result<(), Ended> {
        for index in 0..self.config.streams_total() {
            let open = [(index, self.open_udp(index)?)];
            self.exchange_hellos(&open, STOCK_HELLO_EVERY_NS, stock::is_reply, |_, _| {
                stock::HELLO.to_vec()
            })?;
            for (index, opened) in open {
                self.spawn_udp(index, opened)?;
            }
        }
        Ok(())
    }

    fn exchange_hellos(
        &mut self,
        open: &[(u32, Opened)],
        every_ns: u64,
        is_reply: impl Fn(&[u8]) -> bool,
        hello: impl Fn(&Self, u32) -> Vec<u8>,
    ) -> Result<(), Ended> {
        let deadline_ns = monotonic_ns() + HELLO_NS;
        let mut answered = vec![false; open.len()];
        let mut next_ns = 0;
        while !self.running {
            let now_ns = monotonic_ns();
            if now_ns >= deadline_ns {
                return Err(self.udp_is_blocked().into());
            }
            if self.interrupt.requested().is_some() {
                return Err(Failure::interrupted("connect the UDP streams").into());
            }
            if now_ns >= next_ns {
                next_ns = now_ns + every_ns;
                for ((index, opened), _) in open.iter().zip(&answered).filter(|(_, seen)| !**seen) {
                    // What cannot be sent now is sent again; a closed port shows as a missing answer.
                    let _ = opened.socket.send(&hello(self, *index));
                }
            }
            for (seen, (_, opened)) in answered.iter_mut().zip(open) {
                *seen = *seen || is_answered(opened, &is_reply);
            }
            if !answered.contains(&false) {
                break;
            }
            if let Some(event) = self.pump(now_ns + SHORT_STEP_NS)? {
                self.note(event)?;
            }
        }
        Ok(())
    }

    fn open_udp(&self, index: u32) -> Result<Opened, Failure> {
        let sends = self.config.client_sends(index);
        let local = connect::local(self.plan, self.server, index);
        let opened = udp::connect(self.server, local, &self.config.udp_options(sends));
        opened
            .and_then(|opened| {
                self.sampler.follow(&opened.socket, sends);
                opened.socket.set_nonblocking(true)?;
                Ok(opened)
            })
            .map_err(|error| self.stream_failure(index, &error))
    }

    fn spawn_udp(&mut self, index: u32, opened: Opened) -> Result<(), Ended> {
        let port = opened
            .socket
            .local_addr()
            .ok()
            .map(|address| address.port());
        let ready = opened.socket.set_nonblocking(false);
        let work = ready.and_then(|()| {
            self.config
                .udp_work(self.config.client_sends(index), index, opened)
        });
        let work = work.map_err(|error| self.stream_failure(index, &error))?;
        self.spawn(index, port, work)
    }

    fn udp_is_blocked(&self) -> Failure {
        let way = if self.config.direction == Direction::Down {
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
            "allow UDP port {} {way} {} in the firewalls of both hosts and in between",
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

const SHORT_STEP_NS: u64 = 2_000_000;
/// Without an answer within this time UDP does not pass.
const HELLO_NS: u64 = 6_000_000_000;
const HELLO_EVERY_NS: u64 = 250_000_000;
const STOCK_HELLO_EVERY_NS: u64 = 2_500_000_000;
