// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was looked at and is not to blame: one sentence.

use linerate_model::output::{Output, Protocol, Test};

use super::facts::{End, busiest, dropped, full};
use super::line::line_rate;

/// For example: "not the processors (busiest 61 %) or the line rate (12 % of it): what is left is …".
pub(super) fn looked_at(output: &Output, test: &Test) -> String {
    let excluded: Vec<_> = [
        processors(test),
        socket(test),
        queues(test),
        link(output, test),
        sent_again(test),
    ]
    .into_iter()
    .flatten()
    .collect();
    let rest = rest(test);
    match excluded.split_last() {
        None => format!("no counter of either end could be read: {rest}, or anything else"),
        Some((only, [])) => format!("not {only}: what is left is {rest}"),
        Some((last, others)) => {
            format!(
                "not {} or {last}: what is left is {rest}",
                others.join(", ")
            )
        }
    }
}

/// Does an end tell nothing of itself, as a stock server?
pub(super) fn is_blind(test: &Test) -> bool {
    [End::Sender, End::Receiver]
        .into_iter()
        .any(|end| busiest(test, end).is_none())
}

fn rest(test: &Test) -> &'static str {
    let told = |end| busiest(test, end).is_some();
    match (test.protocol, told(End::Sender), told(End::Receiver)) {
        (_, true, false) => "the path, or the receiver, which tells nothing of itself",
        (_, false, true) => "the path, or the sender, which tells nothing of itself",
        (Protocol::Udp, ..) => "the path or the stack of a peer",
        (Protocol::Tcp, ..) => "a window, the path's delay or the stack of a peer",
    }
}

fn processors(test: &Test) -> Option<String> {
    let share = |end| busiest(test, end).filter(|_| !full(test, end));
    let of = |whose: &str, share: f64| format!("{whose} (busiest {:.0} %)", share * 100.0);
    match (share(End::Sender), share(End::Receiver)) {
        (Some(one), Some(other)) => Some(of("the processors of either end", one.max(other))),
        (Some(sender), None) => Some(of("the sender's processors", sender)),
        (None, Some(receiver)) => Some(of("the receiver's processors", receiver)),
        (None, None) => None,
    }
}

fn socket(test: &Test) -> Option<String> {
    let drops = test.socket_drops?;
    let at_least = match test.socket_drops_at_least && drops > 0 {
        true => "at least ",
        false => "",
    };
    Some(format!(
        "the receiving socket's buffer ({at_least}{drops} drops)"
    ))
}

/// A linerate that told its socket's drops told its other counters too; a stock sender tells none.
fn queues(test: &Test) -> Option<String> {
    test.socket_drops?;
    let whose = match busiest(test, End::Sender) {
        Some(_) => "either end",
        None => "the receiver",
    };
    let drops: u64 = dropped(test).iter().skip(1).map(|drop| drop.packets).sum();
    Some(format!("a queue or interface of {whose} ({drops} drops)"))
}

fn link(output: &Output, test: &Test) -> Option<String> {
    let line = line_rate(output, test)?;
    let share = test.delivered_bits_per_second? / line * 100.0;
    Some(format!("the line rate ({share:.0} % of it)"))
}

fn sent_again(test: &Test) -> Option<String> {
    let retransmits = test.retransmits?;
    Some(format!("loss ({retransmits} segments sent again)"))
}
