// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is abnormal in a text and explained by nothing that was named.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use linerate_knowledge::{Range, ranges};
use linerate_model::map::Map;
use linerate_model::output::Passage;

use super::answer::Named;
use super::observed::{Counted, Field, Observed, normal};

/// Messages first, then settings, then counters.
pub(super) fn odd(observed: &Observed<'_>, named: &[Named]) -> Vec<Passage> {
    let explained = Explained::of(observed, named);
    let mut odd = explained.messages(observed);
    odd.extend(explained.fields(observed));
    odd.extend(explained.counters(observed));
    odd.truncate(MOST);
    odd
}

/// What findings use.
struct Explained<'o> {
    lines: BTreeSet<u64>,
    /// As [`super::Part::what`] has it.
    shown: BTreeSet<&'o str>,
    /// Titles of fields.
    fields: BTreeSet<&'o str>,
}

impl<'o> Explained<'o> {
    fn of(observed: &'o Observed<'_>, named: &'o [Named]) -> Self {
        let parts = || named.iter().flat_map(|one| &one.parts);
        let titles = parts().filter_map(|part| Some(part.what.split_once(" = ")?.0));
        let of_rules = observed.findings.iter().flat_map(|one| &one.evidence);
        Self {
            lines: parts().filter_map(|part| part.line).collect(),
            shown: parts().map(|part| part.what.as_str()).collect(),
            fields: titles
                .chain(of_rules.map(|one| one.fact.as_str()))
                .collect(),
        }
    }

    fn leaves(&self, line: Option<u64>) -> bool {
        line.is_none_or(|line| !self.lines.contains(&line))
    }

    /// Known ones by their meaning, each once; others as they stand.
    fn messages(&self, observed: &Observed<'_>) -> Vec<Passage> {
        let mut said = BTreeSet::new();
        let known = observed.logged.iter();
        let known = known.map(|one| (one.line.number, one.message.means.as_str()));
        let unknown = observed.unknown.iter();
        let unknown = unknown.map(|line| (line.number, line.text.trim()));
        let open = known
            .chain(unknown)
            .filter(|(line, _)| self.leaves(Some(*line)));
        let once = open.filter(|(_, what)| said.insert(*what));
        once.map(|(line, what)| passage(Some(line), what)).collect()
    }

    fn fields(&self, observed: &Observed<'_>) -> impl Iterator<Item = Passage> {
        let is_open =
            |one: &&Field| self.leaves(one.line) && !self.fields.contains(one.title.as_str());
        observed.fields.iter().filter(is_open).filter_map(outside)
    }

    fn counters(&self, observed: &Observed<'_>) -> impl Iterator<Item = Passage> {
        let abnormal = observed.counters.iter().filter(|one| is_abnormal(one));
        let named = abnormal.map(|one| (one.line, shown(one)));
        let open =
            named.filter(|(line, what)| self.leaves(*line) && !self.shown.contains(what.as_str()));
        open.map(|(line, what)| passage(line, &what))
    }
}

/// What a value outside its normal range says.
fn outside(field: &Field) -> Option<Passage> {
    let mut of_field = RANGES.get(&field.name)?.iter();
    let range = of_field.find(|one| one.abnormal.passes(&field.value) == Some(true))?;
    let what = format!("{}: {} = {}", range.means, field.title, field.value);
    Some(passage(field.line, &what))
}

/// The ranges of each field.
static RANGES: LazyLock<Map<String, Vec<&Range>>> = LazyLock::new(|| {
    let mut all: Map<String, Vec<&Range>> = Map::new();
    for range in ranges() {
        all.entry(normal(&range.field)).or_default().push(range);
    }
    all
});

fn shown(counted: &Counted) -> String {
    format!("{} = {}", counted.name, counted.value)
}

fn passage(line: Option<u64>, what: &str) -> Passage {
    let line = line.unwrap_or_default();
    Passage {
        first_line: line,
        last_line: line,
        what: what.to_owned(),
    }
}

/// Whether its name says that something failed, and it is more than chance at this traffic.
pub(super) fn is_abnormal(counted: &Counted) -> bool {
    let lower = counted.name.to_lowercase();
    let fails = WORDS.iter().any(|word| lower.contains(word));
    let is_of_radio = OF_RADIO.contains(&lower.as_str());
    let packets_for_one = if is_of_radio { 1000 } else { PACKETS_FOR_ONE };
    let few = counted.packets.is_some_and(|packets| {
        counted.value.saturating_mul(packets_for_one) < packets
            && !NEVER.iter().any(|word| lower.contains(word))
    });
    fails && counted.value > 0 && !few && !WELL.iter().any(|word| lower.contains(word))
}

/// Words of counters of what went wrong (the kernel's and drivers' names share them).
const WORDS: &[&str] = &[
    "err",
    "drop",
    "discard",
    "miss",
    "overrun",
    "exceed",
    "timeout",
    "fail",
    "crc",
    "fifo",
    "collision",
    "no_buf",
    "nobuf",
];
/// Of these not one is normal.
const NEVER: &[&str] = &["crc", "late_coll", "exceed", "timeout"];
/// What contains such a word and counts no failure.
const WELL: &[&str] = &["ierror_free", "fec_corrected", "corrected_bits", "cache"];
/// What a radio counts as a part of its work: fewer than one in a thousand packets are no finding.
const OF_RADIO: &[&str] = &["tx failed", "rx drop misc"];
/// Fewer than one in this many packets are no finding.
const PACKETS_FOR_ONE: u64 = 100_000;
const MOST: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_outside_their_range_are_named() {
        let field = |value: &str| Field {
            interface: None,
            name: normal("ethtool Duplex"),
            title: "ethtool Duplex".to_owned(),
            value: value.to_owned(),
            line: Some(3),
        };
        let half = outside(&field("Half")).map(|one| (one.first_line, one.what));
        let says = "the link runs half duplex: ethtool Duplex = Half".to_owned();
        assert_eq!(half, Some((3, says)));
        assert!(outside(&field("Full")).is_none());
    }

    fn counted(name: &str, value: u64, packets: u64) -> Counted {
        Counted {
            interface: None,
            name: name.to_owned(),
            value,
            packets: Some(packets),
            line: None,
        }
    }

    #[test]
    fn names_and_shares_decide() {
        assert!(is_abnormal(&counted("rx_missed_errors", 1000, 1_000_000)));
        assert!(!is_abnormal(&counted("rx_missed_errors", 1, 1_000_000)));
        assert!(is_abnormal(&counted("rx_crc_errors", 1, 1_000_000)));
        assert!(!is_abnormal(&counted("rx_packets", 1000, 1000)));
        assert!(!is_abnormal(&counted("rx_errors", 0, 0)));
        assert!(!is_abnormal(&counted("tx failed", 30, 100_000)));
        assert!(is_abnormal(&counted("tx failed", 300, 100_000)));
    }
}
