// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the fuzz corpora of bytes and documents through their targets.

#[expect(clippy::disallowed_methods, reason = "the corpora are files")]
#[path = "../../../fuzz/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/targets.rs"]
mod targets;

#[test]
fn client_session() {
    corpus::run("client_session", targets::client_session);
}

#[test]
fn server_session() {
    corpus::run("server_session", targets::server_session);
}

#[test]
fn documents() {
    corpus::run("documents", targets::documents);
}

#[test]
fn datagrams() {
    corpus::run("datagrams", targets::datagrams);
}

#[test]
fn iperf2() {
    corpus::run("iperf2", targets::iperf2);
}

#[test]
fn frame() {
    corpus::run("frame", targets::frame);
}

#[test]
fn forwarded() {
    corpus::run("forwarded", targets::forwarded);
}

#[test]
fn offload() {
    corpus::run("offload", targets::offload);
}

#[test]
fn btf() {
    corpus::run("btf", targets::btf);
}

#[test]
fn proc_text() {
    corpus::run("proc_text", targets::proc_text);
}

#[test]
fn netlink() {
    corpus::run("netlink", targets::netlink);
}

#[test]
fn agent_frames() {
    corpus::run("agent_frames", targets::agent_frames);
}

#[test]
fn token() {
    corpus::run("token", targets::token);
}

#[test]
fn kernel_text() {
    corpus::run("kernel_text", targets::kernel_text);
}
