// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes that no agent and no asker says, both ways.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use linerate_forward::Device;

use super::{OURS, behind, served, trial};
use crate::support::Server;

#[test]
fn a_command_that_is_no_agent_is_refused_with_what_it_did() {
    for (command, why) in [
        ("true", "its command has ended"),
        ("echo Welcome to the router", "unexpected answer"),
        ("yes", "unexpected answer"),
        ("head -c 10000000 /dev/zero", "unexpected answer"),
        ("printf ' \\377\\377\\377\\377'", "unexpected answer"),
        ("/nonexistent/agent", "its command has ended"),
    ] {
        let refused = behind(command).unwrap_err();
        assert!(refused.contains(why), "{command}: {refused}");
    }
}

/// The hello is a good one, and then it is cut off, or goes on with something else.
#[test]
fn an_agent_that_breaks_off_in_the_middle_costs_no_trial() {
    for rest in ["dd bs=1 count=60000", "{ dd bs=1 count=60000; yes; }"] {
        // Hello and settings of a host may be shorter or longer than that.
        let Ok(device) = behind(&format!("{OURS} agent --stdio | {rest} 2>/dev/null")) else {
            continue;
        };
        while trial(&device).is_some() {}
        assert!(device.take_warning().is_some(), "{rest}");
    }
}

#[test]
fn an_agent_refuses_what_is_no_request() {
    let mut child = Command::new(OURS)
        .args(["agent", "--stdio"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may refuse before all is written.
    let _ = child.stdin.take().unwrap().write_all(&[b'x'; 100_000]);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(3));
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(said.contains("\"type\":\"error\""), "{said}");
}

/// Unauthenticated clients that ask for ever are few, and take no place of a test.
#[test]
fn who_asks_for_long_keeps_no_test_away() {
    let server = Server::ours("");
    let ask = || served(&server);
    let mut asking: Vec<Device> = (0..4).map(|_| ask().unwrap()).collect();
    let refused = ask().unwrap_err().to_string();
    assert!(refused.contains("too many testers"), "{refused}");
    let port = server.port.to_string();
    let test = Command::new(OURS)
        .args(["tcp", "127.0.0.1", "-n", "10K", "-p", &port])
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    assert_eq!(test.status.code(), Some(0), "{test:?}");
    asking.truncate(3);
    server.await_line("read as a device under test");
    assert!(ask().is_ok());
}

#[test]
fn a_server_ends_a_device_that_talks_nonsense_and_serves_the_next() {
    let server = Server::ours("");
    for nonsense in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[32, 0x7F, 0xFF, 0xFF, 0xFF],
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.write_all(&[b'a'; 36]).unwrap();
        stream.write_all(&[0]).unwrap();
        let mut state = [0];
        stream.read_exact(&mut state).unwrap();
        assert_eq!(state, [9], "send the parameters");
        let params = br#"{"tcp":true,"linerate":{"v":1,"device":true}}"#;
        stream
            .write_all(&(params.len() as u32).to_be_bytes())
            .unwrap();
        stream.write_all(params).unwrap();
        stream.read_exact(&mut state).unwrap();
        assert_eq!(state, [32], "its hello");
        stream.write_all(nonsense).unwrap();
        let mut said = Vec::new();
        // What it had not read may make it a reset.
        let _ = stream.read_to_end(&mut said);
        assert!(said.len() < 1 << 20);
    }
    server.await_line("while waiting for an agent's message");
    server.await_line("agent message of 2147483647 bytes");
    let device = served(&server).unwrap();
    assert!(trial(&device).is_some());
}
