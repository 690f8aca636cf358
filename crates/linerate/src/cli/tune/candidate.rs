// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the findings of a check propose → what can be tried, in their order: what explains most first.

use linerate_change::{Wanted, parse};
use linerate_model::output::{ByHand, Finding, Limit, Output, Role};

/// A change that can be tried: one command line.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) struct Proposal {
    /// Whose settings it changes.
    pub(in crate::cli) host: Role,
    /// The finding that proposes it.
    pub(in crate::cli) finding: Finding,
    /// What a person would type.
    pub(in crate::cli) line: String,
    /// What that sets, all of it or nothing.
    pub(in crate::cli) wanted: Vec<Wanted>,
    /// `live` or `blip`, and what else it does.
    pub(in crate::cli) risk: String,
}

/// What the findings of a check come to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Proposals {
    /// What can be tried.
    pub(super) all: Vec<Proposal>,
    /// What only a person can do.
    pub(super) by_hand: Vec<ByHand>,
}

impl Proposals {
    /// Those of the findings that propose something.
    pub(super) fn of(check: &Output) -> Self {
        let mut found = Self::default();
        for finding in &check.findings {
            match refusal(finding, check) {
                Some(why) => found.by_hand(finding, &why),
                None => found.take(finding),
            }
        }
        found
    }

    /// The command lines that set something; the others only show something.
    fn take(&mut self, finding: &Finding) {
        let Some(change) = &finding.change else {
            return;
        };
        let mut any = false;
        for line in &change.commands {
            let Some(wanted) = parse(line) else { continue };
            any = true;
            let same = |one: &Proposal| one.host == finding.host && one.wanted == wanted;
            if !self.all.iter().any(same) {
                self.all.push(Proposal {
                    host: finding.host,
                    finding: finding.clone(),
                    line: typed(line),
                    wanted,
                    risk: change.risk.clone(),
                });
            }
        }
        if !any {
            self.by_hand(finding, NEEDS_A_PERSON);
        }
    }

    /// Leaves it to a person, and says why.
    pub(super) fn leave(&mut self, finding: &Finding, why: &str) {
        self.by_hand(finding, why);
    }

    fn by_hand(&mut self, finding: &Finding, why: &str) {
        let change = finding.change.as_ref();
        self.by_hand.extend(change.map(|change| ByHand {
            rule: finding.rule.clone(),
            title: finding.title.clone(),
            host: finding.host,
            commands: change.commands.clone(),
            why: why.to_owned(),
        }));
    }
}

/// Why nothing of a finding is tried.
fn refusal(finding: &Finding, check: &Output) -> Option<String> {
    let risk = finding.change.as_ref()?.risk.as_str();
    let word = risk.split([':', ' ']).next().unwrap_or_default();
    let why = match word {
        "live" | "blip" => return is_at_line_rate(finding, check).then(|| AT_LINE_RATE.to_owned()),
        "reboot" => "it needs a reboot",
        "rebuild" => "it needs another kernel or driver",
        "firmware" => "it needs other firmware",
        "repair" => "it needs work at the hardware",
        "hw" => "it needs other hardware",
        _ => "it is advice, not a setting",
    };
    Some(why.to_owned())
}

/// Whether all that a finding is about reaches line rate without a loss: then there is nothing to gain.
fn is_at_line_rate(finding: &Finding, check: &Output) -> bool {
    let of_finding = |id: &String| check.tests.iter().find(|test| test.id == *id);
    let tests: Vec<_> = finding.test_ids.iter().filter_map(of_finding).collect();
    let full = |direction| {
        let mut verdicts = check.verdicts.iter();
        verdicts.any(|one| one.direction == direction && one.limit == Limit::Link)
    };
    finding.explains.lost_packets.is_none()
        && !tests.is_empty()
        && tests.iter().all(|test| full(test.direction))
}

/// The limit that no setting moves, if that is where the link is.
pub(super) fn ceiling(check: &Output) -> Option<String> {
    let hardware = check.findings.iter().find(|finding| {
        let change = finding.change.as_ref();
        change.is_some_and(|change| change.risk.starts_with("hw"))
    });
    if let Some(finding) = hardware {
        return Some(format!("{}: {}", finding.rule, finding.title));
    }
    let all = &check.verdicts;
    let full = !all.is_empty() && all.iter().all(|verdict| verdict.limit == Limit::Link);
    full.then(|| "the link's line rate is reached in both directions".to_owned())
}

/// Without the comment.
fn typed(line: &str) -> String {
    let typed = line.split("   #").next().unwrap_or_default();
    typed.trim().to_owned()
}

const NEEDS_A_PERSON: &str = "it needs a choice that only a person can make";
const AT_LINE_RATE: &str = "the link's line rate is reached in this direction";

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::{Change, Direction, Test, Verdict};

    fn finding(rule: &str, risk: &str, commands: &[&str]) -> Finding {
        Finding {
            rule: rule.to_owned(),
            test_ids: vec!["tcp-up".to_owned()],
            change: Some(Change {
                commands: commands.iter().map(|one| (*one).to_owned()).collect(),
                risk: risk.to_owned(),
                ..Change::default()
            }),
            ..Finding::default()
        }
    }

    fn check(findings: Vec<Finding>) -> Output {
        let test = |id: &str, direction| Test {
            id: id.to_owned(),
            direction,
            ..Test::default()
        };
        Output {
            findings,
            tests: vec![
                test("tcp-up", Direction::Up),
                test("tcp-down", Direction::Down),
            ],
            ..Output::new("check", "0.0.0")
        }
    }

    #[test]
    fn commands_that_set_something_are_tried_once_each_in_their_order() {
        let memory = "sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456'";
        let found = Proposals::of(&check(vec![
            finding("S05", "live: memory", &["sysctl net.ipv4.tcp_rmem", memory]),
            finding("S06", "live", &[memory]),
            finding(
                "P09",
                "live",
                &[
                    "tc -s qdisc show dev eth0",
                    "ethtool -K eth0 tso on gso on   # both",
                ],
            ),
            finding(
                "P13",
                "live",
                &["echo <mask> > /sys/class/net/eth0/queues/rx-0/rps_cpus"],
            ),
            finding("F01", "rebuild: another kernel", &[memory]),
        ]));
        let lines: Vec<_> = found.all.iter().map(|one| one.line.as_str()).collect();
        assert_eq!(lines, [memory, "ethtool -K eth0 tso on gso on"]);
        assert_eq!(found.all[1].wanted.len(), 2);
        let by_hand: Vec<_> = found
            .by_hand
            .iter()
            .map(|one| (one.rule.as_str(), one.why.as_str()))
            .collect();
        assert_eq!(
            by_hand,
            [
                ("P13", NEEDS_A_PERSON),
                ("F01", "it needs another kernel or driver")
            ]
        );
    }

    #[test]
    fn there_is_nothing_to_gain_at_line_rate() {
        let full = |direction| Verdict {
            direction,
            limit: Limit::Link,
            ..Verdict::default()
        };
        let mut one = check(vec![finding("P03", "live", &["ethtool -K eth0 gso on"])]);
        assert_eq!((Proposals::of(&one).all.len(), ceiling(&one)), (1, None));
        one.verdicts = vec![full(Direction::Up)];
        assert_eq!(Proposals::of(&one).by_hand[0].why, AT_LINE_RATE);
        one.verdicts.push(full(Direction::Down));
        assert!(ceiling(&one).is_some_and(|why| why.contains("line rate")));
        // Loss at line rate can be mended.
        one.findings[0].explains.lost_packets = Some(3);
        assert_eq!(Proposals::of(&one).all.len(), 1);
    }

    #[test]
    fn a_limit_of_the_hardware_is_named() {
        let mut erratum = finding("F02", "hw: another board", &["linerate check <peer>"]);
        erratum.title = "the chip moves at most 470 Mbit/s".to_owned();
        let one = check(vec![erratum]);
        assert_eq!(
            ceiling(&one).as_deref(),
            Some("F02: the chip moves at most 470 Mbit/s")
        );
        assert_eq!(Proposals::of(&one).by_hand.len(), 1);
    }
}
