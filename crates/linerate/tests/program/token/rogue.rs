// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers that say they know the token, and do not.

use linerate_diagnose::dut;
use linerate_forward::Device;
use linerate_linux::signal::Interrupt;
use linerate_model::output::Withheld;
use linerate_wire::iperf3::agent::{AgentFrames, agent_frame};
use linerate_wire::linerate::token::Secret;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// What the client said of itself: its nonce, and (if it was asked) its proof.
struct Heard {
    nonce: String,
    proof: Option<String>,
}

fn next(stream: &mut TcpStream, frames: &mut AgentFrames) -> Value {
    loop {
        if let Some(value) = frames.take().unwrap() {
            return value.read().unwrap();
        }
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "the client went away");
        frames.feed(&bytes[..count]);
    }
}

/// The beginning of a conversation: the parameters.
fn met(stream: &mut TcpStream) -> Heard {
    let mut cookie = [0; 37];
    stream.read_exact(&mut cookie).unwrap();
    stream.write_all(&[9]).unwrap();
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut params = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut params).unwrap();
    let params: Value = serde_json::from_slice(&params).unwrap();
    let nonce = params["linerate"]["nonce"].as_str().unwrap().to_owned();
    Heard { nonce, proof: None }
}

/// What a client that knows the token comes to think of a server that behaves like this.
fn judged(
    challenge: impl Fn(&Heard) -> Option<String> + Send + 'static,
    proof: impl Fn(&Heard) -> Option<String> + Send + 'static,
) -> Device {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = met(&mut stream);
        let mut frames = AgentFrames::new(1 << 20);
        let say =
            |value: Value, stream: &mut TcpStream| stream.write_all(&agent_frame(&value)).unwrap();
        if let Some(nonce) = challenge(&heard) {
            say(json!({ "type": "challenge", "nonce": nonce }), &mut stream);
            let answer = next(&mut stream, &mut frames);
            heard.proof = Some(answer["proof"].as_str().unwrap().to_owned());
        }
        let host = json!({ "role": "local", "hostname": "trust-me", "kernel": "6.6.6", "cpus": 1 });
        say(
            json!({ "type": "hello", "version": "9", "host": host, "token": "accepted", "proof": proof(&heard) }),
            &mut stream,
        );
        let asked = next(&mut stream, &mut frames);
        let settings = json!([{ "host": "local", "source": "sysctl", "values": { "a": "b" } }]);
        say(
            json!({ "type": "settings", "settings": settings }),
            &mut stream,
        );
        say(json!({ "type": "done", "id": asked["id"] }), &mut stream);
    });
    let secret = Secret::new(super::SECRET.as_bytes()).unwrap();
    let device = Device::served(
        "127.0.0.1",
        port,
        Some(&secret),
        dut::moved,
        &Interrupt::default(),
    )
    .unwrap();
    server.join().unwrap();
    device
}

#[test]
fn an_impostor_is_not_believed() {
    let mirror = |heard: &Heard| Some(heard.nonce.clone());
    let impostors = [
        judged(|_| None, |_| None),
        judged(|_| None, |heard| Some(heard.nonce.clone())),
        judged(mirror, |heard| heard.proof.clone()),
        judged(|_| Some("ab".repeat(32)), |heard| heard.proof.clone()),
        judged(
            |_| Some("ab".repeat(32)),
            |_| Some("no proof at all".to_owned()),
        ),
    ];
    for device in impostors {
        let host = device.host();
        assert_eq!(host.withheld, Some(Withheld::Unproven));
        assert_eq!((host.hostname, host.kernel), (None, None), "not its word");
        assert_eq!(device.settings(), []);
        let warning = device.take_warning().unwrap();
        assert!(warning.contains("does not know the token"), "{warning}");
    }
}
