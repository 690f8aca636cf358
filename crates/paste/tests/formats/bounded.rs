// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hostile sizes: the work is counted, not timed. It grows with the text and no faster, and beyond a limit not at all.

use linerate_paste::{self as paste, TEXT_BYTES_MAX};

use crate::read;

/// Bytes of lines that were looked at for each byte of text, at most: as many readers as there are, each with a line or two.
const LOOKS_MAX: u64 = 120;

/// Lines that begin something and never bring it to an end, each a trap for a reader that looks far ahead.
const TRAPS: &[&str] = &[
    "Ip:",
    "Ip: Forwarding DefaultTTL",
    "Udp: InDatagrams",
    "--- x ping statistics ---",
    "TCP: inuse",
    "RX: bytes packets errors dropped",
    "2: eth0: <UP> mtu",
    "eth0 Link encap:Ethernet",
    "inet addr:1",
    "MTU = 1500, -n 5",
    "12:00 CPU %usr %idle",
    "r b swpd id us",
    "procs",
    "CPU0 CPU1",
    "124: 5",
    "NET_RX: 5 GIC",
    "{\"start\":",
    "{",
    "NIC statistics:",
    "rx_errors: 5",
    "Settings for eth0:",
    "Speed: 1000Mb/s",
    "Supported link modes: 10baseT/Half",
    "100baseT/Full",
    "Ring parameters for eth0:",
    "Pre-set maximums:",
    "Features for eth0:",
    "Adaptive RX: off",
    "driver: x",
    "qdisc mq 0: dev eth0 root",
    "Sent 5 bytes 5 pkt",
    "01:00.0 Ethernet controller: x",
    "*-network",
    "Bonding Mode: x",
    "MIGRATED TCP STREAM TEST",
    "10^6bits/sec",
    "Threads Total Gbit/s",
    "1 3.0 3.0",
    "64 bytes 5 pps",
    "[ 3] 0.0-1.0 sec 5 MBytes 5 Mbits/sec",
    "[ 3] local 1.1.1.1 port 5001 connected with 2.2.2.2 port 1",
    "root@x:~# iperf -c y -r",
    "root@x:~#",
    "bandwidth 400",
    "Before",
    "FIRST TEST:",
    "word and word and word",
    "Iface MTU RX-OK RX-ERR RX-DRP RX-OVR TX-OK",
    "#kernel",
    "net.core.rmem_max = 5",
    "ENET_RCR:0x1 =0x2",
    "> > > > > >",
    "&lt;&lt;&lt;&lt;",
    "<b><b><b>[b][b]****",
    "[ 12.5] x",
    "@[",
    "@[NO_SOCKET]: x",
    "@drops[0]: 5",
    "@[args->reason] = count();",
    "tracepoint:skb:kfree_skb {",
    "kfree_skb: reason=x",
    "    tcp_v4_rcv+89",
    "Attaching 1 probe...",
    "0xffff9d8b2e5f1200 2 x 1->2",
    "SKB CPU PROCESS",
    "5215277183981 [x] 0 [tp] skb:kfree_skb",
    "skb:kfree_skb: skbaddr=0xffff",
    "dropwatch> start",
    "12 drops at location 0xffffffff81a1b2cc",
    "RX flow hash indirection table for eth0 with 8 RX ring(s):",
    "0: 0 0",
    "FEC parameters for eth0:",
    "Cable test started for device eth0.",
    "Pair A code OK",
    "PHY statistics:",
    "conntrack -C",
    "IFACE rxerr/s txerr/s coll/s",
    "rxerr/s txerr/s coll/s IFACE",
    "Linux 5.1 (x) (8 CPU)",
    "/sys/class/net/eth0/mtu",
    "==> /sys/class/net/eth0/mtu <==",
    "grep: /sys/class/net/eth0/speed: Invalid argument",
    "eth0:",
    "speed: 10",
    "echo $(cat /sys/class/net/eth0/$f)",
    "cat: /sys/class/net/eth0/speed: Invalid argument",
    "1+0 records in",
    "sending incremental file list",
    "x 3% 1MB 0.0KB/s - stalled -",
    "--2024-03-01 10:12:11--  http://x",
    "% Total % Received % Xferd",
    "[#605762 0B/28MiB(0%) CN:1 DL:0B]",
    "gid   |stat|avg speed  |path/URI",
    "605762|ERR |       0B/s|x",
    "Download: 5 Mbit/s",
    "Request timed out.",
    "br0",
    "bridge name\tbridge id\tSTP enabled\tinterfaces",
    "br0 8000.020000001122 no eth0",
    "3: eth0: <UP> mtu 1500 master br0 state blocking",
    "port vlan-id",
    "02:00:00:11:22:33 dev eth0 self",
    "192.0.2.1 dev eth0 FAILED",
    "Address HWtype HWaddress Iface",
    "default via 192.0.2.1 dev eth0",
    "100: from all lookup main",
    "traceroute to x",
    " 2  192.0.2.1  1.2 ms",
    "HOST: box",
    "Station 02:00:00:aa:bb:cc (on wlan0)",
    "signal: -84 dBm",
    "wlan0 IEEE 802.11 ESSID:\"x\"",
    "Link Quality=26/70  Signal level=-84 dBm",
    "pci/0000:03:00.0:",
    "name x type drop action drop group y",
    "Name DisplayName DisplayValue",
    "TCP Global Parameters",
    "Globale TCP-Parameter",
    "|                                      WinMTR statistics                                   |",
    "|   192.0.2.1 -    0 |  100 |  100 |    0 |    1 |    9 |    1 |",
    "|------------------------------------------------|------|------|",
    "Host\t%\tSent\tRecv\tBest\tAvrg\tWrst\tLast",
    "===========================================================",
    "Active Routes:",
    "  0.0.0.0   0.0.0.0   192.0.2.1   192.0.2.7   25",
    "",
];

#[test]
fn work_is_linear_whatever_repeats() {
    for trap in TRAPS {
        for text in [
            format!("{trap}\n").repeat(1000),
            format!("{trap}\n\n").repeat(1000),
        ] {
            let (_, looked) = paste::read_counting(&text);
            let most = LOOKS_MAX * text.len() as u64;
            assert!(looked <= most, "{trap}: {looked} of {}", text.len());
        }
    }
}

#[test]
fn work_is_linear_whatever_takes_turns() {
    for (at, first) in TRAPS.iter().enumerate() {
        let second = TRAPS[(at * 7 + 3) % TRAPS.len()];
        let text = format!("{first}\n{second}\n").repeat(400);
        let (_, looked) = paste::read_counting(&text);
        assert!(
            looked <= LOOKS_MAX * text.len() as u64,
            "{first} / {second}: {looked} of {}",
            text.len()
        );
    }
}

#[test]
fn a_long_text_is_cut_and_the_cut_is_listed() {
    let line = "x".repeat(999);
    let text = format!("{line}\n").repeat(TEXT_BYTES_MAX / 1000 + 4000);
    let (pasted, looked) = paste::read_counting(&text);
    assert!(looked <= LOOKS_MAX * TEXT_BYTES_MAX as u64);
    assert!(
        pasted
            .ignored
            .iter()
            .any(|passage| passage.what.contains("MiB")),
        "{:?}",
        pasted.ignored.last()
    );
}

#[test]
fn a_binary_file_is_refused_whole() {
    let bytes: Vec<u8> = (0..1_000_000_u32)
        .map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let (pasted, looked) = paste::read_counting(&String::from_utf8_lossy(&bytes));
    assert_eq!((pasted.records.len(), looked), (0, 0));
    assert!(pasted.ignored[0].what.contains("binary"));
}

#[test]
fn states_and_tests_are_limited() {
    let rows = "[ 3] 0.0- 1.0 sec 55.1 MBytes 462 Mbits/sec 0.028 ms 28/6731 (42%)\n".repeat(900);
    let many = read(&rows);
    assert_eq!(many.records[0].run.tests.len(), 500);
    assert!(
        many.ignored
            .iter()
            .any(|passage| passage.what.contains("tests"))
    );
    let text: String = (0..500)
        .map(|number| format!("net.core.rmem_max = {number}\n\nword\n\n"))
        .collect();
    let pasted = read(&text);
    assert!(pasted.records.len() <= 32);
    assert!(
        pasted
            .ignored
            .iter()
            .any(|passage| passage.what.contains("states"))
    );
}
