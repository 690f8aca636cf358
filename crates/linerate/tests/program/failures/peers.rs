// SPDX-License-Identifier: MIT OR Apache-2.0
//! The other end vanishes: killed, frozen, or behind a link that goes down.

use std::process::Command;

use super::process::{Running, below, linerate, run, serve, shell, signal, start};
use super::verdict::{accounted, broken_off, error, intervals};

const INTERVAL: &str = "bit/s";
/// Ctrl-S and Ctrl-Q.
const PAUSE: u8 = 0x13;
const GO_ON: u8 = 0x11;

/// What this end counted until then is there, and why it ended.
fn without_a_server(words: &str, name: &str, reasons: &[&str]) {
    let (server, port) = serve();
    let line = format!(
        "{} -t 120 -i 100ms --json",
        words.replace("HOST", &format!("127.0.0.1 -p {port}"))
    );
    let mut client = start(linerate(&line));
    client.wait_for_traffic(3);
    server.signal(name);
    let document = broken_off(&client.end(), 3);
    let reported = error(&document);
    assert!(
        reasons.iter().any(|reason| reported.contains(reason)),
        "{line}: {reported}"
    );
    assert!(
        !document["error"]["try"].as_str().unwrap().is_empty(),
        "{reported}"
    );
    let test = &document["tests"][0];
    assert!(intervals(test).len() >= 3, "{line}: {test:#}");
    assert_eq!(test["valid"], false, "{line}");
    let rate = if words.contains("-R") {
        "delivered_bits_per_second"
    } else {
        "offered_bits_per_second"
    };
    assert!(
        test[rate].as_f64().is_some_and(|rate| rate > 0.0),
        "{line}: {test:#}"
    );
}

#[test]
fn a_server_that_is_killed_in_udp() {
    without_a_server("udp HOST -b 5M", "KILL", &["closed the connection"]);
}

#[test]
fn a_server_that_is_killed_in_udp_reverse() {
    without_a_server("udp HOST -R -b 5M", "KILL", &["closed the connection"]);
}

#[test]
fn a_server_that_is_killed_in_tcp() {
    without_a_server("tcp HOST -b 50M", "KILL", &["closed the connection"]);
}

#[test]
fn a_server_that_is_killed_in_tcp_reverse() {
    without_a_server("tcp HOST -R -b 50M", "KILL", &["closed the connection"]);
}

/// Its kernel still acknowledges, and nothing says that it is gone but its silence.
#[test]
fn a_server_that_freezes_in_udp() {
    without_a_server("udp HOST -b 5M", "STOP", &["no message from the server"]);
}

#[test]
fn a_server_that_freezes_in_udp_reverse() {
    without_a_server("udp HOST -R -b 5M", "STOP", &["no message from the server"]);
}

#[test]
fn a_server_that_freezes_in_tcp() {
    without_a_server(
        "tcp HOST -b 50M",
        "STOP",
        &["no message from the server", "closed the connection"],
    );
}

/// No reset, no ICMP: the frames just do not arrive.
#[test]
fn a_link_that_goes_down_at_the_far_end() {
    for words in ["udp {peer} -b 5M", "tcp {peer} -R -b 50M"] {
        let Some(client) = in_a_lab(words) else {
            return;
        };
        turn_link(&client, "serve", "down");
        let document = broken_off(&client.end(), 3);
        let reported = error(&document);
        assert!(reported.contains("or the link down?"), "{reported}");
        let test = &document["tests"][0];
        assert!(intervals(test).len() >= 3, "{words}: {test:#}");
    }
}

#[test]
fn an_interface_of_this_host_that_goes_down() {
    for words in ["udp {peer} -b 5M", "tcp {peer} -b 50M"] {
        let Some(client) = in_a_lab(words) else {
            return;
        };
        turn_link(&client, "--json", "down");
        let document = broken_off(&client.end(), 3);
        let test = &document["tests"][0];
        assert!(intervals(test).len() >= 3, "{words}: {test:#}");
    }
}

/// A pause that is shorter than the patience is an event of the measurement, not its end.
#[test]
fn a_link_that_comes_back_costs_datagrams_only() {
    let Some(mut client) = in_a_lab("udp {peer} -b 5M") else {
        return;
    };
    turn_link(&client, "serve", "down");
    let reported = client.stderr().matches(INTERVAL).count();
    client.wait_for(INTERVAL, reported + 5);
    turn_link(&client, "serve", "up");
    client.wait_for(INTERVAL, reported + 20);
    client.signal("INT");
    let document = broken_off(&client.end(), 130);
    accounted(&document["tests"][0]);
    assert!(document["tests"][0]["lost_packets"].as_u64().unwrap() > 0);
}

/// A client in a lab that has printed some intervals; none where there is no link to turn off.
fn in_a_lab(words: &str) -> Option<Running> {
    if run(shell("ip -Version && nsenter --version")).code() != Some(0) {
        eprintln!("skipped: no ip(8) or nsenter(1)");
        return None;
    }
    let line = format!("lab -- linerate {words} -t 600 -i 100ms --json");
    let mut client = start(linerate(&line));
    client.wait_for("lab: ", 1);
    if skipped(&client.stderr()) {
        return None;
    }
    client.wait_for_traffic(4);
    Some(client)
}

/// Turns the link of the host in which a process of the lab runs whose command line has `word`.
fn turn_link(lab: &Running, word: &str, way: &str) {
    let pid = *below(lab.pid(), word)
        .last()
        .expect("a process in the host");
    let user = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/user")).unwrap();
    let credentials = if user(&pid.to_string()) == user("self") {
        ""
    } else {
        "-U --preserve-credentials"
    };
    let turned = run(shell(&format!(
        "nsenter -t {pid} {credentials} -n ip link set eth0 {way}"
    )));
    assert_eq!(turned.code(), Some(0), "{}", turned.stderr);
}

/// The server frees a test whose client is gone, says so, and serves the next.
#[test]
fn a_client_that_is_killed_is_noticed() {
    for words in [
        "udp HOST -b 5M",
        "udp HOST -R -b 5M",
        "tcp HOST",
        "tcp HOST -R",
    ] {
        let (mut server, port) = serve();
        let words = words.replace("HOST", &format!("127.0.0.1 -p {port}"));
        let mut client = start(linerate(&format!("{words} -t 120 -i 100ms --json")));
        client.wait_for(INTERVAL, 2);
        let client = client;
        client.signal("KILL");
        server.wait_for("the client disconnected", 1);
        let again = run(linerate(&format!(
            "udp 127.0.0.1 -p {port} -b 5M -k 150 --json"
        )));
        assert_eq!(again.code(), Some(0), "{words}: {}", again.stderr);
        assert_eq!(
            threads(server.pid()),
            2,
            "{words}: the accepting one and the greeter"
        );
    }
}

/// Stopped, all of them: their kernels still acknowledge, and only their silence tells.
#[test]
fn clients_that_freeze_are_noticed_and_freed() {
    let (mut server, port) = serve();
    let words = [
        "udp HOST -b 5M",
        "udp HOST -R -b 5M",
        "tcp HOST -b 50M",
        "tcp HOST -R -b 50M",
        "tcp HOST --bidir -b 50M",
    ];
    let frozen = words.map(|words| {
        let words = words.replace("HOST", &format!("127.0.0.1 -p {port}"));
        let mut client = start(linerate(&format!("{words} -t 600 -i 100ms --json")));
        client.wait_for(INTERVAL, 2);
        client.signal("STOP");
        client
    });
    server.wait_for(": ended: no message from the client for ", frozen.len());
    assert_eq!(
        threads(server.pid()),
        2,
        "the accepting one and the greeter"
    );
}

/// A pause that is shorter than the patience is an event of the measurement, not its end.
#[test]
fn a_client_that_pauses_goes_on() {
    let (mut server, port) = serve();
    let line = format!("udp 127.0.0.1 -p {port} -b 5M -i 100ms --json");
    let mut witness = start(linerate(&format!("{line} -t 600")));
    let mut client = start(linerate(&format!("{line} --bytes 2M")));
    client.wait_for(INTERVAL, 2);
    client.signal("STOP");
    let reported = witness.stderr().matches(INTERVAL).count();
    witness.wait_for(INTERVAL, reported + 20);
    client.signal("CONT");
    let ended = client.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    witness.signal("KILL");
    server.wait_for("the client disconnected", 1);
}

/// Ctrl-S for longer than the server's patience, and longer than the rest of the test: nothing waits for the terminal
/// but the results.
#[test]
fn a_client_whose_terminal_is_paused_goes_on() {
    if Command::new("script").arg("--version").output().is_err() {
        return eprintln!("skipped: no script(1)");
    }
    let (mut server, port) = serve();
    let line = format!("udp 127.0.0.1 -p {port} -i 100ms");
    let mut witness = start(linerate(&format!("{line} -b 5M -t 600")));
    let mut terminal = start(shell(&format!(
        "exec script -qec \"$LINERATE {line} -R -b 6M -t 14\" /dev/null 1>&2"
    )));
    terminal.wait_for(INTERVAL, 2);
    terminal.type_in(&[PAUSE]);
    let reported = witness.stderr().matches(INTERVAL).count();
    witness.wait_for(INTERVAL, reported + 200);
    terminal.type_in(&[GO_ON]);
    let ended = terminal.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    server.wait_for("done: UDP", 1);
    assert!(
        !server.stderr().contains("no message from the client"),
        "{}",
        server.stderr()
    );
    witness.signal("KILL");
}

/// A client behind a dead link says nothing any more.
#[test]
fn a_client_whose_link_dies_is_noticed() {
    let Some(mut client) = in_a_lab("udp {peer} -b 5M") else {
        return;
    };
    // Frozen too: nothing but the patience of the server, or of its kernel, ends the test.
    let frozen = *below(client.pid(), "--json").last().expect("the client");
    signal(frozen, "STOP");
    turn_link(&client, "serve", "down");
    client.wait_for(": ended: ", 1);
    signal(frozen, "KILL");
}

fn threads(pid: u32) -> usize {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let count = std::fs::read_dir(format!("/proc/{pid}/task"))
            .unwrap()
            .count();
        if count <= 2 || std::time::Instant::now() > end {
            return count;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Without namespaces there is no link.
pub(crate) fn skipped(stderr: &str) -> bool {
    let skipped = stderr.contains("loopback instead of a lab") || stderr.contains("on loopback");
    if skipped {
        eprintln!("skipped: {stderr}");
    }
    skipped
}
