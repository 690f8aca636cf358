// SPDX-License-Identifier: MIT OR Apache-2.0
//! At which speeds of the link it works, and at which it does not.

use std::collections::BTreeSet;

use linerate_model::order::Gather as _;

use super::super::Fact;
use super::clauses::Clause;

/// The speeds of clauses with one judgement, Mbit/s, and a line.
#[derive(Default)]
struct Judged {
    speeds: BTreeSet<u32>,
    line: u64,
}

pub(super) fn facts(clauses: &[Clause]) -> Vec<Fact> {
    let good = judged(clauses.iter().filter(|one| one.is_good()));
    let bad = judged(clauses.iter().filter(|one| one.is_bad()));
    let all = [
        at_100(&good, &bad),
        lower_only(&good, &bad),
        one_only(&good, &bad),
    ];
    all.into_iter().flatten().collect()
}

fn judged<'c>(clauses: impl Iterator<Item = &'c Clause>) -> Judged {
    let mut all = Judged::default();
    for clause in clauses {
        let speeds = speeds(clause);
        if !speeds.is_empty() && all.speeds.is_empty() {
            all.line = clause.line;
        }
        all.speeds.extend(speeds);
    }
    all
}

fn at_100(good: &Judged, bad: &Judged) -> Option<Fact> {
    let (works, fails) = (good.speeds.contains(&100), bad.speeds.contains(&100));
    (works != fails).then(|| {
        Fact::new(
            "works_at_100",
            works,
            if works { good.line } else { bad.line },
        )
    })
}

fn lower_only(good: &Judged, bad: &Judged) -> Option<Fact> {
    let (highest, lowest) = (bad.speeds.last()?, good.speeds.first()?);
    (highest < lowest).then(|| Fact::new("fails_at_lower_speed_only", true, bad.line))
}

/// One speed fails, two others work, and one of those is higher: the highest alone would be a matter of margins.
fn one_only(good: &Judged, bad: &Judged) -> Option<Fact> {
    let (one, highest) = (bad.speeds.first()?, good.speeds.last()?);
    let alone = bad.speeds.len() == 1 && !good.speeds.contains(one);
    (alone && good.speeds.len() > 1 && highest > one)
        .then(|| Fact::new("fails_at_one_speed_only", true, bad.line))
}

/// The speeds of a link in a clause; none where it is about the rate of a test.
fn speeds(clause: &Clause) -> BTreeSet<u32> {
    let words = &clause.words;
    if words
        .iter()
        .any(|word| OFFERED.iter().any(|known| word.starts_with(known)))
    {
        return BTreeSet::new();
    }
    let set = words.iter().any(|word| PLACES.contains(&word.as_str()));
    let sure = (0..words.len())
        .filter_map(|at| speed(words, at))
        .next()
        .is_some()
        || words.iter().any(|word| word == "speed");
    let number = |at: usize| {
        words
            .get(at)?
            .parse()
            .ok()
            .filter(|one| SPEEDS.contains(one))
    };
    let named = |at: usize| {
        at.checked_sub(1).is_some_and(|before| {
            number(before).is_some()
                || words
                    .get(before)
                    .is_some_and(|word| NEAR.contains(&word.as_str()))
        })
    };
    let bare = |at: usize| speed(words, at).or_else(|| number(at).filter(|_| named(at)));
    if !(set && sure) {
        return BTreeSet::new();
    }
    (0..words.len()).filter_map(bare).gather()
}

/// `100mbit`, `100 mbit/s`, `gigabit`, `1g`, `2.5gbit`.
fn speed(words: &[String], at: usize) -> Option<u32> {
    let word = words.get(at)?.as_str();
    if matches!(word, "gigabit" | "1g" | "gige" | "gbe") {
        return Some(1000);
    }
    let end = word.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (digits, own) = word.split_at_checked(end.unwrap_or(word.len()))?;
    let number: f64 = digits.parse().ok()?;
    let unit = if own.is_empty() {
        words.get(at + 1)?.as_str()
    } else {
        own
    };
    let scale = match unit {
        "m" | "mb" | "mbit" | "mbits" | "mbit/s" | "mbits/s" | "mbps" | "mb/s" | "mbit/sec"
        | "megabit" => 1.0,
        "g" | "gb" | "gbit" | "gbit/s" | "gbps" | "gb/s" => 1000.0,
        _ if unit.starts_with("base") => 1.0,
        _ => return None,
    };
    let speed = (number * scale) as u32;
    SPEEDS.contains(&speed).then_some(speed)
}

const SPEEDS: &[u32] = &[10, 100, 1000, 2500, 5000, 10_000];
/// Words that say at which speed a link runs.
const PLACES: &[&str] = &[
    "at",
    "to",
    "in",
    "with",
    "speed",
    "forced",
    "forcing",
    "force",
    "mode",
    "link",
    "negotiates",
    "negotiated",
    "on",
];
/// Words before a number that is a speed.
const NEAR: &[&str] = &["at", "to", "speed", "or", "both", "with", "in"];
/// Words of the rate of a test or of a contract.
const OFFERED: &[&str] = &[
    "iperf",
    "-b",
    "udp",
    "offer",
    "load",
    "traffic",
    "throughput",
    "bandwidth",
    "download",
    "upload",
    "stream",
    "internet",
    "shap",
    "limit",
    "transfer",
    "copy",
    "measure",
    "reach",
    "get",
    "result",
];

#[cfg(test)]
mod tests {
    use super::super::super::values;
    use super::super::facts;

    fn found(text: &str) -> Vec<&'static str> {
        let of_speeds = |name: &&str| name.contains("speed") || name.ends_with("at_100");
        let found = values(text, facts)
            .into_iter()
            .filter(|(_, value)| value == "true");
        found.map(|(name, _)| name).filter(of_speeds).collect()
    }

    #[test]
    fn what_fails_at_one_speed() {
        let text = "at 10 Mbit/s nothing comes through, at 100 and 1000 Mbit/s there are no errors";
        assert_eq!(
            found(text),
            [
                "works_at_100",
                "fails_at_lower_speed_only",
                "fails_at_one_speed_only"
            ]
        );
        let text = "With the link forced to 100 Mbit it works perfectly, at gigabit I have heavy packet loss.";
        assert_eq!(found(text), ["works_at_100"]);
        let other = "At 100Mbit it does not work either, and at 1000 it fails.";
        assert_eq!(found(other), [""; 0]);
    }

    #[test]
    fn rates_are_no_speeds() {
        assert_eq!(
            found("iperf -u at 100 Mbit/s works, at 1000 Mbit/s it has loss."),
            [""; 0]
        );
        assert_eq!(
            found("We bought 100 switches and all work with the 10 servers."),
            [""; 0]
        );
    }
}
