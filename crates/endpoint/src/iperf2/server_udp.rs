// SPDX-License-Identifier: MIT OR Apache-2.0
//! All UDP clients of the iperf2 server: one thread, one socket, a bounded table of flows.
//!
//! Nothing is sent but the report that answers a final datagram of a flow that was counted. A source address can be
//! forged, and iperf2 has no handshake: a source gets at most as many bytes as it sent, so that the server amplifies
//! nothing (RFC 9000 §8.1 allows three times as many).

use super::flow::{Counted, Flow};
use super::limits::{self, ClientRole};
use super::shared::Shared;
use super::slots::Slot;
use crate::server::log::RateLimited;
use linerate_linux::clock::{Wall, monotonic_ns, sleep_until_ns};
use linerate_linux::udp::{
    Datagram, Opened, Receiver, ReceiverConfig, RxMode, drops_so_far, plain, send_from,
};
use linerate_model::failure::Failure;
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
    /// Until then no flow is silent enough to make room.
    all_heard_until_ns: u64,
}

struct Entry<'a> {
    state: State<'a>,
    heard_ns: u64,
    /// Payload bytes that arrived and have not been answered.
    credit_bytes: usize,
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
                stray: RateLimited::new("ignored: a UDP datagram that begins no iperf2 test"),
                crowded: RateLimited::new("refused: too many UDP clients"),
                all_heard_until_ns: 0,
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
                    for datagram in batch {
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
            self.stray.note(source, &self.shared.log);
            return false;
        };
        if self.entries.len() >= MOST_ENTRIES && !self.evict(now_ns) {
            self.crowded.note(source, &self.shared.log);
            return false;
        }
        let state = self.admit(source.ip(), flow, now_ns);
        let state = state.unwrap_or_else(|reason| {
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

    fn admit(&mut self, client: IpAddr, mut flow: Flow, now_ns: u64) -> Result<State<'a>, String> {
        if limits::check(self.shared.options, &flow.header)? == ClientRole::Receives {
            return Err("UDP to the client (-R) is not served, only TCP is".to_owned());
        }
        let shared = self.shared;
        let slot = match shared.slots.take(client) {
            Err(_) if self.evict(now_ns) => shared.slots.take(client),
            taken => taken,
        }?;
        flow.drops_before = drops_so_far(&self.socket);
        Ok(State::Counted(Box::new(Client {
            flow,
            slot,
            report: None,
        })))
    }

    /// Where there is no room, removes the flow that has been silent for longest; false if all are heard. A flow
    /// begins without a handshake: without this, a few forged datagrams would keep everybody out for [`SILENCE_NS`].
    fn evict(&mut self, now_ns: u64) -> bool {
        if now_ns < self.all_heard_until_ns {
            return false;
        }
        let silent = |entry: &Entry<'_>| now_ns.saturating_sub(entry.heard_ns);
        let entries = self.entries.iter();
        let longest = entries.max_by_key(|(_, entry)| silent(entry));
        let Some((&source, _)) = longest.filter(|(_, entry)| silent(entry) >= CROWDED_SILENCE_NS)
        else {
            self.all_heard_until_ns = now_ns + SWEEP_NS;
            return false;
        };
        if let Some(mut entry) = self.entries.remove(&source)
            && let State::Counted(client) = &mut entry.state
            && client.report.is_none()
        {
            let counted = client.flow.break_off();
            let line = format!("ended: silent, and its slot was needed: UDP, {counted}");
            self.shared.log.limited(Some(source), &line);
        }
        true
    }

    /// Removes flows that have been silent for too long.
    fn sweep(&mut self, now_ns: u64) {
        let log = &self.shared.log;
        self.entries.retain(|source, entry| {
            let silent_ns = now_ns.saturating_sub(entry.heard_ns);
            match &mut entry.state {
                State::Counted(client) if client.report.is_none() => {
                    let stays = silent_ns < SILENCE_NS;
                    if !stays {
                        let counted = client.flow.break_off();
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
