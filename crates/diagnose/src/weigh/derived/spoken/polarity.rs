// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether words say that something is well or bad.

/// What a clause says of its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Polarity {
    /// It works, is fast.
    Good,
    /// It fails, is slow.
    Bad,
    /// Nothing.
    None,
}

impl Polarity {
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Good => Self::Bad,
            Self::Bad => Self::Good,
            Self::None => Self::None,
        }
    }
}

/// The polarity of words in lower case; `rated`: they name a rate.
pub(super) fn polarity(words: &[&str], rated: bool) -> Polarity {
    let (mut good, mut bad) = (false, false);
    for at in 0..words.len() {
        match judged(words, at) {
            Some(Judged::Cured) => return Polarity::Good,
            Some(Judged::Good) => good = true,
            Some(Judged::Bad) => bad = true,
            None => {}
        }
    }
    let ends_denied = words
        .last()
        .is_some_and(|word| denies(word) && *word != "no");
    let little = rated && words.iter().any(|word| LITTLE.contains(word));
    if bad || ends_denied || little {
        return Polarity::Bad;
    }
    if good { Polarity::Good } else { Polarity::None }
}

enum Judged {
    Good,
    Bad,
    Cured,
}

fn judged(words: &[&str], at: usize) -> Option<Judged> {
    let word = *words.get(at)?;
    let before = words
        .get(at.saturating_sub(DENIAL_WORDS)..at)
        .unwrap_or_default();
    let denied = before.iter().any(|one| denies(one));
    let without = before.iter().any(|one| denies_nouns(one));
    let last = before.last().copied().unwrap_or_default();
    let next = words.get(at + 1).copied().unwrap_or_default();
    if is_any(word, CURES) {
        return Some(if denied { Judged::Bad } else { Judged::Cured });
    }
    if is_any(word, BAD) || (word == "timed" && next == "out") {
        return Some(if denied || without {
            Judged::Good
        } else {
            Judged::Bad
        });
    }
    if is_good(word, last, next) {
        return Some(if denied { Judged::Bad } else { Judged::Good });
    }
    let acts = is_any(word, ACTS);
    if acts && (denied || before.contains(&"no")) {
        return Some(Judged::Bad);
    }
    let able = matches!(last, "can" | "could" | "is" | "are" | "get" | "gets");
    let mutual = matches!(next, "each" | "one");
    (acts && (word.ends_with('s') || able || mutual)).then_some(Judged::Good)
}

fn is_good(word: &str, last: &str, next: &str) -> bool {
    match word {
        "well" => last != "as",
        "full" => FULL.contains(&next),
        "work" => !matches!(last, "at" | "the" | "my" | "a"),
        _ => is_any(word, GOOD),
    }
}

fn is_any(word: &str, known: &[&str]) -> bool {
    known.iter().any(|one| match one.strip_suffix('*') {
        Some(begin) => word.starts_with(begin),
        None => word == *one,
    })
}

/// Whether a word denies a verb or a judgement.
pub(super) fn denies(word: &str) -> bool {
    DENIALS.contains(&word) || word.ends_with("n't")
}

/// `no problems`, `without loss`
fn denies_nouns(word: &str) -> bool {
    matches!(word, "no" | "without" | "zero" | "0" | "free")
}

const DENIAL_WORDS: usize = 3;
const DENIALS: &[&str] = &[
    "not", "never", "nothing", "none", "nobody", "neither", "nor", "cannot", "cant", "dont",
    "doesnt", "wont", "isnt", "didnt", "unable", "hardly", "barely", "no-one",
];
const LITTLE: &[&str] = &["only", "just", "merely", "max", "barely", "stuck"];
const FULL: &[&str] = &[
    "speed",
    "rate",
    "bandwidth",
    "throughput",
    "gigabit",
    "performance",
    "line",
    "wire",
    "1g",
    "10g",
    "gbit",
];
const CURES: &[&str] = &[
    "disappear*",
    "gone",
    "solved",
    "solves",
    "fixed",
    "fixes",
    "cured",
    "cures",
    "vanish*",
    "help",
    "helps",
    "helped",
    "recovers",
    "recovered",
];
const GOOD: &[&str] = &[
    "works",
    "working",
    "worked",
    "fine",
    "ok",
    "okay",
    "fast",
    "faster",
    "quick*",
    "perfect*",
    "good",
    "great",
    "normal*",
    "correct*",
    "stable",
    "success*",
    "succeed*",
    "reliable",
    "reliably",
    "flawless*",
    "snappy",
    "reachable",
    "line-rate",
    "wire-speed",
];
const BAD: &[&str] = &[
    "slow*",
    "fail*",
    "hang*",
    "hung",
    "stuck",
    "stall*",
    "freez*",
    "froze*",
    "broken",
    "break",
    "breaks",
    "bad",
    "badly",
    "poor*",
    "dead",
    "dies",
    "timeout*",
    "unreachable",
    "lost",
    "loss*",
    "lose*",
    "losing",
    "drop",
    "drops",
    "dropped",
    "dropping",
    "error*",
    "problem*",
    "issue*",
    "trouble*",
    "wrong*",
    "crawl*",
    "terribl*",
    "horribl*",
    "unusable",
    "corrupt*",
    "reject*",
    "refus*",
    "disconnect*",
    "flap*",
    "lag",
    "lags",
    "laggy",
    "impossible",
    "stops",
    "stopped",
    "affected",
];
const ACTS: &[&str] = &[
    "reach*",
    "connect",
    "connects",
    "ping",
    "pings",
    "access",
    "accesses",
    "resolve",
    "resolves",
    "resolved",
    "answer",
    "answers",
    "answered",
    "respond",
    "responds",
    "reply",
    "replies",
    "open",
    "opens",
    "arrive",
    "arrives",
    "arrived",
    "come",
    "comes",
    "pass",
    "passes",
    "receive",
    "receives",
    "received",
    "see",
    "sees",
    "load",
    "loads",
    "change",
    "changed",
    "difference",
    "improvement",
    "luck",
    "ssh",
    "talk",
    "communicate",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_their_denials() {
        let said = |text: &str| {
            let words: Vec<&str> = text.split(' ').collect();
            polarity(&words, false)
        };
        for good in [
            "it works",
            "there are no errors",
            "the problem disappears",
            "can ping the gateway",
            "without any loss",
        ] {
            assert_eq!(said(good), Polarity::Good, "{good}");
        }
        for bad in [
            "it doesn't work",
            "does not help",
            "cannot reach it",
            "nothing comes through",
            "from inside not",
            "there was no difference",
        ] {
            assert_eq!(said(bad), Polarity::Bad, "{bad}");
        }
        assert_eq!(said("a switch with ports as well"), Polarity::None);
    }
}
