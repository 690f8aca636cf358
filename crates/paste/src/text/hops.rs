// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mtr`, `traceroute`, `tracepath` and `tracert`: the length of a path, and its MTU:
//! `  2.|-- 192.0.2.9   12.0%   100    9.4  10.5   8.3  41.1   4.1`.

use std::net::IpAddr;

use super::number::decimal;
use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let start = lead(lines, first);
    let found = lines.run(start, |line| hop(line).is_some() || is_note(line));
    let hops: Vec<(u32, &'static str)> = found.iter().filter_map(|(_, line)| hop(line)).collect();
    let (last, format) = *hops.last()?;
    let asked = hint
        .words()
        .next()
        .is_some_and(|word| word.contains("trace") || word == "mtr");
    (start > 0 || hops.len() > 1 || asked).then_some(())?;
    let mut values = vec![("hops".to_owned(), last.to_string())];
    let sizes = found
        .iter()
        .rev()
        .filter_map(|(_, line)| line.split_once("pmtu "));
    let size = sizes
        .filter_map(|(_, rest)| rest.split_whitespace().next())
        .next();
    values.extend(size.map(|size| ("pmtu".to_owned(), size.to_owned())));
    Some(Block {
        lines: found.last()?.0 + 1,
        format,
        content: vec![Settings::new(format, None, values)],
    })
}

/// The number of lines before the first hop.
fn lead(lines: Lines<'_>, first: &str) -> usize {
    let begins = |line: &str, starts: &[&str]| {
        starts
            .iter()
            .any(|start| line.trim_start().starts_with(start))
    };
    if !begins(first, &HEADINGS) || first.len() > 200 {
        return 0;
    }
    // The screen of mtr has its keys before the hops.
    let screen = first.contains("My traceroute");
    let is_lead = |at: &usize| {
        let line = lines.get(*at).unwrap_or_default();
        let mine = line.trim().is_empty() || begins(line, &HEADINGS) || screen;
        line.len() < 200 && mine && hop(line).is_none()
    };
    1 + (1..LEAD_MOST).take_while(is_lead).count()
}

/// The number of a hop, and the tool that prints it so.
fn hop(line: &str) -> Option<(u32, &'static str)> {
    let text = line.trim_start();
    if text.len() > 300 || !text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, rest) = text.split_at(end);
    let number = number
        .parse()
        .ok()
        .filter(|number| (1..=64).contains(number))?;
    let words: Vec<&str> = rest.split_whitespace().take(24).collect();
    let timed = words
        .iter()
        .zip(words.iter().skip(1))
        .any(|(time, unit)| is_time(time) && *unit == "ms");
    let stars = words.iter().filter(|word| **word == "*").count();
    let addressed = stars > 0 || words.iter().any(|word| is_address(word));
    let tool = if rest.starts_with(".|--") {
        "mtr"
    } else if let Some(rest) = rest.strip_prefix('.') {
        let row = (rest.contains('%') && words.len() > 7) || rest.trim() == "???";
        row.then_some("mtr")?
    } else if rest.starts_with(':') || rest.starts_with("?:") {
        let known = ["[LOCALHOST]", " pmtu ", "no reply", "reached"]
            .iter()
            .any(|mark| rest.contains(mark));
        let timed = words
            .iter()
            .any(|word| word.strip_suffix("ms").and_then(decimal).is_some());
        (known || timed).then_some("tracepath")?
    } else {
        let spaced = rest.starts_with([' ', '\t']) && !rest.contains(" bytes");
        (spaced && addressed && (timed || stars > 1)).then_some("traceroute")?
    };
    Some((number, tool))
}

fn is_address(word: &str) -> bool {
    word.trim_matches(['(', ')', '[', ']'])
        .parse::<IpAddr>()
        .is_ok()
}

/// `9.112`, and of Windows `<1`.
fn is_time(word: &str) -> bool {
    decimal(word.trim_start_matches('<')).is_some()
}

/// A line between or after hops: a further router of one hop, tracepath's closing, tracert's.
fn is_note(line: &str) -> bool {
    let text = line.trim_start();
    let known = NOTES.iter().any(|note| text.starts_with(note));
    let mut words = text.split_whitespace();
    let indented = line.starts_with([' ', '\t']) && text.contains(" ms");
    text.len() < 200
        && (known
            || (indented && words.next().is_some_and(is_address))
            || text.starts_with("|  `|--"))
}

const LEAD_MOST: usize = 8;
/// How lines before the hops begin.
const HEADINGS: [&str; 9] = [
    "traceroute to ",
    "traceroute6 to ",
    "Tracing route to ",
    "over a maximum of ",
    "Start: ",
    "HOST: ",
    "Host  ",
    "My traceroute",
    "Packets  ",
];
const NOTES: [&str; 5] = [
    "Too many hops:",
    "Resume: pmtu",
    "Trace complete.",
    "|-- ",
    "`|-- ",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    type Values = Vec<(String, String)>;

    fn of(text: &str) -> Option<(usize, &'static str, Values)> {
        let mut block = block_of(text, read)?;
        match block.content.pop()? {
            Content::Settings(settings) => Some((block.lines, block.format, settings.values)),
            _ => None,
        }
    }

    fn expect(text: &str, lines: usize, tool: &str, values: &[(&str, &str)]) {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let (read, format, found) = of(text).unwrap();
        let values: Values = values.iter().map(owned).collect();
        assert_eq!((read, format, found), (lines, tool, values), "{text}");
    }

    #[test]
    fn reports_of_every_tool() {
        expect(
            "Start: 2024-03-01T10:00:00+0000\nHOST: box                Loss%   Snt   Last   Avg  Best  Wrst StDev\n  1.|-- 192.0.2.1    0.0%   100    0.4   0.5   0.3   1.1   0.1\n  2.|-- ???         100.0   100    0.0   0.0   0.0   0.0   0.0\nso?\n",
            4,
            "mtr",
            &[("hops", "2")],
        );
        expect(
            "traceroute to 192.0.2.9 (192.0.2.9), 30 hops max, 60 byte packets\n 1  192.0.2.1  0.412 ms  0.371 ms  0.355 ms\n 2  * * *\n 3  198.51.100.1  9.112 ms !N  9.003 ms !N  *\n",
            4,
            "traceroute",
            &[("hops", "3")],
        );
        expect(
            " 1?: [LOCALHOST]                      pmtu 1500\n 1:  192.0.2.1                 0.512ms\n 2:  192.0.2.5                 0.413ms pmtu 1400\n 3:  no reply\n     Too many hops: pmtu 1400\n     Resume: pmtu 1400\n",
            6,
            "tracepath",
            &[("hops", "3"), ("pmtu", "1400")],
        );
        expect(
            "Tracing route to 192.0.2.9 over a maximum of 30 hops\n\n  1    <1 ms    <1 ms    <1 ms  192.0.2.1\n  2     *        *        *     Request timed out.\n\nTrace complete.\n",
            6,
            "traceroute",
            &[("hops", "2")],
        );
    }

    #[test]
    fn the_screen_of_mtr() {
        expect(
            "                             My traceroute  [v0.93]\nbox (192.0.2.7)          2024-03-01T10:00:00+0000\nKeys:  Help   Display mode   quit\n                 Packets               Pings\n Host              Loss%   Snt   Last   Avg  Best  Wrst StDev\n 1. 192.0.2.1       0.0%    10    0.4   0.5   0.3   1.1   0.1\n 2. ???\n",
            7,
            "mtr",
            &[("hops", "2")],
        );
    }

    #[test]
    fn hops_without_their_heading_and_what_only_looks_like_them() {
        expect(
            " 2  192.0.2.1 (192.0.2.1)  1.2 ms  1.3 ms\n 3  box.example (192.0.2.5)  1.2 ms\n",
            2,
            "traceroute",
            &[("hops", "3")],
        );
        for text in [
            "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.3 ms\n64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=0.3 ms\n",
            "1. the router\n2. the switch\n",
            "1: 1234 IO-APIC\n2: 1235 IO-APIC\n",
            "traceroute to 192.0.2.9 shows nothing\n",
            "3 to 192.0.2.1 it takes 20 ms\n",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
