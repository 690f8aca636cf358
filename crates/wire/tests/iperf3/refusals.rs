// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that break, stall or abuse the protocol: each ends in one last event that says why.

use linerate_wire::iperf3::client::{ClientEvent, ClientSession, Phase as ClientPhase};
use linerate_wire::iperf3::params::Params;
use linerate_wire::iperf3::server::{Limits, Phase, ServerEvent, ServerSession};
use linerate_wire::iperf3::session::Session;
use linerate_wire::iperf3::state::State;
use linerate_wire::iperf3::{Refusal, Timeouts};
use proptest::prelude::*;
use serde_json::json;

use crate::drive::{Client, Server, converse, cookie, raw};

fn block(json: &str) -> Vec<u8> {
    let mut bytes = u32::try_from(json.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend_from_slice(json.as_bytes());
    bytes
}

/// The reason for which a server refuses those bytes after the cookie.
fn refusal(bytes: &[u8]) -> Refusal {
    let mut server = Server::new();
    server.feed(bytes);
    match server.events.last() {
        Some(ServerEvent::Refused { reason }) => reason.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_eight_mebibyte_parameter_document_is_refused_at_its_length() {
    let length = 8 << 20;
    let expected = Refusal::TooLong {
        block: "parameters",
        length,
        limit: 8192,
    };
    assert_eq!(refusal(&length.to_be_bytes()), expected);
    assert_eq!(
        expected.to_string(),
        "parameters of 8388608 bytes, the limit is 8192"
    );
}

#[test]
fn a_document_of_exactly_the_limit_is_read() {
    let padding = "x".repeat(8192 - r#"{"tcp":true,"title":""}"#.len());
    let mut server = Server::new();
    server.feed(&block(&format!(r#"{{"tcp":true,"title":"{padding}"}}"#)));
    assert_eq!(server.names(), ["Params"]);
}

#[test]
fn a_negative_length_is_refused() {
    let refused = refusal(&(-5_i32).to_be_bytes());
    assert_eq!(
        refused,
        Refusal::NegativeLength {
            block: "parameters",
            length: -5
        }
    );
}

#[test]
fn garbage_is_refused() {
    assert!(matches!(
        refusal(b"GET / HTTP/1.1\r\n"),
        Refusal::TooLong { .. }
    ));
    for json in ["", "nonsense", "[]", "{\"tcp\":", "\u{0}"] {
        assert!(
            matches!(refusal(&block(json)), Refusal::Unreadable { .. }),
            "{json}"
        );
    }
    let nested = format!("{}{}", "[".repeat(4000), "]".repeat(4000));
    let key = |name: &str| format!("{{\"{name}\":{nested}}}");
    // Our key is carried as text, which the reader has passed over with the same limit of depth.
    for name in ["time", "linerate"] {
        assert!(
            matches!(refusal(&block(&key(name))), Refusal::Unreadable { .. }),
            "{name}"
        );
    }
}

#[test]
fn an_unknown_or_misplaced_message_is_refused() {
    let mut bytes = block(r#"{"tcp":true}"#);
    bytes.push(77);
    assert!(matches!(
        refusal(&bytes),
        Refusal::UnknownMessage { byte: 77, .. }
    ));
    bytes.pop();
    bytes.push(State::TestStart.byte());
    assert!(matches!(
        refusal(&bytes),
        Refusal::UnexpectedMessage {
            state: State::TestStart,
            ..
        }
    ));
}

#[test]
fn an_agent_message_is_accepted_only_from_who_announced_it() {
    let agent = [&[32][..], &block(r#"{"type":"x"}"#)].concat();
    let stock = [block(r#"{"tcp":true}"#), agent.clone()].concat();
    assert!(matches!(
        refusal(&stock),
        Refusal::UnexpectedMessage {
            state: State::Agent,
            ..
        }
    ));

    let mut server = Server::new();
    server.feed(&[block(r#"{"tcp":true,"linerate":{"v":1}}"#), agent].concat());
    assert_eq!(
        server.events.get(1),
        Some(&ServerEvent::Agent(raw(&json!({"type": "x"}))))
    );
}

#[test]
fn an_agent_message_has_a_limit() {
    let mut bytes = block(r#"{"tcp":true,"linerate":{"v":1}}"#);
    bytes.push(32);
    bytes.extend(((16_u32 << 20) + 1).to_be_bytes());
    assert!(matches!(
        refusal(&bytes),
        Refusal::TooLong {
            block: "agent message",
            ..
        }
    ));
}

#[test]
fn a_stock_clients_results_have_a_smaller_limit() {
    let length = (2_u32 << 20).to_be_bytes();
    let stock = [block(r#"{"tcp":true}"#), vec![4], length.to_vec()].concat();
    assert!(matches!(
        refusal(&stock),
        Refusal::TooLong {
            block: "results",
            ..
        }
    ));
}

#[test]
fn a_slow_loris_has_one_deadline_for_the_whole_document() {
    let timeouts = Timeouts {
        answer_ns: 100,
        ..Timeouts::default()
    };
    let mut server = ServerSession::new(Limits::default(), timeouts, 1000);
    for (now_ns, byte) in (1001..1100).zip([0, 0, 0, 90].into_iter().chain([b' '; 95])) {
        server.feed(&[byte], now_ns);
        assert_eq!(server.poll_event(), None);
        assert_eq!(server.on_timeout(now_ns), None);
        assert_eq!(server.poll_timeout(), Some(1100));
        if now_ns == 1090 {
            break;
        }
    }
    assert_eq!(
        server.on_timeout(1100),
        Some(ServerEvent::Timeout {
            phase: Phase::AwaitingParams
        })
    );
    assert_eq!((server.poll_timeout(), server.poll_event()), (None, None));
}

/// Later than an answer: the load of the test delays it.
#[test]
fn a_message_begun_during_the_run_must_end_in_time() {
    let timeouts = Timeouts {
        answer_ns: 10,
        message_ns: 100,
        ..Timeouts::default()
    };
    let mut server = ServerSession::new(Limits::default(), timeouts, 0);
    server.feed(&block(r#"{"tcp":true,"linerate":{}}"#), 0);
    assert!(matches!(server.poll_event(), Some(ServerEvent::Params(_))));
    server.create_streams(0);
    server.start(None, 0);
    assert_eq!(server.poll_timeout(), None);
    for now_ns in [5000, 5050] {
        server.feed(&[32, 0], now_ns);
        assert_eq!(server.poll_event(), None);
        assert_eq!(server.poll_timeout(), Some(5100));
    }
    assert_eq!(
        server.on_timeout(5100),
        Some(ServerEvent::Timeout {
            phase: Phase::Running
        })
    );
}

#[test]
fn the_watchdog_of_the_run_is_the_callers() {
    let mut server = ServerSession::new(Limits::default(), Timeouts::default(), 0);
    server.feed(&block(r#"{"tcp":true}"#), 0);
    assert!(server.poll_event().is_some());
    server.create_streams(7);
    assert_eq!(
        server.poll_timeout(),
        Some(7 + Timeouts::default().streams_ns)
    );
    server.start(Some(50), 10);
    assert_eq!(server.on_timeout(59), None);
    assert_eq!(
        server.on_timeout(60),
        Some(ServerEvent::Timeout {
            phase: Phase::Running
        })
    );
}

#[test]
fn a_client_that_vanishes_or_gives_up_is_distinguished() {
    let mut server = Server::new();
    server.feed(&block(r#"{"tcp":true}"#));
    server.closed();
    let closed = ServerEvent::Closed {
        phase: Phase::Running,
    };
    assert_eq!(server.events.last(), Some(&closed));
    assert_eq!(server.names(), ["Params", "Closed"]);

    for prefix in [
        Vec::new(),
        block(r#"{"tcp":true}"#),
        [block(r#"{"tcp":true}"#), vec![4]].concat(),
    ] {
        for goodbye in [12, 16] {
            let mut server = Server::new();
            server.feed(&[&prefix[..], &[goodbye]].concat());
            assert_eq!(server.events.last(), Some(&ServerEvent::ClientTerminated));
        }
    }
}

#[test]
fn a_server_says_no_in_three_ways() {
    let end = |act: fn(&mut ServerSession)| {
        let mut server = ServerSession::new(Limits::default(), Timeouts::default(), 0);
        let _asked = server.poll_output();
        act(&mut server);
        assert_eq!(server.phase(), Phase::Closed);
        act(&mut server);
        let mut client = Client::new(&Params::default());
        client.feed(&server.poll_output().unwrap());
        client.events
    };
    assert_eq!(end(ServerSession::deny), [ClientEvent::Busy]);
    assert_eq!(
        end(ServerSession::terminate),
        [ClientEvent::ServerTerminated]
    );
    let text = "the total rate is above the server's limit";
    let error = ClientEvent::ServerError {
        code: Some(27),
        errno: Some(5),
        text,
    };
    assert_eq!(end(|server| server.error(27, 5)), [error]);
}

#[test]
fn an_old_servers_single_error_number_is_understood() {
    let expected = |code, text| {
        vec![ClientEvent::ServerError {
            code,
            errno: None,
            text,
        }]
    };
    let asks = "the server asks for a user name and password";
    for (bytes, code, text) in [
        (&[0xFE, 0, 0, 0, 142][..], Some(142), asks),
        (&[0xFE, 0, 0, 0, 142, 0, 0], Some(142), asks),
        (&[0xFE, 0], None, "the server reported an error"),
    ] {
        let mut client = Client::new(&Params::default());
        client.feed(bytes);
        assert_eq!(client.events, []);
        let mut stalled = client.session.poll_timeout().map(|deadline_ns| {
            let mut session =
                ClientSession::new(&cookie(), Params::default(), Timeouts::default(), 0);
            session.feed(bytes, 0);
            assert_eq!(session.poll_event(), None);
            session.on_timeout(deadline_ns)
        });
        client.closed();
        assert_eq!(client.events, expected(code, text));
        assert_eq!(
            stalled.take().flatten().into_iter().collect::<Vec<_>>(),
            client.events
        );
    }
}

#[test]
fn every_wait_of_the_client_has_a_deadline() {
    let replies = [&[][..], &[9], &[10], &[1, 2], &[13], &block("{}")];
    let mut session = ClientSession::new(&cookie(), Params::default(), Timeouts::default(), 0);
    for (now_ns, reply) in (1..).zip(&replies[..3]) {
        session.feed(reply, now_ns);
        while session.poll_event().is_some() {}
        assert!(
            session.poll_timeout() > Some(now_ns),
            "{:?}",
            session.phase()
        );
    }
    session.feed(replies[3], 10);
    while session.poll_event().is_some() {}
    assert_eq!(session.poll_timeout(), None);
    session.end_test(99);
    assert_eq!(
        session.poll_timeout(),
        Some(99 + Timeouts::default().results_ns)
    );
    let timeout = session.on_timeout(99 + Timeouts::default().results_ns);
    assert_eq!(
        timeout,
        Some(ClientEvent::Timeout {
            phase: ClientPhase::Ending
        })
    );
}

/// It reads its counters before it creates the streams, which takes seconds on a busy host.
#[test]
fn a_server_that_said_what_it_is_has_more_time_once() {
    let params = Params {
        linerate: Some(raw(&json!({"v": 1}))),
        ..Params::default()
    };
    let timeouts = Timeouts {
        answer_ns: 1_000,
        ..Timeouts::default()
    };
    let mut session = ClientSession::new(&cookie(), params, timeouts, 0);
    let agent = [&[32][..], &block(r#"{"type":"hello"}"#)].concat();
    session.feed(&[9], 10);
    while session.poll_event().is_some() {}
    assert_eq!(session.poll_timeout(), Some(1_010));
    let mut deadline_after = |now_ns: u64| {
        session.feed(&agent, now_ns);
        assert!(matches!(session.poll_event(), Some(ClientEvent::Agent(_))));
        while session.poll_event().is_some() {}
        session.poll_timeout()
    };
    let first = deadline_after(900);
    assert!(first > Some(10_000_000_000), "{first:?}");
    assert_eq!(deadline_after(9_000_000_000), first, "not again");
}

#[test]
fn actions_out_of_their_place_send_nothing() {
    let (mut client, mut server) = (Client::new(&Params::default()), Server::new());
    converse(&mut client, &mut server);
    client.session.end_test(0);
    client.session.done();
    client.session.terminate();
    server.session.create_streams(0);
    server.session.exchange_results(0);
    server.session.deny();
    assert_eq!(
        (client.session.poll_output(), server.session.poll_output()),
        (None, None)
    );
}

proptest! {
    #[test]
    fn garbage_never_panics_and_ends_in_one_last_event(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        linerate in any::<bool>(),
    ) {
        let params = Params { linerate: linerate.then(|| raw(&json!({}))), ..Params::default() };
        let mut client = Client::new(&params);
        client.feed(&bytes);
        client.closed();
        prop_assert_eq!(client.session.phase(), ClientPhase::Closed);
        let mut server = Server::new();
        server.feed(&bytes);
        server.closed();
        prop_assert_eq!(server.session.phase(), Phase::Closed);
        prop_assert!(!server.events.is_empty());
    }

    #[test]
    fn likely_messages_in_any_order_never_panic(
        steps in proptest::collection::vec(prop_oneof![
            (0_u8..34).prop_map(|state| vec![state]),
            Just(vec![0xFE]),
            Just(vec![0xFF]),
            Just(block(r#"{"tcp":true,"linerate":{}}"#)),
            Just(block(&serde_json::to_string(&crate::drive::results(1)).unwrap())),
            Just([&[32][..], &block("{}")].concat()),
        ], 0..12),
    ) {
        let params = Params { linerate: Some(raw(&json!({}))), ..Params::default() };
        let (mut client, mut server) = (Client::new(&params), Server::new());
        for step in &steps {
            client.feed(step);
            server.feed(step);
        }
        client.closed();
        server.closed();
        prop_assert_eq!(client.session.phase(), ClientPhase::Closed);
        prop_assert_eq!(server.session.phase(), Phase::Closed);
    }
}
