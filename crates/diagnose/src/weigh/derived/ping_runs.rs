// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ping` with its options: which sizes and sources pass, losses in a row, the first one only, delay and its spread.

use std::net::{IpAddr, Ipv4Addr};

use super::Fact;
use super::shown::word_after;
use crate::weigh::observed::Line;

/// One run.
#[derive(Debug, Default, Clone)]
struct Run<'t> {
    to: Option<&'t str>,
    /// Payload, bytes.
    size: Option<f64>,
    /// The command is there, and forbids fragments.
    is_whole: Option<bool>,
    source: Option<&'t str>,
    /// The command is there.
    is_asked: bool,
    sent: f64,
    received: f64,
    numbers: Vec<f64>,
    times_ms: Vec<f64>,
    /// Average and deviation of the summary.
    summary_ms: Option<(f64, Option<f64>)>,
    silent: usize,
    silent_most: usize,
    line: u64,
}

type Read = fn(&[Run<'_>]) -> Option<Fact>;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let runs = runs(lines);
    let all: [Read; 7] = [
        lost_above,
        fragmented,
        other_source,
        in_a_row,
        first_only,
        jitter,
        lan_rtt,
    ];
    all.iter().filter_map(|read| read(&runs)).collect()
}

impl Run<'_> {
    fn passes(&self) -> bool {
        self.sent > 0.0 && self.received / self.sent > 0.7
    }

    fn is_lost(&self) -> bool {
        self.sent > 0.0 && self.received == 0.0
    }

    fn average_ms(&self) -> Option<f64> {
        let known = self.times_ms.len() >= TIMES_LEAST;
        let mean = || known.then(|| self.times_ms.iter().sum::<f64>() / self.times_ms.len() as f64);
        self.summary_ms.map(|(average, _)| average).or_else(mean)
    }

    fn deviation_ms(&self) -> Option<f64> {
        let given = self.summary_ms.and_then(|(_, deviation)| deviation);
        let own = || {
            (self.times_ms.len() >= TIMES_LEAST).then_some(())?;
            let count = self.times_ms.len() as f64;
            let mean = self.times_ms.iter().sum::<f64>() / count;
            let squares = self.times_ms.iter().map(|time| (time - mean).powi(2));
            Some((squares.sum::<f64>() / count).sqrt())
        };
        given.or_else(own)
    }
}

/// The smallest payload that is lost where a smaller one passes.
fn lost_above(runs: &[Run<'_>]) -> Option<Fact> {
    let sized = || runs.iter().filter(|run| run.is_whole != Some(false));
    let size = |run: &Run<'_>| run.size.unwrap_or(SIZE_DEFAULT);
    let passes = |to: Option<&str>, below: f64| {
        sized().any(|run| run.passes() && size(run) < below && run.to == to)
    };
    let lost = sized().filter(|run| {
        run.is_lost()
            && run
                .size
                .is_some_and(|bytes| bytes > SIZE_SMALL && passes(run.to, bytes))
    });
    let least = lost.min_by(|one, other| size(one).total_cmp(&size(other)))?;
    Some(Fact::new("ping_lost_above_bytes", size(least), least.line))
}

/// Whether what has to be cut into fragments is lost, and what is whole passes.
fn fragmented(runs: &[Run<'_>]) -> Option<Fact> {
    let cut = || {
        runs.iter()
            .filter(|run| run.is_whole == Some(false) && run.size > Some(SIZE_ETHERNET))
    };
    if let Some(run) = cut().find(|run| run.passes()) {
        return Some(Fact::new("ping_fragmented_lost", false, run.line));
    }
    let lost = cut().find(|run| run.is_lost())?;
    let small = runs.iter().any(|run| {
        run.passes() && run.to == lost.to && run.size.unwrap_or(SIZE_DEFAULT) < SIZE_ETHERNET
    });
    small.then(|| Fact::new("ping_fragmented_lost", true, lost.line))
}

/// Whether the same destination answers where a source is given.
fn other_source(runs: &[Run<'_>]) -> Option<Fact> {
    let mut lost = runs
        .iter()
        .filter(|run| run.is_lost() && run.is_asked && run.source.is_none());
    let given = |run: &&Run<'_>| {
        run.source
            .is_some_and(|source| source.parse::<IpAddr>().is_ok())
    };
    let works = |one: &Run<'_>| {
        runs.iter()
            .filter(given)
            .find(|run| run.passes() && run.to == one.to)
    };
    let run = lost.find_map(works)?;
    Some(Fact::new("ping_from_other_source_works", true, run.line))
}

/// How many answers were missing one after the other; nothing where none was.
fn in_a_row(runs: &[Run<'_>]) -> Option<Fact> {
    let longest = |run: &Run<'_>| {
        let lost = run.sent - run.received;
        let gaps = run.numbers.windows(2).map(|pair| pair[1] - pair[0] - 1.0);
        let gap = gaps.fold(run.silent_most as f64, f64::max);
        // Lines that the writer removed are not losses.
        let is_shown = run.sent > 0.0 && run.received > 0.0 && (1.0..=lost).contains(&gap);
        is_shown.then_some((gap, run.line))
    };
    let (most, line) = runs
        .iter()
        .filter_map(longest)
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Fact::new("ping_loss_run", most, line))
}

/// Whether what was lost was the beginning.
fn first_only(runs: &[Run<'_>]) -> Option<Fact> {
    let judged = |run: &Run<'_>| {
        let lost = run.sent - run.received;
        let first = *run.numbers.first()?;
        let is_start = first > 1.0 && first <= FIRST_MOST && lost == first - 1.0;
        (run.sent >= SENT_LEAST && lost > 0.0).then_some((is_start, run.line))
    };
    let all: Vec<(bool, u64)> = runs.iter().filter_map(judged).collect();
    let (_, line) = all.last()?;
    Some(Fact::new(
        "ping_first_lost_only",
        all.iter().all(|(is_start, _)| *is_start),
        *line,
    ))
}

/// The largest deviation of the delay over its average.
fn jitter(runs: &[Run<'_>]) -> Option<Fact> {
    let ratios = runs.iter().filter_map(|run| {
        Some((
            run.deviation_ms()? / run.average_ms().filter(|mean| *mean > 0.0)?,
            run.line,
        ))
    });
    let (ratio, line) = ratios.max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Fact::new("ping_jitter_ratio", ratio, line))
}

/// The smallest average delay to a private address.
fn lan_rtt(runs: &[Run<'_>]) -> Option<Fact> {
    let is_near = |run: &&Run<'_>| {
        let address = run.to.and_then(|to| to.parse::<Ipv4Addr>().ok());
        address.is_some_and(|address| address.is_private())
    };
    let known = runs
        .iter()
        .filter(is_near)
        .filter_map(|run| Some((run.average_ms()?, run.line)));
    let (least, line) = known.min_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Fact::new("lan_rtt_ms", least, line))
}

fn runs<'t>(lines: &[Line<'t>]) -> Vec<Run<'t>> {
    let mut runs = vec![Run::default()];
    for line in lines
        .iter()
        .filter(|line| line.text.len() < LINE_MOST && is_of_ping(line.text))
    {
        if let Some(next) = asked(line.text).or_else(|| headed(line.text, runs.last())) {
            runs.push(next);
        }
        if let Some(run) = runs.last_mut() {
            let was_counted = run.sent > 0.0;
            if was_counted && line.text.contains("seq=") {
                runs.push(Run::default());
            }
        }
        if let Some(run) = runs.last_mut() {
            run.take(line);
        }
    }
    runs.retain(|run| run.sent > 0.0 || !run.times_ms.is_empty());
    runs.truncate(RUNS_MOST);
    runs
}

fn is_of_ping(text: &str) -> bool {
    let marks = [
        "ping",
        "PING",
        "Ping",
        "seq=",
        "seq ",
        "mdev",
        "round-trip",
        "packet loss",
        "transmitted",
        "Received = ",
        "timed out",
    ];
    marks.iter().any(|mark| text.contains(mark))
}

/// `ping -c 3 -M do -s 1472 -I 192.0.2.7 192.0.2.9`, sometimes with the result after a colon.
fn asked(text: &str) -> Option<Run<'_>> {
    let (before, rest) = text.split_once("ping")?;
    let is_start = before.is_empty() || before.ends_with(['$', '#', '>', '/', ' ']);
    let rest = rest.trim_start_matches(['4', '6']);
    (is_start && before.len() < PROMPT_MOST && rest.starts_with(' ')).then_some(())?;
    let mut run = Run {
        is_asked: true,
        ..Run::default()
    };
    let mut is_whole = false;
    let mut words = rest.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "-s" | "-l" => run.size = words.next()?.parse().ok(),
            "-I" | "-S" => run.source = words.next(),
            "-M" => {
                is_whole = words
                    .next()
                    .is_some_and(|kind| kind.starts_with("do") || kind.starts_with("probe"))
            }
            "-D" | "-f" | "--dont-fragment" => is_whole = true,
            "-c" | "-i" | "-w" | "-W" | "-t" | "-Q" | "-p" | "-m" => {
                words.next();
            }
            _ if word.starts_with('-') => {
                let size = word.strip_prefix("-s").and_then(|size| size.parse().ok());
                run.size = run.size.or(size);
            }
            _ => {
                run.to = Some(word.trim_end_matches([':', ',', ';']));
                break;
            }
        }
    }
    run.to.filter(|to| {
        to.contains('.') || to.contains(':') || before.is_empty() || before.ends_with(['$', '#'])
    })?;
    run.is_whole = Some(is_whole);
    Some(run)
}

/// `PING host (192.0.2.9) 1472(1500) bytes of data.`, `Pinging 192.0.2.9 with 32 bytes`; the command may stand before.
fn headed<'t>(text: &'t str, last: Option<&Run<'t>>) -> Option<Run<'t>> {
    let is_head = text.starts_with("PING ") || text.starts_with("Pinging ");
    is_head.then_some(())?;
    let before = last.filter(|run| run.is_asked && run.sent == 0.0 && run.times_ms.is_empty());
    let mut run = before.cloned().unwrap_or_default();
    let (_, rest) = text.split_once(' ')?;
    let address = rest
        .split_once(" (")
        .or_else(|| rest.split_once(" ["))
        .map_or(rest, |(_, rest)| rest);
    let address = address.split([')', ']', ' ']).next()?;
    let given = run.to;
    run.to = Some(address)
        .filter(|address| !address.is_empty())
        .or(given);
    let sizes = rest
        .split([' ', ')', ':'])
        .filter_map(|word| word.split('(').next()?.parse::<f64>().ok());
    run.size = run.size.or_else(|| sizes.into_iter().next());
    Some(run)
}

impl<'t> Run<'t> {
    fn take(&mut self, line: &Line<'t>) {
        let text = line.text;
        self.line = line.number;
        if let Some((sent, received)) = counts(text) {
            (self.sent, self.received) = (sent, received);
        } else if let Some(ratio) = lost_inline(text) {
            (self.sent, self.received) = (SENT_INLINE, SENT_INLINE * (1.0 - ratio));
        } else if let Some((_, rest)) = text
            .split_once(" = ")
            .filter(|_| text.contains("min/avg/max"))
        {
            let mut numbers = rest
                .split(['/', ' '])
                .filter_map(|word| word.parse::<f64>().ok());
            let average = numbers.nth(1);
            self.summary_ms = average.map(|average| (average, numbers.nth(1)));
        } else {
            self.answer(text);
        }
    }

    fn answer(&mut self, text: &'t str) {
        if text.starts_with("Request timed out")
            || text.starts_with("Request timeout for")
            || text.starts_with("no answer yet")
        {
            self.silent += 1;
            self.silent_most = self.silent_most.max(self.silent);
            return;
        }
        let number =
            super::number_after(text, "seq=").or_else(|| super::number_after(text, "icmp_seq "));
        let time =
            super::number_after(text, "time=").or_else(|| super::number_after(text, "time<"));
        let Some(time) =
            time.filter(|_| text.contains("bytes from") || text.contains("Reply from"))
        else {
            return;
        };
        self.silent = 0;
        self.times_ms.push(time);
        self.to = self
            .to
            .or_else(|| word_after(text, " from ").map(|to| to.trim_end_matches(':')));
        let is_next = |number: &f64| self.numbers.last().is_none_or(|last| number > last);
        self.numbers.extend(number.filter(is_next));
    }
}

/// `10 packets transmitted, 8 received`, `8 packets received`, `Sent = 4, Received = 3`.
fn counts(text: &str) -> Option<(f64, f64)> {
    if let Some((sent, rest)) = text.split_once(" packets transmitted, ") {
        let sent = sent.split_whitespace().next_back()?.parse().ok()?;
        return Some((sent, super::number_after(rest, "")?));
    }
    Some((
        super::number_after(text, "Sent = ")?,
        super::number_after(text, "Received = ")?,
    ))
}

/// `ping 192.0.2.9: 100% packet loss`.
fn lost_inline(text: &str) -> Option<f64> {
    let (before, _) = text.split_once("% packet loss")?;
    let percent: f64 = before.rsplit([' ', '(', ',']).next()?.parse().ok()?;
    (text.contains("ping") && percent <= 100.0).then_some(percent / 100.0)
}

const TIMES_LEAST: usize = 4;
const SIZE_DEFAULT: f64 = 56.0;
/// Below it nothing is called large, bytes.
const SIZE_SMALL: f64 = 500.0;
/// The payload that fills a frame of Ethernet, bytes.
const SIZE_ETHERNET: f64 = 1472.0;
const FIRST_MOST: f64 = 4.0;
const SENT_LEAST: f64 = 4.0;
const SENT_INLINE: f64 = 10.0;
const PROMPT_MOST: usize = 60;
const LINE_MOST: usize = 300;
const RUNS_MOST: usize = 300;

#[cfg(test)]
mod tests {
    use super::super::{assertions, values};
    use super::*;

    assertions!(has and lacks, values, facts);

    #[test]
    fn sizes() {
        let run = |options: &str, size: u32, received: u32| {
            format!(
                "ping -c 3 {options} -s {size} 192.0.2.9\nPING 192.0.2.9 (192.0.2.9) {size}({}) bytes of data.\n3 packets transmitted, {received} received, 0% packet loss\n",
                size + 28
            )
        };
        let whole = |size, received| run("-M do", size, received);
        has(
            &(whole(8972, 0) + &whole(1472, 3)),
            "ping_lost_above_bytes",
            "8972",
        );
        lacks(&(whole(8972, 3) + &whole(1472, 3)), "ping_lost_above_bytes");
        lacks(&whole(8972, 0), "ping_lost_above_bytes");
        has(
            &(run("", 3000, 0) + &run("", 56, 3)),
            "ping_fragmented_lost",
            "true",
        );
        has(
            &(run("", 3000, 3) + &run("", 56, 3)),
            "ping_fragmented_lost",
            "false",
        );
        lacks(&(whole(3000, 0) + &run("", 56, 3)), "ping_fragmented_lost");
        has(
            "$ ping -c 3 -M do -s 1372 198.51.100.5: 3 packets transmitted, 3 received, 0% packet loss\n$ ping -c 3 -M do -s 1472 198.51.100.5: 3 packets transmitted, 0 received, 100% packet loss\n",
            "ping_lost_above_bytes",
            "1472",
        );
    }

    #[test]
    fn sources() {
        let text = "ping -c 2 10.20.0.5: 100% packet loss\nping -c 2 -I 10.10.0.1 10.20.0.5: 0% packet loss\n";
        has(text, "ping_from_other_source_works", "true");
        lacks(
            &text.replace("0.1 10.20.0.5: 0%", "0.1 10.20.0.5: 100%"),
            "ping_from_other_source_works",
        );
    }

    #[test]
    fn losses() {
        let answer = |number: u32| {
            format!("64 bytes from 192.168.1.9: icmp_seq={number} ttl=64 time=0.4 ms\n")
        };
        let text = |numbers: &[u32], sent: u32| {
            let answers: String = numbers.iter().map(|number| answer(*number)).collect();
            format!(
                "PING 192.168.1.9 (192.168.1.9) 56(84) bytes of data.\n{answers}{sent} packets transmitted, {} received\n",
                numbers.len()
            )
        };
        has(&text(&[1, 2, 7, 8], 8), "ping_loss_run", "4");
        has(&text(&[1, 2, 7, 8], 8), "ping_first_lost_only", "false");
        has(&text(&[2, 3, 4, 5, 6], 6), "ping_first_lost_only", "true");
        lacks(&text(&[1, 2, 3, 4], 4), "ping_loss_run");
        lacks(&text(&[1, 2, 800, 801], 4), "ping_loss_run");
    }

    #[test]
    fn delays() {
        let text = "PING 192.168.1.9 (192.168.1.9): 56 data bytes\n64 bytes from 192.168.1.9: seq=0 ttl=64 time=2.719 ms\nround-trip min/avg/max = 2.7/3.0/9.0 ms\n";
        has(text, "lan_rtt_ms", "3");
        lacks(text, "ping_jitter_ratio");
        lacks(&text.replace("192.168.1.9", "203.0.113.9"), "lan_rtt_ms");
        has(
            "rtt min/avg/max/mdev = 1.0/2.0/9.0/4.0 ms\n64 bytes from 192.0.2.1: icmp_seq=7 ttl=64 time=2.0 ms\n",
            "ping_jitter_ratio",
            "2",
        );
        assert_eq!(values("the ping to it is fine and takes 3 ms\n", facts), []);
    }
}
