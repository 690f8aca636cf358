// SPDX-License-Identifier: MIT OR Apache-2.0
//! The latency probe during a test: small datagrams on a separate socket, answered by the
//! server's responder with its own clock, so that round trip and clock offset come from the same
//! packets (the four time stamps of RFC 5905 §8).

use linerate_linux::clock::{self, Wall};
use linerate_linux::icmp::Pinger;
use linerate_linux::udp::{self, Opened};
use linerate_method::histogram::Histogram;
use linerate_method::sequence::{Arrival, SequenceAccount};
use linerate_model::output::{Latency, Phase};
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::linerate::hello::{Hello, Kind, Reply as HelloReply};
use linerate_wire::linerate::probe::{Reply, Request};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The server's half: answers until dropped.
#[derive(Debug)]
pub(crate) struct Responder {
    stop: Arc<AtomicBool>,
    asked: Arc<AtomicU32>,
    thread: Option<JoinHandle<()>>,
}

impl Responder {
    /// Answers on a connected socket.
    pub(crate) fn start(socket: UdpSocket) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::new(AtomicU32::new(0));
        let (seen, count) = (Arc::clone(&stop), Arc::clone(&asked));
        let thread = spawn("echo", move || answer(&socket, &seen, &count))?;
        Ok(Self {
            stop,
            asked,
            thread: Some(thread),
        })
    }

    /// Probes that came so far (modulo 2³²).
    pub(crate) fn asked(&self) -> u32 {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The client's half.
#[derive(Debug)]
pub(crate) struct Prober {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Probed>,
}

/// What the probes of one test found.
#[derive(Debug, Default)]
pub(crate) struct Probed {
    /// Round-trip times.
    pub(crate) rtt: Option<Histogram>,
    /// Probes sent.
    pub(crate) sent: u64,
    /// Probes answered, each counted once however often its reply arrived.
    pub(crate) answered: u64,
    /// By ICMP echo, not by our own probe.
    pub(crate) by_echo: bool,
    /// Server's clock minus ours, from the quickest probe, and half its round trip: the error.
    pub(crate) offset_ns: Option<(i64, u64)>,
    replies: Option<SequenceAccount>,
}

impl Prober {
    /// Sends the test's cookie and probes until [`Prober::finish`].
    pub(crate) fn start(
        server: SocketAddr,
        cookie: &Cookie,
        options: &udp::Options,
        local: Option<SocketAddr>,
    ) -> io::Result<Self> {
        let Opened { socket, .. } = udp::connect(server, local, options)?;
        let hello = Hello {
            cookie: *cookie,
            index: u16::MAX,
            kind: Kind::Probe,
        }
        .encode();
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = spawn("probe", move || probe(&socket, &hello, &seen))?;
        Ok(Self { stop, thread })
    }

    /// Probes with ICMP echo requests; `None` where this user may not send them.
    pub(crate) fn echo(peer: IpAddr, bind_device: Option<&str>) -> Option<Self> {
        let pinger = Pinger::open(peer.to_canonical(), bind_device).ok()?;
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = spawn("probe", move || ping(pinger, &seen)).ok()?;
        Some(Self { stop, thread })
    }

    /// Stops probing; probes under way have been waited for.
    pub(crate) fn finish(self) -> Probed {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

impl Probed {
    /// As the results write it.
    pub(crate) fn latency(&self, phase: Phase) -> Option<Latency> {
        (self.sent > 0).then(|| Latency {
            phase,
            method: if self.by_echo {
                "icmp-echo"
            } else {
                "udp-probe"
            }
            .to_owned(),
            rtt_ns: self.rtt.as_ref().and_then(super::quantiles::quantiles),
            sent: self.sent,
            lost: self.sent - self.answered,
        })
    }

    /// The occupied buckets: upper bound in ns, count.
    pub(crate) fn buckets(&self) -> Vec<(u64, u64)> {
        self.rtt
            .as_ref()
            .map_or_else(Vec::new, super::quantiles::buckets)
    }

    fn note(&mut self, reply: &Reply, t4_ns: u64) {
        let Some(rtt_ns) = reply.rtt_ns(t4_ns).filter(|_| self.is_first(reply, t4_ns)) else {
            return;
        };
        self.answered += 1;
        if let Some(rtt) = &mut self.rtt {
            rtt.record(rtt_ns);
        }
        if self
            .offset_ns
            .is_none_or(|(_, error_ns)| rtt_ns / 2 < error_ns)
        {
            self.offset_ns = Some((reply.clock_offset_ns(t4_ns), rtt_ns / 2));
        }
    }

    /// The network may deliver a reply, or the probe before it, more than once.
    fn is_first(&mut self, reply: &Reply, now_ns: u64) -> bool {
        let sequence = u64::from(reply.sequence) + 1;
        let replies = self
            .replies
            .get_or_insert_with(|| SequenceAccount::new(REPLY_WINDOW));
        let arrival = (sequence <= self.sent).then(|| replies.record(sequence, now_ns));
        matches!(arrival, Some(Arrival::New | Arrival::Reordered { .. }))
    }
}

fn answer(socket: &UdpSocket, stop: &AtomicBool, asked: &AtomicU32) {
    let wall = Wall::start();
    let mut bytes = [0; 256];
    while !stop.load(Ordering::Relaxed) {
        let Some(length) = receive(socket, &mut bytes, WAIT) else {
            continue;
        };
        let received_ns = wall.at(clock::monotonic_ns());
        let payload = &bytes[..length];
        let sent = if let Some(request) = Request::decode(payload) {
            asked.fetch_add(1, Ordering::Relaxed);
            let reply = Reply {
                sequence: request.sequence,
                sent_ns: request.sent_ns,
                server_received_ns: received_ns,
                server_sent_ns: wall.at(clock::monotonic_ns()),
            };
            socket.send(&reply.encode())
        } else if let Some(hello) = Hello::decode(payload) {
            socket.send(
                &HelloReply {
                    index: hello.index,
                    kind: hello.kind,
                }
                .encode(),
            )
        } else {
            Ok(0)
        };
        // A reply that cannot be sent is a lost probe, which the client counts.
        let _ = sent;
    }
}

fn probe(socket: &UdpSocket, hello: &[u8], stop: &AtomicBool) -> Probed {
    clock::precise_sleep();
    let mut found = Probed {
        rtt: Some(Histogram::new()),
        ..Probed::default()
    };
    if !introduce(socket, hello, stop) {
        return found;
    }
    let wall = Wall::start();
    let mut next_ns = clock::monotonic_ns();
    while !stop.load(Ordering::Relaxed) {
        let sequence = u32::try_from(found.sent).unwrap_or(u32::MAX);
        let request = Request {
            sequence,
            sent_ns: wall.at(clock::monotonic_ns()),
        };
        if socket.send(&request.encode()).is_ok() {
            found.sent += 1;
        }
        next_ns += EVERY_NS;
        listen_until(socket, &wall, next_ns, &mut found);
        next_ns = next_ns.max(clock::monotonic_ns());
    }
    let last_ns = clock::monotonic_ns() + LAST_WAIT_NS;
    while found.answered < found.sent && clock::monotonic_ns() < last_ns {
        listen_until(
            socket,
            &wall,
            last_ns.min(clock::monotonic_ns() + EVERY_NS),
            &mut found,
        );
    }
    found
}

fn ping(mut pinger: Pinger, stop: &AtomicBool) -> Probed {
    clock::precise_sleep();
    let mut found = Probed {
        rtt: Some(Histogram::new()),
        by_echo: true,
        ..Probed::default()
    };
    let mut next_ns = clock::monotonic_ns();
    while !stop.load(Ordering::Relaxed) {
        if pinger.send(found.sent as u16).is_ok() {
            found.sent += 1;
        }
        next_ns = (next_ns + EVERY_NS).max(clock::monotonic_ns());
        hear_echoes(&mut pinger, next_ns, &mut found);
    }
    if found.answered < found.sent {
        hear_echoes(
            &mut pinger,
            clock::monotonic_ns() + LAST_WAIT_NS,
            &mut found,
        );
    }
    found
}

fn hear_echoes(pinger: &mut Pinger, until_ns: u64, found: &mut Probed) {
    loop {
        let left_ns = until_ns.saturating_sub(clock::monotonic_ns());
        match pinger.receive(Duration::from_nanos(left_ns)) {
            Ok(Some(reply)) => {
                found.answered += 1;
                if let Some(rtt) = &mut found.rtt {
                    rtt.record(reply.rtt_ns);
                }
            }
            Ok(None) | Err(_) if clock::monotonic_ns() >= until_ns => return,
            // An ICMP error instead of an answer: the probe is lost, the next one is due soon.
            Ok(None) => {}
            Err(_) => {
                clock::sleep_until_ns(until_ns, 0);
                return;
            }
        }
        if found.answered >= found.sent && left_ns > EVERY_NS {
            return;
        }
    }
}

fn introduce(socket: &UdpSocket, hello: &[u8], stop: &AtomicBool) -> bool {
    let mut bytes = [0; 256];
    while !stop.load(Ordering::Relaxed) {
        // A hello that cannot be sent now is sent again.
        let _ = socket.send(hello);
        if let Some(length) = receive(socket, &mut bytes, HELLO_EVERY)
            && HelloReply::decode(&bytes[..length]).is_some()
        {
            return true;
        }
    }
    false
}

fn listen_until(socket: &UdpSocket, wall: &Wall, until_ns: u64, found: &mut Probed) {
    let mut bytes = [0; 256];
    loop {
        let left_ns = until_ns.saturating_sub(clock::monotonic_ns());
        if left_ns == 0 {
            return;
        }
        let Some(length) = receive(socket, &mut bytes, Duration::from_nanos(left_ns)) else {
            return;
        };
        if let Some(reply) = Reply::decode(&bytes[..length]) {
            found.note(&reply, wall.at(clock::monotonic_ns()));
        }
    }
}

/// One datagram; `None` after the wait, or an ICMP error (then after a short pause).
fn receive(socket: &UdpSocket, bytes: &mut [u8], wait: Duration) -> Option<usize> {
    socket
        .set_read_timeout(Some(wait.max(Duration::from_millis(1))))
        .ok()?;
    match socket.recv(bytes) {
        Ok(length) => Some(length),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            clock::sleep_until_ns(clock::monotonic_ns() + REFUSED_PAUSE_NS, 0);
            None
        }
        Err(_) => None,
    }
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(128 * 1024)
        .spawn(work)
}

/// 100 probes a second: 0.1 Mbit/s, a negligible load.
const EVERY_NS: u64 = 10_000_000;
/// Duplicate replies are recognised within this many probes: 40 s.
const REPLY_WINDOW: u64 = 4096;
const HELLO_EVERY: Duration = Duration::from_millis(250);
const WAIT: Duration = Duration::from_millis(50);
/// Probes under way when the load ends are waited for this long.
const LAST_WAIT_NS: u64 = 300_000_000;
const REFUSED_PAUSE_NS: u64 = 5_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_that_comes_twice_counts_once_and_a_foreign_one_never() {
        let mut found = Probed {
            sent: 3,
            ..Probed::default()
        };
        for sequence in [0, 2, 2, 1, 0, 3, u32::MAX] {
            let reply = Reply {
                sequence,
                sent_ns: 1000,
                server_received_ns: 2000,
                server_sent_ns: 2100,
            };
            found.note(&reply, 3000);
        }
        let latency = found.latency(Phase::Up).unwrap();
        assert_eq!((found.answered, latency.lost), (3, 0));
    }
}
