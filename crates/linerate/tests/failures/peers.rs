// SPDX-License-Identifier: MIT OR Apache-2.0
//! The other end vanishes: killed, frozen, or behind a link that goes down.

use crate::process::{below, linerate, run, serve, shell, signal, start};
use crate::verdict::{accounted, broken_off, error, intervals};

const INTERVAL: &str = "[SUM]";

/// What this end counted until then is there, and why it ended.
fn without_a_server(words: &str, name: &str, reasons: &[&str]) {
    let (server, port) = serve();
    let line = format!(
        "{} -t 120 -i 100ms --json",
        words.replace("HOST", &format!("127.0.0.1 -p {port}"))
    );
    let mut client = start(linerate(&line));
    client.wait_for(INTERVAL, 3);
    server.signal(name);
    let document = broken_off(&client.end(), 3);
    let told = error(&document);
    assert!(
        reasons.iter().any(|reason| told.contains(reason)),
        "{line}: {told}"
    );
    assert!(
        !document["error"]["try"].as_str().unwrap().is_empty(),
        "{told}"
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
    without_a_server("udp HOST -b 5M", "STOP", &["kept silent"]);
}

#[test]
fn a_server_that_freezes_in_udp_reverse() {
    without_a_server("udp HOST -R -b 5M", "STOP", &["kept silent"]);
}

#[test]
fn a_server_that_freezes_in_tcp() {
    without_a_server(
        "tcp HOST -b 50M",
        "STOP",
        &["kept silent", "closed the connection"],
    );
}

/// No reset, no ICMP: the frames just do not arrive.
#[test]
fn a_link_that_goes_down_at_the_far_end() {
    for words in ["udp {peer} -b 5M", "tcp {peer} -R -b 50M"] {
        let line =
            format!("lab --fault link-down=1s:600s -- linerate {words} -t 120 -i 100ms --json");
        let ended = run(linerate(&line));
        if skipped(&ended.stderr) {
            return;
        }
        let document = broken_off(&ended, 3);
        assert!(
            error(&document).contains("the link, gone?"),
            "{}",
            error(&document)
        );
        let test = &document["tests"][0];
        assert!(intervals(test).len() >= 3, "{words}: {test:#}");
    }
}

#[test]
fn an_interface_of_this_host_that_goes_down() {
    if run(shell("ip -Version")).code() != Some(0) {
        return eprintln!("skipped: no ip(8)");
    }
    for words in ["udp {peer} -b 5M", "tcp {peer} -b 50M"] {
        let ended = run(shell(&format!(
            "exec $LINERATE lab -- sh -c '(sleep 1; ip link set eth0 down) & exec $LINERATE {words} -t 120 -i 100ms --json'"
        )));
        if skipped(&ended.stderr) {
            return;
        }
        let document = broken_off(&ended, 3);
        let test = &document["tests"][0];
        assert!(intervals(test).len() >= 3, "{words}: {test:#}");
    }
}

/// A pause that is shorter than the patience is an event of the measurement, not its end.
#[test]
fn a_link_that_comes_back_costs_datagrams_only() {
    let line = "lab --fault link-down=1s:1s -- linerate udp {peer} -b 5M -t 4 --json";
    let ended = run(linerate(line));
    if skipped(&ended.stderr) {
        return;
    }
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    let document = crate::verdict::document(&ended);
    accounted(&document["tests"][0]);
    assert!(document["tests"][0]["lost_packets"].as_u64().unwrap() > 0);
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
        server.wait_for("the client went away", 1);
        let again = run(linerate(&format!(
            "udp 127.0.0.1 -p {port} -b 5M -t 300ms --json"
        )));
        assert_eq!(again.code(), Some(0), "{words}: {}", again.stderr);
        assert_eq!(
            threads(server.pid()),
            2,
            "{words}: the accepting one and the greeter"
        );
    }
}

/// A client behind a dead link says nothing any more.
#[test]
fn a_client_whose_link_dies_is_noticed() {
    let line = "lab --fault link-down=1s:600s -- sleep 120";
    let mut lab = start(linerate(line));
    lab.wait_for("lab: ", 1);
    if skipped(&lab.stderr()) {
        return;
    }
    drop(lab);
    let script = "lab --fault link-down=2s:600s -- sh -c '$LINERATE udp {peer} -b 5M -t 120 -i 100ms & wait; sleep 60'";
    let mut lab = start(shell(&format!("exec $LINERATE {script}")));
    lab.wait_for(": ended: ", 1);
    for pid in below(lab.pid(), "sleep") {
        signal(pid, "KILL");
    }
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
fn skipped(stderr: &str) -> bool {
    let skipped = stderr.contains("loopback, not a link") || stderr.contains("on loopback");
    if skipped {
        eprintln!("skipped: {stderr}");
    }
    skipped
}
