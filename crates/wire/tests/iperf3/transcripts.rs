// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stock versions really said drives our sessions to the same end as the real peer did.

use std::path::Path;

use linerate_wire::iperf3::client::ClientEvent;
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::iperf3::datagram::Header;
use linerate_wire::iperf3::hello;
use linerate_wire::iperf3::params::{Params, Protocol};
use linerate_wire::iperf3::results::Results;
use linerate_wire::iperf3::server::ServerEvent;
use linerate_wire::iperf3::stream_id;
use serde_json::json;

use crate::drive::{Client, Server, raw};

const CLIENT: [&str; 6] = [
    "CreateStreams",
    "Start",
    "Running",
    "ExchangeResults",
    "PeerResults",
    "Display",
];
const SERVER: [&str; 4] = ["Params", "TestEnd", "ClientResults", "Done"];

#[test]
fn a_recorded_client_drives_our_server() {
    for transcript in whole_tests() {
        let mut server = Server::new();
        for piece in transcript.after_cookie() {
            server.feed(&piece);
        }
        server.closed();
        assert_eq!(server.names(), SERVER, "{}", transcript.name);
        let Some(ServerEvent::ClientResults(results)) = server.events.get(2) else {
            unreachable!()
        };
        check_results(&transcript, results);
    }
}

#[test]
fn a_recorded_server_drives_our_client_whether_or_not_it_announces_itself() {
    for transcript in whole_tests() {
        for linerate in [None, Some(raw(&json!({"v": 1})))] {
            let params = Params {
                linerate,
                ..transcript.params()
            };
            let mut client = Client::new(&params);
            transcript
                .control("S")
                .iter()
                .for_each(|piece| client.feed(piece));
            assert_eq!(client.names(), CLIENT, "{}", transcript.name);
            let Some(ClientEvent::PeerResults(results)) = client.events.get(4) else {
                unreachable!()
            };
            check_results(&transcript, results);
        }
    }
}

#[test]
fn recorded_bytes_fed_one_by_one_give_the_same() {
    for transcript in whole_tests() {
        let (mut client, mut server) = (Client::new(&transcript.params()), Server::new());
        for byte in transcript.control("S").concat() {
            client.feed(&[byte]);
        }
        for byte in transcript.after_cookie().concat() {
            server.feed(&[byte]);
        }
        assert_eq!(
            (client.names(), server.names()),
            (owned(&CLIENT), owned(&SERVER)),
            "{}",
            transcript.name
        );
    }
}

#[test]
fn recorded_parameters_say_what_the_command_line_said() {
    for transcript in whole_tests() {
        let params = transcript.params();
        let (version, test) = transcript.version_and_test();
        assert_eq!(
            params.client_version.as_deref(),
            Some(version),
            "{}",
            transcript.name
        );
        let udp = params.protocol() == Protocol::Udp;
        assert_eq!(udp, test.starts_with("udp"), "{}", transcript.name);
        assert_eq!(
            params.reverse,
            test.ends_with("reverse"),
            "{}",
            transcript.name
        );
        assert_eq!(
            params.bidirectional,
            test.ends_with("bidir"),
            "{}",
            transcript.name
        );
        assert_eq!(
            params.udp_counters_64bit,
            test.ends_with("64bit"),
            "{}",
            transcript.name
        );
        let streams = if matches!(test, "tcp" | "udp-64bit" | "tcp-bidir" | "udp-bidir") {
            2
        } else {
            1
        };
        assert_eq!(params.streams_total(), streams, "{}", transcript.name);
        assert_eq!(
            params.omit_s,
            Some(u64::from(test == "tcp-omit")),
            "{}",
            transcript.name
        );
        if udp {
            let asked = (params.len_bytes, params.bandwidth_bits_per_second);
            assert_eq!(asked, (Some(1000), Some(2_000_000)), "{}", transcript.name);
        }
    }
}

#[test]
fn recorded_cookies_are_plausible() {
    for transcript in all() {
        let bytes = transcript.control("C").concat();
        let cookie = Cookie::from_wire(*bytes.first_chunk().unwrap());
        assert!(cookie.is_plausible(), "{}", transcript.name);
    }
}

#[test]
fn recorded_datagrams_are_understood() {
    for transcript in whole_tests()
        .into_iter()
        .filter(|transcript| transcript.name.contains("-udp"))
    {
        let params = transcript.params();
        for stream in 0..params.streams_total() {
            let [asked, answered] =
                ["c", "s"].map(|side| transcript.datagrams(&format!("{side}{stream}")));
            assert!(hello::is_hello(&asked[0].1), "{}", transcript.name);
            assert!(hello::is_reply(&answered[0].1), "{}", transcript.name);
            let data = if asked.len() > 1 {
                &asked[1..]
            } else {
                &answered[1..]
            };
            for (sequence, (length, start)) in (1..).zip(data) {
                let header = Header::decode(params.counter_width(), start).unwrap();
                assert_eq!(
                    (*length, header.sequence),
                    (1000, sequence),
                    "{}",
                    transcript.name
                );
                assert!(header.microseconds < 1_000_000, "{}", transcript.name);
            }
            assert_eq!(data.len(), 2, "{}", transcript.name);
        }
    }
}

#[test]
fn an_interrupted_peer_is_distinguished_from_a_broken_one() {
    for transcript in all() {
        if transcript.name.contains("server-interrupted") {
            let mut client = Client::new(&transcript.params());
            client.ends_test = false;
            transcript
                .control("S")
                .iter()
                .for_each(|piece| client.feed(piece));
            client.closed();
            assert_eq!(
                client.events.last(),
                Some(&ClientEvent::ServerTerminated),
                "{}",
                transcript.name
            );
        }
        if transcript.name.contains("client-interrupted") {
            let mut server = Server::new();
            transcript
                .after_cookie()
                .iter()
                .for_each(|piece| server.feed(piece));
            server.closed();
            assert_eq!(
                server.events.last(),
                Some(&ServerEvent::ClientTerminated),
                "{}",
                transcript.name
            );
        }
    }
}

#[test]
fn a_busy_server_is_distinguished() {
    for transcript in all() {
        if transcript.name.ends_with("busy") {
            let mut client = Client::new(&Params::default());
            transcript
                .control("S")
                .iter()
                .for_each(|piece| client.feed(piece));
            assert_eq!(client.events, [ClientEvent::Busy], "{}", transcript.name);
        }
    }
}

#[test]
fn the_servers_own_report_comes_with_its_results() {
    for transcript in whole_tests() {
        let mut client = Client::new(&transcript.params());
        transcript
            .control("S")
            .iter()
            .for_each(|piece| client.feed(piece));
        let Some(ClientEvent::PeerResults(results)) = client.events.get(4) else {
            unreachable!()
        };
        let asked = transcript.params().get_server_output;
        let text = results.server_output_text.as_deref();
        assert_eq!(
            text.is_some_and(|text| text.contains("receiver") || text.contains("sec")),
            asked
        );
        assert_eq!(
            transcript.name.ends_with("output"),
            asked,
            "{}",
            transcript.name
        );
    }
}

fn check_results(transcript: &Transcript, results: &Results) {
    let streams = u32::try_from(transcript.params().streams_total()).unwrap();
    let ids: Vec<i64> = results.streams.iter().map(|stream| stream.id).collect();
    assert_eq!(
        ids,
        (0..streams).map(stream_id::from_index).collect::<Vec<_>>(),
        "{}",
        transcript.name
    );
    assert!(
        results.streams.iter().all(|stream| stream.bytes > 0),
        "{}",
        transcript.name
    );
    assert!(results.cpu_total_percent > 0.0, "{}", transcript.name);
}

struct Transcript {
    name: String,
    lines: Vec<String>,
}

impl Transcript {
    /// What one side wrote on the control connection, as it arrived.
    fn control(&self, side: &str) -> Vec<Vec<u8>> {
        let of_side = self
            .lines
            .iter()
            .filter_map(|line| line.strip_prefix(side)?.strip_prefix(' '));
        of_side
            .filter(|text| *text != "end")
            .map(from_hex)
            .collect()
    }

    fn after_cookie(&self) -> Vec<Vec<u8>> {
        let mut pieces = self.control("C");
        pieces[0].drain(..Cookie::LEN);
        pieces
    }

    /// Length and first bytes of the datagrams of one side of one stream.
    fn datagrams(&self, prefix: &str) -> Vec<(usize, Vec<u8>)> {
        let of_side = self
            .lines
            .iter()
            .filter_map(|line| line.strip_prefix(prefix)?.strip_prefix(' '));
        let parts = of_side.filter_map(|text| text.split_once(' '));
        parts
            .map(|(length, hex)| (length.parse().unwrap(), from_hex(hex)))
            .collect()
    }

    fn params(&self) -> Params {
        let mut server = Server::new();
        self.after_cookie()
            .iter()
            .for_each(|piece| server.feed(piece));
        match server.events.into_iter().next() {
            Some(ServerEvent::Params(params)) => *params,
            other => panic!("{}: {other:?}", self.name),
        }
    }

    fn version_and_test(&self) -> (&str, &str) {
        self.name.split_once('-').unwrap()
    }
}

fn whole_tests() -> Vec<Transcript> {
    let mut transcripts = all();
    transcripts.retain(|transcript| {
        !transcript.name.ends_with("interrupted") && !transcript.name.ends_with("busy")
    });
    transcripts
}

/// Every file of the folder: six versions, thirteen tests (3.1.7: eleven).
fn all() -> Vec<Transcript> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut transcripts = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let lines = std::fs::read_to_string(&path)
                .unwrap()
                .lines()
                .map(str::to_owned)
                .collect();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            transcripts.push(Transcript { name, lines });
        }
    }
    assert_eq!(transcripts.len(), 76);
    transcripts
}

fn from_hex(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
