// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pasted text → records: texts of our own, with the kinds of figures that people post. What must be read from each is
//! said here, and that cutting, quoting and markup change none of it.

mod bounded;
mod formats;
mod perturbed;
mod states;
mod texts;

use linerate_model::record::Record;
use linerate_paste::{self as paste, Pasted};

fn read(text: &str) -> Pasted {
    paste::read(text)
}

/// The only record of a text.
fn one(text: &str) -> Record {
    let mut records = read(text).records;
    assert_eq!(records.len(), 1, "{text}\n{records:#?}");
    records.remove(0)
}

/// The last reading of a counter.
fn counter(record: &Record, source: &str, name: &str) -> Option<u64> {
    let of_source = record
        .samples
        .iter()
        .filter(|sample| sample.source == source);
    of_source
        .filter_map(|sample| sample.counters.get(name))
        .next_back()
        .copied()
}

fn setting(record: &Record, source: &str, name: &str) -> Option<String> {
    let of_source = record
        .run
        .settings
        .iter()
        .filter(|setting| setting.source == source);
    of_source
        .filter_map(|setting| setting.values.get(name))
        .next_back()
        .cloned()
}
