// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our client against the stock server: our document agrees with what the server counted.

use crate::support::{Said, Server, have_iperf3, our_client};
use serde_json::Value;

fn each(protocol: &str, cases: &[&str], check: impl Fn(&str, &Said) + Sync) {
    if !have_iperf3() {
        return;
    }
    for pair in cases.chunks(2) {
        std::thread::scope(|scope| {
            for arguments in pair {
                let check = &check;
                scope.spawn(move || {
                    let server = Server::stock();
                    let said = our_client(server.port, protocol, arguments);
                    assert!(said.success, "{protocol} {arguments}: {}", said.text);
                    check(arguments, &said);
                });
            }
        });
    }
}

fn tests(said: &Said) -> &[Value] {
    said.json["tests"].as_array().unwrap()
}

fn rate(test: &Value, name: &str) -> f64 {
    test[name]
        .as_f64()
        .unwrap_or_else(|| panic!("no {name} in {test}"))
}

#[test]
fn tcp_agrees() {
    let cases = [
        ("-t 1 -b 50M", 50e6),
        ("-t 1 -R -b 50M", 50e6),
        ("-t 1 -P 4 -b 10M", 40e6),
        ("-t 1 -P 2 -R -b 20M", 40e6),
        ("-t 1 --bidir -b 20M", 20e6),
        ("-t 1 -w 256K -M 1000 -N -C reno -b 20M", 20e6),
        ("-t 1 -l 1000 -b 20M -S 32", 20e6),
        ("-t 1 -O 1 -b 20M --dscp ef", 20e6),
    ];
    let asked = |arguments: &str| cases.iter().find(|(line, _)| *line == arguments).unwrap().1;
    each("tcp", &cases.map(|(line, _)| line), |arguments, said| {
        assert_eq!(
            tests(said).len(),
            if arguments.contains("bidir") { 2 } else { 1 }
        );
        for test in tests(said) {
            let offered = rate(test, "offered_bits_per_second");
            let delivered = rate(test, "delivered_bits_per_second");
            assert!(
                delivered > 0.0 && delivered < 3.0 * asked(arguments),
                "{test}"
            );
            assert!(offered > 0.0, "{arguments}: {test}");
        }
    });
}

#[test]
fn tcp_amounts_arrive_whole() {
    each(
        "tcp",
        &["-n 3M", "-k 30", "-n 3M -R", "-k 30 -R -P 2"],
        |arguments, said| {
            let test = &tests(said)[0];
            let bytes = rate(test, "delivered_bits_per_second") * rate(test, "duration_s") / 8.0;
            assert!(
                bytes > f64::from(3 << 20) * 0.9,
                "{arguments}: {bytes} bytes, {test}"
            );
        },
    );
}

#[test]
fn udp_books_balance() {
    let cases = [
        "-t 1 -l 1000 -b 5M",
        "-t 1 -l 1000 -b 5M -R",
        "-t 1 -l 1000 -b 5M --bidir",
        "-t 1 -l 1000 -b 2M -P 4",
        "-t 1 -l 1000 -b 2M -P 4 -R",
        "-t 1 -l 1000 -b 5M --udp-counters-64bit",
        "-t 1 -l 1000 -b 5M --udp-counters-64bit -R",
        "-t 1 -l 100 -b 500K -w 512K -S 184",
        "-t 1 -O 1 -l 1000 -b 5M",
        "-t 1 -O 1 -l 1000 -b 5M -R",
    ];
    each("udp", &cases, |arguments, said| {
        for test in tests(said) {
            let count = |name: &str| {
                test[name]
                    .as_u64()
                    .unwrap_or_else(|| panic!("no {name} in {test}"))
            };
            assert_eq!(
                count("sent_packets"),
                count("received_packets") + count("lost_packets"),
                "{arguments}"
            );
            assert!(count("received_packets") > 0, "{arguments}: {test}");
            assert!(rate(test, "jitter_ns") < 1e9, "{arguments}: {test}");
        }
    });
}

#[test]
fn udp_amounts_are_exact() {
    each(
        "udp",
        &["-k 300 -l 1000 -b 5M", "-n 300000 -l 1000 -b 5M"],
        |arguments, said| {
            assert_eq!(tests(said)[0]["sent_packets"], 300, "{arguments}");
        },
    );
    each("udp", &["-k 300 -l 1000 -b 5M -R"], |arguments, said| {
        // The stock server sends until asked to stop.
        assert!(
            tests(said)[0]["received_packets"].as_u64().unwrap() >= 300,
            "{arguments}"
        );
    });
}

#[test]
fn the_servers_own_report_is_shown() {
    each("tcp", &["-t 1 -b 20M --get-server-output"], |_, _| {});
}

#[test]
fn c8_back_to_back() {
    if !have_iperf3() {
        return;
    }
    let server = Server::stock();
    for round in 0..5 {
        let said = our_client(server.port, "tcp", "-n 100K");
        assert!(said.success, "round {round}: {}", said.text);
    }
}
