// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a UDP test: final datagrams out, the server's reports in.
//!
//! Every repetition of a final datagram has the same sequence, one above the last of the data: the
//! server's count does not depend on which of them arrives. (iperf's own client counts on, so that
//! its lost finals look like lost data.)

use linerate_linux::clock::{monotonic_ns, sleep_until_ns};
use linerate_wire::iperf2::datagram::Header;
use linerate_wire::iperf2::server_report::ServerReport;
use std::io::ErrorKind;
use std::net::UdpSocket;

/// What a server answered to a stream's final datagrams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing.
    #[default]
    None,
    /// Its report.
    Report(ServerReport),
    /// The final datagram itself came back: 2.1.8 sends its report only once, and then echoes.
    Echo,
    /// Its host says that the port is closed.
    Refused,
}

/// A stream that has sent all its data.
#[derive(Debug)]
pub(super) struct Ending {
    /// Its connected socket.
    pub(super) socket: UdpSocket,
    /// Its final datagram.
    pub(super) datagram: Vec<u8>,
    /// What came back so far.
    pub(super) answer: Answer,
}

impl Ending {
    fn is_open(&self) -> bool {
        !matches!(self.answer, Answer::Report(_))
    }

    fn send(&self) {
        // An ICMP error that waits in the socket costs one call.
        for _ in 0..2 {
            if self.socket.send(&self.datagram).is_ok() {
                return;
            }
        }
    }

    /// Reads one answer; false when there is none.
    fn receive(&mut self) -> bool {
        let mut bytes = [0; LONGEST_ANSWER];
        let heard = match self.socket.recv(&mut bytes) {
            Ok(length) => decode(&bytes[..length]),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => Answer::Refused,
            Err(_) => return false,
        };
        if heard != Answer::None {
            self.answer = heard;
        }
        true
    }
}

/// Sends final datagrams until every stream has its report, at most ten times; `give_up` ends it early.
pub(super) fn request_reports(streams: &mut [Ending], give_up: impl Fn() -> bool) {
    for stream in &*streams {
        // Without it the first silent socket would hold up the others; it fails on a dead one only.
        let _ = stream.socket.set_nonblocking(true);
    }
    for _ in 0..TRIES {
        streams
            .iter()
            .filter(|stream| stream.is_open())
            .for_each(Ending::send);
        listen(streams, monotonic_ns() + WAIT_NS, &give_up);
        let refused = |stream: &Ending| stream.answer == Answer::Refused;
        let over = |stream: &Ending| !stream.is_open() || refused(stream);
        if streams.iter().all(over) || give_up() {
            return;
        }
    }
}

fn listen(streams: &mut [Ending], deadline_ns: u64, give_up: &impl Fn() -> bool) {
    while monotonic_ns() < deadline_ns && !give_up() {
        let mut heard = false;
        for stream in streams.iter_mut().filter(|stream| stream.is_open()) {
            heard |= stream.receive();
        }
        if !streams.iter().any(Ending::is_open) {
            return;
        }
        if !heard {
            sleep_until_ns(monotonic_ns() + STEP_NS, 0);
        }
    }
}

fn decode(bytes: &[u8]) -> Answer {
    if let Some(report) = ServerReport::decode(bytes) {
        return Answer::Report(report);
    }
    match Header::decode(bytes, true) {
        Some(header) if header.is_final() => Answer::Echo,
        _ => Answer::None,
    }
}

/// As often as iperf.
pub(super) const TRIES: u32 = 10;
/// Between two tries.
const WAIT_NS: u64 = 250_000_000;
const STEP_NS: u64 = 1_000_000;
const LONGEST_ANSWER: usize = 2048;
