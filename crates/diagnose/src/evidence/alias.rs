// SPDX-License-Identifier: MIT OR Apache-2.0
//! One packet, several counters: which of them to believe, so that none is counted twice.
//!
//! Counters that share a word see the same packets. A counter with several words contains those of
//! each word; what it counts beyond them is its own.

use std::collections::BTreeSet;

use linerate_model::map::Map;
use linerate_model::order;
use linerate_model::order::Gather as _;

use super::{Count, Moved};
use linerate_knowledge::Stage;

/// Counts none of which contains another. `stage_of_word` says where packets of a word die, if any
/// counter of the table is of that word alone.
pub(super) fn resolve(
    counts: Vec<Count>,
    stage_of_word: impl Fn(&str) -> Option<Stage>,
) -> Vec<Count> {
    let (mut resolved, sets): (Vec<_>, Vec<_>) =
        counts.into_iter().partition(|count| count.words.is_empty());
    let (single, mut containers): (Vec<_>, Vec<_>) =
        sets.into_iter().partition(|count| count.words.len() == 1);
    let mut known = Map::new();
    for (words, same) in grouped(single) {
        let parts = same_packets(same);
        known.insert(words, total(&parts));
        resolved.extend(parts);
    }
    order::by_key(&mut containers, |count| count.words.len());
    for (words, same) in grouped(containers) {
        let Some(all) = largest(same) else { continue };
        let rest = beyond(all, &known, &stage_of_word);
        let inside: Vec<_> = known
            .keys()
            .filter(|part| part.is_subset(&words))
            .cloned()
            .collect();
        let within = inside.iter().filter_map(|part| known.remove(part));
        let within = within.fold(Moved::nothing(), Moved::plus);
        known.insert(words, within.plus(rest.moved));
        resolved.push(rest);
    }
    resolved
}

/// By their words; larger sets later.
fn grouped(counts: Vec<Count>) -> Vec<(BTreeSet<String>, Vec<Count>)> {
    let mut groups: Map<BTreeSet<String>, Vec<Count>> = Map::new();
    for count in counts {
        groups.entry(count.words.clone()).or_default().push(count);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    order::by_key(&mut groups, |(words, _)| words.len());
    groups
}

/// The counters of one set: the one that saw most, less what others count at further stages.
fn same_packets(counts: Vec<Count>) -> Vec<Count> {
    let mut by_stage: Map<Stage, Vec<Count>> = Map::new();
    for count in counts {
        by_stage.entry(count.stage).or_default().push(count);
    }
    let mut stages: Vec<Count> = by_stage.into_values().filter_map(largest).collect();
    let rank = |count: &Count| (count.moved.grew.at_least, count.general);
    order::by_key(&mut stages, rank);
    let Some(mut general) = stages.pop() else {
        return stages;
    };
    let mut special = Vec::new();
    for mut count in stages {
        let left = general.moved.grew.at_least;
        count.moved = count.moved.capped(left);
        general.moved = general.moved.without(count.moved);
        special.push(count);
    }
    special.push(general);
    special
}

/// The counter that saw most. All that moved support it.
fn largest(mut counts: Vec<Count>) -> Option<Count> {
    order::by_key(&mut counts, |count| {
        (count.moved.grew.at_least, !count.general)
    });
    counts.pop()
}

/// What a container counted beyond the parts that are known. Where only one of its words is not
/// known, that is what is left.
fn beyond(
    mut all: Count,
    known: &Map<BTreeSet<String>, Moved>,
    stage_of_word: impl Fn(&str) -> Option<Stage>,
) -> Count {
    let mut missing = all.words.clone();
    let mut overlaps = 0;
    for (words, moved) in known {
        if words.is_subset(&all.words) {
            all.moved = all.moved.without(*moved);
            missing.retain(|word| !words.contains(word));
        } else if !words.is_disjoint(&all.words) {
            overlaps += moved.grew.at_least;
        }
    }
    all.moved = all.moved.perhaps_without(overlaps);
    let stages: BTreeSet<_> = missing
        .iter()
        .filter_map(|word| stage_of_word(word))
        .gather();
    if let (1, Some(stage)) = (stages.len(), stages.first()) {
        all.stage = *stage;
    }
    all
}

fn total(counts: &[Count]) -> Moved {
    let moved = counts.iter().map(|count| count.moved);
    moved.fold(Moved::nothing(), Moved::plus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Source;
    use linerate_knowledge::Unit;

    fn count(name: &str, stage: Stage, words: &[&str], at_least: u64) -> Count {
        Count {
            name: name.to_owned(),
            source: Source::Ethtool,
            stage,
            unit: Unit::Frames,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            moved: Moved::by(at_least),
            counted: at_least,
            general: !name.contains('_'),
            shared: false,
        }
    }

    fn booked(counts: Vec<Count>) -> Vec<(String, Stage, u64)> {
        let ring = |word: &str| (word == "ring-empty").then_some(Stage::RxRing);
        let mut booked: Vec<_> = resolve(counts, ring)
            .into_iter()
            .filter(|count| count.moved.grew.at_least > 0)
            .map(|count| (count.name, count.stage, count.moved.grew.at_least))
            .collect();
        booked.sort();
        booked
    }

    #[test]
    fn two_names_of_one_event_count_once() {
        let table = vec![
            count("link", Stage::RxMac, &["full"], 70),
            count("ethtool_s", Stage::RxMac, &["full"], 70),
        ];
        assert_eq!(booked(table), [("ethtool_s".to_owned(), Stage::RxMac, 70)]);
    }

    #[test]
    fn a_sum_gives_the_part_that_has_no_counter_of_its_own() {
        let table = vec![
            count("missed", Stage::RxMac, &["mac-full"], 30),
            count("fifo", Stage::RxMac, &["mac-full", "ring-empty"], 100),
        ];
        assert_eq!(
            booked(table),
            [
                ("fifo".to_owned(), Stage::RxRing, 70),
                ("missed".to_owned(), Stage::RxMac, 30)
            ]
        );
    }

    #[test]
    fn a_sum_whose_parts_are_all_known_adds_nothing() {
        let table = vec![
            count("missed", Stage::RxMac, &["mac-full"], 30),
            count("rx_queue_drops", Stage::RxRing, &["ring-empty"], 70),
            count("fifo", Stage::RxMac, &["mac-full", "ring-empty"], 100),
        ];
        assert_eq!(booked(table).len(), 2);
    }

    #[test]
    fn a_special_case_is_taken_out_of_the_general_one() {
        let table = vec![
            count("dropped", Stage::RxRing, &["drops"], 100),
            count("xdp_drops", Stage::RxXdp, &["drops"], 100),
        ];
        assert_eq!(booked(table), [("xdp_drops".to_owned(), Stage::RxXdp, 100)]);
    }

    #[test]
    fn nested_sums_are_taken_apart_from_the_inside() {
        let table = vec![
            count("crc_errors", Stage::Wire, &["crc"], 5),
            count("length", Stage::RxMac, &["short", "long"], 7),
            count("errors", Stage::RxMac, &["short", "long", "crc"], 13),
        ];
        let total: u64 = booked(table).iter().map(|(_, _, count)| count).sum();
        assert_eq!(total, 13);
    }

    #[test]
    fn what_no_word_joins_adds_up() {
        let table = vec![
            count("a_x", Stage::RxMac, &[], 5),
            count("b_x", Stage::RxMac, &[], 7),
        ];
        assert_eq!(booked(table).len(), 2);
    }
}
