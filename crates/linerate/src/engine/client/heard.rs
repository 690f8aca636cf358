// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the server told of its streams while the test ran: all that is left of its side when the
//! conversation breaks before the results.

use crate::engine::account::{
    RxAccount, RxInterval, SideAccount, StreamAccount, TxAccount, TxInterval,
};
use crate::engine::fold::Halves;
use crate::engine::shape::Shape;

/// The server's intervals so far, a list a stream in stream order.
#[derive(Debug, Default)]
pub(super) struct Heard {
    sent: Vec<Vec<TxInterval>>,
    received: Vec<Vec<RxInterval>>,
}

impl Heard {
    /// Takes one message.
    pub(super) fn note(&mut self, sent: Vec<TxInterval>, received: Vec<RxInterval>) {
        append(&mut self.sent, sent);
        append(&mut self.received, received);
    }

    /// The server's half of interval `index`; `None` when it was not told (yet).
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
        let told = !sent.is_empty() || !received.is_empty();
        told.then_some((sent, received))
    }

    /// The server's account with the intervals that were told on the way, which it does not repeat.
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

    /// The server's account as far as it was told; `None` when nothing was.
    pub(super) fn account(self, shape: &Shape) -> Option<SideAccount> {
        if self.sent.is_empty() && self.received.is_empty() {
            return None;
        }
        let ids = |server_sends: bool| {
            let mine = move |index: &u32| shape.client_sends(*index) != server_sends;
            (0..shape.streams_total()).filter(mine).map(Shape::id)
        };
        let sent = ids(true)
            .zip(self.sent)
            .map(|(id, intervals)| StreamAccount {
                id,
                tx: Some(tx(intervals)),
                ..StreamAccount::default()
            });
        let received = ids(false)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Direction, TestPlan};

    #[test]
    fn what_was_told_is_kept_by_stream() {
        let plan = TestPlan {
            streams: 2,
            direction: Direction::Up,
            ..TestPlan::udp("peer")
        };
        let shape = Shape::of_plan(&plan, true, 1448);
        let interval = |bytes, end_ns| RxInterval {
            bytes,
            end_ns,
            packets: 1,
            ..RxInterval::default()
        };
        let mut heard = Heard::default();
        heard.note(vec![], vec![interval(10, 1), interval(20, 1)]);
        heard.note(vec![], vec![interval(11, 2), interval(21, 2)]);
        let whole = SideAccount {
            streams: vec![StreamAccount {
                rx: Some(RxAccount::default()),
                ..StreamAccount::default()
            }],
            ..SideAccount::default()
        };
        let whole = heard.complete(whole).streams.remove(0).rx.unwrap();
        assert_eq!((whole.intervals.len(), whole.intervals[1].bytes), (2, 11));
        let account = heard.account(&shape).unwrap();
        let bytes: Vec<_> = account
            .streams
            .iter()
            .map(|stream| (stream.id, stream.rx.as_ref().unwrap().bytes))
            .collect();
        assert_eq!(bytes, [(1, 21), (3, 41)]);
        assert!(account.partial);
        assert!(Heard::default().account(&shape).is_none());
    }
}
