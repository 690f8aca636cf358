// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of `knowledge/`, built into the program: which counter of which driver counts
//! what, at which stage of a packet's path, and which ones never count anything.
//!
//! ```
//! use linerate_knowledge as knowledge;
//! let fec = knowledge::driver("fec").expect("a table of this driver");
//! let lost = knowledge::counter(fec, "IEEE_rx_macerr").expect("a line of this counter");
//! assert_eq!(lost.stage.word(), "rx-mac");
//! ```
#![forbid(unsafe_code)]

mod check;
mod distance;
pub mod keys;
mod mistake;
mod packed;
mod parse;
mod pattern;
mod raw;
mod reasons;
mod source;
mod table;
mod words;

pub use check::check_together;
pub use distance::distance;
pub use mistake::{Mistake, Mistakes};
pub use packed::{DRIVERS as EMBEDDED, Packed, REASONS, REGISTERS, RULES};
pub use parse::parse;
pub use pattern::Pattern;
pub use reasons::{Reason, ReasonStage, parse_reasons, stage_of};
pub use source::Source;
pub use table::{Counter, Driver, Field};
pub use words::{Counts, Group, Reset, Stage, Unit, Width};

use std::sync::LazyLock;

static TABLES: LazyLock<Vec<Driver>> = LazyLock::new(|| {
    let files = EMBEDDED.unpack();
    let parsed = files.iter().map(|(file, text)| parse(file, text));
    parsed.filter_map(Result::ok).collect()
});

/// Every driver that has a table.
#[must_use]
pub fn drivers() -> &'static [Driver] {
    &TABLES
}

/// The table of the driver that `ethtool -i` shows as `name`; none where nobody wrote one.
#[must_use]
pub fn driver(name: &str) -> Option<&'static Driver> {
    TABLES.iter().find(|d| d.answers_to(name))
}

/// The same without reading (and keeping) the other tables, which takes megabytes: for a server on a small board.
#[must_use]
pub fn driver_alone(name: &str) -> Option<Driver> {
    let files = EMBEDDED.unpack();
    let naming_it = files.iter().filter(|(_, text)| text.contains(name));
    naming_it
        .filter_map(|(file, text)| parse(file, text).ok())
        .find(|driver| driver.answers_to(name))
}

/// What the `ethtool -S` line `name` of this driver counts; none where the table does not say.
#[must_use]
pub fn counter<'d>(driver: &'d Driver, name: &str) -> Option<&'d Counter> {
    driver.counter(Group::Ethtool, name)
}
