// SPDX-License-Identifier: MIT OR Apache-2.0
//! The user stops a command: SIGINT, SIGTERM, SIGHUP, once and twice.

use std::process::Command;

use super::process::{Running, linerate, run, serve, shell, start};
use super::verdict::{accounted, broken_off, error, failed, intervals};
use serde_json::Value;

/// A line of the running test, printed every interval.
const INTERVAL: &str = "bit/s";

fn stop(line: &str, word: &str, times: usize, signal: &str) -> Value {
    let (_server, port) = serve();
    let mut client = start(linerate(&line.replace("PORT", &port.to_string())));
    if word == INTERVAL {
        client.wait_for_traffic(times);
    } else {
        client.wait_for(word, times);
    }
    client.signal(signal);
    let document = broken_off(&client.end(), 130);
    assert!(error(&document).contains("interrupted"), "{document:#}");
    document
}

/// A server, and a client in the midst of a long test with it.
fn testing() -> (Running, Running) {
    let (server, port) = serve();
    let line = format!("udp 127.0.0.1 -p {port} -b 5M -t 60 -i 100ms --json");
    let mut client = start(linerate(&line));
    client.wait_for_traffic(2);
    (server, client)
}

/// The client still ends the test with the server and gets its count.
#[test]
fn ctrl_c_in_udp_both_ways_keeps_both_ends_counts() {
    let document = stop(
        "udp 127.0.0.1 -p PORT --bidir -b 5M -t 60 -i 100ms --json",
        INTERVAL,
        2,
        "INT",
    );
    let tests = document["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 2);
    tests.iter().for_each(accounted);
    // A busy sender may be behind when it is stopped.
    let sound = |test: &Value| {
        let reason = test["invalid_reason"].as_str();
        reason.is_none_or(|why| why.contains("were not sent"))
    };
    assert!(tests.iter().all(sound), "{document:#}");
}

#[test]
fn sigterm_and_sighup_are_heeded_as_ctrl_c() {
    for signal in ["TERM", "HUP"] {
        let document = stop(
            "udp 127.0.0.1 -p PORT -b 5M -t 60 -i 100ms --json",
            INTERVAL,
            2,
            signal,
        );
        accounted(&document["tests"][0]);
    }
}

#[test]
fn ctrl_c_in_tcp_reverse_keeps_what_came() {
    let document = stop(
        "tcp 127.0.0.1 -p PORT -R -b 50M -t 60 -i 100ms --json",
        INTERVAL,
        3,
        "INT",
    );
    let test = &document["tests"][0];
    assert!(test["delivered_bits_per_second"].as_f64().unwrap() > 0.0);
    intervals(test);
}

#[test]
fn ctrl_c_in_a_sweep_keeps_the_rates_before() {
    let document = stop(
        "sweep 127.0.0.1 -p PORT --from 2M --to 40M --step 2M -t 300ms --json",
        "udp-",
        3,
        "INT",
    );
    let tests = document["tests"].as_array().unwrap();
    assert!(tests.len() >= 2, "{document:#}");
    // The one that was cut off may not have come to send.
    tests[..2].iter().for_each(accounted);
}

#[test]
fn ctrl_c_in_a_check_keeps_the_phases_before() {
    let document = stop("check 127.0.0.1 -p PORT --quick --json", "tcp", 2, "INT");
    assert!(!document["tests"].as_array().unwrap().is_empty());
    assert!(!document["latency"].as_array().unwrap().is_empty());
}

/// The server cannot answer: the first Ctrl-C waits for it, the second does not.
#[test]
fn the_second_ctrl_c_waits_for_nothing() {
    let (server, mut client) = testing();
    server.signal("STOP");
    client.signal("INT");
    client.wait_for("stopping", 1);
    client.signal("INT");
    let document = broken_off(&client.end(), 130);
    server.signal("CONT");
    assert!(error(&document).contains("interrupted"), "{document:#}");
    assert!(document["tests"][0]["sent_packets"].as_u64().unwrap() > 0);
}

/// An answer that never comes does not turn the user's end into another.
#[test]
fn ctrl_c_with_a_server_that_froze_is_still_130() {
    let (server, client) = testing();
    server.signal("STOP");
    client.signal("INT");
    let document = broken_off(&client.end(), 130);
    server.signal("CONT");
    assert!(
        error(&document).contains("no message from the server"),
        "{document:#}"
    );
}

/// A neighbour that is known and never answers.
#[test]
fn ctrl_c_while_connecting_ends_it() {
    let link = "ip link add near type veth peer name far && ip addr add 192.0.2.2/24 dev near && \
         ip link set near up && ip link set far up && \
         ip neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev near nud permanent";
    if run(shell("exec unshare -rn true")).code() != Some(0) {
        return eprintln!("skipped: no network namespaces");
    }
    let line = "tcp 192.0.2.1 --connect-timeout 300s --json";
    let mut client = start(shell(&format!(
        "exec unshare -rn sh -c '{link} && exec $LINERATE {line}'"
    )));
    // Port 5201 and the state SYN_SENT.
    let address = u32::from_ne_bytes([192, 0, 2, 1]);
    client.wait_for_socket(&format!("{address:08X}:1451 02"));
    client.signal("INT");
    let ended = client.end();
    failed(&ended, 130);
    let said = "interrupted: nothing was measured";
    assert!(
        ended.stderr.contains(said) && !ended.stderr.contains("error:"),
        "{}",
        ended.stderr
    );
}

/// At a terminal Ctrl-C goes to every process of the foreground: the peer in the lab must not hear it.
#[test]
fn ctrl_c_at_a_terminal_leaves_the_labs_server_to_answer() {
    if Command::new("script").arg("--version").output().is_err() {
        return eprintln!("skipped: no script(1)");
    }
    for line in [
        "udp --lab -b 5M -t 60 -i 100ms --json-stream",
        "lab -- linerate udp {peer} -b 5M -t 60 -i 100ms --json-stream",
    ] {
        let mut terminal = start(shell(&format!(
            "exec script -qec \"$LINERATE {line} 2>&1\" /dev/null 1>&2"
        )));
        terminal.wait_for("\"event\":\"interval\"", 2);
        terminal.type_in(&[CTRL_C]);
        let ended = terminal.end();
        let last = ended
            .stderr
            .lines()
            .find(|row| row.contains("\"event\":\"end\""));
        let last = last.unwrap_or_else(|| panic!("{line}: {}", ended.stderr));
        let from = last.find('{').unwrap();
        let end: Value = serde_json::from_str(last[from..].trim_end()).unwrap();
        assert_eq!(end["data"]["exit_code"], 130, "{line}");
        accounted(&end["data"]["tests"][0]);
    }
}

/// A server that is asked to end says so to its clients, and ends well.
#[test]
fn a_server_that_is_interrupted_tells_its_client() {
    let (server, client) = testing();
    server.signal("INT");
    let document = broken_off(&client.end(), 3);
    assert!(error(&document).contains("the server was interrupted"));
    assert_eq!(server.end().code(), Some(0));
    assert!(document["tests"][0]["sent_packets"].as_u64().unwrap() > 0);
}

#[test]
fn ctrl_c_outside_reaches_the_command_in_the_lab() {
    let mut lab = start(linerate(
        "lab -- linerate udp {peer} -b 5M -t 60 -i 100ms --json",
    ));
    lab.wait_for_traffic(2);
    lab.signal("INT");
    let document = broken_off(&lab.end(), 130);
    accounted(&document["tests"][0]);
    let again = run(linerate("lab -- false"));
    assert_eq!(
        again.code(),
        Some(1),
        "the next lab stands: {}",
        again.stderr
    );
}

const CTRL_C: u8 = 3;
