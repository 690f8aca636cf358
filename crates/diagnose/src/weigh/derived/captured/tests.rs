// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::weigh::derived::shown::values;

fn has(text: &str, name: &str, value: &str) {
    let found = values(text, facts);
    let is_there = found.iter().any(|(one, is)| *one == name && is == value);
    assert!(is_there, "{name} {found:?}");
}

fn lacks(text: &str, name: &str) {
    let found = values(text, facts);
    assert!(!found.iter().any(|(one, _)| *one == name), "{found:?}");
}

#[test]
fn what_does_not_arrive() {
    let text = "node 1: IP 192.0.2.11.40122 > 192.0.2.12.8472: OTV, flags [I] (0x08), overlay 0, instance 1\nnode 2: 0 packets captured\n";
    has(text, "capture_overlay_leaves_does_not_arrive", "true");
    has(text, "capture_leaves_does_not_arrive", "true");
    lacks(text, "capture_syn_does_not_arrive");
    lacks(
        &text.replace("2: 0", "2: 7"),
        "capture_leaves_does_not_arrive",
    );
    let syn = "On the client:\ntcpdump -ni eth0 port 8443\n12:00:01.1 IP 192.0.2.11.40122 > 198.51.100.9.8443: Flags [S], seq 1, win 64240, length 0\n1 packets captured\nOn the server:\ntcpdump -ni eth0 port 8443\n0 packets captured\n";
    has(syn, "capture_syn_does_not_arrive", "true");
    lacks(
        &syn.replace("eth0 port 8443\n0 ", "eth0 port 22\n0 "),
        "capture_syn_does_not_arrive",
    );
    let here = "tcpdump -ni eth0 icmp\nIP 192.168.1.7 > 10.0.3.5: ICMP echo request, id 7, seq 1, length 64\n1 packets captured\ntcpdump -ni lxdbr0 icmp\n0 packets captured\n";
    has(here, "capture_arrives_does_not_leave", "true");
    lacks(here, "capture_leaves_does_not_arrive");
}

#[test]
fn ways_of_answers() {
    let syn = "eth1 In  IP 203.0.113.5.51022 > 198.51.100.10.443: Flags [S], seq 1, length 0\n";
    let answer = |interface: &str| {
        format!(
            "{interface} Out IP 198.51.100.10.443 > 203.0.113.5.51022: Flags [S.], seq 9, ack 2, length 0\n"
        )
    };
    has(
        &format!("{syn}{}", answer("eth0")),
        "capture_answers_leave_other_interface",
        "true",
    );
    lacks(
        &format!("{syn}{}", answer("eth1")),
        "capture_answers_leave_other_interface",
    );
    has(
        &format!("{syn}{syn}"),
        "capture_requests_without_answer_on_host",
        "true",
    );
    lacks(
        &format!("{syn}{syn}{}", answer("eth1")),
        "capture_requests_without_answer_on_host",
    );
    let inner = "IP 192.168.1.50.50211 > 203.0.113.7.443: Flags [S], seq 1\nIP 192.168.1.10.443 > 192.168.1.50.50211: Flags [S.], seq 9\n";
    has(inner, "capture_answer_from_inner_address", "true");
    lacks(
        &inner.replace("192.168.1.10.443", "203.0.113.7.443"),
        "capture_answer_from_inner_address",
    );
}

#[test]
fn short_lines() {
    let text = "IP 192.168.1.50.50211 > 203.0.113.7.443: Flags [S]\nIP 192.168.1.10.443 > 192.168.1.50.50211: Flags [S.]\nIP 192.168.1.50.50211 > 192.168.1.10.443: Flags [R]\n";
    has(text, "capture_answer_from_inner_address", "true");
    // `[S]` is no markup.
    assert_eq!(linerate_paste::clean(text).text(), text);
}

#[test]
fn one_direction_and_repeats() {
    let data = |seq: u32| {
        format!(
            "12:00:00.{seq} IP 192.0.2.1.443 > 192.0.2.2.5000: Flags [.], seq {seq}:{}, ack 1, win 59, length 1448\n",
            seq + 1448
        )
    };
    let text = data(1) + &data(1449) + &data(2897);
    has(&text, "capture_one_direction_only", "true");
    lacks(
        &format!(
            "{text}12:00:01.1 IP 192.0.2.2.5000 > 192.0.2.1.443: Flags [.], ack 99, win 59, length 0\n"
        ),
        "capture_one_direction_only",
    );
    lacks(&text, "capture_full_segments_repeated");
    has(
        &(data(1) + &data(1) + &data(1)),
        "capture_full_segments_repeated",
        "true",
    );
    let echo = "12:00:00.1 IP 192.0.2.1 > 192.0.2.2: ICMP echo request, id 7, seq 1, length 64\n";
    has(&format!("{echo}{echo}"), "capture_duplicates", "1");
    lacks(
        &echo.replace("IP ", "eth0 In  IP ").repeat(2),
        "capture_duplicates",
    );
}

#[test]
fn lifetimes() {
    let text = |ttl: u32| {
        format!(
            "12:00:00.1 IP (tos 0x0, ttl {ttl}, id 8122, offset 0, flags [DF], proto UDP (17), length 1344)\n    192.0.2.10.50122 > 239.1.1.1.5004: UDP, length 1316\n"
        )
    };
    has(&text(1), "capture_multicast_ttl_1", "true");
    has(&text(16), "capture_multicast_ttl_1", "false");
    lacks(
        &text(1).replace("239.1.1.1", "224.0.0.251"),
        "capture_multicast_ttl_1",
    );
    let reset = |ttl: u32| {
        format!(
            "IP (ttl 52, id 8122) 203.0.113.5.443 > 192.0.2.10.50122: Flags [S.], seq 1\nIP (ttl {ttl}, id 0) 203.0.113.5.443 > 192.0.2.10.50122: Flags [R], seq 1\n"
        )
    };
    has(&reset(119), "reset_ttl_differs", "true");
    has(&reset(52), "reset_ttl_differs", "false");
}

#[test]
fn sources() {
    let text = "tcpdump -ni eth0 (the outer interface):\nIP 192.168.50.20 > 8.8.8.8: ICMP echo request, id 7, seq 1, length 64\n";
    has(text, "capture_source_private_on_public_side", "true");
    has(
        &text.replace("192.168.50.20", "203.0.113.7"),
        "capture_source_private_on_public_side",
        "false",
    );
    lacks(
        &text.replace("the outer interface", "laptop"),
        "capture_source_private_on_public_side",
    );
    let own = "2: eth0    inet 172.31.0.7/20 scope global eth0\neth0 Out IP 10.8.0.6 > 172.31.5.20: ICMP echo request, id 7, seq 1\n";
    has(own, "capture_source_not_own", "true");
    has(
        &own.replace("10.8.0.6", "172.31.0.7"),
        "capture_source_not_own",
        "false",
    );
}

#[test]
fn ends_and_groups() {
    let ends = |one: u32, other: u32| {
        format!(
            "IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [S], seq 1, options [mss {one},sackOK], length 0\nIP 192.0.2.2.80 > 192.0.2.1.40000: Flags [S.], seq 5, options [mss {other}], length 0\n"
        )
    };
    has(&ends(8960, 8960), "both_ends_jumbo", "true");
    has(&ends(8960, 1460), "peer_mtu_larger", "true");
    lacks(&ends(1460, 1412), "peer_mtu_larger");
    let syn = |options: &str| {
        format!(
            "IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [S], seq 812, options [{options}], length 0\n"
        )
    };
    has(
        &(syn("mss 1460,sackOK,nop,wscale 7") + &syn("mss 1460")),
        "tcp_options_differ",
        "true",
    );
    has(
        &(syn("mss 1460,sackOK") + &syn("mss 1412,sackOK")),
        "tcp_options_differ",
        "false",
    );
    let report = |at: &str| format!("{at} IP 192.0.2.1 > 239.1.1.1: igmp v2 report 239.1.1.1\n");
    has(
        &(report("12:00:00.1") + &report("12:05:00.1")),
        "igmp_queries_seen",
        "false",
    );
    lacks(&report("12:00:00.1"), "igmp_queries_seen");
    has(
        "12:00:00.1 IP 192.0.2.1 > 224.0.0.1: igmp query v2\n",
        "igmp_queries_seen",
        "true",
    );
    has(
        "captured on the sender: IP 192.0.2.7.22 > 192.0.2.9.51122: Flags [P.], cksum 0x8412 (incorrect -> 0x5a01), seq 1:64513, ack 1, length 64512\n",
        "captured_on_sender",
        "true",
    );
    assert_eq!(
        values("a > b: nothing of a capture, 1.2.3.4 > x\n", facts),
        []
    );
}
