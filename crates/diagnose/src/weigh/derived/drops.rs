// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of what the kernel dropped: the reason and the function that lost most packets.

use linerate_knowledge::{ReasonStage, stage_of};
use linerate_model::record::Record;

use super::Fact;
use crate::weigh::observed::Line;

pub(super) fn facts(records: &[Record], lines: &[Line<'_>]) -> Vec<Fact> {
    let fact = |(source, name): &(&str, &'static str)| {
        let most = most(records, source)?;
        Some(Fact {
            name,
            value: most.to_owned(),
            line: line(lines, most),
        })
    };
    MOST.iter().filter_map(fact).collect()
}

/// Of what was lost, not of connections that ended or copies for a listener.
fn most<'r>(records: &'r [Record], source: &str) -> Option<&'r str> {
    let samples = records.iter().flat_map(|record| &record.samples);
    let counters = samples
        .filter(|sample| sample.source == source)
        .flat_map(|sample| &sample.counters);
    let lost = counters.filter(|(name, count)| **count > 0 && !is_no_loss(name));
    let (name, _) = lost.max_by_key(|(_, count)| **count)?;
    Some(name)
}

fn is_no_loss(name: &str) -> bool {
    name == "NOT_SPECIFIED" || matches!(stage_of(name), ReasonStage::Benign | ReasonStage::Observer)
}

/// The first line that shows it.
fn line(lines: &[Line<'_>], name: &str) -> Option<u64> {
    let number = name.strip_prefix("drop reason ");
    let shows = |line: &&Line<'_>| match number {
        Some(number) => shows_number(line.text, number),
        None => line.text.contains(name),
    };
    lines.iter().find(shows).map(|line| line.number)
}

/// `@drops[6]: 12`, `reason: 6`, `reason=6`: with the whole number.
fn shows_number(text: &str, number: &str) -> bool {
    let is_map = text.trim_start().starts_with('@');
    let marks: &[&str] = if is_map {
        &["["]
    } else {
        &["reason: ", "reason="]
    };
    let mut rests = marks
        .iter()
        .filter_map(|mark| Some(text.split_once(mark)?.1));
    rests.any(|rest| {
        let end = rest.strip_prefix(number);
        end.is_some_and(|end| !end.starts_with(|next: char| next.is_ascii_digit()))
    })
}

const MOST: [(&str, &str); 2] = [
    ("skb:kfree_skb", "drop_reason_most"),
    ("dropwatch", "drop_function_most"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::sample::Sample;

    #[test]
    fn the_line_of_a_number() {
        for (text, number, expected) in [
            ("@drops[6]: 12", "6", true),
            ("@[6, 17]: 12", "6", true),
            ("@[67]: 12", "6", false),
            ("kfree_skb: reason=67", "67", true),
            ("skb:kfree_skb(…, reason: 67)", "67", true),
            ("reason=670", "67", false),
        ] {
            assert_eq!(shows_number(text, number), expected, "{text}");
        }
    }

    #[test]
    fn of_what_was_lost() {
        let counters = [
            ("NOT_SPECIFIED", 90),
            ("TCP_OLD_DATA", 80),
            ("SOCKET_RCVBUFF", 70),
            ("NO_SOCKET", 1),
        ];
        let counters = counters.map(|(name, count)| (name.to_owned(), count));
        let sample = Sample {
            source: "skb:kfree_skb".to_owned(),
            counters: counters.into_iter().collect(),
            ..Sample::default()
        };
        let record = Record {
            samples: vec![sample],
            ..Record::default()
        };
        let lines = [Line {
            number: 4,
            text: "@[SOCKET_RCVBUFF]: 70",
        }];
        let facts = facts(&[record], &lines);
        let [fact] = facts.as_slice() else { panic!() };
        assert_eq!((fact.name, fact.line), ("drop_reason_most", Some(4)));
        assert_eq!(fact.value, "SOCKET_RCVBUFF");
    }
}
