// SPDX-License-Identifier: MIT OR Apache-2.0
//! When it happens, and how long it takes: minutes of silence, hours of a day, the 5 s of a resolver.

use super::super::Fact;
use super::classes::{CONNECTION, DNS};
use super::clauses::{Clause, begins_text};

/// All words of a sentence.
struct Sentence<'c> {
    clauses: &'c [Clause],
    words: Vec<&'c str>,
    line: u64,
}

type Reader = fn(&Sentence<'_>) -> Option<Fact>;

pub(super) fn facts(clauses: &[Clause]) -> Vec<Fact> {
    let sentences: Vec<Sentence<'_>> = clauses
        .chunk_by(|one, other| one.sentence == other.sentence)
        .map(sentence)
        .collect();
    let readers: [Reader; 5] = [breaks_when_idle, cured_by_time, evening, hours, resolver];
    let first = |read: Reader| sentences.iter().find_map(read);
    readers
        .into_iter()
        .filter_map(first)
        .chain(by_clock(clauses))
        .collect()
}

fn sentence(clauses: &[Clause]) -> Sentence<'_> {
    Sentence {
        clauses,
        words: clauses
            .iter()
            .flat_map(|one| one.words.iter().map(String::as_str))
            .collect(),
        line: clauses.first().map_or(0, |one| one.line),
    }
}

impl Sentence<'_> {
    fn names(&self, patterns: &[&str]) -> bool {
        self.place(patterns).is_some()
    }

    /// The first word of the first pattern that fits.
    fn place(&self, patterns: &[&str]) -> Option<usize> {
        let fits = |at: &usize| {
            let rest = self.words.get(*at..).unwrap_or_default();
            patterns.iter().any(|one| begins_text(one, rest))
        };
        (0..self.words.len()).find(fits)
    }

    fn is_bad(&self) -> bool {
        self.clauses.iter().any(Clause::is_bad)
    }

    /// The times that it names, seconds.
    fn seconds(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.words.len()).filter_map(|at| time(&self.words, at))
    }

    fn fact(&self, name: &'static str, value: impl ToString) -> Option<Fact> {
        Some(Fact::new(name, value, self.line))
    }
}

/// `5 minutes`, `ten min`, `5s`, `5000 ms`.
fn time(words: &[&str], at: usize) -> Option<f64> {
    let word = *words.get(at)?;
    if let Some(place) = NUMBERS.iter().position(|one| *one == word) {
        return Some((place + 1) as f64 * unit(words.get(at + 1)?)?);
    }
    let word = word.strip_prefix("time=").unwrap_or(word);
    let end = word.find(|letter: char| !letter.is_ascii_digit() && !".-".contains(letter));
    let (digits, own) = word.split_at_checked(end.unwrap_or(word.len()))?;
    let number: f64 = digits.trim_matches('-').split('-').next()?.parse().ok()?;
    let unit = if own.is_empty() {
        unit(words.get(at + 1)?)?
    } else {
        unit(own.trim_start_matches('-'))?
    };
    Some(number * unit)
}

/// The times that a clause names, ms.
pub(super) fn milliseconds(clause: &Clause) -> impl Iterator<Item = f64> + '_ {
    let words: Vec<&str> = clause.words.iter().map(String::as_str).collect();
    (0..words.len()).filter_map(move |at| Some(time(&words, at)? * 1000.0))
}

fn unit(word: &str) -> Option<f64> {
    Some(match word {
        "ms" | "msec" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" | "-second" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        _ => return None,
    })
}

/// A connection is dead after some time of silence.
fn breaks_when_idle(sentence: &Sentence<'_>) -> Option<Fact> {
    let of_connection = sentence.clauses.iter().any(|one| one.has(CONNECTION));
    (of_connection && sentence.names(SILENCE) && sentence.names(ENDS)).then_some(())?;
    let time = sentence.seconds().find(|time| *time >= 10.0)?;
    sentence.fact("breaks_after_idle_minutes", time / 60.0)
}

/// It comes back alone, after minutes.
fn cured_by_time(sentence: &Sentence<'_>) -> Option<Fact> {
    (sentence.names(BACK) && !sentence.names(SILENCE)).then_some(())?;
    let time = sentence.seconds().find(|time| *time >= 30.0)?;
    sentence.fact("cured_by_time_minutes", time / 60.0)
}

fn evening(sentence: &Sentence<'_>) -> Option<Fact> {
    (is_usual(sentence, EVENING) && sentence.is_bad()).then_some(())?;
    sentence.fact("slow_at_evening", true)
}

fn hours(sentence: &Sentence<'_>) -> Option<Fact> {
    if sentence.names(ALWAYS) {
        let slow = sentence.is_bad() && sentence.names(&["slow*", "low speed", "low throughput"]);
        return sentence.fact("slow_at_some_hours", false).filter(|_| slow);
    }
    let some = is_usual(sentence, HOURS) || is_usual(sentence, EVENING);
    (some && sentence.is_bad()).then_some(())?;
    sentence.fact("slow_at_some_hours", true)
}

/// Whether it names a time of day that comes again, and not one evening.
fn is_usual(sentence: &Sentence<'_>, times: &[&str]) -> bool {
    let Some(at) = sentence.place(times) else {
        return false;
    };
    let before = at.checked_sub(1).and_then(|at| sentence.words.get(at));
    !before.is_some_and(|word| ONCE.contains(word))
}

/// `at 03:00 12 Mbit/s, at 10:00 938 Mbit/s`
fn by_clock(clauses: &[Clause]) -> Option<Fact> {
    let is_clock = |word: &String| {
        matches!(word.as_bytes(), [_, b':', _, _] | [_, _, b':', _, _]) || is_hour(word)
    };
    let timed = clauses.iter().filter(|one| one.words.iter().any(is_clock));
    let rates = timed.filter_map(|one| Some((one.rate?, one.line)));
    let (mut low, mut high, mut at) = (f64::INFINITY, 0.0_f64, 0);
    for (rate, line) in rates {
        (low, high, at) = (low.min(rate), high.max(rate), line);
    }
    (high > 3.0 * low).then(|| Fact::new("slow_at_some_hours", true, at))
}

/// `3am`, `10pm`.
fn is_hour(word: &str) -> bool {
    let digits = word.strip_suffix("am").or_else(|| word.strip_suffix("pm"));
    digits.is_some_and(|digits| digits.parse::<u8>().is_ok_and(|hour| hour <= 12))
}

/// A resolver repeats a question after 5 s.
fn resolver(sentence: &Sentence<'_>) -> Option<Fact> {
    let of_names = sentence.clauses.iter().any(|one| one.has(DNS));
    let waits = |time: f64| (4.9..=5.2).contains(&time);
    (of_names && sentence.seconds().any(waits)).then_some(())?;
    sentence.fact("dns_takes_5_seconds", true)
}

const NUMBERS: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
];
const SILENCE: &[&str] = &[
    "idle*",
    "idling",
    "inactiv*",
    "silent",
    "silence",
    "unused",
    "no activity",
    "no traffic",
    "without traffic",
    "without activity",
    "nothing is sent",
    "no data",
];
const ENDS: &[&str] = &[
    "drop*",
    "die*",
    "dead",
    "disconnect*",
    "reset*",
    "break*",
    "broke*",
    "hang*",
    "hung",
    "timeout*",
    "timed out",
    "times out",
    "freez*",
    "froze*",
    "lost",
    "closed",
    "closes",
    "killed",
    "cut*",
    "gone",
    "terminat*",
    "unresponsive",
];
const BACK: &[&str] = &[
    "works again",
    "work again",
    "working again",
    "reachable again",
    "fine again",
    "ok again",
    "back again",
    "recovers",
    "recover",
    "recovered",
    "by itself",
    "on its own",
    "comes back",
    "came back",
    "come back",
    "normal again",
];
const EVENING: &[&str] = &[
    "evening*",
    "prime time",
    "prime-time",
    "peak hours",
    "peak time*",
    "rush hour*",
    "peak hour",
];
const HOURS: &[&str] = &[
    "every night",
    "at night*",
    "each night",
    "nightly",
    "same hours",
    "some hours",
    "certain hours",
    "working hours",
    "office hours",
    "business hours",
    "work hours",
    "daytime",
    "during the day",
    "mornings",
    "every morning",
    "every day at",
    "every day between",
    "weekends",
    "certain times",
    "time of day",
    "times of day",
    "times of the day",
];
const ALWAYS: &[&str] = &[
    "any time of day",
    "any time of the day",
    "all day",
    "day and night",
    "around the clock",
    "at all times",
    "24/7",
    "regardless of the time",
    "no matter what time",
    "whatever the hour",
];
const ONCE: &[&str] = &[
    "yesterday",
    "last",
    "this",
    "since",
    "one",
    "that",
    "tomorrow",
    "until",
];

#[cfg(test)]
mod tests {
    use super::super::super::value_of;
    use super::super::facts;

    fn shows(text: &str, name: &str) -> Option<String> {
        value_of(text, facts, name)
    }

    #[test]
    fn minutes_of_silence() {
        let name = "breaks_after_idle_minutes";
        let text = "Connections that are silent for more than six minutes are dead afterwards; busy ones never break.";
        assert_eq!(shows(text, name).as_deref(), Some("6"));
        let text = "The SSH session drops after 300 seconds of\ninactivity.";
        assert_eq!(shows(text, name).as_deref(), Some("5"));
        assert_eq!(
            shows(
                "The connection drops after 10 minutes of heavy traffic.",
                name
            ),
            None
        );
        assert_eq!(shows("The cpu is idle for 10 minutes.", name), None);
    }

    #[test]
    fn it_comes_back_alone() {
        let name = "cured_by_time_minutes";
        assert_eq!(
            shows("After about 20 minutes it works again by itself.", name).as_deref(),
            Some("20")
        );
        assert_eq!(shows("After 20 minutes it happens again.", name), None);
    }

    #[test]
    fn hours_of_the_day() {
        let text = "In the evenings the connection is slow.";
        assert_eq!(shows(text, "slow_at_evening").as_deref(), Some("true"));
        assert_eq!(shows(text, "slow_at_some_hours").as_deref(), Some("true"));
        assert_eq!(
            shows("Since yesterday evening it is slow.", "slow_at_evening"),
            None
        );
        let text = "It is slow at any time of day.";
        assert_eq!(shows(text, "slow_at_some_hours").as_deref(), Some("false"));
        let text = "iperf3 at 03:00 has 12.1 Mbits/sec, at 10:00 it has 938 Mbits/sec";
        assert_eq!(shows(text, "slow_at_some_hours").as_deref(), Some("true"));
    }

    #[test]
    fn five_seconds_of_a_resolver() {
        let name = "dns_takes_5_seconds";
        for text in [
            "Some DNS look-ups in pods take exactly 5 seconds.",
            "Resolving a name sometimes takes 5s, the rest is fast.",
        ] {
            assert_eq!(shows(text, name).as_deref(), Some("true"), "{text}");
        }
        assert_eq!(shows("The copy of the files takes 5 seconds.", name), None);
        assert_eq!(shows("DNS has been down for 50 seconds.", name), None);
    }
}
