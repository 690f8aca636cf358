// SPDX-License-Identifier: MIT OR Apache-2.0
//! `netstat -s`: sentences with numbers, in English and German, by the kernel's names. Source: net-tools statistics.c as
//! it prints; German sentences: recall.

use super::{Block, Content, Counters, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    group(lines.get(0)?)?;
    let mut current = "";
    let mut all: Vec<(String, u64)> = Vec::new();
    let found = lines.run(0, |line| {
        if let Some(group) = group(line) {
            current = group;
            return true;
        }
        let counter = sentence(current, line.trim());
        all.extend(counter.clone());
        counter.is_some() || is_sentence(line)
    });
    if all.is_empty() {
        return Block::says_nothing(&found, "netstat -s");
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "netstat -s",
        content: by_file(all),
    })
}

/// The kernel's counters by the file that holds them.
pub(super) fn by_file(all: Vec<(String, u64)>) -> Vec<Content> {
    let of = |source: &str| {
        let mine: Vec<(String, u64)> = all
            .iter()
            .filter(|(name, _)| file(name) == source)
            .cloned()
            .collect();
        (!mine.is_empty()).then(|| Counters::new(source, None, mine))
    };
    ["/proc/net/snmp", "/proc/net/netstat", "/proc/net/snmp6"]
        .into_iter()
        .filter_map(of)
        .collect()
}

fn file(name: &str) -> &'static str {
    if ["TcpExt", "IpExt", "MPTcpExt"]
        .iter()
        .any(|group| name.starts_with(group))
    {
        "/proc/net/netstat"
    } else if ["Ip6", "Udp6", "Icmp6", "UdpLite6"]
        .iter()
        .any(|group| name.starts_with(group))
    {
        "/proc/net/snmp6"
    } else {
        "/proc/net/snmp"
    }
}

fn group(line: &str) -> Option<&'static str> {
    let name = line.trim_end().strip_suffix(':')?;
    [
        "Ip", "Icmp", "IcmpMsg", "Tcp", "Udp", "UdpLite", "TcpExt", "IpExt", "MPTcpExt",
    ]
    .into_iter()
    .find(|group| *group == name)
}

/// A line with a number before or after its words.
fn is_sentence(line: &str) -> bool {
    let line = line.trim();
    let number = |word: &str| word.parse::<u64>().is_ok();
    let first = line.split_whitespace().next().is_some_and(number);
    let last = line.rsplit_once(": ").is_some_and(|(_, word)| number(word));
    let known = [
        "ICMP input histogram",
        "ICMP output histogram",
        "Forwarding:",
        "RTO Algorithmus",
        "ICMP-Eingangshistogramm",
        "ICMP-Ausgangshistogramm",
    ];
    line.len() <= 120 && (first || last || known.iter().any(|start| line.starts_with(start)))
}

fn sentence(group: &str, line: &str) -> Option<(String, u64)> {
    if let Some((name, value)) = line.split_once(": ") {
        let value = value.trim().parse().ok()?;
        let plain = !name.contains(' ');
        return if plain {
            Some((format!("{group}{name}"), value))
        } else {
            named(group, name).map(|name| (name, value))
        };
    }
    let (number, words) = line.split_once(' ')?;
    Some((named(group, words.trim())?, number.parse().ok()?))
}

fn named(group: &str, words: &str) -> Option<String> {
    let (_, _, name) = SENTENCES
        .iter()
        .find(|(of, said, _)| *of == group && words.starts_with(said))?;
    Some(format!("{group}{name}"))
}

/// Group, how the sentence begins, the kernel's name.
const SENTENCES: &[(&str, &str, &str)] = &[
    ("Ip", "total packets received", "InReceives"),
    ("Ip", "Pakete insgesamt empfangen", "InReceives"),
    ("Ip", "Gesamtzahl empfangener Pakete", "InReceives"),
    ("Ip", "with invalid headers", "InHdrErrors"),
    ("Ip", "with invalid addresses", "InAddrErrors"),
    ("Ip", "forwarded", "ForwDatagrams"),
    ("Ip", "weitergeleitet", "ForwDatagrams"),
    ("Ip", "incoming packets discarded", "InDiscards"),
    ("Ip", "eingehende Pakete verworfen", "InDiscards"),
    ("Ip", "incoming packets delivered", "InDelivers"),
    ("Ip", "eingehende Pakete ausgeliefert", "InDelivers"),
    ("Ip", "requests sent out", "OutRequests"),
    ("Ip", "outgoing packets dropped", "OutDiscards"),
    ("Ip", "dropped because of missing route", "OutNoRoutes"),
    ("Ip", "fragments dropped after timeout", "ReasmTimeout"),
    ("Ip", "reassemblies required", "ReasmReqds"),
    ("Ip", "packets reassembled ok", "ReasmOKs"),
    ("Ip", "packet reassembles failed", "ReasmFails"),
    ("Ip", "packet reassemblies failed", "ReasmFails"),
    ("Ip", "fragments received ok", "FragOKs"),
    ("Ip", "fragments failed", "FragFails"),
    ("Ip", "fragments created", "FragCreates"),
    ("Tcp", "active connection", "ActiveOpens"),
    ("Tcp", "passive connection", "PassiveOpens"),
    ("Tcp", "failed connection attempts", "AttemptFails"),
    ("Tcp", "connection resets received", "EstabResets"),
    ("Tcp", "connections established", "CurrEstab"),
    ("Tcp", "segments received", "InSegs"),
    ("Tcp", "Segmente empfangen", "InSegs"),
    ("Tcp", "segments sen", "OutSegs"),
    ("Tcp", "Segmente ausgesendet", "OutSegs"),
    ("Tcp", "Segmente gesendet", "OutSegs"),
    ("Tcp", "segments retrans", "RetransSegs"),
    ("Tcp", "Segmente erneut", "RetransSegs"),
    ("Tcp", "Segmente wiederholt", "RetransSegs"),
    ("Tcp", "bad segments received", "InErrs"),
    ("Tcp", "fehlerhafte Segmente empfangen", "InErrs"),
    ("Tcp", "resets sent", "OutRsts"),
    ("Udp", "packets received", "InDatagrams"),
    ("Udp", "Pakete empfangen", "InDatagrams"),
    ("Udp", "packets to unknown port received", "NoPorts"),
    ("Udp", "Pakete an unbekannte", "NoPorts"),
    ("Udp", "Pakete für unbekannte", "NoPorts"),
    ("Udp", "packet receive errors", "InErrors"),
    ("Udp", "Paketempfangsfehler", "InErrors"),
    ("Udp", "Paket-Empfangsfehler", "InErrors"),
    ("Udp", "packets sent", "OutDatagrams"),
    ("Udp", "Pakete gesendet", "OutDatagrams"),
    ("Udp", "receive buffer errors", "RcvbufErrors"),
    ("Udp", "Empfangspuffer", "RcvbufErrors"),
    ("Udp", "send buffer errors", "SndbufErrors"),
    ("Udp", "Sendepuffer", "SndbufErrors"),
    (
        "TcpExt",
        "packets pruned from receive queue because of socket buffer overrun",
        "PruneCalled",
    ),
    ("TcpExt", "packets pruned from receive queue", "RcvPruned"),
    (
        "TcpExt",
        "packets dropped from out-of-order queue because of socket buffer",
        "OfoPruned",
    ),
    (
        "TcpExt",
        "packets collapsed in receive queue",
        "TCPRcvCollapsed",
    ),
    (
        "TcpExt",
        "times the listen queue of a socket overflowed",
        "ListenOverflows",
    ),
    ("TcpExt", "SYNs to LISTEN sockets", "ListenDrops"),
    ("TcpExt", "fast retransmits", "TCPFastRetrans"),
    ("TcpExt", "forward retransmits", "TCPForwardRetrans"),
    ("TcpExt", "retransmits in slow start", "TCPSlowStartRetrans"),
    ("TcpExt", "other TCP timeouts", "TCPTimeouts"),
    ("TcpExt", "timeouts after SACK recovery", "TCPSackFailures"),
    ("TcpExt", "DSACKs received", "TCPDSACKRecv"),
    (
        "TcpExt",
        "DSACKs for out of order packets received",
        "TCPDSACKOfoRecv",
    ),
    ("TcpExt", "DSACKs sent for old packets", "TCPDSACKOldSent"),
    ("TcpExt", "delayed acks sent", "DelayedACKs"),
    (
        "TcpExt",
        "packets rejects in established connections because of timestamp",
        "PAWSEstab",
    ),
    (
        "TcpExt",
        "times recovered from packet loss",
        "TCPSackRecovery",
    ),
    (
        "TcpExt",
        "congestion windows recovered without slow start after partial ack",
        "TCPLossUndo",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    fn values(text: &str) -> Vec<(String, u64)> {
        let block = block_of(text, read).unwrap();
        let counters = block.content.into_iter().flat_map(|content| match content {
            Content::Counters(counters) => counters.values,
            _ => Vec::new(),
        });
        counters.collect()
    }

    #[test]
    fn english_and_german() {
        let english = "Tcp:\n    1000 segments received\n    900 segments sent out\n    17 segments retransmitted\nUdp:\n    500 packets received\n    40 packet receive errors\n    receive buffer errors: 38\nTcpExt:\n    3 packets collapsed in receive queue due to low socket buffer\n    TCPTimeouts: 2\n";
        let german = "Tcp:\n    1000 Segmente empfangen\n    900 Segmente gesendet\n    17 Segmente erneut übertragen\nUdp:\n    500 Pakete empfangen\n    40 Paketempfangsfehler\n    38 Empfangspufferfehler\nTcpExt:\n    TCPRcvCollapsed: 3\n    TCPTimeouts: 2\n";
        assert_eq!(values(english), values(german));
        let expected = [
            ("TcpInSegs", 1000),
            ("TcpOutSegs", 900),
            ("TcpRetransSegs", 17),
            ("UdpInDatagrams", 500),
            ("UdpInErrors", 40),
            ("UdpRcvbufErrors", 38),
            ("TcpExtTCPRcvCollapsed", 3),
            ("TcpExtTCPTimeouts", 2),
        ];
        assert_eq!(
            values(english),
            expected.map(|(name, value)| (name.to_owned(), value))
        );
    }
}
