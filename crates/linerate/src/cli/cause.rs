// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who holds a rate back, told from what was measured: where datagrams were dropped first, full
//! processors second. Pure functions of the document.
//!
//! Where two ends are one machine (equal boot ids) a full processor is nobody's in particular. What
//! cannot be named is said with all that was looked at, so that nobody looks there again.

mod facts;
mod line;
mod looked;

use linerate_model::output::{Knee, Limit, Output, Test};
use linerate_model::units::Nanos;
use linerate_model::units::format::{BIT_RATES, percent, with_unit};

use super::trial::fell_short;
use facts::{End, busiest, busy_word, dropped, full, one_machine};
use line::at_line_rate;
pub(super) use line::{line_rate, udp_line_rate};
use looked::{is_blind, looked_at};

/// Who, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cause {
    pub(super) limit: Limit,
    /// The facts that say so, or what was looked at in vain.
    pub(super) why: String,
    /// What to do next.
    pub(super) try_: &'static str,
}

impl Cause {
    fn new(limit: Limit, why: impl Into<String>) -> Self {
        Self {
            limit,
            why: why.into(),
            try_: advice(limit),
        }
    }
}

/// Who holds a search back above its lossless rate.
pub(super) fn of_knee(output: &Output, knee: &Knee) -> Cause {
    let (lossless, lossy) = output.bracket(knee);
    match (lossy, lossless, knee.limited_by.as_str()) {
        (Some(lossy), _, _) => of_loss(output, lossy),
        (None, _, "sender") => match short(output, knee) {
            Some(short) => of_sender(output, short),
            None => Cause::new(Limit::Sender, "it could not offer more"),
        },
        (None, Some(top), _) if at_line_rate(output, top) => {
            Cause::new(Limit::Link, "nothing was lost up to the link's own rate")
        }
        _ => Cause::new(Limit::Unknown, ""),
    }
}

/// The knee with who holds it back, as far as the document tells.
pub(super) fn conclude(output: &Output, knee: Knee) -> Knee {
    let cause = of_knee(output, &knee);
    if cause.why.is_empty() {
        return knee;
    }
    Knee {
        limit: cause.limit,
        why: cause.why,
        try_: cause.try_.to_owned(),
        ..knee
    }
}

/// The lowest rate that the sender could not keep, where it came nearest.
fn short<'a>(output: &'a Output, knee: &Knee) -> Option<&'a Test> {
    let trials = knee.test_ids.iter().filter_map(|id| output.test(id));
    let asked = |test: &Test| test.requested_bits_per_second.unwrap_or(f64::MAX);
    let offered = |test: &Test| test.offered_bits_per_second.unwrap_or(0.0);
    trials
        .filter(|test| test.valid && fell_short(asked(test), test))
        .min_by(|one, other| {
            let nearest = || offered(other).total_cmp(&offered(one));
            asked(one).total_cmp(&asked(other)).then_with(nearest)
        })
}

/// Who holds the best test of a direction back.
pub(super) fn of_best(output: &Output, best: &Test, knee: Option<&Knee>) -> Cause {
    if at_line_rate(output, best) {
        return Cause::new(Limit::Link, "nothing is left between the two");
    }
    let shared = one_machine(output);
    of_processors(best, shared)
        .filter(|_| !shared)
        .or_else(|| knee.and_then(|knee| of_near_knee(output, best, knee)))
        .or_else(|| of_processors(best, shared))
        .or_else(|| of_retransmits(best))
        .unwrap_or_else(|| unknown(output, best))
}

/// What stops a search stops the best test too, unless that went far beyond.
fn of_near_knee(output: &Output, best: &Test, knee: &Knee) -> Option<Cause> {
    let bound = knee
        .lossy_bits_per_second
        .or(knee.lossless_bits_per_second)?;
    let near = best.delivered_bits_per_second? <= bound * NEAR;
    let told = knee.lossy_bits_per_second.is_some() || knee.limited_by == "sender";
    (near && told).then(|| of_knee(output, knee))
}

/// Where most of the lost were dropped.
fn of_loss(output: &Output, test: &Test) -> Cause {
    let lost = test.lost_packets.unwrap_or(0);
    let shared = one_machine(output);
    let drops = dropped(test);
    let certain = drops.iter().find(|drop| drop.is_most(lost));
    let drops = certain.or_else(|| drops.iter().find(|drop| drop.may_be_most(lost)));
    let busy = full(test, End::Receiver).then(|| busy_word(test, End::Receiver));
    match (drops, busy) {
        (Some(drop), Some(busy)) if !shared && drop.limit != Limit::Sender => Cause::new(
            Limit::ReceiverCpu,
            format!("its {busy}; {} ({})", drop.sentence(lost), drop.source),
        ),
        (Some(drop), _) => Cause::new(
            drop.limit,
            format!("{} ({})", drop.sentence(lost), drop.source),
        ),
        (None, Some(busy)) if !shared => Cause::new(Limit::ReceiverCpu, format!("its {busy}")),
        (None, _) if at_line_rate(output, test) => {
            Cause::new(Limit::Link, "as much was offered as the link carries")
        }
        // Without the receiver's own counters its socket cannot be ruled out.
        (None, busy) if test.socket_drops.is_some() => {
            let busy = busy.map(|busy| format!("; the {busy}, which both ends share"));
            let (looked, busy) = (looked_at(output, test), busy.unwrap_or_default());
            let sent = test.sent_packets.unwrap_or(0);
            Cause::new(
                Limit::Path,
                format!("{lost} of {sent} lost; {looked}{busy}"),
            )
        }
        (None, _) => unknown(output, test),
    }
}

/// The sender that could not offer more.
fn of_sender(output: &Output, short: &Test) -> Cause {
    let rate = |rate: Option<f64>| rate.map(|rate| with_unit(rate, BIT_RATES));
    let offered = rate(short.offered_bits_per_second).unwrap_or_else(|| "n/a".to_owned());
    let mut why = match rate(short.requested_bits_per_second) {
        Some(asked) => format!("asked for {asked} it offered {offered}"),
        None => format!("as fast as it could it offered {offered}"),
    };
    if let Some(behind) = short
        .sender_behind_ns_max
        .filter(|_| short.unsent_packets > Some(0))
    {
        why.push_str(&format!(", up to {} behind its schedule", Nanos(behind)));
    }
    if busiest(short, End::Sender).is_some() {
        why.push_str(&format!("; {}", busy_word(short, End::Sender)));
    }
    let mut cause = Cause::new(Limit::Sender, why);
    if one_machine(output) {
        cause.why.push_str(", which both ends share");
        cause.try_ = advice(Limit::SharedCpu);
    }
    cause
}

fn of_processors(test: &Test, shared: bool) -> Option<Cause> {
    let end = [End::Receiver, End::Sender]
        .into_iter()
        .find(|end| full(test, *end))?;
    let busy = busy_word(test, end);
    Some(match end {
        _ if shared => Cause::new(
            Limit::SharedCpu,
            format!("both ends are one machine, its {busy}"),
        ),
        End::Receiver => Cause::new(Limit::ReceiverCpu, format!("its {busy}")),
        End::Sender => Cause::new(Limit::Sender, format!("its {busy}")),
    })
}

/// Segments sent again were lost on the way, or thought to be.
fn of_retransmits(test: &Test) -> Option<Cause> {
    let retransmits = test.retransmits?;
    let mss = test.mss_bytes.filter(|mss| *mss > 0)?;
    let segments = test.offered_bits_per_second? * test.duration_s / 8.0 / f64::from(mss);
    let ratio = retransmits as f64 / segments.max(1.0);
    (ratio >= RETRANSMITTED).then(|| {
        let share = percent(ratio);
        let why = format!("{retransmits} segments were sent again, {share} % of all");
        Cause::new(Limit::Path, why)
    })
}

fn unknown(output: &Output, test: &Test) -> Cause {
    let mut cause = Cause::new(Limit::Unknown, looked_at(output, test));
    if is_blind(test) {
        cause.try_ = "`linerate serve` at the far end: it tells its counters";
    }
    cause
}

fn advice(limit: Limit) -> &'static str {
    match limit {
        Limit::Link => "",
        Limit::Path => {
            "the drop counters of what lies between (switch ports, shapers), or the same test from \
             the next hop"
        }
        Limit::ReceiverCpu => {
            "spread its interrupts and flows (IRQ affinity, RSS, RPS); `linerate doctor` there"
        }
        Limit::ReceiverInterface => {
            "a larger ring (ethtool -G), other interrupt coalescing (ethtool -C), or RPS on the \
             receiver"
        }
        Limit::ReceiverSocket => {
            "a larger net.core.rmem_max on the receiver, or less else on its processors"
        }
        Limit::Sender => {
            "a faster or less busy sender, or `linerate udp` with larger datagrams (-l) or --mode \
             gso: what the path carries beyond this is not known"
        }
        Limit::SharedCpu => "two machines, for figures of a link",
        Limit::Unknown => "`linerate tcp HOST -P 4` (does more than one stream help?), or -w 4M",
    }
}

/// A best test this far above a knee is not held back by the same.
const NEAR: f64 = 1.1;
/// TCP that sends less again is only looking for the path's rate.
const RETRANSMITTED: f64 = 0.001;

#[cfg(test)]
mod tests;
