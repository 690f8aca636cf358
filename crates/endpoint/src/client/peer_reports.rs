// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server's reports during the test: all that is known of its end when the connection breaks before
//! the results. No more is kept than the streams and the time allow, because the server is not trusted.

use crate::account::{RxAccount, RxInterval, SideAccount, StreamAccount, TxAccount, TxInterval};
use crate::fold::{Halves, can_receive, can_send};
use crate::stream_config::StreamConfig;
use linerate_model::credible::{self, Doubts, Readings};
use linerate_model::output::{Host, Role};
use linerate_model::sample::Sample;

/// The server's intervals so far, a list a stream in stream order.
#[derive(Debug, Default)]
pub(super) struct PeerReports {
    sent: Vec<Vec<TxInterval>>,
    received: Vec<Vec<RxInterval>>,
    intervals: u64,
    samples: u64,
    unasked: u64,
    settings: bool,
    state: bool,
    readings: Readings,
    doubts: Doubts,
}

impl PeerReports {
    /// Takes the intervals of the server's streams; `due` intervals have ended by now.
    pub(super) fn note(
        &mut self,
        config: &StreamConfig,
        due: u64,
        mut sent: Vec<TxInterval>,
        mut received: Vec<RxInterval>,
    ) {
        let most = |server_sends| ids(config, server_sends).count();
        let too_many = sent.len() > most(true) || received.len() > most(false);
        self.unasked += u64::from(too_many);
        let can_be = sent.iter().all(can_send) && received.iter().all(can_receive);
        if !can_be || self.intervals >= due.saturating_add(SPARE) {
            self.unasked += 1;
            return;
        }
        self.intervals += 1;
        sent.truncate(most(true));
        received.truncate(most(false));
        append(&mut self.sent, sent);
        append(&mut self.received, received);
    }

    /// Whether counters are to be kept, `seconds` after the conversation began.
    pub(super) fn takes_samples(&mut self, seconds: u64) -> bool {
        let most = seconds.saturating_mul(SAMPLES_A_SECOND) + SPARE;
        let takes = self.samples < most;
        self.samples += u64::from(takes);
        self.unasked += u64::from(!takes);
        takes
    }

    /// The server describes itself; what no host can be is taken out.
    pub(super) fn note_host(&mut self, host: &mut Host) {
        credible::host(host, &mut self.doubts);
        host.role = Role::Remote;
        self.readings = Readings::of(std::slice::from_ref(host));
    }

    /// The counters that can be, `age_ns` after the conversation began.
    pub(super) fn credible(&mut self, age_ns: u64, mut samples: Vec<Sample>) -> Vec<Sample> {
        samples.retain_mut(|sample| {
            sample.host = Role::Remote;
            let (kept, wrong) = self.readings.take(sample, age_ns.saturating_add(CLOCKS_NS));
            wrong.into_iter().for_each(|wrong| self.doubts.add(wrong));
            kept
        });
        samples
    }

    /// What was not believed.
    pub(super) fn doubts(&self) -> &Doubts {
        &self.doubts
    }

    /// Whether these are the server's first settings.
    pub(super) fn takes_settings(&mut self) -> bool {
        let first = !self.settings;
        self.unasked += u64::from(!first);
        self.settings = true;
        first
    }

    /// Whether this is the server's first state: there is one per test.
    pub(super) fn takes_state(&mut self) -> bool {
        let first = !self.state;
        self.unasked += u64::from(!first);
        self.state = true;
        first
    }

    /// The number of discarded messages.
    pub(super) fn unasked(&self) -> u64 {
        self.unasked
    }

    /// The server's half of interval `index`; `None` if it was not reported (yet).
    pub(super) fn at(&self, index: usize) -> Option<Halves<'_>> {
        let sent: Vec<_> = self
            .sent
            .iter()
            .filter_map(|list| list.get(index))
            .collect();
        let received: Vec<_> = self
            .received
            .iter()
            .filter_map(|list| list.get(index))
            .collect();
        let known = !sent.is_empty() || !received.is_empty();
        known.then_some((sent, received))
    }

    /// Adds the reported intervals to the server's account, which does not repeat them.
    pub(super) fn complete(&self, mut account: SideAccount) -> SideAccount {
        let streams = &mut account.streams;
        let senders = streams.iter_mut().filter_map(|stream| stream.tx.as_mut());
        for (tx, intervals) in senders.zip(&self.sent) {
            tx.intervals.clone_from(intervals);
        }
        let receivers = streams.iter_mut().filter_map(|stream| stream.rx.as_mut());
        for (rx, intervals) in receivers.zip(&self.received) {
            rx.intervals.clone_from(intervals);
        }
        account
    }

    /// The server's account as far as it was reported; `None` if nothing was.
    pub(super) fn account(self, config: &StreamConfig) -> Option<SideAccount> {
        if self.sent.is_empty() && self.received.is_empty() {
            return None;
        }
        let sent = ids(config, true)
            .zip(self.sent)
            .map(|(id, intervals)| StreamAccount {
                id,
                tx: Some(tx(intervals)),
                ..StreamAccount::default()
            });
        let received = ids(config, false)
            .zip(self.received)
            .map(|(id, intervals)| StreamAccount {
                id,
                rx: Some(rx(intervals)),
                ..StreamAccount::default()
            });
        Some(SideAccount {
            streams: sent.chain(received).collect(),
            partial: true,
            ..SideAccount::default()
        })
    }
}

/// The streams that the server sends, or receives.
fn ids(config: &StreamConfig, server_sends: bool) -> impl Iterator<Item = u32> {
    let mine = move |index: &u32| config.client_sends(*index) != server_sends;
    (0..config.streams_total())
        .filter(mine)
        .map(StreamConfig::id)
}

fn append<T>(lists: &mut Vec<Vec<T>>, next: Vec<T>) {
    lists.resize_with(lists.len().max(next.len()), Vec::new);
    for (list, interval) in lists.iter_mut().zip(next) {
        list.push(interval);
    }
}

fn tx(intervals: Vec<TxInterval>) -> TxAccount {
    TxAccount {
        packets: intervals.iter().map(|interval| interval.packets).sum(),
        bytes: intervals.iter().map(|interval| interval.bytes).sum(),
        duration_ns: intervals.last().map_or(0, |interval| interval.end_ns),
        intervals,
        ..TxAccount::default()
    }
}

fn rx(intervals: Vec<RxInterval>) -> RxAccount {
    RxAccount {
        bytes: intervals.iter().map(|interval| interval.bytes).sum(),
        packets: intervals.iter().map(|interval| interval.packets).sum(),
        duration_ns: intervals.last().map_or(0, |interval| interval.end_ns),
        intervals,
        ..RxAccount::default()
    }
}

/// Clocks differ, and some reports come at the beginning and at the end.
const SPARE: u64 = 16;
/// Clocks of two hosts differ by far less, and its first reading came before the first message.
const CLOCKS_NS: u64 = 10_000_000_000;
/// It sends its counters once a second, at times in several messages.
const SAMPLES_A_SECOND: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, TestPlan};

    #[test]
    fn reports_are_kept_by_stream() {
        let plan = TestPlan {
            streams: 2,
            direction: Direction::Up,
            ..TestPlan::udp("peer")
        };
        let config = StreamConfig::of_plan(&plan, true, 1448);
        let interval = |bytes, end_ns| RxInterval {
            bytes,
            end_ns,
            packets: 1,
            ..RxInterval::default()
        };
        let mut reports = PeerReports::default();
        reports.note(&config, 1, vec![], vec![interval(10, 1), interval(20, 1)]);
        reports.note(&config, 2, vec![], vec![interval(11, 2), interval(21, 2)]);
        let whole = SideAccount {
            streams: vec![StreamAccount {
                rx: Some(RxAccount::default()),
                ..StreamAccount::default()
            }],
            ..SideAccount::default()
        };
        let whole = reports.complete(whole).streams.remove(0).rx.unwrap();
        assert_eq!((whole.intervals.len(), whole.intervals[1].bytes), (2, 11));
        let account = reports.account(&config).unwrap();
        let bytes: Vec<_> = account
            .streams
            .iter()
            .map(|stream| (stream.id, stream.rx.as_ref().unwrap().bytes))
            .collect();
        assert_eq!(bytes, [(1, 21), (3, 41)]);
        assert!(account.partial);
        assert!(PeerReports::default().account(&config).is_none());
    }

    #[test]
    fn counters_that_no_link_fills_are_not_believed() {
        let mut reports = PeerReports::default();
        let mut host = Host {
            cpus: Some(u32::MAX),
            ..Host::default()
        };
        reports.note_host(&mut host);
        assert_eq!(host.cpus, None);
        let sample = |second: u64, drops| Sample {
            t_ns: second * 1_000_000_000,
            source: "/proc/net/snmp".to_owned(),
            counters: [("UdpRcvbufErrors".to_owned(), drops)].into(),
            ..Sample::default()
        };
        let lie = reports.credible(0, vec![sample(1, 5), sample(2, u64::MAX)]);
        assert_eq!((lie.len(), lie[1].counters.len()), (2, 0));
        assert_eq!(
            reports
                .credible(1, vec![sample(3, 9), sample(3600, 10)])
                .len(),
            1
        );
        let text = reports.doubts().warning().unwrap().text;
        for part in [
            "4294967295 processors",
            "UdpRcvbufErrors +1844",
            "outside of the test",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn no_more_is_kept_than_streams_and_time_allow() {
        let plan = TestPlan {
            streams: 2,
            direction: Direction::Up,
            ..TestPlan::udp("peer")
        };
        let config = StreamConfig::of_plan(&plan, true, 1448);
        let mut reports = PeerReports::default();
        let three = || vec![RxInterval::default(); 3];
        reports.note(&config, 1, vec![TxInterval::default()], three());
        assert_eq!((reports.sent.len(), reports.received.len()), (0, 2));
        assert_eq!(reports.unasked(), 1, "more streams than there are");
        let two = || vec![RxInterval::default(); 2];
        for _ in 0..100 {
            reports.note(&config, 5, vec![], two());
        }
        let kept = 5 + SPARE as usize;
        assert_eq!(reports.received[1].len(), kept);
        assert_eq!(reports.unasked(), 102 - kept as u64);
        reports.note(&config, u64::MAX, vec![], two());
        assert_eq!(reports.received[0].len(), kept + 1, "time goes on");
        let mut reports = PeerReports::default();
        let taken = (0..100).filter(|_| reports.takes_samples(1)).count() as u64;
        assert_eq!(taken, SAMPLES_A_SECOND + SPARE);
        assert_eq!(reports.unasked(), 100 - taken);
    }
}
