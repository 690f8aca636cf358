// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each target does with one input: no panic, and the property that its comment states.
//!
//! The corpus test of `linerate-wire` includes this file, so a target is also an ordinary test.

use linerate_wire::btf::Btf;
use linerate_wire::frame::{self, AddressRange, Arrived, Flow, Neighbours, Template};
use linerate_wire::iperf2::client_header::ClientHeader;
use linerate_wire::iperf2::datagram::{Header as Iperf2Header, has_64_bit_sequence};
use linerate_wire::iperf2::server_report::ServerReport;
use linerate_wire::iperf3::Timeouts;
use linerate_wire::iperf3::agent::{AgentFrames, agent_frame};
use linerate_wire::iperf3::client::{
    AGENT_BYTES, ClientEvent, ClientSession, Phase as ClientPhase,
};
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::iperf3::datagram::{CounterWidth, Header};
use linerate_wire::iperf3::hello as stock_hello;
use linerate_wire::iperf3::params::Params;
use linerate_wire::iperf3::results::Results;
use linerate_wire::iperf3::server::{Limits, Phase as ServerPhase, ServerEvent, ServerSession};
use linerate_wire::iperf3::session::Session;
use linerate_wire::linerate::token::{Digits, Exchange, Party, Proof, Secret};
use linerate_wire::linerate::{boot_id, hello, probe, stamp};
use linerate_wire::offload::{Request, Segments, Upper, complete};
use linerate_wire::{arp, ether, gzip, json, module, netlink, proc, tracefs};

/// A server's bytes; the first byte says how they are cut and whether the client is linerate. However they are cut,
/// the events are the same, the memory that is held stays bounded, and the session ends.
pub(crate) fn client_session(data: &[u8]) {
    let Some((mode, bytes)) = data.split_first() else {
        return;
    };
    let params = Params {
        linerate: (mode & 1 == 1)
            .then_some("{}")
            .and_then(|key| json::text(key).ok()),
        ..Params::default()
    };
    let whole = client_events(&params, bytes, bytes.len().max(1));
    let cut = client_events(&params, bytes, usize::from(mode >> 1).max(1));
    assert_eq!(whole, cut);
}

fn client_events(params: &Params, bytes: &[u8], piece: usize) -> Vec<ClientEvent> {
    let cookie = Cookie::from_random(&[7; 23]);
    let mut session = ClientSession::new(&cookie, params.clone(), Timeouts::default(), 0);
    let mut events = Vec::new();
    for bytes in bytes.chunks(piece) {
        session.feed(bytes, 0);
        client_react(&mut session, &mut events);
        let longest = AGENT_BYTES as usize;
        assert!(session.retained_bytes() <= 2 * (longest + piece) + KEPT_BYTES);
    }
    session.closed(0);
    client_react(&mut session, &mut events);
    assert_eq!(session.phase(), ClientPhase::Closed);
    events
}

fn client_react(session: &mut ClientSession, events: &mut Vec<ClientEvent>) {
    while let Some(event) = session.poll_event() {
        match &event {
            ClientEvent::Running => session.end_test(0),
            ClientEvent::ExchangeResults => session.send_results(&Results::default(), 0),
            ClientEvent::Display => session.done(),
            _ => {}
        }
        events.push(event);
    }
}

/// What a session keeps for the next message.
const KEPT_BYTES: usize = 64 << 10;

/// A client's bytes after its cookie; as `client_session`.
pub(crate) fn server_session(data: &[u8]) {
    let Some((mode, bytes)) = data.split_first() else {
        return;
    };
    let whole = server_events(bytes, bytes.len().max(1));
    let cut = server_events(bytes, usize::from(*mode).max(1));
    assert_eq!(whole, cut);
}

fn server_events(bytes: &[u8], piece: usize) -> Vec<ServerEvent> {
    let mut session = ServerSession::new(Limits::default(), Timeouts::default(), 0);
    let mut events = Vec::new();
    for bytes in bytes.chunks(piece) {
        session.feed(bytes, 0);
        server_react(&mut session, &mut events);
        let longest = Limits::default().results_bytes as usize;
        assert!(session.retained_bytes() <= 2 * (longest + piece) + KEPT_BYTES);
    }
    session.closed(0);
    server_react(&mut session, &mut events);
    assert_eq!(session.phase(), ServerPhase::Closed);
    events
}

fn server_react(session: &mut ServerSession, events: &mut Vec<ServerEvent>) {
    while let Some(event) = session.poll_event() {
        match &event {
            ServerEvent::Params(_) => {
                session.create_streams(0);
                session.start(None, 0);
            }
            ServerEvent::TestEnd => session.exchange_results(0),
            ServerEvent::ClientResults(_) => session.send_results(&Results::default(), 0),
            _ => {}
        }
        events.push(event);
    }
}

/// A peer's frames of documents, cut as the first byte says: the same documents however they are cut, and the memory that
/// is held stays bounded. What is read can be written as a frame that can be read (numbers may lose their last digits).
pub(crate) fn agent_frames(data: &[u8]) {
    let Some((piece, bytes)) = data.split_first() else {
        return;
    };
    let whole = documents_of(bytes, bytes.len().max(1));
    assert_eq!(whole, documents_of(bytes, usize::from(*piece).max(1)));
    let again: Vec<u8> = whole.iter().flat_map(agent_frame).collect();
    assert_eq!(whole.len(), documents_of(&again, again.len().max(1)).len());
}

fn documents_of(bytes: &[u8], piece: usize) -> Vec<serde_json::Value> {
    let mut frames = AgentFrames::new(LONGEST_FRAME);
    let mut documents = Vec::new();
    for bytes in bytes.chunks(piece) {
        frames.feed(bytes);
        loop {
            match frames.take() {
                Ok(Some(document)) => documents.extend(document.read::<serde_json::Value>()),
                Ok(None) => break,
                // Nothing after it can be read.
                Err(_) => return documents,
            }
        }
        let longest = LONGEST_FRAME as usize;
        assert!(frames.retained_bytes() <= 2 * (longest + piece) + KEPT_BYTES);
    }
    documents
}

const LONGEST_FRAME: u32 = 4096;

/// A peer's nonces and proofs: what was read is written as the same digits, and only the right proof is accepted.
pub(crate) fn token(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(proof) = Proof::read(&text) {
        assert!(text.eq_ignore_ascii_case(&proof.to_string()));
        let exchange = Exchange {
            cookie: Cookie::from_random(&[7; 23]),
            client: Digits([1; 32]),
            server: Digits([2; 32]),
        };
        let secret = Secret::new(b"a line that both ends know");
        let accepted = secret.map(|secret| {
            secret.accepts(&proof, Party::Client, &exchange)
                && proof != secret.prove(Party::Client, &exchange)
        });
        assert_eq!(accepted, Some(false));
    }
    let _ = Secret::new(data);
    let _ = boot_id::is_of(&text, "a boot id");
}

/// The kernel's format of a tracepoint, and packed tables of which no more than the limit is unpacked.
pub(crate) fn kernel_text(data: &[u8]) {
    let _ = tracefs::symbols(&String::from_utf8_lossy(data), "reason");
    assert!(gzip::gunzip(data, 4096).is_none_or(|unpacked| unpacked.len() <= 4096));
}

/// Parameters and results: what was read is written so that it reads the same again.
pub(crate) fn documents(data: &[u8]) {
    if let Ok(params) = Params::from_json(data) {
        assert_eq!(Params::from_json(&params.to_json()).ok(), Some(params));
    }
    if let Ok(results) = Results::from_json(data) {
        let again = Results::from_json(&results.to_json());
        assert_eq!(
            again.ok().map(|again| again.streams.len()),
            Some(results.streams.len())
        );
    }
}

/// UDP payloads of iperf3 and linerate: what was read is written as the same bytes.
pub(crate) fn datagrams(data: &[u8]) {
    assert!(!(stock_hello::is_hello(data) && stock_hello::is_reply(data)));
    for width in [CounterWidth::Bits32, CounterWidth::Bits64] {
        if let Some(header) = Header::decode(width, data) {
            let mut again = vec![0; width.header_bytes()];
            assert!(header.encode(width, &mut again) && data.starts_with(&again));
        }
    }
    assert!(hello::Hello::decode(data).is_none_or(|read| read.encode() == data));
    assert!(hello::Reply::decode(data).is_none_or(|read| read.encode() == data));
    assert!(probe::Request::decode(data).is_none_or(|read| read.encode() == data));
    if let Some(reply) = probe::Reply::decode(data) {
        assert_eq!(reply.encode(), data);
        let _ = (reply.rtt_ns(u64::MAX), reply.clock_offset_ns(0));
    }
    if let Ok(read) = stamp::Stamp::decode(data) {
        let mut again = vec![0; data.len().min(stamp::Stamp::CHECKED_LEN)];
        assert!(read.encode(&mut again) && data.get(..16) == again.get(..16));
    }
}

/// iperf2's headers and report.
pub(crate) fn iperf2(data: &[u8]) {
    let _ = has_64_bit_sequence(data);
    if let Some(header) = Iperf2Header::decode(data, true) {
        let mut again = [0; Iperf2Header::LEN];
        assert!(header.encode(&mut again) && data.starts_with(&again));
        let _ = (header.time_ns(), Iperf2Header::decode(data, false));
    }
    if let Some(header) = ClientHeader::decode(data) {
        assert_eq!(ClientHeader::decode(&header.encode()), Some(header));
        let _ = header.duration_ms();
    }
    if let Some(report) = ServerReport::decode(data) {
        let _ = report.encode();
    }
}

/// ARP in Ethernet frames: what was read is written as the same packet.
pub(crate) fn frame(data: &[u8]) {
    if let Some(packet) =
        ether::Frame::parse(data).and_then(|frame| arp::Packet::parse(frame.payload))
    {
        assert_eq!(arp::Packet::parse(&packet.encode()), Some(packet));
    }
}

/// What arrives at a port of the tester: an intact frame of ours is what its flow's template makes of its signature, but
/// for what devices rewrite; an answer has our address and asks nothing.
pub(crate) fn forwarded(data: &[u8]) {
    if let Arrived::Ours(ours) = frame::read(data)
        && ours.is_intact()
    {
        let flow = Flow {
            source_mac: [0; 6],
            destination_mac: ours.destination_mac,
            vlan: None,
            source: ours.source,
            destination: ours.destination,
            source_port: ours.source_port,
            destination_port: ours.destination_port,
            ttl: ours.ttl,
        };
        let tags = ours.vlans.iter().flatten().count() * 4;
        let size_bytes = u16::try_from(data.len() + 4 - tags).unwrap_or(u16::MAX);
        let again = Template::new(&flow, size_bytes).map(|template| {
            let mut again = template.bytes().to_vec();
            template.stamp(&mut again, &ours.signature);
            again
        });
        let payload_at = if ours.source.is_ipv4() { 42 } else { 62 };
        assert_eq!(
            again.as_deref().map(|again| &again[payload_at..]),
            Ok(&data[payload_at + tags..])
        );
    }
    let everyone = Neighbours {
        mac: [2, 0, 0, 0, 0, 1],
        vlan: None,
        own: [[0; 4].into(), [0; 16].into()]
            .map(|any| AddressRange::network(any, 0))
            .into(),
        except: Vec::new(),
    };
    if let Some(answer) = everyone.answer(data) {
        assert!(frame::resolved(&answer).is_some_and(|(_, mac)| mac == everyone.mac));
        assert_eq!(everyone.answer(&answer), None);
    }
    let _resolved = frame::resolved(data);
}

/// A request and a packet for a card: the segments hold the payload once, each with the headers.
pub(crate) fn offload(data: &[u8]) {
    let Some((header, packet)) = data.split_first_chunk() else {
        return;
    };
    let Some(request) = Request::read(header) else {
        return;
    };
    assert_eq!(Request::read(&request.encode()), Some(request));
    if let Some(mut segments) = Segments::of(packet, &request) {
        let mut frame = vec![0; packet.len()];
        let (mut count, mut bytes) = (0, 0);
        while let Some(length) = segments.write_next(&mut frame) {
            (count, bytes) = (count + 1, bytes + length);
        }
        // Each has the headers, and the payload is there once.
        let headers = (bytes - packet.len()).checked_div(count - 1).unwrap_or(0);
        assert!(segments.is_complete() && bytes == packet.len() + headers * (count - 1));
    }
    if let Some(place) = request.checksum {
        let mut frame = packet.to_vec();
        let done = complete(&mut frame, place);
        assert!(done || frame == packet);
    }
    if let Some(upper) = Upper::of(packet) {
        assert!(upper.payload.end <= packet.len() && upper.sum(packet).is_some());
        assert!(upper.ports(packet).is_some());
    }
}

/// Every reader of /proc over the same text.
pub(crate) fn proc_text(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = (
        proc::stat::parse(&text),
        proc::snmp::parse(&text),
        proc::snmp6::parse(&text),
    );
    let _ = (
        proc::netstat::parse(&text),
        proc::softnet::parse(&text),
        proc::net_dev::parse(&text),
    );
    let _ = (proc::net_udp::parse(&text), proc::meminfo::parse(&text));
    let _ = proc::net_tcp::established(&text);
    let _ = (proc::interrupts::parse(&text), proc::sockstat::parse(&text));
    let _ = (proc::schedstat::parse(&text), proc::loadavg::parse(&text));
    let _ = (
        proc::stat::parse(&text).counters(),
        proc::softnet::counters(&proc::softnet::parse(&text)),
        proc::interrupts::parse(&text).counters(|_, _| true),
    );
    let _ = (
        proc::net_stat::counters(&text),
        proc::pressure::counters(&text),
    );
}

/// A datagram of netlink: each message is read as every answer that is asked for anywhere.
pub(crate) fn netlink(data: &[u8]) {
    for message in netlink::message::messages(data) {
        let _ = message.turn();
        let payload = message.payload;
        let _ = netlink::qdisc::parse(payload).map(|qdisc| qdisc.name());
        let _ = (
            netlink::link::counters(payload),
            netlink::generic::family(payload),
        );
        let _ = (
            netlink::ethtool::statistics(payload),
            netlink::ethtool::pause(payload),
            netlink::qstats::counters(payload),
            netlink::ethtool::fec::counters(payload),
            netlink::ethtool::link_state::values(payload),
            netlink::ethtool::mse::values(payload),
            netlink::ethtool::cable::result(payload, 1),
        );
        module_memory(netlink::ethtool::eeprom::bytes(payload));
    }
}

/// A module's memory: every stretch that its first bytes ask for, of the bytes after them. No name stands twice.
fn module_memory(bytes: &[u8]) {
    let Some((identifier, rest)) = bytes.split_first() else {
        return;
    };
    let part = |stretch: &module::Stretch| {
        (
            *stretch,
            rest.iter().copied().take(stretch.bytes.into()).collect(),
        )
    };
    let parts: Vec<module::Part> = module::stretches(bytes).iter().map(part).collect();
    let values = module::values(*identifier, &parts);
    let names: std::collections::BTreeSet<_> = values.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), values.len());
}

/// A kernel's type information; whatever it says, looking something up ends.
pub(crate) fn btf(data: &[u8]) {
    let Ok(btf) = Btf::parse(data) else {
        return;
    };
    for path in ["head", "scratch", "net.inum", "cb", "nowhere"] {
        let _place = btf.member("sk_buff", path);
    }
    let _values = (btf.enumeration("reason"), btf.enumeration("signed"));
    let _arguments = (btf.tracepoint_arguments("kfree_skb"), btf.pointer_bytes());
}
