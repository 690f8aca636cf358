// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers that call themselves linerate and tell more than anybody asked for: the client keeps what
//! the test calls for, and its memory and disk.

use super::raw::{Fake, RESULTS, TEST_END, byte, read_block, send_block};
use crate::support::{Said, our_client};
use linerate_model::output::Host;
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::thread::JoinHandle;

const AGENT: u8 = 32;

/// A client of one TCP stream, and the control connection of its running test.
fn running() -> (JoinHandle<Said>, TcpStream, TcpStream) {
    let fake = Fake::new();
    let port = fake.port;
    let client = std::thread::spawn(move || {
        our_client(port, "tcp", "-t 1 -i 100ms -b 1M --connect-timeout 2s")
    });
    let mut control = fake.accept();
    control.write_all(&[9]).unwrap();
    read_block(&mut control);
    let host = Host {
        cpus: Some(u32::MAX),
        ..Host::default()
    };
    let hello = json!({ "type": "hello", "version": "9", "host": host });
    control.write_all(&frame(&hello)).unwrap();
    control.write_all(&[10]).unwrap();
    let data = fake.accept();
    control.write_all(&[1, 2]).unwrap();
    (client, control, data)
}

fn frame(message: &Value) -> Vec<u8> {
    let json = message.to_string().into_bytes();
    let length = u32::try_from(json.len()).unwrap().to_be_bytes();
    [&[AGENT][..], &length, &json].concat()
}

/// The next state; the client's own messages before it are skipped.
fn await_state(control: &mut TcpStream, state: u8) {
    loop {
        match byte(control) {
            AGENT => drop(read_block(control)),
            other => return assert_eq!(other, state),
        }
    }
}

#[test]
fn a_server_that_tells_without_end_is_heard_as_long_as_it_may() {
    let (client, mut control, _data) = running();
    let three = json!([{ "bytes": 5 }, { "bytes": 6 }, { "bytes": 7 }]);
    let intervals = frame(&json!({ "type": "interval", "sent": three, "received": three }));
    let sample = json!({ "host": "remote", "t_ns": 1, "source": "flood", "counters": { "x": 1 } });
    let samples = frame(&json!({ "type": "samples", "samples": [sample] }));
    // Of the first second, but no counter grows so.
    for (t_ns, drops) in [(1, 5), (1_000_000_000, u64::MAX)] {
        let lie = json!({ "host": "local", "t_ns": t_ns, "source": "/proc/net/snmp",
            "counters": { "UdpRcvbufErrors": drops, "UdpInErrors": 7 } });
        let lie = json!({ "type": "samples", "samples": [lie] });
        control.write_all(&frame(&lie)).unwrap();
    }
    for _ in 0..5000 {
        control.write_all(&intervals).unwrap();
        control.write_all(&samples).unwrap();
    }
    await_state(&mut control, TEST_END);
    control.write_all(&[13]).unwrap();
    read_block(&mut control);
    let rx = json!({ "bytes": 1000, "mode": "copy", "duration_ns": 1_000_000_000 });
    let account = json!({ "streams": [{ "id": 1, "rx": rx }] });
    let results = RESULTS.replacen('{', &format!(r#"{{"linerate":{account},"#), 1);
    send_block(&mut control, &results);
    control.write_all(&[14]).unwrap();
    await_state(&mut control, 16);
    let said = client.join().unwrap();
    assert!(said.success, "{}", said.text);
    let test = &said.json["tests"][0];
    let warned = test["warnings"].as_array().unwrap();
    let excess = warned.iter().find(|one| one["id"] == "far-end-excess");
    assert!(excess.is_some(), "{warned:?}");
    let impossible = warned.iter().find(|one| one["id"] == "impossible-reports");
    let named = impossible.map_or(String::new(), |one| one["text"].to_string());
    for part in [
        "4294967295 processors",
        "UdpRcvbufErrors +1844674407370955161",
    ] {
        assert!(named.contains(part), "{named}");
    }
    assert_eq!(said.json["hosts"][1]["cpus"], Value::Null);
    let reported = test["intervals"].as_array().unwrap().len();
    assert!((10..1000).contains(&reported), "{reported} intervals");
    // Over the longer of the two ends' times.
    let delivered = test["delivered_bits_per_second"].as_f64().unwrap();
    assert!(delivered > 0.0 && delivered <= 8000.0, "{test}");
    let directory = said.json["run_dir"].as_str().unwrap();
    let stored = std::fs::read_to_string(format!("{directory}/samples.jsonl")).unwrap();
    assert!(!stored.contains("18446744073709551615") && stored.contains("UdpInErrors"));
    let flood = stored.lines().filter(|line| line.contains("flood")).count();
    assert!((1..1000).contains(&flood), "{flood} samples");
}

#[test]
fn a_message_without_measure_ends_the_test_and_names_the_server() {
    let (client, mut control, _data) = running();
    // Behind the first interval, so that something was measured.
    let interval = json!({ "type": "interval", "sent": [], "received": [{ "bytes": 5 }] });
    control.write_all(&frame(&interval)).unwrap();
    control.write_all(&[AGENT, 0, 16, 0, 1]).unwrap();
    let said = client.join().unwrap();
    assert!(!said.success, "{}", said.text);
    let error = said.json["error"].to_string();
    assert!(error.contains("127.0.0.1:"), "{error}");
    assert!(
        error.contains("agent message of 1048577 bytes, the limit is 1048576"),
        "{error}"
    );
    let intervals = &said.json["tests"][0]["intervals"];
    assert!(!intervals.as_array().unwrap().is_empty(), "{}", said.text);
    assert_eq!(said.json["partial"], true);
}
