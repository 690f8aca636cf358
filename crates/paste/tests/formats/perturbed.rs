// SPDX-License-Identifier: MIT OR Apache-2.0
//! What mail programs and forums do to a text changes nothing of what it says, and no text makes a reader fail.

use linerate_paste as paste;
use proptest::prelude::*;

use crate::read;
use crate::texts::{PATCH, PORTS, ROUTER, SWEEP, SYSTEMS, TTCP};

const TEXTS: &[&str] = &[SWEEP, PATCH, SYSTEMS, ROUTER, TTCP, PORTS];

type Change = fn(&str) -> String;

/// What is done to a whole text.
const CHANGES: &[Change] = &[
    |text| text.lines().map(|line| format!("> {line}\n")).collect(),
    |text| text.lines().map(|line| format!("> > {line}\n")).collect(),
    |text| text.replace('\n', "\r\n"),
    |text| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    },
    |text| text.replace(' ', "\u{a0}"),
    |text| text.lines().map(|line| format!("{line} \n")).collect(),
    |text| format!("<pre>{text}</pre>"),
    |text| format!("[code]\n{text}[/code]\n"),
    |text| format!("```\n{text}```\n"),
    |text| {
        text.lines()
            .map(|line| format!("\u{1b}[0m{line}\u{1b}[K\n"))
            .collect()
    },
    |text| {
        text.replace('=', "=3D")
            .lines()
            .map(|line| format!("{line}=20\n"))
            .collect()
    },
    |text| format!("{text}\nRegards, somebody\n"),
    |text| text.replace(" Mbits/sec", "<b> Mbits/sec</b>"),
    |text| {
        text.replace("4601", "46<i>0</i>1")
            .replace("782502", "**782502**")
    },
];

#[test]
fn every_change_leaves_what_is_said() {
    for text in TEXTS {
        let expected = read(text).records;
        assert!(!expected.is_empty());
        for (number, change) in CHANGES.iter().enumerate() {
            assert_eq!(
                read(&change(text)).records,
                expected,
                "change {number}:\n{}",
                change(text)
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Two changes on top of each other.
    #[test]
    fn changes_of_changes(text in 0..TEXTS.len(), first in 0..CHANGES.len(), second in 0..CHANGES.len()) {
        let expected = read(TEXTS[text]).records;
        // What one encoding hides, the next cannot always show again.
        prop_assume!(first != 10 || second == 0 || second == 1 || second == 2);
        prop_assert_eq!(read(&CHANGES[second](&CHANGES[first](TEXTS[text]))).records, expected);
    }

    /// Whatever is cut from either end, what is left is read without failing, and no loss is invented.
    #[test]
    fn cut_ends(text in 0..TEXTS.len(), from in 0_usize..60, lines in 0_usize..60) {
        let whole = read(TEXTS[text]).records;
        let losses: Vec<_> = whole.iter().flat_map(|record| &record.run.tests).map(|test| test.lost_packets).collect();
        let cut: Vec<&str> = TEXTS[text].lines().skip(from).take(lines).collect();
        for record in read(&cut.join("\n")).records {
            prop_assert!(record.run.tests.iter().all(|test| losses.contains(&test.lost_packets)));
        }
    }

    // Without the mark of what could not be decoded: many of them in a little text are no text.
    #[test]
    fn any_text_is_survived_and_clean_text_stays(text in "[\\PC&&[^\u{fffd}]]{0,300}") {
        let _ = read(&text);
        let clean = paste::clean(&text).text();
        prop_assert_eq!(paste::clean(&clean).text(), clean);
    }

    #[test]
    fn nearly_right_text_is_survived_and_clean_text_stays(words in proptest::collection::vec(word(), 0..80)) {
        let text = words.concat();
        let _ = read(&text);
        let clean = paste::clean(&text).text();
        prop_assert_eq!(paste::clean(&clean).text(), clean);
    }
}

/// What texts are made of.
fn word() -> impl Strategy<Value = String> {
    proptest::sample::select(WORDS).prop_map(str::to_owned)
}

/// Pieces of what tools, forums and terminals print.
const WORDS: &[&str] = &[
    "\n",
    "\n",
    "\n",
    " ",
    " ",
    "  ",
    "\t",
    "[ 3] ",
    "[SUM] ",
    "[ ID] ",
    "0.0- 2.0 sec ",
    "0.0-10.0 sec",
    "48.1 MBytes ",
    "202 Mbits/sec ",
    "0.063 ms ",
    "71/34358 (0.21%)",
    "-1/5 (-1%)",
    "Server Report:",
    "Sent 5 datagrams",
    "local 1.1.1.1 port 5001 connected with 2.2.2.2 port 1",
    "RX packets:5 ",
    "errors:1 ",
    "overruns:7 ",
    "eth0 ",
    "Link encap:",
    "inet ",
    "RX errors 0  dropped 9",
    "NIC statistics:\n",
    "rx_errors: 5\n",
    "Settings for eth0:\n",
    "Speed: 1000Mb/s\n",
    "Ring parameters for eth0:\n",
    "Pre-set maximums:\n",
    "RX:\t5\n",
    "CPU0 CPU1\n",
    "124: 1 2 GIC eth0\n",
    "Udp: InErrors\nUdp: 5\n",
    "Tcp:\n",
    "5 segments retransmitted\n",
    "root@x:~# ",
    "$ ",
    "> ",
    "| ",
    "<b>",
    "</b>",
    "<br>",
    "&lt;",
    "&nbsp;",
    "[b]",
    "[/b]",
    "**",
    "*",
    "`",
    "\\_",
    "\u{1b}[31m",
    "=20\n",
    "\u{a0}",
    "Before\n",
    "After\n",
    "bandwidth 400\n",
    "cat /proc/version\n",
    "iperf -c h -r -u\n",
    "qdisc mq 0: dev eth0 root\n",
    " Sent 5 bytes 5 pkt (dropped 3, overlimits 0 requeues 0)\n",
    "{\"start\":",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "18446744073709551615",
    "99999999999999999999",
    "-9223372036854775808",
    "1e308",
    "0x02188084 =0x05ee0244",
    "ENET_RCR:",
    "MTU = 1500, -n 5\n",
    "Tx: 92.1 Mbps, 1s (8%)\n",
    "Threads Total Gbit/s\n",
    "1 3.0 3.0\n",
    "9700 pps forwarding. ",
    "%Cpu(s): 1.0 us, 2.0 sy, 0.0 ni, 97.0 id",
    "é",
    "\u{202e}",
    "C:\\>",
    "procs\n r b us sy id\n 1 1 1 1 1\n",
];
