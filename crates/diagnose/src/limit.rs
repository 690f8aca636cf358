// SPDX-License-Identifier: MIT OR Apache-2.0
//! What limits a rate: `limited by` of each knee, and the verdict of each direction.
//!
//! ```text
//! ledger entry ──► drops of a stage ─┐
//! test ──► full processors ──────────┼──► Cause (limit, why, what to try)
//! hosts ──► line rate ───────────────┘
//! ```
//!
//! Drops decide first, full processors second. Where both ends are one machine, a full processor
//! accuses neither end. An unknown limit lists everything that was ruled out.

mod drops;
mod excluded;
mod line;
mod processors;
mod verdict;

use linerate_model::output::{Knee, LedgerEntry, Limit, Protocol, Test};
use linerate_model::record::{Record, Side};
use linerate_model::units::Nanos;
use linerate_model::units::format::{BIT_RATES, percent, with_unit};

use crate::facts::{
    CARRIED_MORE, CONTROL_LIMITED, HELD_BACK, MostCarried, control_limited_ratio, paces_itself,
    pacing_use_ratio, socket_limit,
};
use drops::{Drop, drops};
use line::at_line_rate;
pub use line::{line_rate, udp_line_rate};
use processors::{busiest, full, load};

/// What limits a rate, why, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cause {
    limit: Limit,
    /// The facts that show it, or everything that was ruled out.
    why: String,
    /// What to do next.
    try_: &'static str,
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

/// The limits of a record's tests, drawn from its ledger.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'r> {
    record: &'r Record,
    ledger: &'r [LedgerEntry],
}

impl<'r> Limits<'r> {
    /// The limits of `record`, whose ledger is `ledger`.
    #[must_use]
    pub const fn of(record: &'r Record, ledger: &'r [LedgerEntry]) -> Self {
        Self { record, ledger }
    }

    /// Returns every knee of the record with its limit.
    #[must_use]
    pub fn knees(&self) -> Vec<Knee> {
        let knees = self.record.run.knees.iter();
        knees.map(|knee| self.knee(knee.as_measured())).collect()
    }

    fn knee(&self, knee: Knee) -> Knee {
        let cause = self.of_knee(&knee);
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

    /// What keeps a search from a higher lossless rate.
    fn of_knee(&self, knee: &Knee) -> Cause {
        let (lossless, lossy) = knee.bracket(&self.record.run.tests);
        match (lossy, lossless, knee.limited_by.as_str()) {
            (Some(lossy), _, _) => self.of_loss(lossy),
            (None, _, "sender") => match self.short(knee) {
                Some(short) => self.of_sender(short),
                None => Cause::new(Limit::Sender, "it could not offer more"),
            },
            (None, Some(top), _) if self.at_line_rate(top) => {
                Cause::new(Limit::Link, "no loss up to line rate")
            }
            _ => Cause::new(Limit::Unknown, ""),
        }
    }

    /// The lowest rate that the sender could not keep, where it came nearest.
    fn short(&self, knee: &Knee) -> Option<&'r Test> {
        let tests = self.record.tests();
        let asked = |test: &Test| test.requested_bits_per_second.unwrap_or(f64::MAX);
        let offered = |test: &Test| test.offered_bits_per_second.unwrap_or(0.0);
        tests
            .filter(|test| knee.test_ids.contains(&test.id))
            .filter(|test| test.valid && test.fell_short_of(asked(test)))
            .min_by(|one, other| {
                let nearest = || offered(other).total_cmp(&offered(one));
                asked(one).total_cmp(&asked(other)).then_with(nearest)
            })
    }

    /// What limits the best test of a direction.
    fn of_best(&self, best: &Test, knee: Option<&Knee>) -> Cause {
        if self.at_line_rate(best) {
            return Cause::new(Limit::Link, "delivered rate is within 3 % of line rate");
        }
        let shared = self.record.one_machine();
        of_processors(best, shared)
            .filter(|_| !shared)
            .or_else(|| knee.and_then(|knee| self.of_near_knee(best, knee)))
            .or_else(|| of_processors(best, shared))
            .or_else(|| self.of_retransmits(best))
            .or_else(|| self.of_pacing(best))
            .unwrap_or_else(|| self.unknown(best))
    }

    /// What stops a search stops the best test too, unless that went far beyond.
    fn of_near_knee(&self, best: &Test, knee: &Knee) -> Option<Cause> {
        let bound = knee
            .lossy_bits_per_second
            .or(knee.lossless_bits_per_second)?;
        let near = best.delivered_bits_per_second? <= bound * NEAR;
        let bounded = knee.lossy_bits_per_second.is_some() || knee.limited_by == "sender";
        (near && bounded).then(|| self.of_knee(knee))
    }

    /// The stage that dropped most of the lost packets, or what else explains them.
    fn of_loss(&self, test: &Test) -> Cause {
        let entry = self.entry(test);
        let drop = entry.and_then(drops::most);
        let busy = full(test, Side::Receiver).then(|| load(test, Side::Receiver));
        let alone = !self.record.one_machine();
        match (drop, busy) {
            (Some(drop), Some(busy)) if alone && drop.at_receiver() => {
                Cause::new(Limit::ReceiverCpu, format!("its {busy}; {drop}"))
            }
            (Some(drop), _) if !drop.on_the_way() || !self.at_line_rate(test) => {
                self.of_drop(&drop, test)
            }
            (None, Some(busy)) if alone => Cause::new(Limit::ReceiverCpu, format!("its {busy}")),
            (_, _) if self.at_line_rate(test) => {
                Cause::new(Limit::Link, "the offered load reached line rate")
            }
            // Without the receiver's own counters its socket cannot be ruled out.
            (_, busy) if entry.is_some_and(drops::watches_socket) => self.of_path(test, busy),
            (_, _) => self.unknown(test),
        }
    }

    fn of_path(&self, test: &Test, busy: Option<String>) -> Cause {
        let lost = test.lost_packets.unwrap_or(0);
        let sent = test.sent_packets.unwrap_or(0);
        let excluded = self.excluded(test);
        let busy = busy.map(|busy| format!("; the {busy}, which both ends share"));
        let why = format!(
            "{lost} of {sent} lost; {excluded}{}",
            busy.unwrap_or_default()
        );
        Cause::new(Limit::Path, why)
    }

    /// The sender that could not offer more.
    fn of_sender(&self, short: &Test) -> Cause {
        let rate = |rate: Option<f64>| rate.map(|rate| with_unit(rate, BIT_RATES));
        let offered = rate(short.offered_bits_per_second).unwrap_or_else(|| "n/a".to_owned());
        let mut why = match rate(short.requested_bits_per_second) {
            Some(asked) => format!("offered {offered} of {asked} requested"),
            None => format!("offered {offered} at unlimited rate"),
        };
        let unsent = short.unsent_packets > Some(0);
        if let Some(late) = short.sender_behind_ns_max.filter(|_| unsent) {
            why.push_str(&format!(", up to {} behind schedule", Nanos(late)));
        }
        if busiest(short, Side::Sender).is_some() {
            why.push_str(&format!("; {}", load(short, Side::Sender)));
        }
        let mut cause = Cause::new(Limit::Sender, why);
        if self.record.one_machine() {
            cause.why.push_str(", which both ends share");
            cause.try_ = advice(Limit::SharedCpu);
        }
        cause
    }

    /// Where the ledger has the retransmitted segments lost; else somewhere on the path.
    fn of_retransmits(&self, test: &Test) -> Option<Cause> {
        let retransmits = test.retransmits?;
        let mss = test.mss_bytes.filter(|mss| *mss > 0)?;
        let segments = test.offered_bits_per_second? * test.duration_s / 8.0 / f64::from(mss);
        let ratio = retransmits as f64 / segments.max(1.0);
        if ratio < RETRANSMITTED {
            return None;
        }
        let drop = self.entry(test).and_then(drops::most);
        Some(drop.map_or_else(
            || {
                let share = percent(ratio);
                let why = format!("{retransmits} segments retransmitted, {share} % of all");
                Cause::new(Limit::Path, why)
            },
            |drop| self.of_drop(&drop, test),
        ))
    }

    /// A congestion control whose estimate of the path is low: the sender used it all, and the path carried more. A
    /// shaper also has its full rate used, and there the estimate is right.
    fn of_pacing(&self, test: &Test) -> Option<Cause> {
        let ratio = pacing_use_ratio(test).filter(|ratio| *ratio >= HELD_BACK)?;
        let carried = MostCarried::of(self.record);
        let more = carried.ratio(test).filter(|more| *more >= CARRIED_MORE)?;
        control_limited_ratio(test).filter(|control| *control >= CONTROL_LIMITED)?;
        let rate = with_unit(test.pacing_bits_per_second?, BIT_RATES);
        let name = test.congestion.as_deref()?;
        let why = format!(
            "{name} paced it at {rate}, its estimate of the path, and {:.0} % of that was delivered; another test \
             carried {more:.1} times this rate",
            ratio * 100.0
        );
        Some(Cause {
            try_: OTHER_CONTROL,
            ..Cause::new(Limit::Sender, why)
        })
    }

    fn of_drop(&self, drop: &Drop<'_>, test: &Test) -> Cause {
        let cause = Cause::new(drop.limit, drop.to_string());
        let socket = drop.at_socket().then(|| self.of_buffer(test));
        let try_ = drop.advice().or(socket).unwrap_or(cause.try_);
        Cause { try_, ..cause }
    }

    /// What helps a socket that overflowed: a larger limit only if the limit cut its buffer.
    fn of_buffer(&self, test: &Test) -> &'static str {
        let buffer = test.receive_buffer_bytes.unwrap_or_default();
        match (buffer.granted, buffer.asked) {
            (Some(granted), Some(asked)) if granted < asked => {
                let limit = socket_limit(self.record, Side::Receiver.role(test));
                if limit.is_some_and(|limit| limit >= asked) {
                    CUT_ELSEWHERE
                } else {
                    advice(Limit::ReceiverSocket)
                }
            }
            (Some(_), Some(_)) => GRANTED,
            _ => advice(Limit::ReceiverSocket),
        }
    }

    fn unknown(&self, test: &Test) -> Cause {
        let mut cause = Cause::new(Limit::Unknown, self.excluded(test));
        if paces_itself(test) {
            cause.try_ = OTHER_CONTROL;
        }
        if processors::is_blind(test) {
            cause.try_ = "`linerate serve` at the far end: it reports its counters";
        }
        cause
    }

    /// A sentence of everything that does not limit the test.
    fn excluded(&self, test: &Test) -> String {
        let line = line_rate(&self.record.run.hosts, test);
        let drops = self.entry(test).map(drops).unwrap_or_default();
        match test.protocol {
            Protocol::Udp => excluded::sentence(test, line, &drops, None),
            Protocol::Tcp => excluded::sentence(test, line, &[], self.constant_loss_ratio(test)),
        }
    }

    /// What the searches of its direction lost of each rate alike.
    fn constant_loss_ratio(&self, test: &Test) -> Option<f64> {
        let knees = self.record.run.knees.iter();
        let mut of_way = knees.filter(|knee| knee.direction == test.direction);
        of_way.find_map(|knee| Some(knee.constant_loss.as_ref()?.loss_ratio))
    }

    fn at_line_rate(&self, test: &Test) -> bool {
        at_line_rate(&self.record.run.hosts, test)
    }

    fn entry(&self, test: &Test) -> Option<&'r LedgerEntry> {
        self.ledger.iter().find(|entry| entry.test_id == test.id)
    }
}

fn of_processors(test: &Test, shared: bool) -> Option<Cause> {
    let side = [Side::Receiver, Side::Sender]
        .into_iter()
        .find(|side| full(test, *side))?;
    let busy = load(test, side);
    Some(match side {
        _ if shared => Cause::new(
            Limit::SharedCpu,
            format!("both ends are one machine, its {busy}"),
        ),
        Side::Receiver => Cause::new(Limit::ReceiverCpu, format!("its {busy}")),
        Side::Sender => Cause::new(Limit::Sender, format!("its {busy}")),
    })
}

fn advice(limit: Limit) -> &'static str {
    match limit {
        Limit::Link => "",
        Limit::Path => {
            "read the drop counters on the path (switch ports, shapers), or repeat the test from the \
             next hop"
        }
        Limit::ReceiverCpu => {
            "spread the receiver's interrupts and flows (IRQ affinity, RSS, RPS); `linerate doctor` \
             there"
        }
        Limit::ReceiverInterface => {
            "a larger ring (ethtool -G), other interrupt coalescing (ethtool -C), or RPS on the \
             receiver"
        }
        Limit::ReceiverSocket => {
            "a larger net.core.rmem_max on the receiver, or less other load on its processors"
        }
        Limit::Sender => {
            "a faster or less busy sender, or `linerate udp` with larger datagrams (-l) or --mode \
             gso: what the path carries beyond this is not known"
        }
        Limit::SharedCpu => "run client and server on two machines to measure a link",
        Limit::Unknown => "`linerate tcp HOST -P 4` (does more than one stream help?), or -w 4M",
    }
}

/// Of a sender that its congestion control paces.
const OTHER_CONTROL: &str = "`linerate tcp HOST -C cubic` (down: -R): whether the path carries more with another congestion control";
/// Of a buffer that the setting would have allowed.
const CUT_ELSEWHERE: &str = "the receiver without the sandbox or container that limits its socket buffer \
     (net.core.rmem_max would allow it), or less other load on its processors";
/// Of a buffer that was granted as requested.
const GRANTED: &str = "less other load on the receiver's processors, more streams (-P), or a larger \
     buffer than requested (-w)";
/// A best test this far above a knee is not held back by the same.
const NEAR: f64 = 1.1;
/// TCP that retransmits less is only probing for the path's rate.
const RETRANSMITTED: f64 = 0.001;

#[cfg(test)]
mod tests;
