// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the targets of pasted text do with one input. Separate from `targets.rs`, because they need `linerate-paste`,
//! whose corpus test includes this file.

use linerate_paste::text::{self, Hint, Lines};

/// The whole way from a text to records: no panic, linear work, lines that exist, and clean text stays as it is.
pub(crate) fn pasted(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (pasted, looked) = linerate_paste::read_counting(&text);
    assert!(looked <= 200 * (text.len() as u64 + 1), "{looked}");
    let lines = text.split('\n').count() as u64 + 1;
    for passage in pasted.understood.iter().chain(&pasted.ignored) {
        assert!(
            1 <= passage.first_line
                && passage.first_line <= passage.last_line
                && passage.last_line <= lines
        );
    }
    for test in pasted.records.iter().flat_map(|record| &record.run.tests) {
        assert!(
            test.duration_s.is_finite()
                && test.lost_packets <= test.sent_packets.or(test.lost_packets)
        );
    }
}

/// Every reader of what tools print, from every line on, under several commands: a block has lines that are there.
pub(crate) fn tool_text(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines: Vec<&str> = text.lines().collect();
    let looked = std::cell::Cell::new(0);
    let commands = [
        None,
        Some("ethtool -S eth0"),
        Some("cat /proc/interrupts"),
        Some("cat /proc/sys/net/ipv4/tcp_mem"),
        Some("iperf -c h"),
        Some("dmesg"),
    ];
    for at in 0..lines.len() {
        for command in commands {
            let rest = Lines::new(&lines, &looked).from(at);
            if let Some(block) = text::read(rest, Hint { command }) {
                assert!((1..=rest.len()).contains(&block.lines), "{block:?}");
            }
        }
    }
}
