// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules as data: a conjunction of conditions over named facts, with cause, change, undo and source.
//!
//! A rule asks from one point of view at a time ([`crate::frame`]). If a condition is false it does
//! not fire; if none is false and a fact is missing it cannot tell, and names what to read; else it fires.

mod condition;
mod embedded;
mod evaluate;
mod example;
mod finding;
mod judge;
mod parse;
mod rank;
mod raw;
mod rule;
mod template;

pub use condition::{Answer, Condition};
pub use embedded::{EMBEDDED, embedded};
pub use evaluate::{Verdict, evaluate};
pub use judge::{Judged, judge};
pub use parse::{check_together, parse};
pub use rule::{Explains, Risk, Rule, Scope, Strength};
