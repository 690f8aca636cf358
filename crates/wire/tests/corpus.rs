// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the fuzz corpora through their targets, whole, cut short at every length, and with one bit of each byte changed
//! in turn.
#![expect(clippy::disallowed_methods, reason = "the corpora are files")]
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;

#[path = "../../../fuzz/targets.rs"]
mod targets;

#[test]
fn client_session() {
    run("client_session", targets::client_session);
}

#[test]
fn server_session() {
    run("server_session", targets::server_session);
}

#[test]
fn documents() {
    run("documents", targets::documents);
}

#[test]
fn datagrams() {
    run("datagrams", targets::datagrams);
}

#[test]
fn iperf2() {
    run("iperf2", targets::iperf2);
}

#[test]
fn frame() {
    run("frame", targets::frame);
}

#[test]
fn forwarded() {
    run("forwarded", targets::forwarded);
}

#[test]
fn btf() {
    run("btf", targets::btf);
}

#[test]
fn proc_text() {
    run("proc_text", targets::proc_text);
}

#[test]
fn netlink() {
    run("netlink", targets::netlink);
}

/// Every input of the folder, its beginnings and its neighbours.
fn run(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(name);
    let mut inputs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let mut input = std::fs::read(entry.unwrap().path()).unwrap();
        (0..=input.len())
            .rev()
            .for_each(|length| target(&input[..length]));
        for at in 0..input.len() {
            input[at] ^= 1 << (at % 8);
            target(&input);
            input[at] ^= 1 << (at % 8);
        }
        inputs += 1;
    }
    assert!(inputs >= 2, "{name}: {inputs} inputs");
}
