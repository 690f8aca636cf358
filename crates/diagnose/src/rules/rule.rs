// SPDX-License-Identifier: MIT OR Apache-2.0
//! One rule, understood.

use super::{Condition, Scope};
use linerate_knowledge::words;

/// A cause that facts can prove.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its id: a letter for the family and a number, or any word for a site's own.
    pub id: String,
    /// The cause's stable name, in lower case with hyphens.
    pub cause: String,
    /// One sentence; `{fact}` stands for a fact's value.
    pub title: String,
    /// From where it looks.
    pub scope: Scope,
    /// Only where all of these hold is the rule about anything; else it is silent.
    pub applies: Vec<Condition>,
    /// All of these have to hold.
    pub when: Vec<Condition>,
    /// And of these at least one, if there are any.
    pub any: Vec<Condition>,
    /// How sure it is.
    pub strength: Strength,
    /// It is about the measurement, not about the link: shown first.
    pub validity: bool,
    /// Worth knowing, nothing wrong.
    pub informational: bool,
    /// Only about packets of its stage that no other rule claims.
    pub fallback: bool,
    /// About the processors of a machine: said once where both ends are one.
    pub of_machine: bool,
    /// What it accounts for.
    pub explains: Explains,
    /// Rules whose cause excludes this one.
    pub contradicts: Vec<String>,
    /// Why it is so.
    pub why: String,
    /// What to run; empty where nothing is to be changed.
    pub commands: Vec<String>,
    /// How to go back.
    pub undo: Vec<String>,
    /// What a change can do.
    pub risk: Risk,
    /// What else the change does, in words.
    pub side_effects: String,
    /// What decides whether it helped, where it is not the rate or the loss: a metric of `ab`.
    pub figure: Option<String>,
    /// Metrics of `ab` that it is expected to make worse.
    pub tradeoffs: Vec<String>,
    /// How to see that it helped.
    pub verify: String,
    /// Who says so.
    pub sources: Vec<String>,
}

impl Rule {
    /// The facts that it asks for, without those it only prints.
    pub fn asks(&self) -> impl Iterator<Item = &str> {
        let all = self.applies.iter().chain(&self.when).chain(&self.any);
        all.flat_map(Condition::facts)
    }
}

/// What a rule accounts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Explains {
    /// The packets that the ledger found at this stage of the tests in question.
    Stage(String),
    /// Every packet that the tests in question lost.
    AllLost,
    /// The value of a fact in packets, of each test in question: at most what the ledger found at the stage. Without the
    /// fact, that.
    Packets {
        /// The fact.
        fact: String,
        /// Where they died.
        stage: Option<String>,
    },
    /// The value of a fact in bit/s.
    Rate(String),
    /// Nothing that can be counted.
    Nothing,
}

words! {
    /// How sure a rule is when it fires, the surest last.
    Strength {
        /// It may be so.
        Weak = "weak",
        /// Everything known agrees with it.
        Consistent = "consistent",
        /// A counter says so.
        Proven = "proven",
    }
}

words! {
    /// What a change can do.
    Risk {
        /// Safe while running.
        Live = "live",
        /// Drops the link or packets for a moment.
        Blip = "blip",
        /// Needs a reboot.
        Reboot = "reboot",
        /// Needs another kernel or driver.
        Rebuild = "rebuild",
        /// Needs other firmware in a card or module.
        Firmware = "firmware",
        /// Work at cable, fibre, module, slot or cooling.
        Repair = "repair",
        /// The hardware is so: no software helps.
        Hw = "hw",
        /// Only shown.
        Advice = "advice",
    }
}
