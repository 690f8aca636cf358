// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several stock clients at once, and clients that die.

use crate::support::{Server, have_iperf3, our_client, stock_client, stock_command, until};

fn all_at_once(server: &Server, clients: &[&str]) {
    std::thread::scope(|scope| {
        for arguments in clients {
            scope.spawn(move || {
                let said = stock_client(server.port, arguments);
                assert!(said.success, "{arguments}: {}\n{}", said.text, server.log());
                assert!(said.number("/end/sum_received/bytes") > 0, "{arguments}");
            });
        }
    });
}

#[test]
fn s1_three_stock_clients_at_once_on_one_port() {
    if !have_iperf3() {
        return;
    }
    let server = Server::ours("");
    all_at_once(
        &server,
        &[
            "-t 2 -b 20M",
            "-u -t 2 -b 5M -l 1000",
            "-u -R -t 2 -b 5M -l 1000",
        ],
    );
    until("three lines", || server.lines(": done: ") == 3);
}

#[test]
fn s2_stock_udp_tests_of_one_address_set_up_in_turn() {
    if !have_iperf3() {
        return;
    }
    let server = Server::ours("");
    let sizes = ["-l 500", "-l 600", "-l 700", "-l 800"];
    std::thread::scope(|scope| {
        for size in sizes {
            let server = &server;
            scope.spawn(move || {
                let said = stock_client(server.port, &format!("-u -t 1 -b 2M -P 3 {size}"));
                assert!(said.success, "{size}: {}\n{}", said.text, server.log());
                // A stream taken for another test's would be missing here.
                for stream in 0..3 {
                    let packets = said.number(&format!("/end/streams/{stream}/udp/packets"));
                    assert!(packets > 0, "{size} stream {stream}: {}", said.text);
                }
                assert_eq!(
                    said.number("/end/sum_received/packets"),
                    said.number("/end/sum_sent/packets"),
                    "{size}"
                );
            });
        }
    });
}

#[test]
fn a_killed_client_leaves_nothing_behind() {
    if !have_iperf3() {
        return;
    }
    for arguments in [
        "-t 60 -P 4 -b 10M",
        "-t 60 -R -b 10M",
        "-u -t 60 -b 2M",
        "-u -R -t 60 -b 2M",
        "-t 60 --bidir -b 5M",
    ] {
        let server = Server::ours("--max-tests 1");
        let before = server.holds_at_rest();
        let mut client = stock_command(server.port, arguments).spawn().unwrap();
        let streams = if arguments.contains("-P 4") { 4 } else { 1 };
        until("the test runs", || server.holds().0 > before.0 + streams);
        client.kill().unwrap();
        client.wait().unwrap();
        until(&format!("{arguments}: the end is noticed"), || {
            // A stream that is reset before it is set up is refused.
            server.lines("ended: the client disconnected") + server.lines("refused: ") > 0
        });
        until("all is free", || server.holds() == before);
        let next = our_client(server.port, "tcp", "-n 100K");
        assert!(next.success, "{arguments}: {}", next.text);
    }
}
