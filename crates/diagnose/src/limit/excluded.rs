// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was ruled out as a limit: one sentence.

use linerate_model::output::{Protocol, Test};
use linerate_model::record::Side;
use linerate_model::units::format::{BIT_RATES, percent, with_unit};

use super::drops::Drop;
use super::processors::{busiest, nearly_full};
use crate::facts::paces_itself;

/// For example: "not the processors (busiest 61 %) or the line rate (12 % of it): that leaves …".
/// A share of packets that every rate loses is not ruled out, however few TCP had to retransmit.
pub(super) fn sentence(
    test: &Test,
    line: Option<f64>,
    drops: &[Drop<'_>],
    constant_loss_ratio: Option<f64>,
) -> String {
    let excluded: Vec<_> = [
        processors(test),
        socket(drops),
        queues(test, drops),
        link(test, line),
        retransmitted(test).filter(|_| constant_loss_ratio.is_none()),
    ]
    .into_iter()
    .flatten()
    .collect();
    let lost = constant_loss_ratio.filter(|_| test.retransmits > Some(0));
    let lost = lost.map(|ratio| {
        format!(
            "the loss of {} % of the packets at any rate, ",
            percent(ratio)
        )
    });
    let rest = format!("{}{}", lost.unwrap_or_default(), rest(test));
    match excluded.split_last() {
        None => format!("no counter of either end could be read: {rest}, or anything else"),
        Some((only, [])) => format!("not {only}: that leaves {rest}"),
        Some((last, others)) => {
            format!("not {} or {last}: that leaves {rest}", others.join(", "))
        }
    }
}

fn rest(test: &Test) -> String {
    let paced = test.pacing_bits_per_second.filter(|_| paces_itself(test));
    let of_control = test.congestion.as_deref().zip(paced).map(|(name, paced)| {
        let paced = with_unit(paced, BIT_RATES);
        format!("{name}'s estimate of the path (it paced at {paced}), ")
    });
    format!("{}{}", of_control.unwrap_or_default(), others(test))
}

fn others(test: &Test) -> &'static str {
    let known = |side| busiest(test, side).is_some();
    match (test.protocol, known(Side::Sender), known(Side::Receiver)) {
        (_, true, false) => "the path, or the receiver, which reports no counters",
        (_, false, true) => "the path, or the sender, which reports no counters",
        (Protocol::Udp, ..) => "the path or the stack of a peer",
        (Protocol::Tcp, ..) => "a window, the path's delay or the stack of a peer",
    }
}

fn processors(test: &Test) -> Option<String> {
    let share = |side| busiest(test, side).filter(|_| !nearly_full(test, side));
    let of = |whose: &str, share: f64| format!("{whose} (busiest {:.0} %)", share * 100.0);
    match (share(Side::Sender), share(Side::Receiver)) {
        (Some(one), Some(other)) => Some(of("the processors of either end", one.max(other))),
        (Some(sender), None) => Some(of("the sender's processors", sender)),
        (None, Some(receiver)) => Some(of("the receiver's processors", receiver)),
        (None, None) => None,
    }
}

fn socket(drops: &[Drop<'_>]) -> Option<String> {
    let socket = drops.iter().find(|drop| drop.at_socket())?;
    let number = socket.number();
    Some(format!("the receiving socket's buffer ({number} drops)"))
}

/// Queues and interfaces of the ends; those of a stock sender are not known.
fn queues(test: &Test, drops: &[Drop<'_>]) -> Option<String> {
    drops.iter().find(|drop| drop.at_socket())?;
    let whose = match busiest(test, Side::Sender) {
        Some(_) => "either end",
        None => "the receiver",
    };
    let others = drops
        .iter()
        .filter(|drop| !drop.at_socket() && !drop.on_the_way());
    let dropped: u64 = others.map(|drop| drop.lo).sum();
    Some(format!("a queue or interface of {whose} ({dropped} drops)"))
}

fn link(test: &Test, line: Option<f64>) -> Option<String> {
    let share = test.delivered_bits_per_second? / line? * 100.0;
    Some(format!("the line rate ({share:.0} % of it)"))
}

fn retransmitted(test: &Test) -> Option<String> {
    let retransmits = test.retransmits?;
    Some(format!("loss ({retransmits} segments retransmitted)"))
}
