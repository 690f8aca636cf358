// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two clauses that say opposite things of two classes: `iperf is fine, but NFS is slow`.

use super::super::Fact;
use super::classes::*;
use super::clauses::Clause;
use crate::weigh::observed::Line;

/// What is well, what is not, and what both must name somewhere.
struct Contrast {
    name: &'static str,
    good: Class,
    bad: Class,
    /// Words one of which the text must have anywhere, if there are any.
    about: &'static [&'static str],
    /// Whether rates show it too: the good one's is this many times that of the bad one.
    rates: Option<f64>,
    /// Whether the contrary is a fact too.
    denied: bool,
}

pub(super) fn facts(clauses: &[Clause], lines: &[Line<'_>]) -> Vec<Fact> {
    CONTRASTS
        .iter()
        .filter_map(|one| one.fact(clauses, lines))
        .collect()
}

impl Contrast {
    fn fact(&self, clauses: &[Clause], lines: &[Line<'_>]) -> Option<Fact> {
        let shown = || pairs(clauses, self.good, self.bad).next().is_some();
        (shown() && self.is_about(lines)).then_some(())?;
        let pairs = || pairs(clauses, self.good, self.bad);
        if let Some((good, _)) = pairs().find(|(good, bad)| self.shows(good, bad)) {
            return Some(Fact::new(self.name, true, good.line));
        }
        let mut contrary = pairs().filter(|_| self.denied);
        let (good, _) = contrary.find(|(good, bad)| good.is_bad() && bad.is_good())?;
        Some(Fact::new(self.name, false, good.line))
    }

    fn is_about(&self, lines: &[Line<'_>]) -> bool {
        let has = |line: &Line<'_>| self.about.iter().any(|mark| line.text.contains(mark));
        self.about.is_empty() || lines.iter().any(has)
    }

    fn shows(&self, good: &Clause, bad: &Clause) -> bool {
        if let (Some(times), Some(high), Some(low)) = (self.rates, good.rate, bad.rate) {
            return high >= times * low;
        }
        good.is_good() && bad.is_bad()
    }
}

/// Clauses of one sentence, or of two that follow each other, of which the first names only `one` and the second only `other`.
fn pairs(clauses: &[Clause], one: Class, other: Class) -> impl Iterator<Item = (&Clause, &Clause)> {
    let is_one = move |clause: &Clause| clause.has(one) && !clause.has(other);
    let is_other = move |clause: &Clause| clause.has(other) && !clause.has(one);
    let first = clauses
        .iter()
        .enumerate()
        .filter(move |(_, clause)| is_one(clause));
    first.flat_map(move |(at, first)| {
        let near = clauses.get(at.saturating_sub(NEAR)..(at + NEAR + 1).min(clauses.len()));
        let near = near.into_iter().flatten();
        let close = move |second: &&Clause| second.sentence.abs_diff(first.sentence) <= 1;
        near.filter(close)
            .filter(move |second| is_other(second))
            .map(move |second| (first, second))
    })
}

const NEAR: usize = 3;

const fn contrast(name: &'static str, good: Class, bad: Class) -> Contrast {
    Contrast {
        name,
        good,
        bad,
        about: &[],
        rates: None,
        denied: false,
    }
}

const CONTRASTS: &[Contrast] = &[
    Contrast {
        rates: Some(2.0),
        ..contrast("network_test_fast_program_slow", NET_TEST, PROGRAM)
    },
    Contrast {
        rates: Some(3.0),
        ..contrast("http1_fast_http2_slow", HTTP_1, HTTP_2)
    },
    Contrast {
        rates: Some(2.0),
        denied: true,
        ..contrast("inside_fast_outside_slow", INSIDE, OUTSIDE)
    },
    Contrast {
        denied: true,
        ..contrast("outside_works_inside_fails", FROM_OUTSIDE, FROM_INSIDE)
    },
    Contrast {
        about: &["pod", "ontainer"],
        ..contrast("pods_same_node_work_other_node_fail", SAME_NODE, OTHER_NODE)
    },
    contrast("metadata_answers_internet_not", METADATA, OUTSIDE),
    Contrast {
        denied: false,
        ..contrast("address_works_name_fails", ADDRESS, NAME)
    },
    contrast("small_answers_large_hang", SMALL, LARGE),
    Contrast {
        about: &["macvlan", "macvtap", "ipvlan"],
        ..contrast("host_to_macvlan_fails_others_work", OTHERS, THE_HOST)
    },
];

#[cfg(test)]
mod tests {
    use super::super::super::value_of;
    use super::super::facts;

    fn shows(text: &str, name: &str) -> Option<String> {
        value_of(text, facts, name)
    }

    #[test]
    fn the_network_is_fast_and_a_program_is_slow() {
        let name = "network_test_fast_program_slow";
        for text in [
            "iperf is fine but our NFS mounts are terribly slow.",
            "Samba copies are slow. With iperf3 I get full speed.",
            "iperf3 gives 940 Mbit/s, while scp reaches 38 MB/s only.",
        ] {
            assert_eq!(shows(text, name).as_deref(), Some("true"), "{text}");
        }
        for text in [
            "The NFS mount is slow since the update.",
            "iperf is slow and NFS is slow, too.",
            "iperf3 gives 300 Mbit/s, the copy by scp 290 Mbit/s.",
        ] {
            assert_eq!(shows(text, name), None, "{text}");
        }
    }

    #[test]
    fn inside_and_outside() {
        let hairpin = "outside_works_inside_fails";
        assert_eq!(
            shows("From outside it works, but not from the LAN.", hairpin).as_deref(),
            Some("true")
        );
        assert_eq!(
            shows("From the LAN it works, from outside it does not.", hairpin).as_deref(),
            Some("false")
        );
        assert_eq!(shows("Nothing is reached from outside.", hairpin), None);
        let limit = "inside_fast_outside_slow";
        assert_eq!(
            shows(
                "In the LAN I get 940 Mbit/s, to the internet 48 Mbit/s.",
                limit
            )
            .as_deref(),
            Some("true")
        );
    }

    #[test]
    fn small_and_large_same_node_and_other() {
        let text = "Small answers work, everything larger hangs.";
        assert_eq!(
            shows(text, "small_answers_large_hang").as_deref(),
            Some("true")
        );
        let text = "Pods on the same node reach each other, pods on different nodes cannot reach each other.";
        assert_eq!(
            shows(text, "pods_same_node_work_other_node_fail").as_deref(),
            Some("true")
        );
        let text = "ping 8.8.8.8 works but DNS does not.";
        assert_eq!(
            shows(text, "address_works_name_fails").as_deref(),
            Some("true")
        );
    }

    #[test]
    fn the_host_alone_does_not_reach_a_macvlan_child() {
        let name = "host_to_macvlan_fails_others_work";
        let text = "I created a macvlan network.\nThe container is reached by all machines but its own host.";
        assert_eq!(shows(text, name).as_deref(), Some("true"));
        assert_eq!(
            shows("All machines are reached, but not the host.", name),
            None
        );
    }
}
