// SPDX-License-Identifier: MIT OR Apache-2.0
//! The latency probe during a test: small datagrams on a separate socket, answered by the
//! server's responder with its own clock, so that round trip and clock offset come from the same
//! packets (the four time stamps of RFC 5905 §8).

use linerate_linux::clock::{self, Wall};
use linerate_linux::icmp::Pinger;
use linerate_linux::random;
use linerate_linux::udp::{self, Opened};
use linerate_method::clock_offset::{ClockOffset, OffsetLog};
use linerate_method::histogram::Histogram;
use linerate_method::probing::Schedule;
use linerate_method::sequence::{Arrival, SequenceAccount};
use linerate_method::slowest::Slowest;
use linerate_model::output::{Latency, Phase};
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::linerate::hello::{Hello, Kind, Reply as HelloReply};
use linerate_wire::linerate::probe::{Reply, Request};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
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
    offsets: Arc<Offsets>,
    thread: JoinHandle<Probed>,
}

/// What the answers so far show of the server's clock.
type Offsets = Mutex<OffsetLog>;

/// What the probes of one test found.
#[derive(Debug, Default)]
pub(crate) struct Probed {
    /// Round-trip times.
    pub(crate) rtt: Option<Histogram>,
    /// When each was answered, and its round-trip time.
    pub(crate) over_time: Slowest,
    /// Probes sent.
    pub(crate) sent: u64,
    /// Probes answered, each counted once however often its reply arrived.
    pub(crate) answered: u64,
    /// By ICMP echo, not by our own probe.
    pub(crate) by_echo: bool,
    /// For each probe without an answer, by number: its delays after the scheduled times that it stands for, ns.
    late: BTreeMap<u64, Vec<u64>>,
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
        let offsets = Arc::new(Offsets::default());
        let (seen, log) = (Arc::clone(&stop), Arc::clone(&offsets));
        let thread = spawn("probe", move || probe(&socket, &hello, &seen, &log))?;
        Ok(Self {
            stop,
            offsets,
            thread,
        })
    }

    /// Probes with ICMP echo requests; `None` where this user may not send them.
    pub(crate) fn echo(peer: IpAddr, bind_device: Option<&str>) -> Option<Self> {
        let pinger = Pinger::open(peer.to_canonical(), bind_device).ok()?;
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = spawn("probe", move || ping(pinger, &seen)).ok()?;
        Some(Self {
            stop,
            offsets: Arc::default(),
            thread,
        })
    }

    /// The server's clock, by the probes so far; `None` without an answer, and of echo requests.
    pub(crate) fn clock(&self) -> Option<ClockOffset> {
        self.offsets.lock().ok()?.offset()
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

    fn new(by_echo: bool) -> Self {
        Self {
            rtt: Some(Histogram::new()),
            by_echo,
            ..Self::default()
        }
    }

    /// A probe was sent at `now_ns`.
    fn note_sent(&mut self, schedule: &mut Schedule, now_ns: u64) {
        let mut late_ns = Vec::new();
        for period in schedule.sent(now_ns) {
            late_ns.push(now_ns.saturating_sub(schedule.due_in(period)));
        }
        self.late.insert(self.sent, late_ns);
        if self.late.len() > REPLY_WINDOW as usize {
            self.late.pop_first();
        }
        self.sent += 1;
    }

    /// The probe with `index` came back after `rtt_ns`: counted from each time that it stands for. False for a copy.
    fn note_answer(&mut self, index: u64, rtt_ns: u64, now_ns: u64) -> bool {
        if !self.is_first(index, now_ns) {
            return false;
        }
        self.answered += 1;
        let late = self.late.remove(&index).unwrap_or_default();
        let longest_ns = rtt_ns.saturating_add(late.iter().copied().max().unwrap_or(0));
        self.over_time.push((clock::monotonic_ns(), longest_ns));
        if let Some(rtt) = &mut self.rtt {
            late.iter()
                .for_each(|late_ns| rtt.record(rtt_ns.saturating_add(*late_ns)));
        }
        true
    }

    fn note(&mut self, reply: &Reply, t4_ns: u64, offsets: &Offsets) {
        let Some(rtt_ns) = reply.rtt_ns(t4_ns) else {
            return;
        };
        if self.note_answer(u64::from(reply.sequence), rtt_ns, t4_ns) {
            let offset_ns = reply.clock_offset_ns(t4_ns);
            if let Ok(mut log) = offsets.lock() {
                log.record(t4_ns, offset_ns, rtt_ns / 2);
            }
        }
    }

    /// The number of an echo request has 16 bits: the last one sent that ends so.
    fn note_echo(&mut self, sequence: u16, rtt_ns: u64, now_ns: u64) {
        let back = (self.sent as u16).wrapping_sub(1).wrapping_sub(sequence);
        if let Some(index) = self.sent.checked_sub(1 + u64::from(back)) {
            self.note_answer(index, rtt_ns, now_ns);
        }
    }

    /// The network may deliver a reply, or the probe before it, more than once.
    fn is_first(&mut self, index: u64, now_ns: u64) -> bool {
        let replies = self
            .replies
            .get_or_insert_with(|| SequenceAccount::new(REPLY_WINDOW));
        let arrival = (index < self.sent).then(|| replies.record(index + 1, now_ns));
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

fn probe(socket: &UdpSocket, hello: &[u8], stop: &AtomicBool, offsets: &Offsets) -> Probed {
    clock::precise_sleep();
    let mut found = Probed::new(false);
    if !introduce(socket, hello, stop) || socket.set_nonblocking(true).is_err() {
        return found;
    }
    let wall = Wall::start();
    let mut schedule = schedule();
    while !stop.load(Ordering::Relaxed) {
        listen_until(socket, &wall, schedule.due_ns(), &mut found, offsets);
        let now_ns = clock::monotonic_ns();
        let request = Request {
            sequence: u32::try_from(found.sent).unwrap_or(u32::MAX),
            sent_ns: wall.at(now_ns),
        };
        if socket.send(&request.encode()).is_ok() {
            found.note_sent(&mut schedule, now_ns);
        } else {
            schedule.missed(now_ns);
        }
    }
    let last_ns = clock::monotonic_ns() + LAST_WAIT_NS;
    while found.answered < found.sent && clock::monotonic_ns() < last_ns {
        let glance_ns = last_ns.min(clock::monotonic_ns() + EVERY_NS);
        listen_until(socket, &wall, glance_ns, &mut found, offsets);
    }
    found
}

fn ping(mut pinger: Pinger, stop: &AtomicBool) -> Probed {
    clock::precise_sleep();
    let mut found = Probed::new(true);
    let mut schedule = schedule();
    while !stop.load(Ordering::Relaxed) {
        hear_echoes(&mut pinger, schedule.due_ns(), &mut found);
        let now_ns = clock::monotonic_ns();
        if pinger.send(found.sent as u16).is_ok() {
            found.note_sent(&mut schedule, now_ns);
        } else {
            schedule.missed(now_ns);
        }
    }
    let last_ns = clock::monotonic_ns() + LAST_WAIT_NS;
    while found.answered < found.sent && clock::monotonic_ns() < last_ns {
        let glance_ns = last_ns.min(clock::monotonic_ns() + EVERY_NS);
        hear_echoes(&mut pinger, glance_ns, &mut found);
    }
    found
}

/// Probes from now on.
fn schedule() -> Schedule {
    let start_ns = clock::monotonic_ns();
    let mut seed = [0; 8];
    // Without random bytes the phases still differ from period to period.
    let _ = random::fill(&mut seed);
    Schedule::new(start_ns, EVERY_NS, u64::from_ne_bytes(seed) ^ start_ns)
}

fn hear_echoes(pinger: &mut Pinger, until_ns: u64, found: &mut Probed) {
    loop {
        let left_ns = left_to_sleep(until_ns);
        match pinger.receive(Duration::from_nanos(left_ns)) {
            Ok(Some(reply)) => found.note_echo(reply.sequence, reply.rtt_ns, reply.at_ns),
            Ok(None) if clock::monotonic_ns() >= until_ns => return,
            Ok(None) => {}
            // An ICMP error instead of an answer: the probe is lost, the next one is due soon.
            Err(_) => {
                clock::sleep_until_ns(until_ns, SPIN_NS);
                return;
            }
        }
    }
}

/// Waits this long for an answer; the rest, in which no sleep would end in time, is spent looking.
fn left_to_sleep(until_ns: u64) -> u64 {
    until_ns.saturating_sub(clock::monotonic_ns().saturating_add(SPIN_NS))
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

/// Takes answers until `until_ns`.
fn listen_until(
    socket: &UdpSocket,
    wall: &Wall,
    until_ns: u64,
    found: &mut Probed,
    offsets: &Offsets,
) {
    let mut bytes = [0; 256];
    while clock::monotonic_ns() < until_ns {
        let left = Duration::from_nanos(left_to_sleep(until_ns));
        if !left.is_zero() && !udp::readable_within(socket, left).unwrap_or(false) {
            continue;
        }
        match socket.recv(&mut bytes) {
            Ok(length) => {
                let now_ns = wall.at(clock::monotonic_ns());
                if let Some(reply) = Reply::decode(&bytes[..length]) {
                    found.note(&reply, now_ns, offsets);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::hint::spin_loop(),
            // An ICMP error: the peer's port is closed.
            Err(_) => {
                clock::sleep_until_ns(clock::monotonic_ns() + REFUSED_PAUSE_NS, 0);
            }
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
/// A sleep ends tens of microseconds late; a probe is to be sent on time.
const SPIN_NS: u64 = 60_000;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// `sent` probes, each in the period it was due in, the last one a second late.
    fn probes(sent: u64) -> (Probed, Schedule) {
        let mut found = Probed::new(false);
        let mut schedule = Schedule::new(0, 10 * MS, 3);
        for _ in 1..sent {
            let due_ns = schedule.due_ns();
            found.note_sent(&mut schedule, due_ns);
        }
        found.note_sent(&mut schedule, sent * 10 * MS + 1000 * MS - 1);
        (found, schedule)
    }

    fn reply(sequence: u32) -> Reply {
        Reply {
            sequence,
            sent_ns: 1000,
            server_received_ns: 2000,
            server_sent_ns: 2100,
        }
    }

    #[test]
    fn a_reply_that_comes_twice_counts_once_and_a_foreign_one_never() {
        let (mut found, _) = probes(3);
        let offsets = Offsets::default();
        for sequence in [0, 2, 2, 1, 0, 3, u32::MAX] {
            found.note(&reply(sequence), 3000, &offsets);
        }
        let latency = found.latency(Phase::Up).unwrap();
        assert_eq!((found.answered, latency.lost), (3, 0));
        let clock = offsets.lock().unwrap().offset().unwrap();
        assert_eq!((clock.offset_ns, clock.error_ns), (50, 950));
    }

    #[test]
    fn an_echo_that_comes_twice_counts_once() {
        let (mut found, mut schedule) = probes(1);
        for n in 0..70_000 {
            found.note_echo(n as u16, 1000, 3000);
            let due_ns = schedule.due_ns();
            found.note_sent(&mut schedule, due_ns);
        }
        let last = 69_999_u64 as u16;
        for sequence in [last, last.wrapping_sub(1), last.wrapping_add(7)] {
            found.note_echo(sequence, 1000, 3000);
        }
        assert_eq!(found.answered, 70_000);
    }

    /// What the prober itself missed is not omitted: the answer counts from each scheduled time.
    #[test]
    fn a_late_probe_is_counted_from_all_the_times_it_was_due() {
        let (mut found, _) = probes(1);
        found.note(&reply(0), 3000, &Offsets::default());
        let rtt = found.rtt.unwrap();
        assert_eq!(rtt.len(), 101);
        let shown = rtt.percentiles().unwrap();
        assert!((495 * MS..515 * MS).contains(&shown.p50), "{shown:?}");
        assert!(shown.max > 1000 * MS);
    }
}
