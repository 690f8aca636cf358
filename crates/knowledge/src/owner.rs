// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that change settings while they run, and which settings.

use std::sync::LazyLock;

use super::raw::Word;
use crate::keys;
use crate::mistake::Mistake;
use crate::packed;
use crate::sign::{glob, sourced};
use crate::toml_table;

/// A program and the settings that it is known to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Its name as the kernel keeps it: at most 15 bytes.
    pub program: String,
    /// Source and name of each setting, with `*`: `sysctl net.core.rmem_*`.
    pub writes: Vec<String>,
    /// Where this is from.
    pub sources: Vec<String>,
}

impl Owner {
    /// How precisely it names the setting: the letters of its longest pattern; nothing if it does not write it.
    fn precision(&self, setting: &str) -> Option<usize> {
        let fitting = self.writes.iter().filter(|pattern| glob(pattern, setting));
        let letters =
            fitting.map(|pattern| pattern.chars().filter(|letter| *letter != '*').count());
        letters.max()
    }
}

static OWNERS: LazyLock<Vec<Owner>> = LazyLock::new(|| {
    let files = packed::OWNERS.unpack();
    let parsed = files.iter().map(|(file, text)| parse_owners(file, text));
    parsed.filter_map(Result::ok).flatten().collect()
});

/// Every program of the table.
#[must_use]
pub fn owners() -> &'static [Owner] {
    &OWNERS
}

/// Which of the `running` programs write a setting (`sysctl net.ipv4.tcp_rmem`): those that name it most precisely.
#[must_use]
pub fn owners_of(setting: &str, running: &[&str]) -> Vec<&'static str> {
    let run = OWNERS
        .iter()
        .filter(|owner| running.contains(&owner.program.as_str()));
    let known = |owner: &'static Owner| Some((owner.precision(setting)?, owner.program.as_str()));
    let all: Vec<_> = run.filter_map(known).collect();
    let best = all.iter().map(|(precision, _)| *precision).max();
    let best = all.iter().filter(|(precision, _)| Some(*precision) == best);
    best.map(|(_, program)| *program).collect()
}

/// Reads the owners `text` of the file `file`.
///
/// # Errors
/// Every mistake found. TOML's own stop at the first.
pub fn parse_owners(file: &str, text: &str) -> Result<Vec<Owner>, Vec<Mistake>> {
    keys::read(file, text, |raw: &RawFile, mistakes| {
        let each = raw.owner.iter().map(|one| {
            let at = one.program.span().start;
            let program = one.program.get_ref().clone();
            if program.len() > COMM_BYTES {
                mistakes.at(
                    at,
                    format!("`{program}` is longer than the kernel keeps"),
                    "its first 15 bytes",
                );
            }
            if one.writes.is_empty() {
                mistakes.at(at, "`writes` is empty".to_owned(), "what it changes");
            }
            Owner {
                program,
                writes: one.writes.clone(),
                sources: sourced(&one.source, at, mistakes),
            }
        });
        each.collect()
    })
}

/// TASK_COMM_LEN (include/linux/sched.h), less the NUL.
const COMM_BYTES: usize = 15;

toml_table! {
    RawFile {
        owner: Vec<RawOwner> = or_default,
    }
}

toml_table! {
    RawOwner {
        program: Word = need,
        writes: Vec<String> = need,
        source: Vec<Word> = need,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_program_that_runs_is_an_owner() {
        let rmem = "sysctl net.ipv4.tcp_rmem";
        assert_eq!(owners_of(rmem, &["tuned", "irqbalance"]), ["tuned"]);
        assert_eq!(owners_of(rmem, &["irqbalance"]), [""; 0]);
        assert_eq!(owners_of(rmem, &[]), [""; 0]);
    }

    #[test]
    fn the_longest_match_is_the_owner() {
        let both = ["bpftune", "irqbalance", "tuned"];
        assert_eq!(owners_of("sysctl net.ipv4.tcp_rmem", &both), ["bpftune"]);
        assert_eq!(owners_of("sysctl vm.swappiness", &both), ["tuned"]);
        let affinity = "/proc/irq/24 smp_affinity_list";
        assert_eq!(owners_of(affinity, &both), ["irqbalance"]);
    }

    #[test]
    fn an_owner_needs_a_short_name_what_it_writes_and_a_source() {
        let good = "[[owner]]\nprogram = \"x\"\nwrites = [\"sysctl *\"]\nsource = [\"x(8)\"]\n";
        assert_eq!(parse_owners("o.toml", good).map(|all| all.len()), Ok(1));
        for bad in [
            good.replace("\"x\"", "\"power-profiles-daemon\""),
            good.replace("\"sysctl *\"", ""),
            good.replace("\"x(8)\"", ""),
        ] {
            assert!(parse_owners("o.toml", &bad).is_err(), "{bad}");
        }
    }
}
