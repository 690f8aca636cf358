// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of `knowledge/`, packed into the program.
//!
//! In: the name of a driver and of one of its counters, or a drop reason of the kernel. Out: what the
//! counter counts, at which stage of a packet's path, with its width and its sources; which counters
//! the driver never fills ([`Driver`]); the stage of a drop reason ([`stage_of`]).
//!
//! It also owns the reader of all TOML tables ([`keys`]), with mistakes by file and line ([`Mistake`]):
//! rules and register maps use it in their crates.
//!
//! ```
//! use linerate_knowledge as knowledge;
//! let fec = knowledge::driver("fec").expect("a table of this driver");
//! let lost = knowledge::counter(fec, "IEEE_rx_macerr").expect("a line of this counter");
//! assert_eq!(lost.stage.word(), "rx-mac");
//! ```
#![forbid(unsafe_code)]

mod cause;
mod check;
mod distance;
mod function;
pub mod keys;
mod learnt;
mod literal;
mod mention;
mod message;
mod mistake;
mod owner;
mod packed;
mod parse;
mod pattern;
mod phrase;
mod range;
mod raw;
mod reasons;
mod sign;
mod source;
mod symptom;
mod table;
mod tunable;
mod vocabulary;
mod words;

pub use cause::{Cause, Check, Fault, Remedy, causes, faults, parse_causes, parse_faults};
pub use check::check_together;
pub use distance::distance;
pub use function::{Family, Functions, functions, parse_functions};
pub use learnt::{Alike, Wording, wording};
pub use literal::{Seen, seen_in};
pub use mention::{Mention, mentioned};
pub use message::{
    Found, Level, Message, MessagePattern, Messages, Open, messages, parse_messages,
};
pub use mistake::{Mistake, Mistakes};
pub use owner::{Owner, owners, owners_of, parse_owners};
pub use packed::{
    CAUSES, CIRCUMSTANCES, DRIVERS as EMBEDDED, FUNCTIONS, KNOWN, LEARNT, MENTIONS, MESSAGES,
    OWNERS, Packed, RANGES, REASONS, REGISTERS, REMEDIES, RULES, SYMPTOMS, TUNABLES,
};
pub use parse::parse;
pub use pattern::Pattern;
pub use phrase::{Phrases, is_phrase, words};
pub use range::{Range, parse_ranges, ranges};
pub use reasons::{Reason, ReasonStage, parse_reasons, stage_of};
pub use sign::{FieldTest, Shows, Sign, glob};
pub use source::Source;
pub use symptom::{
    Symptom, circumstances_in, parse_circumstances, parse_remedies, parse_symptoms, remedies_in,
    symptoms, symptoms_in,
};
pub use table::{Counter, Driver, Field};
pub use tunable::{
    Consent, Fields, Goal, Knobs, NotOn, Risk, Scope, Side, Tunable, check_tunables,
    parse_tunables, tunable_of, tunables,
};
pub use vocabulary::{Shared, Spoken, shared_with, spoken_in};
pub use words::{Counts, Group, Reset, Stage, Unit, Width};

use std::sync::{LazyLock, Mutex, PoisonError};

static TABLES: LazyLock<Vec<Driver>> = LazyLock::new(|| {
    let parsed = EMBEDDED.each().map(|(file, text)| parse(file, &text));
    parsed.filter_map(Result::ok).collect()
});

/// The tables that were asked for by name, also of names that no table has.
static NAMED: Mutex<Vec<(String, Option<&'static Driver>)>> = Mutex::new(Vec::new());

/// Every driver that has a table.
#[must_use]
pub fn drivers() -> &'static [Driver] {
    &TABLES
}

/// Returns the table of the driver that `ethtool -i` shows as `name`, if there is one. The first names read their own table
/// only: all of them take megabytes, too much for a small board.
#[must_use]
pub fn driver(name: &str) -> Option<&'static Driver> {
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, table)) = named.iter().find(|(known, _)| known == name) {
        return *table;
    }
    if named.len() == MOST_NAMED {
        return TABLES.iter().find(|table| table.answers_to(name));
    }
    let table = alone(name).map(|table| &*Box::leak(Box::new(table)));
    named.push((name.to_owned(), table));
    table
}

fn alone(name: &str) -> Option<Driver> {
    let naming_it = EMBEDDED.each().filter(|(_, text)| text.contains(name));
    naming_it
        .filter_map(|(file, text)| parse(file, &text).ok())
        .find(|table| table.answers_to(name))
}

/// More than two hosts have in a test. Of more names it is quicker to read all tables.
const MOST_NAMED: usize = 4;

/// Returns the counter that is the `ethtool -S` line `name` of this driver, if the table has it.
#[must_use]
pub fn counter<'d>(driver: &'d Driver, name: &str) -> Option<&'d Counter> {
    driver.counter(Group::Ethtool, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_table_is_found_alone_by_each_of_its_names() {
        for table in drivers() {
            for name in [&table.name].into_iter().chain(&table.also) {
                assert_eq!(alone(name).as_ref(), Some(table), "{name}");
            }
        }
        assert!(alone("no-such-driver").is_none());
    }

    /// The first names are read alone, the others are not: the tables are the same.
    #[test]
    fn a_driver_has_one_table_however_many_are_asked_for() {
        for _ in 0..2 {
            for table in drivers().iter().take(2 * MOST_NAMED) {
                assert_eq!(driver(&table.name), Some(table));
                assert_eq!(driver(&format!("no-{}", table.name)), None);
            }
        }
        assert!(NAMED.lock().unwrap().len() <= MOST_NAMED);
    }
}
