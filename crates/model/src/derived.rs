// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers derived from those of the document, the same in every output format.

use std::collections::{BTreeMap, BTreeSet};

use crate::order::Gather as _;
use crate::output::{
    Confirmation, Cpu, CpuPair, Direction, Finding, ForwardResult, Interval, Knee, LedgerEntry,
    LinkKind, Output, Protocol, Role, Test, Verdict,
};

impl Verdict {
    /// The achieved share of line rate, 0 … 1; `None` if the line rate is unknown.
    #[must_use]
    pub fn line_rate_ratio(&self) -> Option<f64> {
        let line = self.line_rate_bits_per_second.filter(|line| *line > 0.0)?;
        Some(self.achieved_bits_per_second / line)
    }
}

impl Test {
    /// Segments sent again, and all; `None` if it cannot be known.
    fn retransmitted(&self) -> Option<[f64; 2]> {
        let mss = f64::from(self.mss_bytes.filter(|mss| *mss > 0)?);
        let bytes = self.offered_bits_per_second? * self.duration_s / 8.0;
        Some([self.retransmits? as f64, bytes / mss])
    }
}

impl ForwardResult {
    /// Why a bound is missing or imprecise: the time was up.
    pub const UNFINISHED: &str = "the search did not finish";

    /// Whether the search ended before it found its bounds.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.irregular.as_deref() == Some(Self::UNFINISHED)
    }

    /// Line rate for this frame size, frames per second; `None` for virtual links.
    #[must_use]
    pub fn line_fps(&self) -> Option<f64> {
        let ratio = self.line_rate_ratio.filter(|ratio| *ratio > 0.0)?;
        Some(self.throughput_fps? / ratio)
    }

    /// The same in bits of frames with FCS.
    #[must_use]
    pub fn line_l2_bits_per_second(&self) -> Option<f64> {
        Some(self.line_fps()? * f64::from(self.frame_bytes) * 8.0)
    }
}

impl Interval {
    /// Payload bytes: the receiver's count if known, else the sender's.
    #[must_use]
    pub fn transfer_bytes(&self) -> Option<f64> {
        let rate = self
            .received_bits_per_second
            .or(self.sent_bits_per_second)?;
        Some(rate * (self.end_s - self.start_s) / 8.0)
    }
}

impl Cpu {
    /// The busy share of all CPUs.
    #[must_use]
    pub fn busy(&self) -> f64 {
        self.user + self.system + self.softirq + self.irq + self.steal
    }
}

impl CpuPair {
    /// The load of a host, if it is known.
    #[must_use]
    pub const fn of(&self, host: Role) -> Option<Cpu> {
        match host {
            Role::Local => self.local,
            Role::Remote => self.remote,
            Role::Device => None,
        }
    }
}

impl LinkKind {
    /// The name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Veth => "veth",
            Self::Tap => "tap",
            Self::Loopback => "loopback",
        }
    }

    /// The name in a report, which marks virtual links.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Veth => "veth: not a wire",
            Self::Tap => "tap: not a wire",
            Self::Loopback => "loopback: not a wire",
        }
    }
}

impl Test {
    /// Whether the sender missed a requested rate by more than its tolerance.
    #[must_use]
    pub fn fell_short_of(&self, bits_per_second: f64) -> bool {
        let missing = bits_per_second - self.offered_bits_per_second.unwrap_or(0.0);
        let payload_bits = f64::from(self.payload_bytes.max(1)) * 8.0;
        let missing_packets = missing * self.duration_s / payload_bits;
        missing > bits_per_second * SENDER_TOLERANCE && missing_packets > EDGE_PACKETS
    }

    /// The number of TCP segments that the receiver got; `None` if the segments' size is not known.
    #[must_use]
    pub fn segments(&self) -> Option<f64> {
        let mss_bytes = self.mss_bytes.filter(|mss| *mss > 0)?;
        let bits = self.delivered_bits_per_second? * self.duration_s;
        Some(bits / 8.0 / f64::from(mss_bytes))
    }
}

/// Whether the ledger found most of an entry's lost packets at a stage.
fn is_found(entry: &LedgerEntry) -> bool {
    let unknown = u64::try_from(entry.unattributed_hi).unwrap_or(0);
    unknown.saturating_mul(UNKNOWN_PART) <= entry.lost_packets
}

impl Knee {
    /// The rate that met the goal; `None` also if the longer trial at it lost more than the goal allows.
    #[must_use]
    pub fn carried_bits_per_second(&self) -> Option<f64> {
        let lost = |last: &Confirmation| last.outcome == "loss";
        self.lossless_bits_per_second
            .filter(|_| !self.confirmation.as_ref().is_some_and(lost))
    }

    /// Whether `test` is one of its trials and offered more than the rate that met the goal.
    #[must_use]
    pub fn is_below(&self, test: &Test) -> bool {
        let offered = test.offered_bits_per_second.unwrap_or(0.0);
        let carried = self.carried_bits_per_second().unwrap_or(f64::INFINITY);
        let own = self.test_ids.contains(&test.id) && self.direction == test.direction;
        own && offered > carried * SAME_RATE
    }

    /// The trials of `tests` that bound this knee: the one nearest to its lossless rate that met the goal, and the
    /// one nearest to its lossy rate that did not. `None` where a bound is missing.
    #[must_use]
    pub fn bracket<'t>(&self, tests: &'t [Test]) -> (Option<&'t Test>, Option<&'t Test>) {
        (
            self.trial_near(tests, self.lossless_bits_per_second, true),
            self.trial_near(tests, self.lossy_bits_per_second, false),
        )
    }

    fn trial_near<'t>(&self, tests: &'t [Test], bound: Option<f64>, met: bool) -> Option<&'t Test> {
        let bound = bound?;
        let alike = tests.iter().filter(|test| {
            let kept = test.loss_ratio.map(|loss| loss <= self.goal_loss_ratio);
            let own = self.test_ids.contains(&test.id) && test.direction == self.direction;
            own && test.valid && kept == Some(met)
        });
        // A rate that was not offered proves nothing, but a sender that fell short may still have lost.
        let asked = |test: &Test| test.requested_bits_per_second.filter(|_| !met);
        let away = |test: &Test| {
            let rates = [test.offered_bits_per_second, asked(test)];
            let away = rates.into_iter().flatten().map(|rate| (rate - bound).abs());
            away.fold(f64::INFINITY, f64::min)
        };
        alike.min_by(|one, other| away(one).total_cmp(&away(other)))
    }
}

/// A sender that is 1 % short is not keeping up.
const SENDER_TOLERANCE: f64 = 0.01;
/// A TCP that loses a smaller share of its segments is only probing for the path's rate.
const PROBING: f64 = 0.001;
/// A sender whose kernel refused more than a thousandth of what it sent did not send what was asked.
const REFUSED_PART: u64 = 1000;
/// A trial of the same rate offers a datagram more or less.
const SAME_RATE: f64 = 1.001;
/// A tenth of an entry's packets at most may be unattributed.
const UNKNOWN_PART: u64 = 10;
/// A trial ends within a datagram or two of its schedule, which at a low rate is more than 1 %.
const EDGE_PACKETS: f64 = 2.0;

impl Output {
    /// Whether both ends are one machine.
    #[must_use]
    pub fn one_machine(&self) -> bool {
        crate::record::one_machine(&self.hosts, &self.tests)
    }

    /// The share of the segments that TCP sent again, of all its tests in a direction; `None` if it cannot be known.
    #[must_use]
    pub fn retransmitted_ratio(&self, direction: Direction) -> Option<f64> {
        let own = |test: &&Test| test.protocol == Protocol::Tcp && test.direction == direction;
        let counts = self.tests.iter().filter(own).map(Test::retransmitted);
        let [again, sent] = counts.flatten().fold([0.0; 2], |[again, sent], one| {
            [again + one[0], sent + one[1]]
        });
        (sent > 0.0).then(|| again / sent)
    }

    /// The test with this id.
    #[must_use]
    pub fn test(&self, id: &str) -> Option<&Test> {
        self.tests.iter().find(|test| test.id == id)
    }

    /// Whether every loss was provoked: nothing was lost that [`Output::unprovoked_losses`] counts.
    #[must_use]
    pub fn is_healthy_but_for_searches(&self) -> bool {
        self.unprovoked_losses() == 0
    }

    /// The lost packets that neither a trial above its search's lossless rate nor TCP's own probing explains, nor what is
    /// only worth knowing, and those of a test for which a possible cause could not be checked.
    #[must_use]
    pub fn unprovoked_losses(&self) -> u64 {
        let of_tests = self.unprovoked().into_iter().map(|(_, lost)| lost);
        let tests: BTreeSet<&str> = self.tests.iter().map(|test| test.id.as_str()).gather();
        let of_device = self
            .ledger
            .iter()
            .filter(|entry| !tests.contains(entry.test_id.as_str()) && !is_found(entry));
        let of_device = of_device.map(|entry| entry.lost_packets);
        of_tests.chain(of_device).sum()
    }

    /// The tests with such losses, and how many packets each lost.
    #[must_use]
    pub fn unprovoked(&self) -> Vec<(&Test, u64)> {
        let undecided = self.cannot_tell.iter().flat_map(|rule| &rule.test_ids);
        let undecided: BTreeSet<&String> = undecided.gather();
        let entries = self
            .ledger
            .iter()
            .map(|entry| (entry.test_id.as_str(), entry));
        let entries: BTreeMap<&str, &LedgerEntry> = entries.gather();
        let harmless = self.harmless();
        let lost = self.tests.iter().filter_map(|test| {
            let entry = entries.get(test.id.as_str()).copied();
            let counted = entry.map(|entry| entry.lost_packets).or(test.lost_packets);
            let lost = counted.filter(|lost| *lost > 0)?;
            let provoked = harmless.contains(&test.id) || self.is_provoked(test, entry, lost);
            (!provoked || undecided.contains(&test.id)).then_some((test, lost))
        });
        lost.collect()
    }

    /// The tests whose losses a finding explains that is no fault: both ends share a machine.
    fn harmless(&self) -> BTreeSet<&String> {
        let explains = |finding: &&Finding| finding.explains.lost_packets > Some(0);
        let informational = self.findings.iter().filter(|one| one.informational);
        let tests = informational.filter(explains);
        tests.flat_map(|finding| &finding.test_ids).gather()
    }

    /// How many datagrams the senders' own kernels refused, outside of searches and beyond a stray few.
    #[must_use]
    pub fn refused_packets(&self) -> u64 {
        let tests = self.tests.iter().filter(|test| !self.is_trial(test));
        let refused = tests.filter_map(|test| {
            let sent = test.sent_packets.unwrap_or(0);
            test.refused_packets
                .filter(|refused| refused.saturating_mul(REFUSED_PART) > sent)
        });
        refused.sum()
    }

    /// A loss that says nothing against the link: above the rate that the search found lossless, at a stage that is
    /// known. TCP loses a little whenever it probes for the path's rate.
    fn is_provoked(&self, test: &Test, entry: Option<&LedgerEntry>, lost: u64) -> bool {
        if test.protocol == Protocol::Tcp {
            return (lost as f64) < PROBING * test.segments().unwrap_or(0.0);
        }
        self.is_above_its_knee(test) && entry.is_some_and(is_found)
    }

    fn is_above_its_knee(&self, test: &Test) -> bool {
        self.knees.iter().any(|knee| knee.is_below(test))
    }

    /// Whether a test is a trial of a search, which provokes loss.
    #[must_use]
    pub fn is_trial(&self, test: &Test) -> bool {
        self.knees
            .iter()
            .any(|knee| knee.test_ids.contains(&test.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::CannotTell;

    #[test]
    fn a_ratio_needs_a_line_rate() {
        let verdict = Verdict {
            achieved_bits_per_second: 470e6,
            line_rate_bits_per_second: Some(940e6),
            ..Verdict::default()
        };
        assert_eq!(verdict.line_rate_ratio(), Some(0.5));
        assert_eq!(Verdict::default().line_rate_ratio(), None);
    }

    /// A search that found 4 bit/s lossless, and its trials at 3 and 9 bit/s, of which the second lost 100 packets at a
    /// known stage.
    fn searched() -> Output {
        let trial = |id: &str, rate, lost| Test {
            id: id.to_owned(),
            protocol: Protocol::Udp,
            offered_bits_per_second: Some(rate),
            lost_packets: Some(lost),
            valid: true,
            ..Test::default()
        };
        let mut output = Output::new("check", "0");
        output.tests = vec![trial("below", 3.0, 0), trial("above", 9.0, 100)];
        output.knees = vec![Knee {
            test_ids: vec!["below".to_owned(), "above".to_owned()],
            lossless_bits_per_second: Some(4.0),
            ..Knee::default()
        }];
        output.ledger = vec![LedgerEntry {
            test_id: "above".to_owned(),
            lost_packets: 100,
            unattributed_hi: 5,
            ..LedgerEntry::default()
        }];
        output
    }

    #[test]
    fn only_losses_above_the_knee_at_a_known_stage_are_provoked() {
        assert_eq!(searched().unprovoked_losses(), 0);
        let breaks: [fn(&mut Output); 8] = [
            |output| output.tests[1].offered_bits_per_second = Some(3.5),
            |output| output.tests[1].offered_bits_per_second = Some(4.0001),
            |output| {
                output.knees[0].confirmation = Some(Confirmation {
                    outcome: "loss".to_owned(),
                    ..Confirmation::default()
                });
            },
            |output| output.knees[0].lossless_bits_per_second = None,
            |output| output.knees.clear(),
            |output| output.ledger[0].unattributed_hi = 60,
            |output| output.ledger.clear(),
            |output| {
                output.cannot_tell = vec![CannotTell {
                    test_ids: vec!["above".to_owned()],
                    ..CannotTell::default()
                }];
            },
        ];
        for (number, change) in breaks.into_iter().enumerate() {
            let mut output = searched();
            change(&mut output);
            assert_eq!(output.unprovoked_losses(), 100, "change {number}");
        }
    }

    /// Two ends that share a machine: worth knowing, and no fault.
    #[test]
    fn a_loss_that_is_no_fault_is_not_unprovoked() {
        let mut output = searched();
        output.knees.clear();
        let mut shared = Finding {
            test_ids: vec!["above".to_owned()],
            informational: true,
            ..Finding::default()
        };
        output.findings = vec![shared.clone()];
        assert_eq!(output.unprovoked_losses(), 100, "it explains none of them");
        shared.explains.lost_packets = Some(100);
        output.findings = vec![shared];
        assert_eq!(output.unprovoked_losses(), 0);
        output.findings[0].informational = false;
        assert_eq!(output.unprovoked_losses(), 100, "a fault");
    }

    #[test]
    fn tcp_has_no_search_and_may_lose_only_what_its_probing_loses() {
        let lost = |lost_packets| {
            let mut output = Output::new("tcp", "0");
            output.tests = vec![Test {
                id: "tcp".to_owned(),
                delivered_bits_per_second: Some(8.0 * 1448.0 * 10_000.0),
                duration_s: 1.0,
                mss_bytes: Some(1448),
                ..Test::default()
            }];
            output.ledger = vec![LedgerEntry {
                test_id: "tcp".to_owned(),
                lost_packets,
                ..LedgerEntry::default()
            }];
            output.unprovoked_losses()
        };
        assert_eq!((lost(0), lost(9), lost(33)), (0, 0, 33));
    }

    #[test]
    fn a_transfer_is_the_receivers_where_known() {
        let interval = Interval {
            start_s: 1.0,
            end_s: 1.5,
            sent_bits_per_second: Some(1600.0),
            received_bits_per_second: Some(800.0),
            ..Interval::default()
        };
        assert_eq!(interval.transfer_bytes(), Some(50.0));
        assert_eq!(Interval::default().transfer_bytes(), None);
    }

    #[test]
    fn a_knee_stands_between_two_trials() {
        let trial = |id: &str, rate, loss| Test {
            id: id.to_owned(),
            offered_bits_per_second: Some(rate),
            loss_ratio: Some(loss),
            valid: true,
            ..Test::default()
        };
        let mut output = Output::new("check", "0");
        output.tests = vec![
            trial("a", 1.0, 0.0),
            trial("b", 9.0, 0.5),
            trial("c", 4.0, 0.0),
            trial("d", 5.0, 0.1),
            trial("lucky", 8.0, 0.0),
            trial("elsewhere", 4.5, 0.0),
        ];
        let test_ids = ["a", "b", "c", "d", "lucky"].map(str::to_owned).to_vec();
        let mut knee = Knee {
            test_ids,
            lossless_bits_per_second: Some(4.0),
            lossy_bits_per_second: Some(5.0),
            ..Knee::default()
        };
        let (lossless, lossy) = knee.bracket(&output.tests);
        assert_eq!(lossless.map(|test| test.id.as_str()), Some("c"));
        assert_eq!(lossy.map(|test| test.id.as_str()), Some("d"));
        knee.lossy_bits_per_second = None;
        assert_eq!(knee.bracket(&output.tests).1, None);
    }

    #[test]
    fn a_trial_that_fell_short_bounds_nothing() {
        let trial = |id: &str, offered| Test {
            id: id.to_owned(),
            requested_bits_per_second: Some(409.6e6),
            offered_bits_per_second: Some(offered),
            loss_ratio: Some(0.0),
            valid: true,
            ..Test::default()
        };
        let mut output = Output::new("check", "0");
        output.tests = vec![trial("short", 323e6), trial("kept", 409.5e6)];
        let knee = Knee {
            test_ids: vec!["short".to_owned(), "kept".to_owned()],
            lossless_bits_per_second: Some(409.5e6),
            ..Knee::default()
        };
        let (lossless, _) = knee.bracket(&output.tests);
        assert_eq!(lossless.map(|test| test.id.as_str()), Some("kept"));
    }

    #[test]
    fn the_last_datagram_is_no_shortfall() {
        // 200 kbit/s for 0.5 s are 8.6 datagrams: 8 were due.
        let few = Test {
            duration_s: 0.5,
            payload_bytes: 1448,
            offered_bits_per_second: Some(8.0 * 1448.0 * 8.0 / 0.5),
            ..Test::default()
        };
        assert!(!few.fell_short_of(200e3));
        assert!(few.fell_short_of(400e3));
    }
}
