// SPDX-License-Identifier: MIT OR Apache-2.0
//! Client and server against each other, and each against any cutting of the other's bytes.

use linerate_wire::iperf3::client::{ClientEvent, Phase};
use linerate_wire::iperf3::params::Params;
use linerate_wire::iperf3::server::ServerEvent;
use linerate_wire::iperf3::session::Session;
use proptest::prelude::*;
use serde_json::json;

use crate::drive::{Client, Heard, Server, converse, raw};

const CLIENT: [&str; 6] = [
    "CreateStreams",
    "Start",
    "Running",
    "ExchangeResults",
    "PeerResults",
    "Display",
];

fn tests() -> Vec<Params> {
    let tcp = Params {
        tcp: true,
        ..Params::default()
    };
    let udp = Params {
        udp: true,
        udp_counters_64bit: true,
        parallel: Some(4),
        ..Params::default()
    };
    vec![
        tcp.clone(),
        Params {
            reverse: true,
            ..udp.clone()
        },
        Params {
            bidirectional: true,
            ..tcp
        },
        Params {
            linerate: Some(raw(&json!({"v": 1}))),
            ..udp
        },
    ]
}

#[test]
fn a_stock_conversation_goes_through_every_state() {
    for params in &tests()[..3] {
        let (mut client, mut server) = (Client::new(params), Server::new());
        converse(&mut client, &mut server);
        assert_eq!(client.names(), CLIENT);
        assert_eq!(
            server.names(),
            ["Params", "TestEnd", "ClientResults", "Done"]
        );
        assert_eq!(
            server.events[0],
            ServerEvent::Params(Box::new(params.clone()))
        );
        assert_eq!(client.session.phase(), Phase::Closed);
        assert_eq!(client.session.poll_timeout(), None);
        assert_eq!(server.session.poll_timeout(), None);
    }
}

#[test]
fn two_linerates_exchange_agent_messages_before_and_after_the_run() {
    let (mut client, mut server) = (Client::new(&tests()[3]), Server::new());
    converse(&mut client, &mut server);
    let expected = [
        "Agent",
        "CreateStreams",
        "Start",
        "Running",
        "Agent",
        "ExchangeResults",
        "PeerResults",
        "Display",
    ];
    assert_eq!(client.names(), expected);
    assert_eq!(
        server.names(),
        ["Params", "TestEnd", "Agent", "ClientResults", "Done"]
    );
}

#[test]
fn nothing_of_the_extension_is_sent_to_a_stock_peer() {
    let (mut client, mut server) = (Client::new(&tests()[0]), Server::new());
    client.session.agent(&json!({"type": "hello"}));
    let heard = converse(&mut client, &mut server);
    assert!(!heard.from_server.contains(&32) && !heard.from_client.contains(&32));
}

#[test]
fn results_arrive_as_sent_with_the_streams_numbered_1_3_4() {
    let (mut client, mut server) = (Client::new(&tests()[1]), Server::new());
    converse(&mut client, &mut server);
    let Some(ClientEvent::PeerResults(results)) = client.events.get(4) else {
        panic!("{:?}", client.events);
    };
    let ids: Vec<i64> = results.streams.iter().map(|stream| stream.id).collect();
    assert_eq!(ids, [1, 3, 4, 5]);
}

#[test]
fn start_and_running_are_one_write_and_so_are_length_and_document() {
    let (mut client, mut server) = (Client::new(&tests()[0]), Server::new());
    let _cookie = client.session.poll_output();
    client.feed(&[9]);
    let params = client.session.poll_output().unwrap();
    assert_eq!(usize::from(params[3]) + 4, params.len());
    let _asked = server.session.poll_output();
    server.feed(&params);
    assert_eq!(server.session.poll_output(), Some(vec![10, 1, 2]));
}

#[test]
fn agent_messages_may_stand_where_results_are_awaited() {
    let params = tests().swap_remove(3);
    let (mut client, mut server) = (Client::new(&params), Server::new());
    let heard = converse(&mut client, &mut server);
    let agent = [&[32, 0, 0, 0, 2][..], b"{}"].concat();

    let mut client = Client::new(&params);
    client.feed(&before_results(&heard.from_server, &agent));
    let names = client.names();
    assert_eq!(
        names[5..],
        ["ExchangeResults", "Agent", "PeerResults", "Display"]
    );

    let mut server = Server::new();
    server.feed(&before_results(&heard.from_client, &agent));
    assert_eq!(
        server.names()[2..],
        ["Agent", "Agent", "ClientResults", "Done"]
    );
}

/// The bytes of one side with some put in before the length of its results.
fn before_results(bytes: &[u8], inserted: &[u8]) -> Vec<u8> {
    let document = b"{\"cpu_util_total\"";
    let at = bytes
        .windows(document.len())
        .position(|window| window == document)
        .unwrap()
        - 4;
    [&bytes[..at], inserted, &bytes[at..]].concat()
}

fn recorded(which: usize) -> (Params, Heard, Vec<ClientEvent>, Vec<ServerEvent>) {
    let params = tests().swap_remove(which);
    let (mut client, mut server) = (Client::new(&params), Server::new());
    let heard = converse(&mut client, &mut server);
    (params, heard, client.events, server.events)
}

proptest! {
    #[test]
    fn any_cutting_of_the_bytes_gives_the_same_events(
        which in 0_usize..4,
        cuts in proptest::collection::vec(1_usize..40, 0..200),
    ) {
        let (params, heard, client_events, server_events) = recorded(which);
        let (mut client, mut server) = (Client::new(&params), Server::new());
        for piece in pieces(&heard.from_server, &cuts) {
            client.feed(piece);
        }
        for piece in pieces(&heard.from_client, &cuts) {
            server.feed(piece);
        }
        prop_assert_eq!(client.events, client_events);
        prop_assert_eq!(server.events, server_events);
    }

    #[test]
    fn any_cutting_of_a_damaged_conversation_gives_the_same_events_and_an_end(
        which in 0_usize..4,
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cuts in proptest::collection::vec(1_usize..9, 0..50),
    ) {
        let (params, mut heard, ..) = recorded(which);
        let at_client = at.index(heard.from_server.len());
        heard.from_server[at_client] = byte;
        let at_server = at.index(heard.from_client.len());
        heard.from_client[at_server] = byte;

        let (mut whole, mut cut) = (Client::new(&params), Client::new(&params));
        whole.feed(&heard.from_server);
        pieces(&heard.from_server, &cuts).for_each(|piece| cut.feed(piece));
        whole.closed();
        cut.closed();
        prop_assert_eq!(whole.events, cut.events);
        prop_assert_eq!(whole.session.phase(), Phase::Closed);

        let (mut whole, mut cut) = (Server::new(), Server::new());
        whole.feed(&heard.from_client);
        pieces(&heard.from_client, &cuts).for_each(|piece| cut.feed(piece));
        whole.closed();
        cut.closed();
        prop_assert_eq!(&whole.events, &cut.events);
        prop_assert!(whole.session.poll_timeout().is_none());
    }
}

/// Cuts bytes into pieces of the given lengths, then single bytes.
fn pieces<'a>(bytes: &'a [u8], cuts: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = bytes;
    let mut cuts = cuts.iter();
    std::iter::from_fn(move || {
        let length = cuts.next().copied().unwrap_or(1).min(rest.len());
        let (piece, left) = rest.split_at(length);
        rest = left;
        (!piece.is_empty()).then_some(piece)
    })
}
