// SPDX-License-Identifier: MIT OR Apache-2.0
//! Losses on the path, of data, of final datagrams and of reports: what is said of them is exact.

use super::relay::{Relay, Way, sequence};
use super::server::logged;
use super::stock::{Stock, client, have_iperf, rows};
use crate::support::{Said, Server, our_client};

/// Drops the first `finals` final datagrams and the first `reports` answers, and this data.
fn losing(finals: u32, reports: u32, data: &'static [i32]) -> impl FnMut(Way, &[u8]) -> bool {
    let (mut finals, mut reports) = (finals, reports);
    let spend = |left: &mut u32| {
        let passes = *left == 0;
        *left = left.saturating_sub(1);
        passes
    };
    move |way, datagram| match (way, sequence(datagram)) {
        (Way::There, sequence) if sequence < 0 => spend(&mut finals),
        (Way::There, sequence) => !data.contains(&sequence),
        (Way::Back, _) => spend(&mut reports),
    }
}

fn counts(said: &Said) -> (u64, u64) {
    (
        said.number("/tests/0/sent_packets"),
        said.number("/tests/0/lost_packets"),
    )
}

#[test]
fn our_client_and_our_server_agree_whatever_is_lost() {
    for (finals, reports, data) in [
        (1, 0, &[][..]),
        (0, 2, &[]),
        (2, 2, &[1, 7, 8, 9, 50]),
        (0, 0, &[50]),
    ] {
        let server = Server::ours("--iperf2");
        let relay = Relay::to(server.port, losing(finals, reports, data));
        let said = our_client(relay.port, "udp", "--iperf2 -k 50 -b 5M");
        assert!(said.success, "{}", said.text);
        let lost = data.len() as u64;
        assert_eq!(counts(&said), (50, lost), "{finals} {reports} {data:?}");
        let counted = logged(&server, 1);
        assert_eq!(counted[0].lost, Some((lost, 51)));
        assert_eq!(counted.len(), 1, "{}", server.log());
    }
}

#[test]
fn a_lost_final_datagram_is_no_lost_data_at_a_stock_server() {
    if !have_iperf() {
        return;
    }
    for (finals, data) in [(1, &[][..]), (2, &[3, 30, 31]), (0, &[50])] {
        let server = Stock::serve(1, "-u");
        let relay = Relay::to(server.port, losing(finals, 0, data));
        let said = our_client(relay.port, "udp", "--iperf2 -k 50 -b 5M");
        assert!(said.success, "{}", said.text);
        assert_eq!(counts(&said), (50, data.len() as u64), "{finals} {data:?}");
        let printed = rows(&server.said());
        assert_eq!(printed[0].lost, Some((data.len() as u64, 51)));
    }
}

#[test]
fn a_stock_client_gets_our_report_whatever_is_lost() {
    if !have_iperf() {
        return;
    }
    for (finals, reports) in [(1, 0), (0, 2), (2, 1)] {
        let server = Server::ours("--iperf2");
        let relay = Relay::to(server.port, losing(finals, reports, &[4]));
        let text = client(relay.port, "127.0.0.1 -u -n 14700 -l 1470");
        let reported: Vec<_> = rows(&text)
            .into_iter()
            .filter(|row| row.lost.is_some())
            .collect();
        assert_eq!(reported, logged(&server, 1), "{text}{}", server.log());
        // Its final datagrams count on: the lost ones look like data, there and here.
        let lost = u64::from(finals) + 1;
        assert_eq!(reported[0].lost, Some((lost, 11 + u64::from(finals))));
    }
}

#[test]
fn a_report_that_never_comes_is_said_and_nothing_is_made_up() {
    let server = Server::ours("--iperf2");
    let relay = Relay::to(server.port, |way, _| way == Way::There);
    let said = our_client(relay.port, "udp", "--iperf2 -k 50 -b 5M");
    assert_eq!(said.number("/exit_code"), 4, "{}", said.text);
    let test = &said.json["tests"][0];
    assert_eq!(said.number("/tests/0/sent_packets"), 50);
    for name in [
        "received_packets",
        "lost_packets",
        "loss_ratio",
        "jitter_ns",
        "delivered_bits_per_second",
        "reordered_packets",
    ] {
        assert!(test[name].is_null(), "{name}: {}", test[name]);
    }
    assert!(said.text.contains("did not arrive after 10 tries"));
    assert_eq!(logged(&server, 1)[0].lost, Some((0, 51)));
}

#[test]
fn a_stock_server_does_not_repeat_its_report() {
    if !have_iperf() {
        return;
    }
    let server = Stock::serve(1, "-u");
    let relay = Relay::to(server.port, losing(0, 1, &[]));
    let said = our_client(relay.port, "udp", "--iperf2 -k 50 -b 5M");
    assert_eq!(said.number("/exit_code"), 4, "{}", said.text);
    assert!(said.json["tests"][0]["lost_packets"].is_null());
    assert!(said.text.contains("no-server-report"), "{}", said.text);
}
