// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask corpus [--learn | NAME]`: scores what is named for the real cases of `corpus/`. Of the sealed part only sums are
//! printed, and the causes that were missed; with `--learn` each case of the other part that is not named first; with the
//! NAME of one of those, why its causes are named. Fails if the sealed part scores worse than it did. A case to learn from is
//! judged by wording that was learnt without it and about a fifth of the others.

#[path = "../../crates/knowledge/build/texts.rs"]
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use linerate_diagnose::evidence::Evidence;
use linerate_diagnose::facts::Facts;
use linerate_diagnose::weigh::{self, Conclusion, Line, Text};
use linerate_diagnose::{ledger, rules};
use linerate_knowledge::{Wording, wording};
use linerate_model::output::{Finding, Passage};
use toml::Table;

use crate::Outcome;
use crate::knowledge;

/// A case.
struct Case {
    name: String,
    /// Causes that are true; none of a control.
    right: BTreeSet<String>,
    text: String,
    /// What its writer had of the thread.
    basis: String,
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
    let root = root();
    let mistakes = knowledge::mistakes_of_causes(&root.join(".."))?;
    for mistake in &mistakes {
        println!("{mistake}");
    }
    if !mistakes.is_empty() {
        return Ok(false);
    }
    examples(shows);
    held_out(&root, shows)?.print("learn, each held out");
    let sealed = cases(&root.join("sealed"))?;
    let is_known = |case: &&Case| REACHED.iter().any(|one| one.basis == case.basis);
    if let Some(case) = sealed.iter().find(|case| !is_known(case)) {
        return Err(format!("{}: unknown basis '{}'", case.name, case.basis).into());
    }
    let stands = REACHED.map(|reached| {
        let own = sealed.iter().filter(|case| case.basis == reached.basis);
        let score = score(own, wording(), false);
        score.print(&format!("sealed, {}", reached.basis));
        score.stands(&reached)
    });
    Ok(stands.into_iter().all(|stands| stands))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

/// The cases to learn from, each by wording that was learnt without it.
fn held_out(root: &Path, shows: bool) -> Result<Score, Box<dyn std::error::Error>> {
    let all = cases(&root.join("learn"))?;
    let mut score = Score::default();
    for part in 0..PARTS {
        let wording = without(root, part)?;
        let held = all.iter().filter(|case| part_of(&case.name) == part);
        held.for_each(|case| score.add(case, &wording, shows));
    }
    Ok(score)
}

/// What is learnt without the cases of a part.
fn without(root: &Path, part: usize) -> Result<Wording, Box<dyn std::error::Error>> {
    let name = |file: &Path| {
        file.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let texts = texts::lessons(&root.join("../knowledge"), |file| {
        part_of(&name(file)) != part
    })?;
    let wording = Wording::parse(&linerate_wording::learn(&texts));
    wording.ok_or_else(|| "no wording was learnt".into())
}

/// One of [`PARTS`], by the last digit of a case's hash.
fn part_of(name: &str) -> usize {
    let last = name.chars().last().and_then(|digit| digit.to_digit(16));
    last.map_or(0, |digit| digit as usize % PARTS)
}

const PARTS: usize = 5;

/// Each cause that is named for a case to learn from, with what speaks for and against it.
fn why(name: &str) -> Outcome {
    let all = cases(&root().join("learn"))?;
    let case = all.iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| format!("no case {name} in corpus/learn"))?;
    println!("{:?}", case.right);
    let concluded = concluded(&case.text, &without(&root(), part_of(name))?);
    println!("{}", list(&concluded.findings));
    for weight in concluded.weights {
        let line = weight
            .line
            .map_or(String::new(), |line| format!(", line {line}"));
        println!("{}: {:+.1} {}{line}", weight.cause, weight.db, weight.what);
    }
    Ok(true)
}

/// The example of each cause, which has to be named first.
fn examples(shows: bool) {
    let causes = linerate_knowledge::causes();
    let mut first = 0;
    for cause in causes {
        let found = concluded(&cause.example, wording()).findings;
        let is_first = found.first().is_some_and(|one| one.cause == cause.id);
        first += usize::from(is_first);
        if shows && !is_first {
            println!("example {}: {}", cause.id, list(&found));
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
    let basis = key.get("basis").and_then(|basis| basis.as_str());
    let right = cause.chain(also).filter(|id| !id.is_empty());
    // What is true of a control, too (that nothing is wrong), is no fault.
    let is_control = key.get("kind").and_then(|kind| kind.as_str()) == Some("control");
    let right = right.filter(|_| !is_control).map(str::to_owned);
    Some(Case {
        name: name.to_owned(),
        right: right.collect(),
        basis: basis.unwrap_or(WHOLE_THREAD).to_owned(),
        text: text.to_owned(),
    })
}

fn score<'c>(cases: impl Iterator<Item = &'c Case>, wording: &Wording, shows: bool) -> Score {
    let mut score = Score::default();
    cases.for_each(|case| score.add(case, wording, shows));
    score
}

/// Without what is only worth knowing.
fn faults(findings: &[Finding]) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(|one| !one.informational)
}

/// Whether it is more than possible.
fn is_sure(finding: &Finding) -> bool {
    finding.strength != "weak"
}

fn list(findings: &[Finding]) -> String {
    let one = |one: &Finding| format!("{} {}", one.cause, one.strength);
    findings.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn concluded(text: &str, wording: &Wording) -> Conclusion {
    let cleaned = linerate_paste::clean(text);
    let (pasted, _) = linerate_paste::read_lines(&cleaned);
    let lines = cleaned.lines.iter().map(|line| Line {
        number: line.number,
        text: &line.text,
    });
    let lines: Vec<Line<'_>> = lines.collect();
    let is_prose = |one: &&Passage| one.what == "prose";
    let prose: Vec<Passage> = pasted.ignored.iter().filter(is_prose).cloned().collect();
    let (mut facts, mut findings) = (Vec::new(), Vec::new());
    for record in &pasted.records {
        let evidence = Evidence::of(record);
        let ledger = ledger::of(&evidence);
        let known = Facts::of(&evidence, &ledger);
        findings.extend(rules::judge(rules::embedded(), record, &ledger, &known).findings);
        facts.extend_from_slice(known.list());
    }
    let text = Text {
        records: &pasted.records,
        facts: &facts,
        findings: &findings,
        lines: &lines,
        prose: &prose,
        read: &pasted.understood,
        wording,
    };
    weigh::conclude(&text, &|line| format!("line {line}"))
}

impl Score {
    fn add(&mut self, case: &Case, wording: &Wording, shows: bool) {
        let found = concluded(&case.text, wording).findings;
        self.findings.push(faults(&found).count());
        if case.right.is_empty() {
            self.control(case, &found, shows);
        } else {
            self.fault(case, &found, shows);
        }
    }

    /// A finding with a change that is more than possible accuses.
    fn control(&mut self, case: &Case, found: &[Finding], shows: bool) {
        self.controls += 1;
        let changes = |one: &Finding| {
            let change = one.change.as_ref();
            change.is_some_and(|change| !change.commands.iter().all(|text| text.starts_with('#')))
        };
        let accused = faults(found).any(|one| is_sure(one) && changes(one));
        self.controls_accused += usize::from(accused);
        if shows && accused {
            println!("{} control: {}", case.name, list(found));
        }
    }

    fn fault(&mut self, case: &Case, found: &[Finding], shows: bool) {
        self.faults += 1;
        let is_right = |one: &Finding| case.right.contains(&one.cause);
        let first = found.first().is_some_and(is_right);
        let three = found.iter().take(3).any(is_right);
        self.first += usize::from(first);
        self.among_three += usize::from(three);
        let wrong = found.first().is_some_and(is_sure) && !first;
        self.wrong_first_and_likely += usize::from(wrong);
        if !three {
            let cause = case.right.iter().next().cloned().unwrap_or_default();
            *self.missed.entry(cause).or_default() += 1;
        }
        if shows && !first {
            println!("{} {:?}: {}", case.name, case.right, list(found));
        }
    }

    /// Whether it is not worse than what was reached; what is wanted is more (`corpus/README.md`).
    fn stands(&self, reached: &Reached) -> bool {
        let share = |count: usize| count as f64 / self.faults.max(1) as f64;
        let stands = share(self.first) >= reached.first
            && share(self.among_three) >= reached.among_three
            && share(self.wrong_first_and_likely) <= WRONG_MOST;
        if !stands {
            println!("worse than before: {reached:?}, wrong first and likely {WRONG_MOST}");
        }
        stands
    }

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

/// Shares that were reached of the cases with this basis, less two points: so much does a score move if a few texts to learn from
/// are added anywhere.
#[derive(Debug)]
struct Reached {
    basis: &'static str,
    first: f64,
    among_three: f64,
}

/// The basis of a case without that key.
const WHOLE_THREAD: &str = "whole thread";
const REACHED: [Reached; 3] = [
    Reached {
        basis: WHOLE_THREAD,
        first: 0.50,
        among_three: 0.73,
    },
    Reached {
        basis: "excerpt",
        first: 0.55,
        among_three: 0.75,
    },
    Reached {
        basis: "excerpt, second collection",
        first: 0.59,
        among_three: 0.78,
    },
];
const WRONG_MOST: f64 = 0.05;
