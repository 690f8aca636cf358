// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients that say they know the token, and then do not do their part: they are let go in time, take no seat, and
//! the server serves the next.

use super::{SECRET, document, file, measured};
use crate::support::Server;
use linerate_wire::iperf3::agent::{AgentFrames, agent_frame};
use linerate_wire::iperf3::cookie::Cookie;
use linerate_wire::linerate::boot_id;
use linerate_wire::linerate::token::{Digits, Exchange, Party, Secret};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

const OWN: [u8; 32] = [7; 32];

/// A connection on which the server has asked for a proof.
struct Asked {
    stream: TcpStream,
    frames: AgentFrames,
    cookie: Cookie,
    nonce: String,
}

impl Asked {
    fn by(server: &Server, cookie: u8) -> Self {
        let cookie = Cookie::from_random(&[cookie; 23]);
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.write_all(cookie.as_bytes()).unwrap();
        stream.read_exact(&mut [0]).unwrap();
        let nonce = Digits(OWN).to_string();
        let ask = json!({ "v": 1, "device": true, "nonce": nonce });
        let params = json!({ "tcp": true, "linerate": ask }).to_string();
        let length = (params.len() as u32).to_be_bytes();
        stream.write_all(&length).unwrap();
        stream.write_all(params.as_bytes()).unwrap();
        let mut asked = Self {
            stream,
            frames: AgentFrames::new(1 << 20),
            cookie,
            nonce,
        };
        let challenge = asked.hear().unwrap();
        assert_eq!(challenge["type"], "challenge");
        asked.nonce = challenge["nonce"].as_str().unwrap().to_owned();
        asked
    }

    /// The next message; `None` when the server closed.
    fn hear(&mut self) -> Option<Value> {
        loop {
            if let Some(value) = self.frames.take().unwrap() {
                return Some(value.read().unwrap());
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.frames.feed(&bytes[..count]),
            }
        }
    }

    fn say(&mut self, bytes: &[u8]) {
        // It may have closed already.
        let _ = self.stream.write_all(bytes);
    }

    fn proof(&self) -> String {
        let exchange = Exchange {
            cookie: self.cookie,
            client: Digits(OWN),
            server: Digits::read(&self.nonce).unwrap(),
        };
        let secret = Secret::new(SECRET.as_bytes()).unwrap();
        secret.prove(Party::Client, &exchange).to_string()
    }

    fn prove(&mut self, proof: &str) {
        self.say(&agent_frame(&json!({ "type": "proof", "proof": proof })));
    }
}

fn server(name: &str, more: &str) -> (Server, PathBuf) {
    let file = file(name, SECRET);
    let flag = format!("--token-file {} {more}", file.display());
    (Server::ours(&flag), file)
}

fn assert_serves(server: &Server) {
    let output = measured(server, &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_proof_is_of_one_connection_and_one_test() {
    let (server, _file) = server("once", "");
    let mut first = Asked::by(&server, 1);
    let proof = first.proof();
    first.prove(&proof);
    let hello = first.hear().unwrap();
    assert_eq!(hello["token"], "accepted");
    assert_ne!(hello["proof"], Value::String(proof.clone()));
    // Heard on the wire, and said again: with the same cookie and nonce, or the server's own proof.
    let own = hello["proof"].as_str().unwrap().to_owned();
    for (cookie, said) in [(1, &proof), (2, &proof), (1, &own)] {
        let mut again = Asked::by(&server, cookie);
        again.prove(said);
        let hello = again.hear().unwrap();
        assert_eq!(hello["token"], "refused");
        assert_eq!(hello["proof"], Value::Null, "nothing to try guesses on");
        assert_eq!(hello["host"]["hostname"], Value::Null);
    }
}

#[test]
fn garbage_instead_of_a_proof_is_refused_and_the_next_is_served() {
    let (server, _file) = server("garbage", "");
    let beat = agent_frame(&json!({ "type": "beat" }));
    for garbage in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[32, 0xFF, 0xFF, 0xFF, 0xFF],
        &[0; 64],
        &[4],
        &[12],
        &beat,
        &agent_frame(&json!([])),
    ] {
        let mut asked = Asked::by(&server, 3);
        asked.say(garbage);
        assert_eq!(asked.hear(), None, "{garbage:?}");
    }
    for unproven in ["", "no digits", &"00".repeat(32), &"0".repeat(4000)] {
        let mut asked = Asked::by(&server, 3);
        asked.prove(unproven);
        assert_eq!(asked.hear().unwrap()["token"], "refused");
    }
    assert_serves(&server);
}

/// Who is asked and keeps silent, or says it byte by byte, holds no seat, and is let go.
#[test]
fn who_never_proves_is_let_go_and_holds_no_seat() {
    let (server, _file) = server("slow", "--max-tests 1");
    let mut silent: Vec<Asked> = (10..20).map(|cookie| Asked::by(&server, cookie)).collect();
    let mut slow = Asked::by(&server, 4);
    let proof = json!({ "type": "proof", "proof": slow.proof() });
    let whole = agent_frame(&proof);
    slow.say(&whole[..1]);
    assert_serves(&server);
    slow.say(&whole[1..2]);
    assert!(silent.iter_mut().all(|asked| asked.hear().is_none()));
    assert_eq!(slow.hear(), None);
    server.await_line("no proof of the token within 5 s");
    assert_serves(&server);
}

#[test]
fn an_unauthenticated_client_sees_that_it_is_one_machine_and_not_which() {
    let (server, _file) = server("unauthenticated", "");
    let ours = linerate_linux::host::boot_id().unwrap();
    let mut client = Asked::by(&server, 4);
    client.prove("no digits");
    let hello = client.hear().unwrap();
    let theirs = hello["host"]["boot_id"].as_str().unwrap();
    assert!(boot_id::is_of(theirs, &ours), "{theirs}");
    assert!(!hello.to_string().contains(&ours), "{hello}");
    let document = document(&measured(&server, &["--json"]));
    for host in document["hosts"].as_array().unwrap() {
        assert_eq!(
            host["boot_id"],
            ours.as_str(),
            "one machine, and known as such"
        );
    }
}
