// SPDX-License-Identifier: MIT OR Apache-2.0
//! No way to the server, or somebody else at its end.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use super::process::{linerate, run, serve, shell};
use super::verdict::{error, failed};

/// Ends with 3 and tells these words in its error.
fn refused(line: &str, words: &[&str]) {
    let document = failed(&run(linerate(line)), 3);
    let reported = error(&document);
    for word in words {
        assert!(reported.contains(word), "{line}: no {word:?} in {reported}");
    }
    assert!(
        !document["error"]["try"].as_str().unwrap().is_empty(),
        "{reported}"
    );
    assert_eq!(document["tests"].as_array().unwrap().len(), 0);
}

#[test]
fn nobody_listens() {
    let port = crate::support::free_port();
    refused(
        &format!("udp 127.0.0.1 -p {port} --json"),
        &["refused", "linerate serve"],
    );
    refused(
        &format!("check 127.0.0.1 -p {port} --json"),
        &["refused", "linerate serve"],
    );
    refused(
        &format!("sweep 127.0.0.1 -p {port} --json"),
        &["refused", "linerate serve"],
    );
}

/// An address without a host, and a firewall that drops: in the lab, where both are certain.
#[test]
fn nobody_answers() {
    let hostless = "lab -- linerate tcp 198.18.0.77 --connect-timeout 1s --json";
    let document = failed(&run(linerate(hostless)), 3);
    // A machine that is busy for seconds sees the neighbour's failure before its own time-out.
    let reported = error(&document);
    let silent =
        reported.contains("no answer within 1000 ms") && reported.contains("ping 198.18.0.77");
    assert!(
        silent || reported.contains("No route to host"),
        "{reported}"
    );
    if run(shell("nft --version")).code() != Some(0) {
        return eprintln!("skipped: no nft(8)");
    }
    let rule = "nft add table inet t; nft add chain inet t out \"{ type filter hook output priority 0; }\"; nft add rule inet t out tcp dport 5201 drop";
    let ended = run(shell(&format!(
        "exec $LINERATE lab -- sh -c '{rule}; exec $LINERATE tcp {{peer}} --connect-timeout 1s --json'"
    )));
    let document = failed(&ended, 3);
    assert!(
        error(&document).contains("no answer within 1000 ms"),
        "{}",
        error(&document)
    );
    assert!(
        error(&document).contains("firewall"),
        "{}",
        error(&document)
    );
}

#[test]
fn a_firewall_that_eats_udp_and_passes_tcp() {
    let ended = run(linerate(
        "lab --fault nft-drop=1 -- linerate udp {peer} -b 5M --json",
    ));
    if ended.stderr.contains("cannot inject a fault") {
        return eprintln!("skipped: {}", ended.stderr);
    }
    let document = failed(&ended, 3);
    let reported = error(&document);
    assert!(
        reported.contains("TCP works, but no UDP") && reported.contains("firewalls"),
        "{reported}"
    );
}

#[test]
fn a_name_that_nobody_knows() {
    refused(
        "tcp no-such-host.invalid --json",
        &["resolve no-such-host.invalid", "getent hosts"],
    );
}

#[test]
fn an_address_of_the_other_family() {
    refused("tcp 127.0.0.1 -6 --json", &["127.0.0.1", "family"]);
}

#[test]
fn local_ends_that_are_not_here() {
    let (_server, port) = serve();
    refused(
        &format!("tcp 127.0.0.1 -p {port} --bind 192.0.2.1 --json"),
        &["192.0.2.1", "ip addr"],
    );
    refused(
        &format!("udp 127.0.0.1 -p {port} --bind-dev nosuch0 --json"),
        &["nosuch0", "ip link"],
    );
    refused(
        &format!("tcp 127.0.0.1 -p {port} -C nosuch --json"),
        &["nosuch", "tcp_available_congestion_control"],
    );
}

#[test]
fn a_port_that_is_taken() {
    let (_server, port) = serve();
    let ended = run(linerate(&format!("serve --bind 127.0.0.1 -p {port}")));
    assert_eq!(ended.code(), Some(3));
    for word in [
        format!("cannot listen on TCP port {port}"),
        "in use".into(),
        "try: ss -ltnp".into(),
    ] {
        assert!(ended.stderr.contains(&word), "{word}: {}", ended.stderr);
    }
    let ended = run(linerate("serve --bind 192.0.2.1"));
    assert_eq!(ended.code(), Some(3));
    assert!(
        ended.stderr.contains("192.0.2.1") && ended.stderr.contains("ip addr"),
        "{}",
        ended.stderr
    );
}

/// Something else has the port.
#[test]
fn servers_that_speak_another_protocol() {
    let web = other_server(|mut client| {
        let mut request = [0; 512];
        let _ = client.read(&mut request);
        let _ = client.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        let _ = client.read(&mut request);
    });
    refused(
        &format!("tcp 127.0.0.1 -p {web} --json"),
        &["not iperf3's protocol", "iperf3 or linerate"],
    );
    let shell = other_server(|mut client| {
        let _ = client.write_all(b"SSH-2.0-OpenSSH_9.6\r\n");
        let mut rest = Vec::new();
        let _ = client.read_to_end(&mut rest);
    });
    refused(
        &format!("udp 127.0.0.1 -p {shell} --json"),
        &["not iperf3's protocol", "iperf3 or linerate"],
    );
    let hasty = other_server(drop);
    refused(
        &format!("tcp 127.0.0.1 -p {hasty} --json"),
        &["closed the connection"],
    );
    let silent = other_server(|mut client| {
        let mut rest = Vec::new();
        let _ = client.read_to_end(&mut rest);
    });
    refused(
        &format!("tcp 127.0.0.1 -p {silent} --connect-timeout 1s --json"),
        &["no message from the server", "listens on port"],
    );
}

/// A server that treats each connection so, until the tests end.
fn other_server(treat: impl Fn(TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || listener.incoming().flatten().for_each(treat));
    port
}
