// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of iperf as they are posted → tests.

use super::*;
use crate::text::{Content, Hint, Lines, read};
use std::cell::Cell;

fn tests(command: &str, text: &str) -> Vec<Test> {
    let mut flows = Flows::default();
    flows.typed(command);
    let lines: Vec<&str> = text.lines().collect();
    let looked = Cell::new(0);
    for at in 0..lines.len() {
        let block = read(Lines::new(&lines, &looked).from(at), Hint::default());
        for content in block.into_iter().flat_map(|block| block.content) {
            if let Content::Iperf(event) = content {
                flows.take(event);
            }
        }
    }
    flows.finish().0
}

#[test]
fn both_directions_of_a_udp_test() {
    let text = "Server listening on UDP port 5001\nUDP buffer size: 106 KByte (default)\nClient connecting to 192.0.2.2, UDP port 5001\nSending 1470 byte datagrams\n\
        [ 4] local 192.0.2.1 port 51200 connected with 192.0.2.2 port 5001\n[ 4] 0.0- 2.0 sec 48.2 MBytes 202 Mbits/sec\n[ 4] Sent 34300 datagrams\n[ 4] Server Report:\n\
        [ 4] 0.0- 2.0 sec 48.1 MBytes 202 Mbits/sec 0.063 ms 71/34299 (0.21%)\n[ 4] 0.0- 2.0 sec 1 datagrams received out-of-order\n\
        [ 3] local 192.0.2.1 port 5001 connected with 192.0.2.2 port 53700\n[ 3] 0.0- 2.0 sec 48.3 MBytes 203 Mbits/sec 0.038 ms 5/34400 (0.01%)\n";
    let tests = tests("iperf -c 192.0.2.2 -r -u -b 200M -t 2", text);
    assert_eq!(tests.len(), 2);
    let (up, down) = (&tests[0], &tests[1]);
    assert_eq!(
        (
            up.direction,
            up.sent_packets,
            up.lost_packets,
            up.received_packets
        ),
        (Direction::Up, Some(34299), Some(71), Some(34228))
    );
    assert_eq!(
        (
            up.reordered_packets,
            up.payload_bytes,
            up.requested_bits_per_second
        ),
        (Some(1), 1470, Some(200e6))
    );
    assert_eq!(
        (down.direction, down.lost_packets),
        (Direction::Down, Some(5))
    );
    assert_eq!(
        down.receive_buffer_bytes.and_then(|buffer| buffer.granted),
        Some(106 * 1024)
    );
    assert!((up.offered_bits_per_second.unwrap_or_default() - 202e6).abs() < 1.0);
}

#[test]
fn only_the_lines_that_grep_left() {
    let text = "[ 4] 0.0- 2.0 sec 95.6 MBytes 401 Mbits/sec 0.043 ms 5/68100 (0.0073%)\n[ 3] 0.0- 2.0 sec 90.2 MBytes 379 Mbits/sec 0.012 ms 4600/68900 (6.7%)\n";
    for command in ["iperf -c h -r -u -b 400M", "./script.sh"] {
        let tests = tests(command, text);
        let of = |test: &Test| (test.direction, test.lost_packets);
        assert_eq!(
            tests.iter().map(of).collect::<Vec<_>>(),
            [(Direction::Up, Some(5)), (Direction::Down, Some(4600))],
            "{command}"
        );
    }
    let twice = format!("{text}{text}");
    assert_eq!(tests("iperf -c h -r -u", &twice).len(), 4);
}

#[test]
fn intervals_sums_and_cut_ends() {
    let text = "[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec   17    321 KBytes\n[  5]   1.00-2.00   sec   110 MBytes   920 Mbits/sec    3    300 KBytes\n";
    let cut = tests("iperf3 -c h", text);
    assert_eq!(
        (cut.len(), cut[0].intervals.len(), cut[0].retransmits),
        (1, 2, Some(20))
    );
    assert!((cut[0].delivered_bits_per_second.unwrap_or_default() - 930e6).abs() < 1.0);
    let whole = format!(
        "{text}[  5]   0.00-2.00   sec   222 MBytes   930 Mbits/sec   20             sender\n[  5]   0.00-2.04   sec   220 MBytes   905 Mbits/sec                  receiver\n"
    );
    let whole = tests("iperf3 -c h", &whole);
    assert_eq!(
        (
            whole.len(),
            whole[0].retransmits,
            whole[0].delivered_bits_per_second
        ),
        (1, Some(20), Some(905e6))
    );
    assert_eq!(tests("iperf3 -c h -R", text)[0].direction, Direction::Down);
    let parallel = tests(
        "iperf -c h -P 2",
        "[ 3] 0.0-10.0 sec 500 MBytes 420 Mbits/sec\n[ 4] 0.0-10.0 sec 600 MBytes 500 Mbits/sec\n[SUM] 0.0-10.0 sec 1.1 GBytes 920 Mbits/sec\n",
    );
    assert_eq!(
        (parallel.len(), parallel[0].streams, parallel[0].flows.len()),
        (1, 2, 2)
    );
}

#[test]
fn the_log_of_a_server_that_serves_one_after_the_other() {
    let text = "Server listening on TCP port 5011\n[  1] local 192.0.2.1 port 5011 connected with 192.0.2.2 port 40001\n[  1] 0.00-1.00 sec 1 GBytes 9.0 Gbits/sec\n\
        Client connecting to 192.0.2.2, TCP port 5013\n[  2] local 192.0.2.1 port 40002 connected with 192.0.2.2 port 5013\n[  2] 0.00-1.00 sec 1 GBytes 8.0 Gbits/sec\n\
        [  3] local 192.0.2.1 port 5011 connected with 192.0.2.2 port 40003\n[  4] local 192.0.2.1 port 5011 connected with 192.0.2.2 port 40004\n\
        [  3] 0.00-1.00 sec 1 GBytes 3.0 Gbits/sec\n[  4] 0.00-1.00 sec 1 GBytes 4.0 Gbits/sec\n[SUM] 0.00-1.00 sec 2 GBytes 7.0 Gbits/sec\n";
    let read: Vec<_> = tests("", text)
        .iter()
        .map(|test| (test.direction, test.streams, test.delivered_bits_per_second))
        .collect();
    assert_eq!(
        read,
        [
            (Direction::Down, 1, Some(9e9)),
            (Direction::Up, 1, Some(8e9)),
            (Direction::Down, 2, Some(7e9))
        ]
    );
}

#[test]
fn more_arrived_than_were_sent() {
    let tests = tests(
        "",
        "[ 3] 0.0- 1.0 sec 72.8 MBytes 611 Mbits/sec 0.012 ms -1/51800 (-0.0019%)\n",
    );
    assert_eq!(
        (
            tests[0].lost_packets,
            tests[0].received_packets,
            tests[0].warnings[0].id.as_str()
        ),
        (None, Some(51801), "negative-loss")
    );
}

#[test]
fn of_several_streams_only_the_sum_was_pasted() {
    let sum = "[SUM]   0.00-10.00  sec  28.9 GBytes  24.8 Gbits/sec                  receiver\n";
    for (command, streams) in [
        ("iperf3 -c 192.0.2.2 -P 40", 40),
        ("iperf3 -c 192.0.2.2 --parallel=8", 8),
        ("iperf3 -c 192.0.2.2", 1),
    ] {
        let tests = tests(command, sum);
        assert_eq!(
            tests.first().map(|test| test.streams),
            Some(streams),
            "{command}"
        );
    }
}

#[test]
fn streams_without_their_sum_are_one_test() {
    let connected = "[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201\n[  7] local 10.0.0.1 port 40002 connected to 10.0.0.2 port 5201\n";
    let rows = "[  5]   0.00-10.00  sec  1.10 GBytes   900 Mbits/sec    3             sender\n[  7]   0.00-10.00  sec   122 MBytes   100 Mbits/sec    4             sender\n";
    for (command, text) in [
        ("iperf3 -c 10.0.0.2 -P 2", format!("{connected}{rows}")),
        ("iperf3 -c 10.0.0.2 -P 2", rows.to_owned()),
        ("", format!("{connected}{rows}")),
    ] {
        let tests = tests(command, &text);
        assert_eq!(tests.len(), 1, "{command} {text}");
        let rate = tests[0].delivered_bits_per_second.unwrap_or_default();
        assert!((rate - 1e9).abs() < 1.0, "{rate}");
        assert_eq!((tests[0].streams, tests[0].retransmits), (2, Some(7)));
    }
    let middle = "[ 21] 5.00-6.00 sec 63.3 MBytes 531 Mbits/sec 4294967294 0.00 Bytes\n[ 23] 5.00-6.00 sec 289 MBytes 2.42 Gbits/sec 4294967294 0.00 Bytes\n";
    let tests = tests("", middle);
    assert_eq!(tests.len(), 1);
    assert_eq!(
        tests[0].retransmits, None,
        "a count below 0 is no count of segments"
    );
}

#[test]
fn the_sum_of_udp_streams_has_what_the_server_reported() {
    let text = "[  3] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001\n[  4] local 10.0.0.1 port 40001 connected with 10.0.0.2 port 5001\n\
        [  3]  0.0-10.0 sec   119 MBytes   100 Mbits/sec\n[  4]  0.0-10.0 sec   119 MBytes   100 Mbits/sec\n[  3] Server Report:\n\
        [  3]  0.0-10.0 sec  60.0 MBytes  50.0 Mbits/sec   0.012 ms 40000/85000 (47%)\n[  4] Server Report:\n\
        [  4]  0.0-10.0 sec   119 MBytes   100 Mbits/sec   0.036 ms 0/85000 (0%)\n";
    let tests = tests("iperf -c 10.0.0.2 -u -b 100M -P 2", text);
    assert_eq!(tests.len(), 1);
    let one = &tests[0];
    assert_eq!(
        (one.lost_packets, one.sent_packets),
        (Some(40000), Some(170_000))
    );
    assert_eq!(one.delivered_bits_per_second, Some(150e6));
    let jitter = one.jitter_ns.unwrap_or_default();
    assert!((jitter - 24_000.0).abs() < 1.0, "{jitter}");
}

#[test]
fn tests_one_after_the_other_stay_tests() {
    let log = "[  3] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40000\n[  3]  0.0-10.0 sec  1.10 GBytes   900 Mbits/sec\n\
        [  4] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40002\n[  4]  0.0-10.0 sec   122 MBytes   100 Mbits/sec\n";
    assert_eq!(tests("iperf -s", log).len(), 2);
    let with_intervals = "[  4] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40000\n[  4]  0.0- 5.0 sec   562 MBytes   943 Mbits/sec\n\
        [  4]  5.0-10.0 sec   562 MBytes   943 Mbits/sec\n[  4]  0.0-10.0 sec  1.10 GBytes   943 Mbits/sec\n\
        [  5] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40002\n[  5]  0.0- 5.0 sec   562 MBytes   943 Mbits/sec\n\
        [  5]  5.0-10.0 sec   562 MBytes   943 Mbits/sec\n[  5]  0.0-10.0 sec  1.10 GBytes   943 Mbits/sec\n";
    assert_eq!(tests("iperf -s -i 5", with_intervals).len(), 2);
    let two_clients = "[  3] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 40000\n[  4] local 10.0.0.2 port 5001 connected with 10.0.0.7 port 40002\n\
        [  3]  0.0-10.0 sec  60.0 MBytes  50.0 Mbits/sec   0.012 ms 40000/85000 (47%)\n[  4]  0.0-10.0 sec   119 MBytes   100 Mbits/sec   0.036 ms 0/85000 (0%)\n";
    assert_eq!(tests("iperf -s -u", two_clients).len(), 2);
}
