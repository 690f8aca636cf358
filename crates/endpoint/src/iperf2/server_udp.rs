// SPDX-License-Identifier: MIT OR Apache-2.0
//! All UDP clients of the iperf2 server: one thread, one socket, a bounded table of flows.
//!
//! Nothing is sent but the report that answers a final datagram of a flow that was counted. A source address can be
//! forged, and iperf2 has no handshake: a source gets at most as many bytes as it sent, so that the server amplifies
//! nothing (RFC 9000 §8.1 allows three times as many).

use super::flow::{Counted, Flow};
use super::limits::{self, ClientRole};
use super::shared::Shared;
use super::slots::{Full, Slot};
use crate::plan::Direction;
use crate::server::log::RateLimited;
use crate::server::metrics::{Kind, Refusal};
use linerate_linux::clock::{Wall, monotonic_ns, sleep_until_ns};
use linerate_linux::udp::{
    Datagram, Opened, Receiver, ReceiverConfig, RxMode, drops_so_far, plain, send_from,
};
use linerate_model::failure::Failure;
use linerate_model::output::Protocol;
use linerate_wire::iperf2::server_report::ServerReport;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

/// The flows and their socket.
pub(super) struct Flows<'a> {
    receiver: Receiver,
    table: Table<'a>,
}

struct Table<'a> {
    shared: &'a Shared<'a>,
    socket: UdpSocket,
    wall: Wall,
    entries: HashMap<SocketAddr, Entry<'a>>,
    stray: RateLimited,
    crowded: RateLimited,
    /// Before these times no flow can be evicted, by what is needed.
    none_until_ns: [u64; 3],
}

struct Entry<'a> {
    state: State<'a>,
    heard_ns: u64,
    /// Payload bytes that arrived and have not been answered.
    credit_bytes: usize,
}

/// What a new client lacks.
#[derive(Debug, Clone, Copy)]
enum Room {
    /// An entry in the table.
    Entry,
    Stream,
    Test,
}

enum State<'a> {
    Counted(Box<Client<'a>>),
    Refused,
}

struct Client<'a> {
    flow: Flow,
    slot: Slot<'a>,
    /// The answer to every final datagram, once the first has come.
    report: Option<[u8; ServerReport::LEN]>,
}

impl<'a> Flows<'a> {
    /// Prepares the socket.
    pub(super) fn new(shared: &'a Shared<'a>, opened: Opened) -> Result<Self, Failure> {
        let failure = |error| Failure::measuring("prepare the UDP socket", error);
        let socket = opened.socket.try_clone().map_err(failure)?;
        let config = ReceiverConfig {
            addresses: true,
            ..ReceiverConfig::new(CAPTURE_BYTES, BATCH, RxMode::Mmsg)
        };
        Ok(Self {
            receiver: Receiver::new(opened.socket.into(), config).map_err(failure)?,
            table: Table {
                shared,
                socket,
                wall: Wall::start(),
                entries: HashMap::new(),
                stray: RateLimited::new(
                    "ignored: a UDP datagram that does not begin an iperf2 test",
                ),
                crowded: RateLimited::new("refused: too many UDP clients"),
                none_until_ns: [0; 3],
            },
        })
    }

    /// Serves until the server stops.
    pub(super) fn serve(mut self) {
        let mut swept_ns = monotonic_ns();
        while !self.table.shared.stop.is_set() {
            match self.receiver.receive(WAIT) {
                Ok(batch) => {
                    let now_ns = monotonic_ns();
                    for datagram in batch.iter() {
                        self.table.take(&datagram, now_ns);
                    }
                }
                // A socket that fails at once must not burn the processor.
                Err(_) => drop(sleep_until_ns(monotonic_ns() + PAUSE_NS, 0)),
            }
            let now_ns = monotonic_ns();
            if now_ns >= swept_ns + SWEEP_NS {
                self.table.sweep(now_ns);
                swept_ns = now_ns;
            }
        }
        self.table.close();
    }
}

impl Entry<'_> {
    fn has_slot(&self) -> bool {
        matches!(self.state, State::Counted(_))
    }
}

impl<'a> Table<'a> {
    fn take(&mut self, datagram: &Datagram<'_>, now_ns: u64) {
        let (Some(source), Some(local)) = (datagram.source.map(plain), datagram.local) else {
            return;
        };
        self.make_way(source, datagram);
        if !self.entries.contains_key(&source) && !self.enter(source, datagram, now_ns) {
            return;
        }
        let Some(entry) = self.entries.get_mut(&source) else {
            return;
        };
        entry.heard_ns = now_ns;
        entry.credit_bytes = entry.credit_bytes.saturating_add(datagram.length);
        let State::Counted(client) = &mut entry.state else {
            return;
        };
        if client.report.is_none()
            && let Some(counted) = client.flow.take(datagram, &self.wall, now_ns)
        {
            client.report = Some(counted.report.encode());
            client.slot.finish();
            let metrics = &self.shared.metrics;
            metrics.end(KIND, true);
            metrics.count(KIND.0, &counted.totals());
            self.shared
                .log
                .limited(Some(source), &done(client, &counted, &self.socket));
        }
        if let Some(report) = &client.report
            && client.flow.is_final(datagram)
            && let Some(left_bytes) = entry.credit_bytes.checked_sub(report.len())
        {
            entry.credit_bytes = left_bytes;
            // The client repeats its final datagram if a report is lost.
            let _ = send_from(&self.socket, report, source, local);
        }
    }

    /// Removes the finished flow of a client that begins its next test from the same port.
    fn make_way(&mut self, source: SocketAddr, datagram: &Datagram<'_>) {
        let over = |entry: &Entry<'_>| match &entry.state {
            State::Counted(client) => client.report.is_some() && client.flow.is_first(datagram),
            State::Refused => false,
        };
        if self.entries.get(&source).is_some_and(over) {
            self.entries.remove(&source);
        }
    }

    /// Makes an entry for an unknown client; false if its datagram begins no test.
    fn enter(&mut self, source: SocketAddr, datagram: &Datagram<'_>, now_ns: u64) -> bool {
        let Some(flow) = Flow::begin(datagram, now_ns) else {
            self.shared.metrics.refuse(Refusal::Hello);
            self.stray.note(source, &self.shared.log);
            return false;
        };
        if self.entries.len() >= MOST_ENTRIES && !self.evict(Room::Entry, now_ns) {
            self.shared.metrics.refuse(Refusal::Busy);
            self.crowded.note(source, &self.shared.log);
            return false;
        }
        let state = self.admit(source.ip(), flow, now_ns);
        let state = state.unwrap_or_else(|(why, reason)| {
            self.shared.metrics.refuse(why);
            let line = format!("refused: {reason}");
            self.shared.log.limited(Some(source), &line);
            State::Refused
        });
        let entry = Entry {
            state,
            heard_ns: now_ns,
            credit_bytes: 0,
        };
        self.entries.insert(source, entry);
        true
    }

    fn admit(
        &mut self,
        client: IpAddr,
        mut flow: Flow,
        now_ns: u64,
    ) -> Result<State<'a>, (Refusal, String)> {
        let role = limits::check(self.shared.options, &flow.header);
        if role.map_err(|reason| (Refusal::Limit, reason))? == ClientRole::Receives {
            let reason = "UDP to the client (-R) is not served, only TCP is";
            return Err((Refusal::Limit, reason.to_owned()));
        }
        let shared = self.shared;
        let slot = loop {
            let full = match shared.slots.take(client) {
                Ok(slot) => break slot,
                Err(full) => full,
            };
            let room = match full {
                Full::Tests(_) => Room::Test,
                Full::Streams(_) => Room::Stream,
            };
            if !self.evict(room, now_ns) {
                return Err((Refusal::Busy, full.to_string()));
            }
        };
        flow.drops_before = drops_so_far(&self.socket);
        shared.metrics.begin(KIND);
        Ok(State::Counted(Box::new(Client {
            flow,
            slot,
            report: None,
        })))
    }

    /// Makes `room` by removing what has been silent for longest; false if nothing that occupies it is silent. A flow
    /// begins without a handshake: without this, a few forged datagrams would keep everybody out for [`SILENCE_NS`].
    fn evict(&mut self, room: Room, now_ns: u64) -> bool {
        let none_until_ns = self.none_until_ns.get(room as usize);
        if none_until_ns.is_some_and(|until_ns| now_ns < *until_ns) {
            return false;
        }
        let gone = match room {
            Room::Entry => self.longest_silent(now_ns, |_| true),
            Room::Stream => self.longest_silent(now_ns, Entry::has_slot),
            Room::Test => self.silent_client(now_ns),
        };
        if let Some(until_ns) = self.none_until_ns.get_mut(room as usize)
            && gone.is_empty()
        {
            *until_ns = now_ns + SWEEP_NS;
        }
        gone.iter().for_each(|source| self.remove(*source));
        !gone.is_empty()
    }

    /// The flow that has been silent for longest, of those that occupy what is needed.
    fn longest_silent(&self, now_ns: u64, occupies: fn(&Entry<'a>) -> bool) -> Vec<SocketAddr> {
        let entries = self.entries.iter().filter(|(_, entry)| occupies(entry));
        let longest = entries.min_by_key(|(_, entry)| entry.heard_ns);
        let silent = longest.filter(|(_, entry)| is_silent(entry.heard_ns, now_ns));
        silent.map(|(source, _)| *source).into_iter().collect()
    }

    /// All flows of the address that has been silent for longest and has no TCP stream, which would keep its test.
    fn silent_client(&self, now_ns: u64) -> Vec<SocketAddr> {
        let mut clients: HashMap<IpAddr, (u64, Vec<SocketAddr>)> = HashMap::new();
        for (source, entry) in self.entries.iter().filter(|(_, entry)| entry.has_slot()) {
            let (heard_ns, flows) = clients.entry(source.ip()).or_default();
            *heard_ns = entry.heard_ns.max(*heard_ns);
            flows.push(*source);
        }
        clients.retain(|client, (heard_ns, flows)| {
            is_silent(*heard_ns, now_ns) && self.shared.slots.streams_of(*client) == flows.len()
        });
        let longest = clients.into_values().min_by_key(|(heard_ns, _)| *heard_ns);
        longest.map_or_else(Vec::new, |(_, flows)| flows)
    }

    fn remove(&mut self, source: SocketAddr) {
        if let Some(mut entry) = self.entries.remove(&source)
            && let State::Counted(client) = &mut entry.state
            && client.report.is_none()
        {
            let counted = client.flow.break_off();
            self.shared.metrics.end(KIND, false);
            let line = format!(
                "ended: silent for {} s while other clients wait: UDP, {counted}",
                CROWDED_SILENCE_NS / 1_000_000_000
            );
            self.shared.log.limited(Some(source), &line);
        }
    }

    /// Removes flows that have been silent for too long.
    fn sweep(&mut self, now_ns: u64) {
        let (log, metrics) = (&self.shared.log, &self.shared.metrics);
        self.entries.retain(|source, entry| {
            let silent_ns = now_ns.saturating_sub(entry.heard_ns);
            match &mut entry.state {
                State::Counted(client) if client.report.is_none() => {
                    let stays = silent_ns < SILENCE_NS;
                    if !stays {
                        let counted = client.flow.break_off();
                        metrics.end(KIND, false);
                        let line = format!(
                            "ended: silent for {} s, no final datagram: UDP, {counted}",
                            SILENCE_NS / 1_000_000_000
                        );
                        log.limited(Some(*source), &line);
                    }
                    stays
                }
                State::Counted(_) | State::Refused => silent_ns < LINGER_NS,
            }
        });
    }

    /// Logs the flows that still run when the server stops.
    fn close(&mut self) {
        for (source, entry) in &mut self.entries {
            if let State::Counted(client) = &mut entry.state
                && client.report.is_none()
            {
                let counted = client.flow.break_off();
                let line = format!("ended: this server was stopped: UDP, {counted}");
                self.shared.log.line(Some(*source), &line);
            }
        }
    }
}

/// Whether it may make room for others.
const fn is_silent(heard_ns: u64, now_ns: u64) -> bool {
    now_ns.saturating_sub(heard_ns) >= CROWDED_SILENCE_NS
}

fn done(client: &Client<'_>, counted: &Counted, socket: &UdpSocket) -> String {
    let before = client.flow.drops_before;
    let drops = drops_so_far(socket)
        .zip(before)
        .map_or(0, |(now, before)| now.wrapping_sub(before));
    // All flows share the socket: the drops belong to any of them.
    let drops = match drops {
        0 => String::new(),
        drops => format!("; meanwhile this server's socket dropped {drops} datagrams"),
    };
    format!("done: UDP, {counted}{drops}")
}

/// What all flows are.
const KIND: Kind = (Protocol::Udp, Direction::Up);
/// The longest wait before the stop sign is looked at again.
const WAIT: Duration = Duration::from_millis(100);
/// After an error of the socket.
const PAUSE_NS: u64 = 50_000_000;
/// Between two looks at who has left.
const SWEEP_NS: u64 = 100_000_000;
/// A client that is silent for this long has gone: 1470 bytes at 1 kbit/s take 12 s.
const SILENCE_NS: u64 = 15_000_000_000;
/// The same, while others wait.
const CROWDED_SILENCE_NS: u64 = 2_000_000_000;
/// Late final datagrams are waited for as long.
const LINGER_NS: u64 = 2_000_000_000;
/// Clients in the table, refused ones and those that are over included.
const MOST_ENTRIES: usize = 1024;
/// Sequence, time and the client's header.
const CAPTURE_BYTES: usize = 96;
const BATCH: usize = 64;
