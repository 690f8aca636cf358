// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `--explore` can improve: the rate of the slower direction, or the loss. Which tunables do so, and in which order.

use std::cmp::Reverse;

use linerate_knowledge::{Goal, Knobs, Risk, Side, Tunable, tunables};
use linerate_model::order;
use linerate_model::output::{
    Direction, Explains, Finding, Limit, Output, Protocol, Role, Test, Verdict,
};

/// A tunable by which something can be reached.
#[derive(Debug)]
pub(super) struct Aim {
    pub(super) tunable: &'static Tunable,
    /// The tests that it is to improve.
    pub(super) finding: Finding,
    directions: Vec<Direction>,
}

impl Aim {
    /// Whether its names are those of one setting: a feature, and the groups that it is in.
    pub(super) fn has_aliases(&self) -> bool {
        let mut names = self.tunable.knobs.iter().map(Knobs::text);
        names.all(|name| name.starts_with("ethtool -K "))
    }

    /// Whether it can help on this host: its side of the transfer is there.
    pub(super) fn is_of(&self, host: Role) -> bool {
        let is_sender =
            |direction: &Direction| (host == Role::Local) == (*direction == Direction::Up);
        let mut all = self.directions.iter();
        match self.tunable.side {
            None => true,
            Some(Side::Sender) => all.any(is_sender),
            Some(Side::Receiver) => all.any(|direction| !is_sender(direction)),
        }
    }
}

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
        let lost = |test: &&Test| test.lost_packets.is_some_and(|lost| lost > 0);
        // Datagrams that all arrive have the rate that was requested.
        let can_increase = |test: &&Test| test.protocol == Protocol::Tcp || lost(test);
        let rate = check.tests.iter().filter(of_direction).filter(can_increase);
        Self {
            rate: rate.filter(|_| is_open).collect(),
            loss: check.tests.iter().filter(lost).collect(),
            first: slowest.map(|verdict| helps(verdict.limit)),
            protocols: check.tests.iter().map(|test| test.protocol).collect(),
        }
    }

    /// The tunables by which something can be reached, each with what it is to improve: what interrupts nothing first, then
    /// what helps most against the limit, then settings of the interface, of the namespace, of the machine.
    pub(super) fn tunables(&self) -> Vec<Aim> {
        let all = tunables().iter().filter(|one| one.risk != Risk::Reboot);
        let mut all: Vec<_> = all.filter_map(|one| self.aim(one)).collect();
        order::by_key(&mut all, |Aim { tunable: one, .. }| {
            let helps = self.first.is_some_and(|goal| one.goals.contains(&goal));
            (one.risk, Reverse(helps), Reverse(one.scope))
        });
        all
    }

    /// The tests that a tunable is to improve; nothing where it improves none of them.
    fn aim(&self, tunable: &'static Tunable) -> Option<Aim> {
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
        let finding = Finding {
            title: tunable.means.clone(),
            test_ids: tests.iter().map(|test| test.id.clone()).collect(),
            explains: Explains {
                lost_packets: (lost > 0).then_some(lost),
                ..Explains::default()
            },
            ..Finding::default()
        };
        Some(Aim {
            tunable,
            finding,
            directions: tests.iter().map(|test| test.direction).collect(),
        })
    }

    /// A setting of TCP does nothing for datagrams, nor the other way round.
    fn concerns(&self, tunable: &Tunable) -> bool {
        let name = tunable.knobs.first().map_or("", Knobs::text);
        let mut needed = PROTOCOLS
            .iter()
            .filter(|(start, _)| name.starts_with(start));
        needed.all(|(_, protocol)| self.protocols.contains(protocol))
    }
}

/// TCP sizes its buffers by `tcp_rmem` and `tcp_wmem`.
const PROTOCOLS: [(&str, Protocol); 4] = [
    ("sysctl net.ipv4.tcp_", Protocol::Tcp),
    ("sysctl net.ipv4.udp_", Protocol::Udp),
    ("sysctl net.core.rmem_", Protocol::Udp),
    ("sysctl net.core.wmem_", Protocol::Udp),
];

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
        all.iter().map(|one| one.tunable.knobs[0].text()).collect()
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
        let clean = check(vec![test(Protocol::Udp, Some(0), None)], &[]);
        assert_eq!(listed(&clean), [""; 0]);
    }

    #[test]
    fn loss_decides_about_what_can_only_reduce_loss() {
        let lossy = check(vec![test(Protocol::Udp, Some(7), None)], &[Limit::Link]);
        let all = Aims::of(&lossy).tunables();
        assert!(!all.is_empty());
        let decides = |one: &Aim| one.finding.explains.lost_packets == Some(7);
        assert!(all.iter().all(decides));
    }

    #[test]
    fn what_interrupts_nothing_is_first_then_what_helps_against_the_limit() {
        let tests = || vec![test(Protocol::Tcp, None, Some(7))];
        let risks = |limit| {
            let check = check(tests(), &[limit]);
            let all = Aims::of(&check).tunables();
            all.iter().map(|one| one.tunable.risk).collect::<Vec<_>>()
        };
        let by_risk = risks(Limit::Unknown);
        assert!(by_risk.is_sorted() && by_risk.contains(&Risk::Blip));
        let first = |limit| tunables_first(&check(tests(), &[limit]));
        assert!(first(Limit::ReceiverCpu).goals.contains(&Goal::Cpu));
        assert!(first(Limit::ReceiverInterface).goals.contains(&Goal::Loss));
    }

    fn tunables_first(check: &Output) -> &'static Tunable {
        Aims::of(check).tunables()[0].tunable
    }

    #[test]
    fn each_end_has_the_tunables_of_its_side() {
        let check = check(vec![test(Protocol::Tcp, None, None)], &[Limit::Unknown]);
        let all = Aims::of(&check).tunables();
        for (knob, hosts) in [
            ("sysctl net.ipv4.tcp_rmem", [false, true]),
            ("sysctl net.ipv4.tcp_wmem", [true, false]),
            ("sysfs threaded", [true, true]),
        ] {
            let one = all.iter().find(|one| one.tunable.is_of(knob)).unwrap();
            assert_eq!(
                [Role::Local, Role::Remote].map(|host| one.is_of(host)),
                hosts
            );
        }
    }
}
