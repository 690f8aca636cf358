// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `--explore` can improve: the rate of the slower direction, or the loss. Which tunables do so, and in which order.

use std::cmp::Reverse;

use linerate_knowledge::{Goal, Knobs, Risk, Tunable, tunables};
use linerate_model::output::{Explains, Finding, Limit, Output, Protocol, Test, Verdict};

/// What can become better.
#[derive(Debug, Default)]
pub(super) struct Aims<'c> {
    /// The tests whose rate can increase.
    rate: Vec<&'c Test>,
    /// Those that lost datagrams.
    loss: Vec<&'c Test>,
    /// What probably helps most.
    first: Option<Goal>,
    protocols: Vec<Protocol>,
}

impl<'c> Aims<'c> {
    /// Those of a check. At line rate, no rate can increase.
    pub(super) fn of(check: &'c Output) -> Self {
        let slowest = slowest(&check.verdicts);
        let is_open = slowest.is_some() || check.verdicts.is_empty();
        let of_direction =
            |test: &&Test| slowest.is_none_or(|verdict| verdict.direction == test.direction);
        let rate = check.tests.iter().filter(of_direction);
        let lost = |test: &&Test| test.lost_packets.is_some_and(|lost| lost > 0);
        Self {
            rate: rate.filter(|_| is_open).collect(),
            loss: check.tests.iter().filter(lost).collect(),
            first: slowest.map(|verdict| helps(verdict.limit)),
            protocols: check.tests.iter().map(|test| test.protocol).collect(),
        }
    }

    /// The tunables by which something can be reached, each with what it is to improve: what interrupts nothing first, then
    /// what helps most against the limit, then what changes least besides.
    pub(super) fn tunables(&self) -> Vec<(&'static Tunable, Finding)> {
        let all = tunables().iter().filter(|one| one.risk != Risk::Reboot);
        let of = |one: &'static Tunable| Some((one, self.about(one)?));
        let mut all: Vec<_> = all.filter_map(of).collect();
        all.sort_by_key(|(one, _)| {
            let helps = self.first.is_some_and(|goal| one.goals.contains(&goal));
            (one.risk, Reverse(helps), Reverse(one.scope))
        });
        all
    }

    /// The tests that a tunable is to improve; nothing where it improves none of them.
    fn about(&self, tunable: &Tunable) -> Option<Finding> {
        let has = |goal| tunable.goals.contains(&goal);
        let tests = match () {
            () if !self.concerns(tunable) => return None,
            () if has(Goal::Throughput) && !self.rate.is_empty() => &self.rate,
            () if has(Goal::Loss) && !self.loss.is_empty() => &self.loss,
            // TCP sends again what is lost, at the cost of its rate.
            () if has(Goal::Loss) && self.rate.iter().any(|test| is_resent(test)) => &self.rate,
            () => return None,
        };
        let lost = tests.iter().filter_map(|test| test.lost_packets).sum();
        Some(Finding {
            title: tunable.means.clone(),
            test_ids: tests.iter().map(|test| test.id.clone()).collect(),
            explains: Explains {
                lost_packets: (lost > 0).then_some(lost),
                ..Explains::default()
            },
            ..Finding::default()
        })
    }

    /// A setting of TCP does nothing for datagrams, nor the other way round.
    fn concerns(&self, tunable: &Tunable) -> bool {
        let of = |prefix| {
            let mut names = tunable.knobs.iter().map(Knobs::text);
            names.all(|name| name.starts_with(prefix))
        };
        let settings = [
            ("sysctl net.ipv4.tcp_", Protocol::Tcp),
            ("sysctl net.ipv4.udp_", Protocol::Udp),
        ];
        let mut needed = settings.iter().filter(|(prefix, _)| of(*prefix));
        needed.all(|(_, protocol)| self.protocols.contains(protocol))
    }
}

/// The direction that reaches least, of those that are not at line rate.
fn slowest(verdicts: &[Verdict]) -> Option<&Verdict> {
    let open = verdicts.iter().filter(|one| one.limit != Limit::Link);
    open.min_by(|one, other| {
        let rate = |of: &Verdict| of.achieved_bits_per_second;
        rate(one).total_cmp(&rate(other))
    })
}

const fn helps(limit: Limit) -> Goal {
    match limit {
        Limit::Sender | Limit::ReceiverCpu | Limit::SharedCpu => Goal::Cpu,
        Limit::ReceiverInterface | Limit::ReceiverSocket => Goal::Loss,
        Limit::Path | Limit::Link | Limit::Unknown => Goal::Throughput,
    }
}

fn is_resent(test: &Test) -> bool {
    test.retransmits.is_some_and(|segments| segments > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::Direction;

    fn test(protocol: Protocol, lost: Option<u64>, retransmits: Option<u64>) -> Test {
        Test {
            id: "a".to_owned(),
            protocol,
            lost_packets: lost,
            retransmits,
            ..Test::default()
        }
    }

    fn check(tests: Vec<Test>, limits: &[Limit]) -> Output {
        let verdict = |limit: &Limit| Verdict {
            direction: Direction::Up,
            limit: *limit,
            ..Verdict::default()
        };
        Output {
            tests,
            verdicts: limits.iter().map(verdict).collect(),
            ..Output::new("check", "0.0.0")
        }
    }

    fn listed(check: &Output) -> Vec<&'static str> {
        let all = Aims::of(check).tunables();
        all.iter().map(|(one, _)| one.knobs[0].text()).collect()
    }

    fn has(check: &Output, knob: &str) -> bool {
        listed(check).iter().any(|one| one.ends_with(knob))
    }

    #[test]
    fn only_what_can_improve_the_figures_is_listed() {
        let (ring, rmem, udp) = ("-G rx", "tcp_rmem", "udp_rmem_min");
        let tcp = check(vec![test(Protocol::Tcp, None, Some(0))], &[Limit::Unknown]);
        assert!(has(&tcp, rmem) && !has(&tcp, ring) && !has(&tcp, udp));
        let resent = check(vec![test(Protocol::Tcp, None, Some(7))], &[Limit::Unknown]);
        assert!(has(&resent, rmem) && has(&resent, ring));
        let lossy = check(vec![test(Protocol::Udp, Some(7), None)], &[Limit::Path]);
        assert!(!has(&lossy, rmem) && has(&lossy, ring) && has(&lossy, udp));
        // One queue of connections is never full by one test.
        assert!(!has(&lossy, "somaxconn") && !has(&lossy, "gc_thresh1"));
        let full = check(vec![test(Protocol::Tcp, None, Some(0))], &[Limit::Link]);
        assert_eq!(listed(&full), [""; 0]);
    }

    #[test]
    fn loss_decides_about_what_can_only_reduce_loss() {
        let lossy = check(vec![test(Protocol::Udp, Some(7), None)], &[Limit::Link]);
        let all = Aims::of(&lossy).tunables();
        assert!(!all.is_empty());
        let decides = all
            .iter()
            .all(|(_, of)| of.explains.lost_packets == Some(7));
        assert!(decides);
    }

    #[test]
    fn what_interrupts_nothing_is_first_then_what_helps_against_the_limit() {
        let tests = || vec![test(Protocol::Tcp, None, Some(7))];
        let risks = |limit| {
            let check = check(tests(), &[limit]);
            let all = Aims::of(&check).tunables();
            let of = |(one, _): &(&'static Tunable, Finding)| one.risk;
            all.iter().map(of).collect::<Vec<_>>()
        };
        let by_risk = risks(Limit::Unknown);
        assert!(by_risk.is_sorted() && by_risk.contains(&Risk::Blip));
        let first = |limit| tunables_first(&check(tests(), &[limit]));
        assert!(first(Limit::ReceiverCpu).goals.contains(&Goal::Cpu));
        assert!(first(Limit::ReceiverInterface).goals.contains(&Goal::Loss));
    }

    fn tunables_first(check: &Output) -> &'static Tunable {
        Aims::of(check).tunables()[0].0
    }
}
