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
    let shown = match name.strip_prefix("drop reason ") {
        Some(number) => [format!("@[{number}"), format!("reason: {number}")],
        None => [name.to_owned(), name.to_owned()],
    };
    let shows = |line: &&Line<'_>| shown.iter().any(|text| line.text.contains(text));
    lines.iter().find(shows).map(|line| line.number)
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
