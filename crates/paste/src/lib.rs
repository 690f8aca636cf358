// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the text that people paste into mails and forums: output of iperf, `ifconfig`, `ethtool`, `dmesg` and some
//! seventy other formats, quoted, cut short, with prose in between.
//!
//! Text flows in, [`Record`]s flow out, one for each state of a host: before and after a change, or under two kernels,
//! so that counters of one state are never subtracted from another's.
//!
//! ```text
//! text ──► clean ──► segments (one reader per format, in its context) ──► states ──► a record each
//! ```
//!
//! No text is an error. [`Pasted`] lists by line what was understood and what was not. The work is linear in the length
//! of the text; what exceeds the limits (such as [`TEXT_BYTES_MAX`]) is left out, and listed.
//!
//! ```
//! let text = "> $ ethtool -S eth0\n> NIC statistics:\n>      IEEE_rx_macerr: 51\n\nWhy?\n";
//! let pasted = linerate_paste::read(text);
//! let sample = &pasted.records[0].samples[0];
//! assert_eq!(sample.interface.as_deref(), Some("eth0"));
//! assert_eq!(sample.counters["IEEE_rx_macerr"], 51);
//! assert_eq!(pasted.ignored[0].what, "prose");
//! ```
#![forbid(unsafe_code)]

mod addresses;
mod assemble;
mod clean;
mod command;
mod connections;
mod context;
mod flows;
mod html;
mod limits;
mod markup;
mod prompt;
mod prose;
mod quote;
mod recorded;
mod requested;
mod segment;
mod state;
pub mod text;
mod transfers;

use linerate_model::output::Passage;

use linerate_model::order;
use linerate_model::record::Record;

pub use clean::{Cleaned, Line, clean};
pub use limits::{LINE_BYTES_MAX, LINES_MAX, TEXT_BYTES_MAX};

/// What was found in a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pasted {
    /// One for each state of a host, in the order of the text; empty if nothing was understood.
    pub records: Vec<Record>,
    /// The passages that were understood.
    pub understood: Vec<Passage>,
    /// The passages that were not, with the reason.
    pub ignored: Vec<Passage>,
    /// Those of the ignored passages that exceed a limit.
    pub left_out: Vec<Passage>,
}

/// Reads a text.
#[must_use]
pub fn read(text: &str) -> Pasted {
    read_counting(text).0
}

/// Reads a text, and returns the number of bytes that the readers looked at: at most a fixed multiple of its length.
#[must_use]
pub fn read_counting(text: &str) -> (Pasted, u64) {
    read_lines(&clean(text))
}

/// Reads the lines of a text, as [`read_counting`].
#[must_use]
pub fn read_lines(cleaned: &Cleaned) -> (Pasted, u64) {
    let (segments, looked) = segment::segments(&cleaned.lines);
    let mut pasted = assemble::records(&segments);
    pasted.left_out.extend_from_slice(&cleaned.refused);
    pasted.ignored = [&pasted.left_out[..], &segments.ignored].concat();
    order::by_key(&mut pasted.left_out, |passage| passage.first_line);
    order::by_key(&mut pasted.ignored, |passage| passage.first_line);
    (pasted, looked)
}
