// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of a log that say that something failed and that no known message explains.

use std::collections::BTreeSet;

use linerate_model::order::Gather as _;
use linerate_model::output::Passage;

use super::observed::Line;

/// Of the lines of logs among `read`, those that are not `known` and say that something failed.
pub(super) fn failures<'t>(
    lines: &[Line<'t>],
    read: &[Passage],
    known: &BTreeSet<u64>,
) -> Vec<Line<'t>> {
    // Where the host is known, its name follows.
    let is_log = |what: &str| what.split([',', ' ']).next() == Some(LOG);
    let logs = read.iter().filter(|passage| is_log(&passage.what));
    let logged: BTreeSet<u64> = logs
        .flat_map(|passage| passage.first_line..=passage.last_line)
        .gather();
    let is_open = |line: &&Line<'_>| logged.contains(&line.number) && !known.contains(&line.number);
    let mut kinds = BTreeSet::new();
    let open = lines.iter().filter(is_open);
    let failures = open.filter(|line| says_failure(line.text));
    failures
        .filter(|line| kinds.insert(kind(line.text)))
        .copied()
        .collect()
}

/// The same message at another time is of the same kind.
fn kind(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_ascii_digit())
        .collect()
}

/// By the words that kernel and drivers use.
fn says_failure(text: &str) -> bool {
    let lower = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    has(FAILURES) && !has(WELL)
}

/// How the reader calls a kernel's log.
const LOG: &str = "dmesg";
const FAILURES: &[&str] = &[
    "bug:",
    "cannot",
    "corrupt",
    "denied",
    "error",
    "exceed",
    "fail",
    "hang",
    "hung",
    "invalid",
    "not enough",
    "oops",
    "overflow",
    "overrun",
    "refused",
    "stuck",
    "timed out",
    "timeout",
    "too many",
    "unable",
    "unexpected",
    "warn",
];
/// What has such a word and reports no failure.
const WELL: &[&str] = &["no error", "error reporting", "0 errors", "failover"];

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, known: &[u64]) -> Vec<u64> {
        let lines: Vec<Line<'_>> = text
            .lines()
            .zip(1..)
            .map(|(text, number)| Line { number, text })
            .collect();
        let read = [Passage {
            first_line: 1,
            last_line: 5,
            what: LOG.to_owned(),
        }];
        let known = known.iter().copied().collect();
        let failures = failures(&lines, &read, &known);
        failures.iter().map(|line| line.number).collect()
    }

    #[test]
    fn only_failures_in_logs_that_nobody_knows() {
        let text = "[    1.1] foo 0000:01:00.0: firmware load failed (-2)\n[    1.2] foo: registered\n\
            [    1.3] foo 0000:01:00.0 eth0: mailbox timeout\n[    1.4] foo: ready\n\
            [    2.3] foo 0000:01:00.0 eth0: mailbox timeout\n";
        assert_eq!(found(text, &[]), [1, 3]);
        assert_eq!(found(text, &[3, 5]), [1]);
    }
}
