// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a peer sends never makes a session hold more than its longest document, in any phase and however it is cut.

use linerate_wire::iperf3::agent::{AgentFrames, agent_frame};
use linerate_wire::iperf3::client::{AGENT_BYTES, ClientEvent, ClientSession, Phase};
use linerate_wire::iperf3::params::Params;
use linerate_wire::iperf3::results::Results;
use linerate_wire::iperf3::server::{Limits, ServerEvent, ServerSession};
use linerate_wire::iperf3::session::Session;
use linerate_wire::iperf3::{Refusal, Timeouts};
use proptest::prelude::*;
use serde_json::json;

use crate::drive::{cookie, raw};

/// Twice the longest document and one piece: a vector doubles.
fn bound(document_bytes: u32, piece_bytes: usize) -> usize {
    2 * (document_bytes as usize + 5 + piece_bytes) + (16 << 10)
}

fn client() -> ClientSession {
    let params = Params {
        linerate: Some(raw(&json!({}))),
        ..Params::default()
    };
    let mut client = ClientSession::new(&cookie(), params, Timeouts::default(), 0);
    client.feed(&[9, 10], 0);
    assert_eq!(client.poll_event(), Some(ClientEvent::CreateStreams));
    client
}

fn server() -> ServerSession {
    let mut server = ServerSession::new(Limits::default(), Timeouts::default(), 0);
    let params = br#"{"tcp":true,"linerate":{}}"#;
    server.feed(&u32::try_from(params.len()).unwrap().to_be_bytes(), 0);
    server.feed(params, 0);
    assert!(matches!(server.poll_event(), Some(ServerEvent::Params(_))));
    server
}

/// Legal frames of `length` bytes of text, as one stream of bytes.
fn frames(lengths: &[usize]) -> Vec<u8> {
    let frame = |length: &usize| agent_frame(&"x".repeat(*length));
    lengths.iter().flat_map(frame).collect()
}

/// Feeds all pieces and takes every event; returns the most that was retained.
fn most_retained<S: Session>(session: &mut S, bytes: &[u8], piece_bytes: usize) -> usize {
    let retained = |piece: &[u8]| {
        session.feed(piece, 0);
        while session.poll_event().is_some() {}
        session.retained_bytes()
    };
    bytes.chunks(piece_bytes).map(retained).max().unwrap_or(0)
}

#[test]
fn frames_that_never_end_with_a_read_are_not_kept() {
    let bytes = frames(&[1000; 20_000]);
    let piece_bytes = 16 << 10;
    let mut client = client();
    let most = most_retained(&mut client, &bytes, piece_bytes);
    assert!(most <= 64 << 10, "{most} bytes of small frames");
    let mut server = server();
    server.create_streams(0);
    let most = most_retained(&mut server, &bytes, piece_bytes);
    assert!(most <= 64 << 10, "{most} bytes of small frames");
}

#[test]
fn a_peer_that_sends_ahead_without_end_is_refused() {
    let mut client = client();
    client.feed(&[1, 2], 0);
    assert_eq!(client.poll_event(), Some(ClientEvent::Start));
    assert_eq!(client.poll_event(), Some(ClientEvent::Running));
    client.end_test(0);
    client.feed(&[13], 0);
    assert_eq!(client.poll_event(), Some(ClientEvent::ExchangeResults));
    assert_eq!(client.phase(), Phase::Reporting, "nothing is read here");
    let most = most_retained(&mut client, &frames(&[1000; 20_000]), 16 << 10);
    assert!(most <= bound(AGENT_BYTES, 16 << 10), "{most} bytes");
    client.send_results(&Results::default(), 0);
    let event = client.poll_event();
    let refused = matches!(event, Some(ClientEvent::Violation(Refusal::TooMuch { .. })));
    assert!(refused, "{event:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_cut_makes_a_session_hold_more(
        lengths in prop::collection::vec(0_usize..20_000, 1..40),
        piece_bytes in 1_usize..20_000,
        skipped in 0_usize..4,
        decided: bool,
    ) {
        let bytes = frames(&lengths);
        let bytes = &bytes[skipped.min(bytes.len())..];
        let mut client = client();
        let most = most_retained(&mut client, bytes, piece_bytes);
        prop_assert!(most <= bound(AGENT_BYTES, piece_bytes));
        let mut server = server();
        if decided {
            server.create_streams(0);
        }
        let most = most_retained(&mut server, bytes, piece_bytes);
        prop_assert!(most <= bound(Limits::default().results_bytes, piece_bytes));
        let mut inbox = AgentFrames::new(30_000);
        for piece in bytes.chunks(piece_bytes) {
            inbox.feed(piece);
            while let Ok(Some(_)) = inbox.take() {}
            prop_assert!(inbox.retained_bytes() <= bound(30_000, piece_bytes));
        }
    }
}
