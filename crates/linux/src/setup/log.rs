// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel's log says of network drivers (`/dev/kmsg`, where this user may read it).

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;

use super::{RawSetting, setting};

/// The last lines about links, watchdogs, drivers and what the network ran out of.
pub(super) fn network_lines() -> RawSetting {
    let mut lines = matching().unwrap_or_default();
    let surplus = lines.len().saturating_sub(MOST_LINES);
    lines.drain(..surplus);
    let numbered = lines
        .into_iter()
        .zip(1..)
        .map(|(line, number)| (format!("line{number}"), line));
    setting("dmesg", numbered.collect())
}

/// Each read(2) gives one record; EPIPE says that records were overwritten meanwhile.
fn matching() -> Option<Vec<String>> {
    let log = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/kmsg");
    let mut log = log.ok()?;
    let mut record = vec![0; RECORD_BYTES];
    let mut lines = Vec::new();
    for _ in 0..MOST_RECORDS {
        match log.read(&mut record) {
            Ok(length) => lines.extend(line(&record[..length]).filter(|line| concerns(line))),
            Err(error)
                if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::Interrupted) => {}
            Err(_) => break,
        }
    }
    Some(lines)
}

/// `priority,sequence,microseconds,flags;text`: the text with its time as `dmesg` prints it.
fn line(record: &[u8]) -> Option<String> {
    let record = String::from_utf8_lossy(record);
    let (head, text) = record.split_once(';')?;
    let us: u64 = head.split(',').nth(2)?.parse().ok()?;
    let text = text.lines().next()?;
    Some(format!(
        "[{:5}.{:06}] {text}",
        us / 1_000_000,
        us % 1_000_000
    ))
}

fn concerns(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    WORDS.iter().any(|word| line.contains(word)) && !NOISE.iter().any(|word| line.contains(word))
}

const RECORD_BYTES: usize = 8192;
const MOST_RECORDS: usize = 100_000;
const MOST_LINES: usize = 40;
const WORDS: [&str; 23] = [
    "eth",
    "enp",
    "eno",
    "ens",
    "link is ",
    "netdev watchdog",
    "transmit queue",
    "nf_conntrack",
    "neighbour",
    "page allocation failure",
    "phy",
    "mdio",
    "iommu",
    "swiotlb",
    "pcie",
    "out of memory: tcp",
    "tcp: out of memory",
    "possible syn flooding",
    "fec ",
    "rx fifo",
    "rcv pkt",
    "clock throttled",
    "temperature above threshold",
];
/// Captures and ports of bridges come and go, `phy` is in many words, and the command line has a source of its own.
const NOISE: [&str; 10] = [
    "promiscuous mode",
    "allmulticast mode",
    "entered blocking state",
    "entered disabled state",
    "entered forwarding state",
    "renamed from",
    "method",
    "physical",
    "graphy",
    "command line",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_becomes_a_line_of_dmesg() {
        let record =
            b"6,339,5140900,-;fec 2188000.ethernet eth0: Link is Up - 1Gbps/Full\n SUBSYSTEM=net\n";
        let expected = "[    5.140900] fec 2188000.ethernet eth0: Link is Up - 1Gbps/Full";
        assert_eq!(line(record).as_deref(), Some(expected));
        assert!(concerns(expected));
        assert!(!concerns("[    1.0] usb 1-1: new high-speed USB device"));
        assert!(!concerns("[    1.0] eth0: entered promiscuous mode"));
        assert!(!concerns(
            "[    0.0] Kernel command line: ip=::::eth0 quiet"
        ));
        assert_eq!(line(b"no record"), None);
    }
}
