// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask corpus [--learn | NAME]`: scores what is named for the real cases of `corpus/`. Of the sealed part only sums are
//! printed, and the causes that were missed; with `--learn` each case of the other part that is not named first; with the
//! NAME of one of those, why its causes are named.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use linerate_diagnose::evidence::Evidence;
use linerate_diagnose::facts::Facts;
use linerate_diagnose::weigh::{self, Degree, Line, Named, Observed, Text};
use linerate_diagnose::{ledger, rules};
use toml::Table;

use crate::Outcome;

/// A case.
struct Case {
    name: String,
    /// Causes that are true; none of a control.
    right: BTreeSet<String>,
    text: String,
}

/// The sums of one part.
#[derive(Default)]
struct Score {
    faults: usize,
    first: usize,
    among_three: usize,
    wrong_first_and_likely: usize,
    controls: usize,
    controls_accused: usize,
    findings: Vec<usize>,
    missed: BTreeMap<String, usize>,
}

pub(crate) fn run(words: &[&str]) -> Outcome {
    let shows = match words {
        [] => false,
        ["--learn"] => true,
        [name] if !name.starts_with('-') => return why(name),
        _ => return Err("corpus takes --learn, a name or nothing".into()),
    };
    examples(shows);
    let root = root();
    score(&cases(&root.join("learn"))?, shows).print("learn");
    score(&cases(&root.join("sealed"))?, false).print("sealed");
    Ok(true)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

/// Each cause that is named for a case to learn from, with what speaks for and against it.
fn why(name: &str) -> Outcome {
    let all = cases(&root().join("learn"))?;
    let case = all.iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| format!("no case {name} in corpus/learn"))?;
    println!("{:?}", case.right);
    for named in named(&case.text) {
        println!("{:6.1} {:?} {}", named.db, named.degree, named.cause.id);
        for part in &named.parts {
            let line = part
                .line
                .map_or(String::new(), |line| format!("line {line}: "));
            println!("  {:+6.1} {line}{}", part.db, part.what);
        }
    }
    Ok(true)
}

/// The example of each cause, which has to be named first.
fn examples(shows: bool) {
    let causes = linerate_knowledge::causes();
    let mut first = 0;
    for cause in causes {
        let named = named(&cause.example);
        let is_first = named.first().is_some_and(|one| one.cause.id == cause.id);
        first += usize::from(is_first);
        if shows && !is_first {
            println!(
                "example {}: {}",
                cause.id,
                list(&named.iter().collect::<Vec<_>>())
            );
        }
    }
    println!("examples: {first} of {} causes first", causes.len());
}

fn cases(directory: &Path) -> Result<Vec<Case>, Box<dyn std::error::Error>> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let whole = fs::read_to_string(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        cases.push(case(&name, &whole).ok_or_else(|| format!("{name}: no key"))?);
    }
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(cases)
}

fn case(name: &str, whole: &str) -> Option<Case> {
    let (key, text) = whole.split_once("+++\n")?;
    let key: Table = key.parse().ok()?;
    let cause = key
        .get("cause")
        .and_then(|cause| cause.as_str())
        .into_iter();
    let also = key
        .get("also")
        .and_then(|also| also.as_array())
        .into_iter()
        .flatten();
    let also = also.filter_map(|one| one.as_str());
    let right = cause
        .chain(also)
        .filter(|id| !id.is_empty())
        .map(str::to_owned);
    Some(Case {
        name: name.to_owned(),
        right: right.collect(),
        text: text.to_owned(),
    })
}

fn score(cases: &[Case], shows: bool) -> Score {
    let mut score = Score::default();
    for case in cases {
        let named = named(&case.text);
        let accused = named.iter().filter(|one| !one.is_harmless());
        let accused: Vec<&Named> = accused.collect();
        score.findings.push(accused.len());
        if case.right.is_empty() {
            score.controls += 1;
            let blames = |one: &&Named| {
                one.degree > Degree::Possible && !one.cause.change.commands.is_empty()
            };
            let sure = accused.iter().any(blames);
            score.controls_accused += usize::from(sure);
            if shows && sure {
                println!("{} control: {}", case.name, list(&accused));
            }
            continue;
        }
        score.faults += 1;
        let is_right = |one: &&Named| case.right.contains(&one.cause.id);
        let first = named.first().is_some_and(|one| is_right(&one));
        let three = named.iter().take(3).any(|one| is_right(&one));
        score.first += usize::from(first);
        score.among_three += usize::from(three);
        let sure = named
            .first()
            .is_some_and(|one| one.degree > Degree::Possible);
        score.wrong_first_and_likely += usize::from(sure && !first);
        if !three {
            let cause = case.right.iter().next().cloned().unwrap_or_default();
            *score.missed.entry(cause).or_default() += 1;
        }
        if shows && !first {
            let all: Vec<&Named> = named.iter().collect();
            println!("{} {:?}: {}", case.name, case.right, list(&all));
        }
    }
    score
}

fn list(named: &[&Named]) -> String {
    let one = |one: &&Named| format!("{} {:.0} {:?}", one.cause.id, one.db, one.degree);
    named.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn named(text: &str) -> Vec<Named> {
    let pasted = linerate_paste::read(text);
    let cleaned = linerate_paste::clean(text);
    let lines: Vec<Line<'_>> = cleaned
        .lines
        .iter()
        .map(|line| Line {
            number: line.number,
            text: &line.text,
        })
        .collect();
    let prose: Vec<_> = pasted
        .ignored
        .iter()
        .filter(|one| one.what == "prose")
        .cloned()
        .collect();
    let mut facts = Vec::new();
    let mut ruled = Vec::new();
    for record in &pasted.records {
        let evidence = Evidence::of(record);
        let ledger = ledger::of(&evidence);
        let known = Facts::of(&evidence, &ledger);
        ruled.extend(rules::judge(rules::embedded(), record, &ledger, &known).findings);
        facts.extend_from_slice(known.list());
    }
    weigh::name(&Observed::of(&Text {
        records: &pasted.records,
        facts: &facts,
        findings: &ruled,
        lines: &lines,
        prose: &prose,
        read: &pasted.understood,
    }))
}

impl Score {
    fn print(&self, part: &str) {
        let mut findings = self.findings.clone();
        findings.sort_unstable();
        let median = findings
            .get(findings.len() / 2)
            .copied()
            .unwrap_or_default();
        let share = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
        println!(
            "{part}: {} faults: first {} ({:.0} %), among three {} ({:.0} %), wrong first and likely {} ({:.0} %); \
             {} controls: {} accused; {median} findings (median)",
            self.faults,
            self.first,
            share(self.first, self.faults),
            self.among_three,
            share(self.among_three, self.faults),
            self.wrong_first_and_likely,
            share(self.wrong_first_and_likely, self.faults),
            self.controls,
            self.controls_accused,
        );
        let missed: Vec<String> = self
            .missed
            .iter()
            .map(|(cause, count)| format!("{cause} {count}"))
            .collect();
        println!("  missed: {}", missed.join(", "));
    }
}
