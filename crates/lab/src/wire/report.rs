// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report of the wire.

use std::fmt;

/// Counts of one direction, in frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectionReport {
    /// `a-b` or `b-a`.
    pub name: &'static str,
    /// Taken from the sender's side.
    pub received: u64,
    /// Given to the receiver's side, copies included.
    pub delivered: u64,
    /// Dropped by an impairment: too long, at random, in bursts, at the full queue.
    pub too_long: u64,
    pub lost: u64,
    pub lost_in_bursts: u64,
    pub lost_at_queue: u64,
    pub duplicated: u64,
    pub corrupted: u64,
    /// Not yet delivered when the wire was stopped.
    pub in_flight: u64,
    /// Lost because the wire was too slow to take them.
    pub missed: u64,
    /// Lost because too many were in flight for its memory.
    pub no_room: u64,
    /// Lost because the receiver's interface refused them.
    pub refused: u64,
    /// Dropped by the fault of the receiver's card.
    pub lost_in_card: u64,
    /// The longest delay of a delivery.
    pub late_max_ns: u64,
}

impl DirectionReport {
    /// Frames lost because the wire was overloaded.
    pub fn own_drops(&self) -> u64 {
        self.missed + self.no_room + self.refused
    }
}

/// The counts of both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireReport {
    pub directions: Vec<DirectionReport>,
    /// Why the log is incomplete, if it is.
    pub log_error: Option<String>,
}

impl fmt::Display for WireReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for direction in &self.directions {
            writeln!(f, "wire {direction}")?;
        }
        self.log_error
            .iter()
            .try_for_each(|error| writeln!(f, "wire log incomplete: {error}"))
    }
}

impl fmt::Display for DirectionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} frames in, {} out",
            self.name, self.received, self.delivered
        )?;
        let counts = [
            ("too long", self.too_long),
            ("lost", self.lost),
            ("lost in bursts", self.lost_in_bursts),
            ("lost at its queue", self.lost_at_queue),
            ("duplicated", self.duplicated),
            ("corrupted", self.corrupted),
            ("in flight", self.in_flight),
            ("dropped by the faulty card", self.lost_in_card),
        ];
        for (what, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            write!(f, ", {count} {what}")?;
        }
        match self.own_drops() {
            0 => Ok(()),
            own => write!(f, "; {own} lost because the wire was overloaded"),
        }
    }
}
