// SPDX-License-Identifier: MIT OR Apache-2.0
//! What sends to a tap, and what to a veth. A tap refuses a frame while its queue is full, which AF_XDP in copy mode does not
//! report of frames that go when the receiving thread waits in poll(2).

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::bench::forward;
use crate::turns::Turn;

#[test]
fn a_tap_gets_its_frames_from_the_backend_that_reports_each_refusal() {
    let Some(document) = between_taps() else {
        return;
    };
    let kinds = document["hosts"][0]["interfaces"].as_array().unwrap();
    assert!(kinds.iter().all(|one| one["link_kind"] == "tap"));
    for port in ports(&document) {
        assert_eq!(port["send_backend"], "af_packet_mmsg", "{port}");
        assert_eq!(port["not_used"], Value::Array(Vec::new()), "{port}");
    }
}

/// The choice is only for taps: any other port gets the first backend that works.
#[test]
fn a_veth_gets_its_frames_by_af_xdp_unless_the_kernel_refuses_it() {
    let Some(ran) = forward("veth-backend", &format!("--lab bridge {LEAST}")) else {
        return;
    };
    for port in ports(&ran.document) {
        let sends_by_xdp = port["send_backend"]
            .as_str()
            .is_some_and(|name| name.starts_with("af_xdp"));
        let refused = port["not_used"].as_array().unwrap();
        assert!(sends_by_xdp || !refused.is_empty(), "{port}");
    }
}

fn ports(document: &Value) -> Vec<Value> {
    let ports = document["forward"]["ports"].as_array().unwrap().clone();
    assert_eq!(ports.len(), 2);
    ports
}

/// The result of a run between two taps in a namespace; `None`, and a printed line, where this machine has none of these.
fn between_taps() -> Option<Value> {
    let _turn = Turn::together();
    let relay = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/measured/forward/relay.py");
    let run = std::env::temp_dir().join(format!("linerate-tap-{}", std::process::id()));
    let _absent = std::fs::remove_dir_all(&run);
    let mut unshare = Command::new("unshare");
    unshare
        .args(["--user", "--map-root-user", "--net", "python3"])
        .arg(relay)
        .arg(env!("CARGO_BIN_EXE_linerate"))
        .args(["forward", "tap0", "tap1", "--json", "-o"])
        .arg(&run)
        .args(LEAST.split_whitespace())
        .stdin(Stdio::null());
    let output = match unshare.output() {
        Ok(output) => output,
        Err(why) => return skipped(&why.to_string()),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let is_impossible = output.status.code() == Some(NO_TAPS)
        || ["unshare: ", "python3: "]
            .iter()
            .any(|from| said.starts_with(from));
    if is_impossible {
        return skipped(&said);
    }
    let document = serde_json::from_slice(&output.stdout);
    Some(document.unwrap_or_else(|why| panic!("{why}: {said}")))
}

fn skipped(why: &str) -> Option<Value> {
    println!("skipped: a tester between two taps: {}", why.trim());
    None
}

/// Enough to open both ports and send something.
const LEAST: &str =
    "--sizes 64 --profile quick --trial 0.1 --goal ndr --max-load 100pps --time-limit 2";
/// The status of the relay where it cannot make taps.
const NO_TAPS: i32 = 77;
