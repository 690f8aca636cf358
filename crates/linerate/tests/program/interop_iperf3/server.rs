// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stock client against our server: its document and our metrics agree to the packet.

use crate::metrics::Measured;
use crate::support::{Said, have_iperf3, stock_client};

/// What our server counted of a test.
struct Line {
    received: u64,
    sent: u64,
    lost: u64,
}

fn line_of(measured: &Measured, arguments: &str) -> Line {
    measured.server.await_line(": done: ");
    let udp = arguments.split_whitespace().any(|word| word == "-u");
    let protocol = if udp { "udp" } else { "tcp" };
    let count = |name: &str| {
        measured.count(&format!(
            "linerate_server_{name}_total{{protocol=\"{protocol}\"}}"
        ))
    };
    Line {
        received: count("received_bytes"),
        sent: count("sent_bytes"),
        lost: if udp { count("lost_datagrams") } else { 0 },
    }
}

/// Each with a server of its own, which then has counted one test.
fn each(cases: &[&str], check: impl Fn(&str, &Said, &Line) + Sync) {
    if !have_iperf3() {
        return;
    }
    for pair in cases.chunks(2) {
        std::thread::scope(|scope| {
            for arguments in pair {
                let check = &check;
                scope.spawn(move || {
                    let measured = Measured::ours("");
                    let said = stock_client(measured.server.port, arguments);
                    let log = measured.server.log();
                    assert!(said.success, "{arguments}: {}\n{log}", said.text);
                    check(arguments, &said, &line_of(&measured, arguments));
                });
            }
        });
    }
}

#[test]
fn tcp_up_agrees() {
    let cases = [
        "-t 1 -b 50M",
        "-t 1 -P 4 -b 10M",
        "-t 1 -w 256K -M 1000 -N -C reno -b 50M",
        "-t 1 -l 1000 -b 20M -S 32",
        "-t 1 -b 20M --dscp ef",
        "-t 1 -O 1 -b 20M",
    ];
    each(&cases, |arguments, said, line| {
        let (sent, received) = (
            said.number("/end/sum_sent/bytes"),
            said.number("/end/sum_received/bytes"),
        );
        assert_eq!(received, line.received, "{arguments}");
        assert!(received > 0, "{arguments}: {received}");
        // With a warm-up each end cuts at its own clock.
        assert!(
            sent >= received || arguments.contains("-O"),
            "{arguments}: {sent} {received}"
        );
        assert_eq!(line.sent, 0);
    });
}

#[test]
fn tcp_down_agrees() {
    let cases = [
        "-t 1 -R -b 50M",
        "-t 1 -R -P 4 -b 10M",
        "-t 1 -R -w 256K -M 1000 -N -b 20M",
    ];
    each(&cases, |arguments, said, line| {
        let (sent, received) = (
            said.number("/end/sum_sent/bytes"),
            said.number("/end/sum_received/bytes"),
        );
        assert_eq!(sent, line.sent, "{arguments}");
        assert!(
            sent >= received && received > 0,
            "{arguments}: {sent} {received}"
        );
    });
}

#[test]
fn tcp_amounts_arrive_whole() {
    let cases = [
        "-n 3M",
        "-k 50 -l 10000",
        "-n 3M -R",
        "-k 50 -l 10000 -R",
        "-n 3M -P 3",
        "-k 50 -l 10000 -P 2 -R",
    ];
    each(&cases, |arguments, said, line| {
        let asked = if arguments.contains("-n") {
            3 << 20
        } else {
            500_000
        };
        let received = said.number("/end/sum_received/bytes");
        let sent = said.number("/end/sum_sent/bytes");
        // A stock client counts reads as blocks, and ends a reverse test after a fixed number: short
        // reads make it leave a little early.
        let whole = received >= asked || (arguments.contains("-k") && arguments.contains("-R"));
        assert!(
            sent >= asked && received > 0 && whole,
            "{arguments}: {}",
            said.text
        );
        let ours = if arguments.contains("-R") {
            (line.sent, sent)
        } else {
            (line.received, received)
        };
        assert_eq!(ours.0, ours.1, "{arguments}");
    });
}

#[test]
fn tcp_both_ways_agrees() {
    each(
        &["-t 1 --bidir -b 20M", "-t 1 --bidir -P 2 -b 10M"],
        |arguments, said, line| {
            assert_eq!(
                said.number("/end/sum_received/bytes"),
                line.received,
                "{arguments}"
            );
            assert_eq!(
                said.number("/end/sum_sent_bidir_reverse/bytes"),
                line.sent,
                "{arguments}"
            );
            assert!(said.number("/end/sum_received_bidir_reverse/bytes") > 0);
        },
    );
}

#[test]
fn udp_agrees_to_the_packet() {
    let cases = [
        "-u -t 1 -l 1000 -b 5M",
        "-u -t 1 -l 1000 -b 2M -P 4",
        "-u -t 1 -l 1000 -b 5M --udp-counters-64bit",
        "-u -t 1 -l 100 -b 500K -w 512K -S 184",
        "-u -n 500K -l 1000 -b 10M",
        "-u -k 300 -l 1000 -b 5M",
    ];
    each(&cases, |arguments, said, line| {
        let sent = said.number("/end/sum_sent/packets");
        let known = said.number("/end/sum_received/packets");
        let lost = said.number("/end/sum_received/lost_packets");
        assert_eq!(
            (known, lost),
            (sent, line.lost),
            "{arguments}: {}",
            said.text
        );
        let length = if arguments.contains("-l 1000") {
            1000
        } else {
            100
        };
        assert_eq!(line.received, (sent - lost) * length, "{arguments}");
        assert!(sent > 0, "{arguments}: {sent}");
    });
}

#[test]
fn udp_down_agrees_to_the_packet() {
    let cases = [
        "-u -R -t 1 -l 1000 -b 5M",
        "-u -R -t 1 -l 1000 -b 2M -P 4",
        "-u -R -t 1 -l 1000 -b 5M --udp-counters-64bit",
        "-u -R -k 300 -l 1000 -b 5M",
    ];
    each(&cases, |arguments, said, line| {
        let sent = said.number("/end/sum_sent/packets");
        assert_eq!(sent * 1000, line.sent, "{arguments}: {}", said.text);
        let known = said.number("/end/sum_received/packets");
        let lost = said.number("/end/sum_received/lost_packets");
        assert_eq!(
            said.number("/end/sum_received/bytes"),
            (known - lost) * 1000,
            "{arguments}"
        );
        assert!(known <= sent && known > 0, "{arguments}: {known} of {sent}");
    });
}

#[test]
fn udp_both_ways_agrees() {
    each(
        &["-u -t 1 --bidir -l 1000 -b 5M"],
        |arguments, said, line| {
            let lost = said.number("/end/sum_received/lost_packets");
            let sent = said.number("/end/sum_sent/packets");
            assert_eq!(line.lost, lost, "{arguments}");
            assert_eq!(line.received, (sent - lost) * 1000, "{arguments}");
            assert_eq!(
                line.sent,
                said.number("/end/sum_sent_bidir_reverse/packets") * 1000
            );
        },
    );
}

#[test]
fn udp_behind_a_warm_up_is_rated_over_the_rest() {
    each(&["-u -t 1 -O 1 -l 1000 -b 4M"], |arguments, said, _| {
        let bits = 8 * said.number("/end/sum_received/bytes");
        let rate = said.number("/end/sum_received/bits_per_second");
        // One second of two: over both the rate would be half.
        assert!(
            10 * bits < 18 * rate,
            "{arguments}: {bits} bit at {rate} bit/s"
        );
    });
}

#[test]
fn our_report_reaches_who_asks_for_it() {
    each(
        &[
            "-t 1 -b 20M --get-server-output",
            "-u -t 1 -l 1000 -b 2M --get-server-output",
        ],
        |_, said, line| {
            let text = said.json["server_output_text"].as_str().unwrap();
            assert!(
                text.contains(&format!("received {} bytes", line.received)),
                "{text}"
            );
        },
    );
}
