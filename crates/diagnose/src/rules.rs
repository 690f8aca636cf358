// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules as data: a conjunction of conditions over named facts, with cause, change, undo and source.
//!
//! A rule asks from one point of view at a time ([`crate::viewpoint`]). If a condition is false it does
//! not fire; if none is false and a fact is missing it cannot tell, and names what to read; else it fires.

mod claim;
mod condition;
mod evaluate;
mod example;
mod finding;
mod judge;
mod parse;
mod rank;
mod raw;
mod remedy;
mod rule;
mod setting;
mod share;
mod template;

pub use crate::viewpoint::Scope;
pub use condition::{Answer, Condition};
pub use evaluate::{Verdict, evaluate};
pub use judge::{Judged, judge};
pub use parse::{check_together, parse};
pub use rule::{Explains, Risk, Rule, Strength};

use std::sync::LazyLock;

use linerate_knowledge::Packed;

/// Every file of rules that the program carries, as text.
pub const EMBEDDED: Packed = linerate_knowledge::RULES;

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let parsed = EMBEDDED
        .each()
        .filter_map(|(file, text)| parse(file, &text).ok());
    parsed.flatten().collect()
});

/// Every rule that the program carries.
#[must_use]
pub fn embedded() -> &'static [Rule] {
    &RULES
}
