// SPDX-License-Identifier: MIT OR Apache-2.0
//! How well what a report mentions fits each cause: how often reports of a cause mention a circumstance, against how often
//! reports of all causes do (naive Bayes; D. J. Hand and K. Yu, Idiot's Bayes, not so stupid after all?, 2001).
//! `build.rs` packs `knowledge/mentions.toml` as one digit for each cause and circumstance.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use linerate_model::map::Map;
use linerate_model::order::{self, Gather as _};

use crate::cause::causes;
use crate::packed;

/// What the circumstances of a report say for a cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// Decibans, against the average cause.
    pub db: f64,
    /// The circumstances that say most for it, the strongest first.
    pub circumstances: Vec<&'static str>,
}

/// A share of all reports, and what it says in decibans.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    mentioned: f64,
    absent: f64,
}

struct Table {
    circumstances: Vec<String>,
    /// The level of each circumstance, for each cause by its place in [`causes`]; none of one that has no entry.
    levels: Map<usize, Vec<usize>>,
    /// What each level of each circumstance says.
    weights: Vec<[Weight; LEVELS]>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let files = packed::MENTIONS.unpack();
    let text = files.first().map_or("", |(_, text)| text.as_str());
    Table::of(text)
});

impl Table {
    /// Reads what `build.rs` wrote: the circumstances, then a cause and its digits a line.
    fn of(text: &str) -> Self {
        let mut lines = text.lines();
        let circumstances: Vec<String> = lines
            .next()
            .unwrap_or_default()
            .split(' ')
            .map(str::to_owned)
            .collect();
        let levels: Map<usize, Vec<usize>> = lines.filter_map(levels).gather();
        let weights = (0..circumstances.len()).map(|at| weights(&levels, at));
        Self {
            weights: weights.collect(),
            levels,
            circumstances,
        }
    }

    fn mention(&'static self, named: &[bool], levels: &[usize]) -> Mention {
        let weight = |at: usize| self.weights[at][levels[at]];
        let mut db = 0.0;
        let mut said: Vec<(&'static str, f64)> = Vec::new();
        for (at, is_named) in named.iter().enumerate() {
            if *is_named {
                let gain = weight(at).mentioned;
                db += gain;
                said.push((self.circumstances[at].as_str(), gain));
            } else {
                db += ABSENT * weight(at).absent;
            }
        }
        said.retain(|(_, gain)| *gain > 0.0);
        order::by(&mut said, |(_, one), (_, other)| other.total_cmp(one));
        let circumstances = said.into_iter().take(SHOWN).map(|(id, _)| id).collect();
        Mention { db, circumstances }
    }
}

/// `CAUSE DIGITS`.
fn levels(line: &str) -> Option<(usize, Vec<usize>)> {
    let (id, digits) = line.split_once(' ')?;
    let cause = causes().iter().position(|cause| cause.id == id)?;
    let level = |digit: u8| usize::from(digit.saturating_sub(b'0')).min(LEVELS - 1);
    Some((cause, digits.bytes().map(level).collect()))
}

/// What each level of one circumstance says, against its mean over all causes.
fn weights(levels: &Map<usize, Vec<usize>>, at: usize) -> [Weight; LEVELS] {
    let shares = levels.values().map(|of_cause| SHARES[of_cause[at]]);
    let mean = shares.sum::<f64>() / levels.len().max(1) as f64;
    let db = |share: f64, mean: f64| 10.0 * (share / mean).log10();
    SHARES.map(|share| Weight {
        mentioned: db(share, mean).clamp(-MOST_DB, MOST_DB),
        absent: db(1.0 - share, 1.0 - mean),
    })
}

/// What these circumstances (names of symptoms and of `knowledge/circumstances.toml`) say for each cause that has an entry, by
/// its place in [`causes`](crate::causes()).
#[must_use]
pub fn mentioned(named: &BTreeSet<&str>) -> Map<usize, Mention> {
    let is_named = |id: &String| named.contains(id.as_str());
    let is_named: Vec<bool> = TABLE.circumstances.iter().map(is_named).collect();
    let of_cause =
        |(cause, levels): (&usize, &Vec<usize>)| (*cause, TABLE.mention(&is_named, levels));
    let mut mentions: Map<usize, Mention> = TABLE.levels.iter().map(of_cause).gather();
    let sum: f64 = mentions.values().map(|mention| mention.db).sum();
    let mean = sum / mentions.len().max(1) as f64;
    for mention in mentions.values_mut() {
        mention.db = SCALE * (mention.db - mean);
    }
    mentions
}

const LEVELS: usize = 4;
/// Of the reports of a cause, those that mention a circumstance: (practically) never, sometimes, often, mostly.
const SHARES: [f64; LEVELS] = [0.02, 0.12, 0.30, 0.65];
/// No single circumstance says more.
const MOST_DB: f64 = 8.0;
/// What is not mentioned says less than it would if every writer mentioned everything.
const ABSENT: f64 = 0.3;
/// Circumstances hang together: all of them say an eighth of what they would if they did not.
const SCALE: f64 = 0.12;
/// More are not shown.
const SHOWN: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    fn best(named: &[&str]) -> &'static str {
        let mentions = mentioned(&named.iter().copied().collect());
        let best = mentions
            .iter()
            .max_by(|(_, one), (_, other)| one.db.total_cmp(&other.db));
        best.map_or("", |(cause, _)| &causes()[*cause].id)
    }

    #[test]
    fn circumstances_speak_for_causes() {
        let wifi = best(&["only-wifi", "about-wifi", "jitter"]);
        assert!(wifi.starts_with("wifi"), "{wifi}");
        let tunnel = best(&[
            "only-with-vpn",
            "only-large-packets",
            "about-mtu",
            "about-tunnels",
        ]);
        assert!(tunnel.contains("mtu"), "{tunnel}");
    }

    #[test]
    fn the_average_cause_gains_nothing() {
        let mentions = mentioned(&BTreeSet::from(["slow", "about-usb"]));
        let sum: f64 = mentions.values().map(|mention| mention.db).sum();
        assert!(sum.abs() < 1e-6, "{sum}");
    }

    #[test]
    fn every_line_has_a_digit_for_each_circumstance() {
        let count = TABLE.circumstances.len();
        assert!(count > 100, "{count}");
        assert!(TABLE.levels.values().all(|levels| levels.len() == count));
    }
}
