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

use linerate_knowledge::{Mistake, Packed};

/// Every file of rules that the program carries, as text.
pub const EMBEDDED: Packed = linerate_knowledge::RULES;

static RULES: LazyLock<Read> = LazyLock::new(|| Read::of(EMBEDDED.each()));

/// Every rule that the program carries.
#[must_use]
pub fn embedded() -> &'static [Rule] {
    &RULES.rules
}

/// What is wrong in files that the program carries: their rules do not take part.
#[must_use]
pub fn embedded_mistakes() -> &'static [Mistake] {
    &RULES.mistakes
}

/// The rules of the files that are right, and the mistakes of the others.
#[derive(Default)]
struct Read {
    rules: Vec<Rule>,
    mistakes: Vec<Mistake>,
}

impl Read {
    fn of(files: impl Iterator<Item = (&'static str, String)>) -> Self {
        let mut all = Self::default();
        for (file, text) in files {
            match parse(file, &text) {
                Ok(rules) => all.rules.extend(rules),
                Err(found) => all.mistakes.extend(found),
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_file_of_rules_is_reported_and_the_others_are_read() {
        let (name, right) = EMBEDDED.each().next().unwrap();
        let wrong = "[[rule]]\nid = 7\n".to_owned();
        let read = Read::of([("wrong.toml", wrong), (name, right)].into_iter());
        assert!(!read.rules.is_empty());
        assert!(read.mistakes.iter().all(|one| one.file == "wrong.toml"));
        assert!(!read.mistakes.is_empty());
    }

    #[test]
    fn every_file_of_rules_in_the_program_is_right() {
        assert_eq!(embedded_mistakes(), []);
    }
}
