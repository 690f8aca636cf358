// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ping`: loss, duplicates, spread, and whether only large packets are lost.

use super::{Fact, number_after};
use crate::weigh::observed::Line;

/// One run of ping.
#[derive(Debug, Default, Clone)]
struct Run {
    /// Payload, bytes.
    size: Option<f64>,
    sent: f64,
    received: f64,
    /// Answers that were listed: the first and the last number, and how many.
    seen: Option<(f64, f64, f64)>,
    /// Answers that Windows lists, without a number, and those that did not come in time.
    unnumbered: f64,
    late: f64,
    duplicates: u64,
    times_ms: Vec<f64>,
    line: u64,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let runs = runs(lines);
    let (sent, received) = runs.iter().fold((0.0, 0.0), |(sent, received), run| {
        (sent + run.sent, received + run.received)
    });
    let Some(line) = runs.iter().map(|run| run.line).next_back() else {
        return Vec::new();
    };
    let mut facts = Vec::new();
    if sent > 0.0 {
        facts.push(Fact::new("ping_loss_ratio", 1.0 - received / sent, line));
    }
    let duplicates: u64 = runs.iter().map(|run| run.duplicates).sum();
    facts.push(Fact::new("ping_duplicates", duplicates, line));
    facts.extend(spread(&runs));
    facts.extend(only_large(&runs));
    facts
}

/// The largest time of a run over its smallest.
fn spread(runs: &[Run]) -> Option<Fact> {
    let long = runs.iter().filter(|run| run.times_ms.len() >= TIMES_LEAST);
    let ratio = |run: &Run| {
        let least = run.times_ms.iter().copied().fold(f64::INFINITY, f64::min);
        let most = run.times_ms.iter().copied().fold(0.0, f64::max);
        (most / least.max(0.001), run.line)
    };
    let widest = long
        .map(ratio)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    widest.map(|(ratio, line)| Fact::new("ping_max_over_min", ratio, line))
}

/// Whether large packets are lost where small ones pass; nothing without a run of large ones.
fn only_large(runs: &[Run]) -> Option<Fact> {
    let lost = |run: &Run| 1.0 - run.received / run.sent;
    let counted = || runs.iter().filter(|run| run.sent > 0.0);
    let large = counted().filter(|run| run.size.is_some_and(|size| size >= LARGE_BYTES));
    let mut small = counted().filter(|run| run.size.is_none_or(|size| size < SMALL_BYTES));
    let small_pass = small.any(|run| lost(run) < 0.1);
    let large = large.max_by(|one, other| lost(one).total_cmp(&lost(other)))?;
    let value = lost(large) > 0.9 && small_pass;
    Some(Fact::new("ping_large_lost_small_ok", value, large.line))
}

fn runs(lines: &[Line<'_>]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut run = Run::default();
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some(size) = size(line.text) {
            runs.extend(std::mem::take(&mut run).closed());
            run.size = size;
        }
        if let Some((sent, received)) = counts(line.text) {
            (run.sent, run.received, run.line) = (sent, received, line.number);
            runs.extend(std::mem::take(&mut run).closed());
        } else if let Some(number) = answer(line.text) {
            run.take(line, number);
        } else if line.text.contains(" TTL=") && line.text.contains("ms ") {
            (run.unnumbered, run.line) = (run.unnumbered + 1.0, line.number);
        } else if line.text.trim() == "Request timed out." {
            (run.late, run.line) = (run.late + 1.0, line.number);
        }
    }
    runs.extend(run.closed());
    runs
}

impl Run {
    fn take(&mut self, line: &Line<'_>, number: f64) {
        self.line = line.number;
        self.times_ms.extend(number_after(line.text, "time="));
        if line.text.contains("(DUP!)") {
            self.duplicates += 1;
            return;
        }
        let (first, _, count) = self.seen.unwrap_or((number, number, 0.0));
        self.seen = Some((first, number, count + 1.0));
    }

    /// With the counts of the listed answers where no summary follows.
    fn closed(mut self) -> Option<Self> {
        if let (true, Some((first, last, count))) = (self.sent == 0.0, self.seen) {
            (self.sent, self.received) = ((last - first + 1.0).max(count), count);
        } else if self.sent == 0.0 && self.late > 0.0 {
            (self.sent, self.received) = (self.unnumbered + self.late, self.unnumbered);
        }
        (self.sent > 0.0).then_some(self)
    }
}

/// The number of an answer.
fn answer(text: &str) -> Option<f64> {
    text.contains("time").then_some(())?;
    number_after(text, "icmp_seq=").or_else(|| number_after(text, " seq="))
}

/// `PING host (192.0.2.1) 1472(1500) bytes of data`, `ping -s 1472 host`, `Pinging host with 32 bytes of data`: a run
/// begins, with the size of its payload if it is known.
fn size(text: &str) -> Option<Option<f64>> {
    if let Some(rest) = text.strip_prefix("PING ") {
        let (_, after) = rest.split_once(") ").or_else(|| rest.split_once("): "))?;
        return Some(number_after(after, ""));
    }
    if text.starts_with("Pinging ") {
        return Some(number_after(text, " with "));
    }
    let (before, words) = text.split_once("ping ")?;
    let is_command = before.len() < PROMPT_MOST && words.split_whitespace().count() < WORDS_MOST;
    let given = number_after(words, "-s ").or_else(|| number_after(words, "-l "));
    (is_command && given.is_some()).then_some(given)
}

/// `10 packets transmitted, 8 received`, `Sent = 4, Received = 3, Lost = 1`.
fn counts(text: &str) -> Option<(f64, f64)> {
    if let Some((sent, rest)) = text.split_once(" packets transmitted, ") {
        let sent = sent.split_whitespace().next_back()?.parse().ok()?;
        return Some((sent, number_after(rest, "")?));
    }
    // Windows, in any language: sent is what was received and what was lost.
    let mut numbers = text.split(" = ").skip(1).map(|rest| number_after(rest, ""));
    let (sent, received, lost) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let is_titled = text
        .split('=')
        .next()
        .is_some_and(|title| title.contains(':'));
    (is_titled && sent == received + lost).then_some((sent, received))
}

const TIMES_LEAST: usize = 4;
const LARGE_BYTES: f64 = 1200.0;
const SMALL_BYTES: f64 = 1000.0;
const LINE_MOST: usize = 300;
const PROMPT_MOST: usize = 60;
const WORDS_MOST: usize = 12;

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    #[test]
    fn large_packets_are_lost_where_small_ones_pass() {
        let small = "PING h (192.0.2.1) 56(84) bytes of data.\n3 packets transmitted, 3 received, 0% packet loss\n";
        let large = "PING h (192.0.2.1) 1472(1500) bytes of data.\n3 packets transmitted, 0 received, 100% packet loss\n";
        let both = values(&format!("{small}{large}"), facts);
        assert!(both.contains(&("ping_loss_ratio", "0.5".to_owned())));
        assert!(both.contains(&("ping_large_lost_small_ok", "true".to_owned())));
        let alone = values(large, facts);
        assert!(alone.contains(&("ping_large_lost_small_ok", "false".to_owned())));
        assert!(
            !values(small, facts)
                .iter()
                .any(|(name, _)| *name == "ping_large_lost_small_ok")
        );
    }

    #[test]
    fn windows_with_and_without_its_summary() {
        let rows = "Reply from 192.0.2.1: bytes=32 time<1ms TTL=64\nRequest timed out.\nRequest timed out.\nReply from 192.0.2.1: bytes=32 time=1ms TTL=64\n";
        let summary = "    Pakete: Gesendet = 8, Empfangen = 6, Verloren = 2\n";
        let loss = |text: &str| {
            let found = values(text, facts).into_iter();
            found
                .filter(|(name, _)| *name == "ping_loss_ratio")
                .map(|(_, value)| value)
                .next()
        };
        assert_eq!(loss(rows).as_deref(), Some("0.5"));
        assert_eq!(loss(&format!("{rows}{summary}")).as_deref(), Some("0.25"));
    }

    #[test]
    fn answers_without_a_summary_count() {
        let text = "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.5 ms\n64 bytes from 192.0.2.1: icmp_seq=4 ttl=64 time=9.5 ms\n64 bytes from 192.0.2.1: icmp_seq=4 ttl=64 time=9.6 ms (DUP!)\n";
        let found = values(text, facts);
        assert!(
            found.contains(&("ping_loss_ratio", "0.5".to_owned())),
            "{found:?}"
        );
        assert!(found.contains(&("ping_duplicates", "1".to_owned())));
        assert_eq!(values("the ping is fine", facts), []);
    }
}
