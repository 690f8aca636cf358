// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a host or an interface is set up, by the tool that prints it.

use linerate_model::output::Role;

use linerate_model::record::Record;

/// A setting as its tool prints it; of two readings the later one.
pub(crate) fn set_up<'r>(
    record: &'r Record,
    host: Role,
    source: &str,
    interface: Option<&str>,
    key: &str,
) -> Option<&'r str> {
    let mut readings = record.run.settings.iter().rev().filter(|setting| {
        setting.host == host
            && setting.source == source
            && setting.interface.as_deref() == interface
    });
    readings.find_map(|setting| setting.values.get(key).map(String::as_str))
}

/// The whole number with which a setting begins, with or without a unit after it.
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    text[..digits].parse().ok()
}
