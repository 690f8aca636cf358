// SPDX-License-Identifier: MIT OR Apache-2.0
//! IPv6 against IPv4, and multicast: what fails with the one and works with the other, groups joined elsewhere.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use linerate_model::map::Map;
use linerate_model::order::Gather as _;

use super::packets::captures;
use super::shown::Shown;
use super::{Fact, number_after};

pub(super) fn facts(shown: &Shown<'_>) -> Vec<Fact> {
    let one: [fn(&Shown<'_>) -> Option<Fact>; 3] = [only_four, joined_elsewhere, stops];
    one.iter().filter_map(|read| read(shown)).collect()
}

/// What a line or the output of a command with `-4` or `-6` shows of a protocol.
#[derive(Debug, Default)]
struct Seen {
    four_works: bool,
    six_works: bool,
    six_fails: Option<u64>,
}

/// Whether connections by IPv6 fail and those by IPv4 do not.
fn only_four(shown: &Shown<'_>) -> Option<Fact> {
    let is_six = |text: &str| text.contains("::") || text.contains(" -6") || text.contains("ping6");
    shown.lines.iter().find(|line| is_six(line.text))?;
    let telling: BTreeSet<u64> = shown.with(TELLING).map(|line| line.number).gather();
    let mut seen = Seen::default();
    let mut asked: Option<(bool, usize)> = None;
    let mut last = 0;
    for (at, line) in shown
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.text.len() < LINE_MOST)
    {
        let text = line.text;
        if is_command(text) {
            asked = family(text).map(|is_six| (is_six, at));
        }
        let Some(works) = telling
            .contains(&line.number)
            .then(|| works(text))
            .flatten()
        else {
            continue;
        };
        let of_command = || {
            asked
                .filter(|(_, since)| at - since <= OUTPUT_LINES)
                .map(|(is_six, _)| is_six)
        };
        let Some(is_six) = addressed(text).or_else(of_command) else {
            continue;
        };
        last = line.number;
        match (is_six, works) {
            (true, true) => seen.six_works = true,
            (true, false) => seen.six_fails = seen.six_fails.or(Some(line.number)),
            (false, true) => seen.four_works = true,
            (false, false) => {}
        }
    }
    match (seen.six_works, seen.six_fails, seen.four_works) {
        (true, ..) => Some(Fact::new("ipv6_fails_ipv4_works", false, last)),
        (false, Some(line), true) => Some(Fact::new("ipv6_fails_ipv4_works", true, line)),
        _ => None,
    }
}

fn is_command(text: &str) -> bool {
    if !text.starts_with(|letter: char| letter.is_ascii_lowercase() || "$#>".contains(letter)) {
        return false;
    }
    let mut words = text
        .trim_start_matches(['$', '#', '>', ' '])
        .split_whitespace();
    let name = words.next().map(|name| {
        if name == "sudo" {
            words.next().unwrap_or(name)
        } else {
            name
        }
    });
    name.is_some_and(|name| COMMANDS.contains(&name))
        && text.split_whitespace().count() < WORDS_MOST
}

/// Whether a command asks for IPv6; nothing where it asks for neither.
fn family(text: &str) -> Option<bool> {
    let has = |option: &str| text.split_whitespace().any(|word| word.starts_with(option));
    if has("-6") || has("ping6") || has("--inet6") {
        return Some(true);
    }
    (has("-4") || has("--inet4")).then_some(false)
}

/// Whether a line says that something works, or that it does not.
fn works(text: &str) -> Option<bool> {
    if FAILURES.iter().any(|mark| text.contains(mark)) {
        return Some(false);
    }
    let is_fine = text.contains(" 0% packet loss")
        || text.starts_with("HTTP/")
        || text.contains("... connected.")
        || text.contains("Connected to ")
        || text.contains("bytes from ");
    is_fine.then_some(true)
}

/// Whether the address in a line is one of IPv6.
fn addressed(text: &str) -> Option<bool> {
    let mut words = text
        .split([' ', '[', ']', '(', ')', '|', ',', '\''])
        .filter(|word| word.len() > 3);
    words.find_map(|word| {
        let word = word.trim_end_matches([':', '.', '%']);
        let six = word.contains(':')
            && word
                .parse::<Ipv6Addr>()
                .is_ok_and(|address| !address.is_loopback());
        let four = word.split(':').next().unwrap_or(word).parse::<Ipv4Addr>();
        six.then_some(true).or_else(|| {
            four.ok()
                .filter(|address| !address.is_loopback())
                .map(|_| false)
        })
    })
}

/// Whether a group comes in at one interface and was joined at others only: `ip maddr`, `netstat -g`.
fn joined_elsewhere(shown: &Shown<'_>) -> Option<Fact> {
    let mut joined: Map<Ipv4Addr, BTreeSet<&str>> = Map::new();
    let mut interface = "";
    for line in shown.lines.iter().filter(|line| {
        line.text.len() < GROUP_MOST
            && line.text.as_bytes().contains(&b'.') | line.text.as_bytes().contains(&b':')
    }) {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        match words.as_slice() {
            [number, name]
                if number
                    .strip_suffix(':')
                    .is_some_and(|number| number.parse::<u32>().is_ok()) =>
            {
                interface = name
            }
            [number, name, "inet", group] if number.ends_with(':') => add(&mut joined, group, name),
            ["inet", group, ..] if !interface.is_empty() => add(&mut joined, group, interface),
            [name, count, group] if count.parse::<u32>().is_ok() => add(&mut joined, group, name),
            _ => {}
        }
    }
    if joined.is_empty() {
        return None;
    }
    let captured = captures(shown.lines);
    let arrived = captured
        .iter()
        .flat_map(|capture| capture.packets.iter().map(move |packet| (capture, packet)));
    let judged = arrived
        .filter(|(_, packet)| packet.is_in != Some(false))
        .filter_map(|(capture, packet)| {
            let IpAddr::V4(group) = packet.to else {
                return None;
            };
            let at = packet
                .interface
                .or(capture.interface)
                .filter(|name| *name != "any")?;
            Some((!joined.get(&group)?.contains(at), packet.line))
        });
    let (value, line) = judged.into_iter().next()?;
    Some(Fact::new("group_joined_on_other_interface", value, line))
}

fn add<'t>(joined: &mut Map<Ipv4Addr, BTreeSet<&'t str>>, group: &str, interface: &'t str) {
    if let Ok(group) = group.parse::<Ipv4Addr>()
        && group.is_multicast()
    {
        joined.entry(group).or_default().insert(interface);
    }
}

/// After how long a multicast stream is said to stop.
fn stops(shown: &Shown<'_>) -> Option<Fact> {
    let found = shown
        .with(&[" min", "second", " s "])
        .filter(|line| line.text.len() < SENTENCE_MOST)
        .find_map(|line| {
            let text = line.text.to_ascii_lowercase();
            let about = ["multicast", "igmp", "iptv", "mdns", "the stream"]
                .iter()
                .any(|word| text.contains(word));
            let ends = [
                "stops",
                "stop ",
                "freez",
                "disappear",
                "dies",
                "drops out",
                "goes away",
                "vanish",
            ]
            .iter()
            .any(|word| text.contains(word));
            let seconds = (about && ends).then(|| duration_s(&text))??;
            Some((seconds, line.number))
        });
    let (seconds, line) = found?;
    Some(Fact::new("multicast_stops_after_seconds", seconds, line))
}

/// `after 260 seconds`, `for about four minutes`.
fn duration_s(text: &str) -> Option<f64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|word| {
        word.starts_with("minute")
            || word.starts_with("second")
            || ["min", "sec", "s"].contains(word)
    })?;
    let (number, unit) = (words.get(at.checked_sub(1)?)?, words.get(at)?);
    let before = words.get(at.saturating_sub(FILLERS_MOST)..at)?;
    before
        .iter()
        .any(|word| ["after", "for", "within"].contains(word))
        .then_some(())?;
    let named = NUMBERS
        .iter()
        .position(|name| name == number)
        .map(|at| at as f64 + 1.0);
    let number = named.or_else(|| number_after(number.trim_start_matches(['~', '>', '≈']), ""))?;
    Some(number * if unit.starts_with('m') { 60.0 } else { 1.0 })
}

const COMMANDS: &[&str] = &[
    "ping",
    "ping6",
    "curl",
    "wget",
    "ssh",
    "nc",
    "iperf3",
    "iperf",
    "telnet",
    "traceroute",
    "traceroute6",
    "mtr",
    "ip",
    "dig",
    "apt",
    "git",
];
const FAILURES: &[&str] = &[
    "100% packet loss",
    "nreachable",
    "timed out",
    "imed out",
    "imeout",
    "No route to host",
    "o route to host",
];
const TELLING: &[&str] = &[
    "% packet loss",
    "nreachable",
    "imed out",
    "imeout",
    "o route to host",
    "HTTP/",
    "... connected.",
    "Connected to ",
    "bytes from ",
];
const NUMBERS: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];
const GROUP_MOST: usize = 60;
const FILLERS_MOST: usize = 4;
const OUTPUT_LINES: usize = 40;
const WORDS_MOST: usize = 25;
const LINE_MOST: usize = 300;
const SENTENCE_MOST: usize = 500;

#[cfg(test)]
mod tests {
    use super::super::shown::values;
    use super::*;

    #[test]
    fn one_protocol_only() {
        let fails = "dial tcp [2001:db8:10::5]:443: connect: network is unreachable\n";
        let four = "curl -4 -sI https://example.org | head -1\nHTTP/2 200\n";
        let found = values(&format!("{fails}{four}"), facts);
        assert_eq!(found, [("ipv6_fails_ipv4_works", "true".to_owned())]);
        assert_eq!(values(fails, facts), []);
        let six = "ping -6 -c 3 example.org\n3 packets transmitted, 3 received, 0% packet loss\n";
        let found = values(&format!("{six}{four}"), facts);
        assert_eq!(found, [("ipv6_fails_ipv4_works", "false".to_owned())]);
        let wget = "Connecting to example.org|2001:db8::1|:443... failed: Network is unreachable.\nConnecting to example.org|192.0.2.1|:443... connected.\n";
        assert_eq!(
            values(wget, facts),
            [("ipv6_fails_ipv4_works", "true".to_owned())]
        );
        assert_eq!(
            values(
                "curl https://example.org\ncurl: (28) Connection timed out\nHTTP/2 200\n",
                facts
            ),
            []
        );
    }

    #[test]
    fn groups() {
        let text = |at: &str| {
            format!(
                "2:\teth0\n\tinet  224.0.0.1\n3:\tdocker0\n\tinet  239.1.1.1\n{at} In  IP 192.0.2.10.50122 > 239.1.1.1.5004: UDP, length 1316\n"
            )
        };
        assert_eq!(
            values(&text("eth0"), facts),
            [("group_joined_on_other_interface", "true".to_owned())]
        );
        assert_eq!(
            values(&text("docker0"), facts),
            [("group_joined_on_other_interface", "false".to_owned())]
        );
    }

    #[test]
    fn a_stream_that_stops() {
        let text = "Multicast is received for about four minutes after the join, then it stops.\n";
        assert_eq!(
            values(text, facts),
            [("multicast_stops_after_seconds", "240".to_owned())]
        );
        assert_eq!(values("The download stops after 10 seconds.\n", facts), []);
        assert_eq!(
            values(
                "The multicast stream stops at once, 5 minutes ago it was fine.\n",
                facts
            ),
            []
        );
    }
}
