// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a driver counts, asked by meaning rather than by name: frames that died in the receiving
//! MAC, pause frames. Each driver has its own names; its table in `knowledge/drivers` says what they mean.

use linerate_knowledge::{Counter, Counts, Stage, Unit};
use linerate_model::record::Side;

use super::{Counted, Vantage};
use crate::evidence::{Count, Moved};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::facts) enum Meaning {
    /// Packets that came through this stage.
    Passed(Stage),
    /// Pause frames that this end sent: it stopped its partner.
    PauseSent,
    /// Pause frames that this end received: its partner stopped it.
    PauseReceived,
    /// Frames cut off because the sending MAC's FIFO ran empty.
    Underrun,
}

impl Vantage<'_> {
    /// Growth of everything that this interface's driver gives that meaning, each packet once. `None` where
    /// its table has no such counter or none of them was read.
    pub(in crate::facts) fn meaning(&self, asked: Meaning) -> Option<Counted> {
        self.interface?;
        sum(&self.counters().resolved(|counter| asked.is(counter)))
    }

    /// What died at a stage of the receiver, by the driver's table.
    pub(in crate::facts) fn dropped(&self, stage: Stage) -> Option<Counted> {
        self.table()?;
        self.drops_at(stage, |_| true)
    }

    /// What died in the receiving MAC for lack of room: by the driver's table, else by the names of the kernel's fields.
    /// A frame that is too short or too long, or that a filter drops there, dies for another reason.
    pub(in crate::facts) fn overflow(&self) -> Option<Counted> {
        let described = self.table().is_some();
        self.drops_at(Stage::RxMac, |count| match described {
            true => !says_another_reason(&count.name),
            false => count.words.iter().eq(["fifo"]),
        })
    }

    fn drops_at(&self, stage: Stage, which: impl Fn(&Count) -> bool) -> Option<Counted> {
        self.interface?;
        let mut drops = self.counters().drops(Side::Receiver);
        drops.retain(|count| count.stage == stage && which(count));
        sum(&drops)
    }
}

/// All together; of the counters' names those that moved, or all if none did.
fn sum(counts: &[Count]) -> Option<Counted> {
    let moved = |count: &&Count| count.moved.grew.at_least > 0;
    let any = counts.iter().any(|count| moved(&count));
    let named = counts.iter().filter(|count| !any || moved(count));
    let names: Vec<String> = named
        .map(|count| format!("{} {}", count.source.text(), count.name))
        .collect();
    let all = counts.iter().map(|count| count.moved).reduce(Moved::plus)?;
    Some(Counted::of(all, names.join(", ")))
}

impl Meaning {
    fn is(self, counter: &Counter) -> bool {
        let packets = matches!(counter.unit, Unit::Frames | Unit::Segments);
        match self {
            Self::Passed(stage) => {
                counter.stage == stage && counter.counts == Counts::Pass && packets
            }
            // Who sends a pause frame is short of room to receive, and who gets one has to wait with sending.
            Self::PauseSent => counter.stage == Stage::RxMac && is_pause(counter),
            Self::PauseReceived => counter.stage == Stage::TxMac && is_pause(counter),
            Self::Underrun => {
                let name = counter.name.text().to_ascii_lowercase();
                counter.stage == Stage::TxMac
                    && packets
                    && UNDERRUN_WORDS.iter().any(|word| name.contains(word))
            }
        }
    }
}

fn says_another_reason(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    OTHER_REASONS.iter().any(|word| name.contains(word))
}

fn is_pause(counter: &Counter) -> bool {
    let name = counter.name.text().to_ascii_lowercase();
    counter.counts == Counts::Delay
        && counter.unit != Unit::Microseconds
        && PAUSE_WORDS.iter().any(|word| name.contains(word))
}

/// An XON releases the partner again and is left out.
const PAUSE_WORDS: &[&str] = &["pause", "xoff", "fdxfc", "pxoff"];
const UNDERRUN_WORDS: &[&str] = &["tx_fifo", "underflow", "underrun", "uflo", "tx_macerr"];
/// In the names of drops at the MAC: a length, a filter, or a checksum.
const OTHER_REASONS: &[&str] = &[
    "length",
    "_len",
    "short",
    "long",
    "runt",
    "size",
    "ovrsz",
    "undrsz",
    "oversz",
    "jabber",
    "frag",
    "large",
    "mtu",
    "lt64",
    "gtjumbo",
    "filter",
    "mapping",
    "classifier",
    "checksum",
    "steer",
    "mf_tag",
    "frame_err",
    "rate_limit",
];
