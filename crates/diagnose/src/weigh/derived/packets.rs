// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets as tcpdump and tshark print them, by capture: where and by whom they were seen.

use std::net::IpAddr;

use super::number_after;
use super::shown::word_after;
use crate::weigh::observed::Line;

/// A packet with addresses.
#[derive(Debug)]
pub(super) struct Packet<'t> {
    pub(super) from: IpAddr,
    pub(super) from_port: &'t str,
    pub(super) to: IpAddr,
    pub(super) to_port: &'t str,
    /// Of a capture at all interfaces.
    pub(super) interface: Option<&'t str>,
    pub(super) is_in: Option<bool>,
    /// All that follows the addresses.
    pub(super) rest: &'t str,
    /// The line, and the one before if it has the IP header.
    pub(super) header: &'t str,
    pub(super) line: u64,
}

/// One run of a capturing program at one place.
#[derive(Debug, Default)]
pub(super) struct Capture<'t> {
    /// The heading or the words before the packets.
    pub(super) label: &'t str,
    /// The command, if it is there.
    pub(super) command: &'t str,
    pub(super) interface: Option<&'t str>,
    pub(super) packets: Vec<Packet<'t>>,
    /// `N packets captured`.
    pub(super) counted: Option<f64>,
    pub(super) line: u64,
}

impl<'t> Packet<'t> {
    pub(super) fn is_syn(&self) -> bool {
        self.rest.contains("Flags [S") && !self.is_syn_answer() || self.rest.contains("[SYN]")
    }

    pub(super) fn is_syn_answer(&self) -> bool {
        self.rest.contains("Flags [S.") || self.rest.contains("[SYN, ACK]")
    }

    pub(super) fn is_reset(&self) -> bool {
        self.rest.contains("Flags [R") || self.rest.contains("[RST")
    }

    pub(super) fn is_tcp(&self) -> bool {
        self.rest.contains("Flags [") || self.rest.trim_start().starts_with("TCP ")
    }

    pub(super) fn is_echo_request(&self) -> bool {
        self.rest.contains("echo request") || self.rest.contains("(ping) request")
    }

    /// A question that expects an answer.
    pub(super) fn is_request(&self) -> bool {
        self.is_syn() || self.is_echo_request()
    }

    pub(super) fn is_answer_of(&self, other: &Packet<'_>) -> bool {
        self.from == other.to
            && self.to == other.from
            && self.from_port == other.to_port
            && self.to_port == other.from_port
    }

    pub(super) fn is_same_flow(&self, other: &Packet<'_>) -> bool {
        self.from == other.from
            && self.to == other.to
            && self.from_port == other.from_port
            && self.to_port == other.to_port
    }

    pub(super) fn ttl(&self) -> Option<f64> {
        number_after(self.header, "ttl ").or_else(|| number_after(self.header, "hlim "))
    }
}

/// All captures of a text.
pub(super) fn captures<'t>(lines: &[Line<'t>]) -> Vec<Capture<'t>> {
    let mut all = vec![Capture::default()];
    let mut header = "";
    let mut left = PACKETS_MOST;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let text = line.text;
        if let Some(packet) = packet(text, header, line.number) {
            left -= 1;
            let label = label(text);
            if all.last().is_none_or(|last| last.is_other_than(label)) {
                all.push(Capture {
                    label,
                    line: line.number,
                    ..Capture::default()
                });
            }
            if let Some(last) = all.last_mut() {
                last.packets.push(packet);
            }
        } else {
            mark(&mut all, line);
        }
        header =
            if text.contains(" IP (tos") || text.starts_with("IP (tos") || text.contains("IP6 (") {
                text
            } else {
                ""
            };
        if left == 0 || all.len() > CAPTURES_MOST {
            break;
        }
    }
    all.retain(|capture| !capture.packets.is_empty() || capture.counted.is_some());
    all
}

impl Capture<'_> {
    /// Whether a packet with these words before it belongs to the next capture.
    fn is_other_than(&self, label: &str) -> bool {
        let differs = !label.is_empty() && self.label != label && self.command.is_empty();
        self.counted.is_some() || differs
    }

    /// Whether it saw all interfaces, so that a packet may appear more than once.
    pub(super) fn is_of_all(&self) -> bool {
        self.interface == Some("any") || self.packets.iter().any(|packet| packet.is_in.is_some())
    }

    /// Whether the command selects packets by a port, a host or a direction.
    pub(super) fn selects(&self, words: &[&str]) -> bool {
        words
            .iter()
            .any(|word| self.command.split_whitespace().any(|one| one == *word))
    }
}

/// A command, a heading, or the end of a capture.
fn mark<'t>(all: &mut Vec<Capture<'t>>, line: &Line<'t>) {
    let text = line.text.trim();
    let is_new = |last: &Capture<'_>| !last.packets.is_empty() || last.counted.is_some();
    let command = ["tcpdump ", "tshark "].iter().find_map(|name| {
        let at = text.find(name)?;
        (at < COMMAND_AT_MOST && text[at..].contains('-')).then(|| &text[at..])
    });
    if let Some(command) = command {
        let interface = interface(command);
        let label = label(text);
        let heading = all
            .last()
            .filter(|last| !is_new(last))
            .map_or("", |last| last.label);
        let label = if label.is_empty() { heading } else { label };
        let command = command.trim_end_matches(':');
        all.push(Capture {
            label,
            command,
            interface,
            line: line.number,
            ..Capture::default()
        });
    } else if let Some(rest) = text.split_once("listening on ").map(|(_, rest)| rest) {
        let name = rest.split([',', ' ']).next();
        if all.last().is_some_and(is_new) {
            all.push(Capture {
                line: line.number,
                ..Capture::default()
            });
        }
        if let Some(last) = all.last_mut() {
            last.interface = name.or(last.interface);
        }
    } else if let Some((before, _)) = text.split_once(" packets captured") {
        ended(all, before, line.number);
    } else if is_heading(text)
        && all
            .last()
            .is_none_or(|last| is_new(last) || last.command.is_empty())
    {
        all.push(Capture {
            label: text,
            line: line.number,
            ..Capture::default()
        });
    }
}

/// `0 packets captured`, `node 2: 0 packets captured`.
fn ended<'t>(all: &mut Vec<Capture<'t>>, before: &'t str, line: u64) {
    let (label, count) = before.rsplit_once(": ").unwrap_or(("", before));
    let Ok(count) = count.trim().parse::<f64>() else {
        return;
    };
    let is_other =
        |last: &Capture<'_>| last.counted.is_some() || (!label.is_empty() && last.label != label);
    if all.last().is_none_or(is_other) {
        all.push(Capture {
            label,
            line,
            ..Capture::default()
        });
    }
    if let Some(last) = all.last_mut() {
        last.counted = Some(count);
        last.line = line;
    }
}

fn is_heading(text: &str) -> bool {
    text.ends_with(':')
        && text.len() < HEADING_MOST
        && !text.contains('>')
        && text.contains(|letter: char| letter.is_alphabetic())
}

fn interface(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace();
    let option = words
        .find(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('i'))?;
    let joined = option.split_once('i')?.1;
    if joined.is_empty() {
        words.next()
    } else {
        Some(joined)
    }
}

/// The words before a packet that say where it was seen: `node 1: IP …`.
fn label(text: &str) -> &str {
    let end = ["IP ", "IP6 ", "tcpdump ", "eth", "ARP"]
        .iter()
        .filter_map(|mark| text.find(mark))
        .min();
    let before = end.map_or("", |end| text[..end].trim_end());
    let Some(words) = before.strip_suffix(':') else {
        return "";
    };
    let is_time = words
        .bytes()
        .all(|letter| letter.is_ascii_digit() || b":. -".contains(&letter));
    if is_time || words.len() > HEADING_MOST || words.contains('>') {
        ""
    } else {
        words
    }
}

/// `12:00:00.1 eth0 In IP 192.0.2.1.443 > 192.0.2.2.5000: …`, `7 0.1 192.0.2.1 → 192.0.2.2 TCP 74 443 → 5000 [SYN] …`.
fn packet<'t>(text: &'t str, header: &'t str, line: u64) -> Option<Packet<'t>> {
    let bytes = text.as_bytes();
    (bytes.contains(&b'>') || bytes.contains(&ARROW_FIRST)).then_some(())?;
    for arrow in [" > ", " \u{2192} ", " -> "] {
        for (at, _) in text.match_indices(arrow).take(ARROWS_MOST) {
            let (before, after) = (&text[..at], &text[at + arrow.len()..]);
            let Some((from, from_port)) = before.split_whitespace().next_back().and_then(end)
            else {
                continue;
            };
            let word = after.split_whitespace().next()?;
            let Some((to, to_port)) = end(word.trim_end_matches([':', ','])) else {
                continue;
            };
            // A filter's log and a list of connections have arrows, too.
            let rest = &after[word.len()..];
            let (from_port, to_port) = if arrow == " > " {
                (from_port, to_port)
            } else {
                ports(rest, arrow)?
            };
            (arrow != " > " || word.ends_with([':', ','])).then_some(())?;
            let (interface, is_in) = seen_at(before);
            let header = if text.contains("ttl ") { text } else { header };
            return Some(Packet {
                from,
                from_port,
                to,
                to_port,
                interface,
                is_in,
                rest,
                header,
                line,
            });
        }
    }
    None
}

/// `TCP 74 443 → 5000 [SYN] …` of tshark.
fn ports<'t>(rest: &'t str, arrow: &str) -> Option<(&'t str, &'t str)> {
    let mut words = rest.split_whitespace();
    let is_protocol = words
        .next()?
        .starts_with(|letter: char| letter.is_ascii_uppercase());
    let length = words.next()?.parse::<u32>();
    (is_protocol && length.is_ok()).then_some(())?;
    let (before, after) = rest.split_once(arrow).unzip();
    let from = before.and_then(|before| before.split_whitespace().next_back());
    let to = after.and_then(|after| after.split_whitespace().next());
    Some((from.unwrap_or_default(), to.unwrap_or_default()))
}

/// `192.0.2.1.443`, `192.0.2.1`, `2001:db8::1.443`.
fn end(word: &str) -> Option<(IpAddr, &str)> {
    word.starts_with(|letter: char| letter.is_ascii_hexdigit() || letter == ':')
        .then_some(())?;
    if let Ok(address) = word.parse() {
        return Some((address, ""));
    }
    let (address, port) = word.rsplit_once('.')?;
    Some((address.parse().ok()?, port))
}

/// The interface and direction of a capture at all interfaces: `eth0 In  IP …`.
fn seen_at(before: &str) -> (Option<&str>, Option<bool>) {
    let mut last = None;
    for word in before.split_whitespace() {
        if word == "In" || word == "Out" {
            let name = last.filter(|name: &&str| !name.contains(':') && !name.contains('.'));
            let vlan = last.filter(|name: &&str| {
                !name.ends_with(':') && name.starts_with(|letter: char| letter.is_alphabetic())
            });
            return (name.or(vlan), Some(word == "In"));
        }
        last = Some(word);
    }
    (None, None)
}

/// The identity of a packet of `tcpdump -v`.
pub(super) fn identity<'t>(packet: &Packet<'t>) -> Option<&'t str> {
    let id = word_after(packet.header, " id ")?.trim_end_matches(',');
    (id != "0").then_some(id)
}

const LINE_MOST: usize = 1000;
/// The first byte of an arrow that is no `>`.
const ARROW_FIRST: u8 = 0xe2;
const ARROWS_MOST: usize = 4;
const COMMAND_AT_MOST: usize = 60;
const HEADING_MOST: usize = 60;
const PACKETS_MOST: usize = 50_000;
const CAPTURES_MOST: usize = 200;
