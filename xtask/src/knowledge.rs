// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask check-knowledge`: reads the tables of the tree, not those built in, and prints
//! every mistake with file and line.

mod mentions;
mod tunables;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use linerate_diagnose::rules;
use linerate_knowledge as knowledge;
use linerate_knowledge::Packed;
use linerate_knowledge::{EMBEDDED, Mistake, check_together, parse, parse_reasons};
use linerate_registers as registers;

use crate::Outcome;

/// Checks every driver's table, every register map and every rule of `knowledge/`.
pub(crate) fn run(words: &[&str]) -> Outcome {
    if !words.is_empty() {
        return Err("check-knowledge takes no arguments".into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let tables = files(&root, DRIVERS)?;
    let (rules, of_rules) = rule_mistakes(&files(&root, RULES)?);
    let (reasons, of_reasons) = reasons(&root)?;
    let maps = files(&root, REGISTERS)?;
    let of_maps = map_mistakes(&maps);
    let weighed = Weighed::of(&root)?;
    let of_weighed = weighed.mistakes();
    let (tunables, of_tunables) = tunables::mistakes(&files(&root, TUNABLES)?);
    let found = [
        mistakes(&tables),
        of_maps,
        of_rules,
        of_reasons,
        of_weighed,
        of_tunables,
    ]
    .concat();
    for mistake in &found {
        println!("{mistake}");
    }
    println!(
        "{} driver tables, {} register maps, {rules} rules, {reasons} drop reasons, {} causes, {} messages, {} known faults, {} \
         symptoms, {} circumstances, {} remedies, {} ranges, {} owners, {} families of functions, {tunables} tunables, {} mistakes",
        tables.len(),
        maps.len(),
        weighed.causes.len(),
        weighed.messages.len(),
        weighed.faults.len(),
        weighed.symptoms.len(),
        weighed.circumstances.len(),
        weighed.remedies.len(),
        weighed.ranges,
        weighed.owners,
        weighed.families,
        found.len()
    );
    Ok(found.is_empty() && !tables.is_empty() && rules > 0 && tunables > 0)
}

/// Reads one file.
/// What is wrong with what causes are weighed with: nothing may be scored with a part of it.
pub(crate) fn mistakes_of_causes(root: &Path) -> Result<Vec<Mistake>, Box<dyn std::error::Error>> {
    Ok(Weighed::of(root)?.mistakes())
}

type Parse<T> = fn(&str, &str) -> Result<Vec<T>, Vec<Mistake>>;

/// What causes are weighed with, and the mistakes of its files.
#[derive(Default)]
struct Weighed {
    causes: Vec<(String, knowledge::Cause)>,
    messages: Vec<(String, knowledge::Message)>,
    faults: Vec<(String, knowledge::Fault)>,
    symptoms: Vec<knowledge::Symptom>,
    remedies: Vec<knowledge::Symptom>,
    circumstances: Vec<knowledge::Symptom>,
    /// What finds facts in a text.
    readers: String,
    ranges: usize,
    owners: usize,
    families: usize,
    found: Vec<Mistake>,
}

impl Weighed {
    fn of(root: &Path) -> Result<Self, Box<dyn std::error::Error>> {
        let mut all = Self::default();
        all.causes = all.read(&files(root, CAUSES)?, knowledge::parse_causes);
        all.messages = all.read(&files(root, MESSAGES)?, knowledge::parse_messages);
        all.faults = all.read(&files(root, KNOWN)?, knowledge::parse_faults);
        let text = fs::read_to_string(root.join(SYMPTOMS))?;
        match knowledge::parse_symptoms(SYMPTOMS, &text) {
            Ok(symptoms) => all.symptoms = symptoms,
            Err(mistakes) => all.found.extend(mistakes),
        }
        let text = fs::read_to_string(root.join(REMEDIES))?;
        match knowledge::parse_remedies(REMEDIES, &text) {
            Ok(remedies) => all.remedies = remedies,
            Err(mistakes) => all.found.extend(mistakes),
        }
        let text = fs::read_to_string(root.join(CIRCUMSTANCES))?;
        match knowledge::parse_circumstances(CIRCUMSTANCES, &text) {
            Ok(circumstances) => all.circumstances = circumstances,
            Err(mistakes) => all.found.extend(mistakes),
        }
        let mentions = mentions::mistakes(root, &all.names_of_causes(), &all.mentionable())?;
        all.found.extend(mentions);
        all.readers = sources(&root.join(READERS))?;
        let ranges = knowledge::parse_ranges(RANGES, &fs::read_to_string(root.join(RANGES))?);
        match ranges {
            Ok(ranges) => all.ranges = ranges.len(),
            Err(mistakes) => all.found.extend(mistakes),
        }
        match knowledge::parse_functions(FUNCTIONS, &fs::read_to_string(root.join(FUNCTIONS))?) {
            Ok(functions) => all.families = functions.families.len(),
            Err(mistakes) => all.found.extend(mistakes),
        }
        match knowledge::parse_owners(OWNERS, &fs::read_to_string(root.join(OWNERS))?) {
            Ok(owners) => all.owners = owners.len(),
            Err(mistakes) => all.found.extend(mistakes),
        }
        Ok(all)
    }

    fn read<T>(&mut self, files: &[(String, String)], parse: Parse<T>) -> Vec<(String, T)> {
        let mut all = Vec::new();
        for (file, text) in files {
            match parse(file, text) {
                Ok(list) => all.extend(list.into_iter().map(|one| (file.clone(), one))),
                Err(mistakes) => self.found.extend(mistakes),
            }
        }
        all
    }

    fn names_of_causes(&self) -> BTreeSet<&str> {
        let all = self.causes.iter();
        all.map(|(_, cause)| cause.id.as_str()).collect()
    }

    /// What `mentions.toml` may name.
    fn mentionable(&self) -> BTreeSet<&str> {
        let all = self.symptoms.iter().chain(&self.circumstances);
        all.map(|one| one.id.as_str()).collect()
    }

    /// Those of the files, and names that are not in the others.
    fn mistakes(&self) -> Vec<Mistake> {
        let known = self.names_of_causes();
        let supported = self.messages.iter().flat_map(|(file, message)| {
            let causes = message.supports.iter();
            causes.map(move |(cause, _)| (file, message.patterns[0].text(), cause))
        });
        let instances = self
            .faults
            .iter()
            .map(|(file, fault)| (file, fault.id.as_str(), &fault.cause));
        let named = supported.chain(instances);
        let unknown = named.filter(|(_, _, cause)| !known.contains(cause.as_str()));
        let unknown = unknown.map(|(file, by, cause)| {
            at(
                file,
                format!("`{by}` names the cause `{cause}`, which has no entry"),
            )
        });
        let twice = self.causes.iter().zip(1..).filter(|((_, cause), next)| {
            self.causes[*next..]
                .iter()
                .any(|(_, other)| other.id == cause.id)
        });
        let twice =
            twice.map(|((file, cause), _)| at(file, format!("`{}` is listed twice", cause.id)));
        let mut found = self.found.clone();
        found.extend(unknown.chain(twice).chain(self.unknown_signs()));
        found
    }

    /// Signs that no text can show.
    fn unknown_signs(&self) -> impl Iterator<Item = Mistake> + '_ {
        let of_causes = self
            .causes
            .iter()
            .map(|(file, cause)| (file, &cause.id, &cause.evidence));
        let of_faults = self
            .faults
            .iter()
            .map(|(file, fault)| (file, &fault.id, &fault.signs));
        let all = of_causes.chain(of_faults);
        all.flat_map(move |(file, id, signs)| {
            let unknown = signs.iter().filter_map(|sign| self.unknown(&sign.shows));
            unknown.map(move |what| at(file, format!("`{id}` asks for {what}")))
        })
    }

    fn unknown(&self, shows: &knowledge::Shows) -> Option<String> {
        match shows {
            knowledge::Shows::Symptom(name) if !has(&self.symptoms, name) => {
                Some(format!("the symptom `{name}`, which has no entry"))
            }
            knowledge::Shows::Field { name, .. } => {
                let fact = name.strip_prefix("fact ")?;
                let is_read = self.readers.contains(&format!("\"{fact}\""));
                // Its name is made of a stage's.
                let of_stage = fact.starts_with("least_lost_at_");
                let is_known =
                    fact.contains('*') || is_read || of_stage || has(&self.remedies, fact);
                (!is_known).then(|| format!("the fact `{fact}`, which nothing finds"))
            }
            _ => None,
        }
    }
}

fn has(all: &[knowledge::Symptom], id: &str) -> bool {
    all.iter().any(|one| one.id == id)
}

/// The texts of all source files below a directory.
fn sources(directory: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            text += &sources(&path)?;
        } else {
            text += &fs::read_to_string(&path)?;
        }
    }
    Ok(text)
}

fn at(file: &str, wrong: String) -> Mistake {
    Mistake {
        file: file.to_owned(),
        line: None,
        wrong,
        allowed: "an entry in knowledge/, or another name".to_owned(),
    }
}

/// Returns the number of drop reasons in the tree's table, and its mistakes.
fn reasons(root: &Path) -> Result<(usize, Vec<Mistake>), Box<dyn std::error::Error>> {
    let text = fs::read_to_string(root.join(REASONS)).map_err(|why| format!("{REASONS}: {why}"))?;
    Ok(match parse_reasons(REASONS, &text) {
        Ok(reasons) => (reasons.len(), Vec::new()),
        Err(mistakes) => (0, mistakes),
    })
}

/// Path from the root of the tree and text of every file of a directory, in the order of their names.
fn files(
    root: &Path,
    directory: &str,
) -> Result<Vec<(String, String)>, Box<dyn std::error::Error>> {
    let mut tables = Vec::new();
    for entry in fs::read_dir(root.join(directory))? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&path).map_err(|why| format!("{directory}/{name}: {why}"))?;
        tables.push((format!("{directory}/{name}"), text));
    }
    tables.sort();
    Ok(tables)
}

fn mistakes(tables: &[(String, String)]) -> Vec<Mistake> {
    let mut found = Vec::new();
    let mut drivers = Vec::new();
    for (file, text) in tables {
        match parse(file, text) {
            Ok(driver) => drivers.push(driver),
            Err(mistakes) => found.extend(mistakes),
        }
        found.extend(not_built_in(file, EMBEDDED));
    }
    found.extend(check_together(&drivers));
    found
}

/// How many rules there are, and what is wrong with them.
fn rule_mistakes(files: &[(String, String)]) -> (usize, Vec<Mistake>) {
    let mut found = Vec::new();
    let mut understood = Vec::new();
    for (file, text) in files {
        match rules::parse(file, text) {
            Ok(rules) => understood.push((file.clone(), rules)),
            Err(mistakes) => found.extend(mistakes),
        }
        found.extend(not_built_in(file, rules::EMBEDDED));
    }
    found.extend(rules::check_together(&understood));
    (understood.iter().map(|(_, rules)| rules.len()).sum(), found)
}

fn map_mistakes(files: &[(String, String)]) -> Vec<Mistake> {
    let mut found = Vec::new();
    let mut understood = Vec::new();
    for (file, text) in files {
        match registers::parse(file, text) {
            Ok(map) => understood.push((file.as_str(), map)),
            Err(mistakes) => found.extend(mistakes),
        }
        found.extend(not_built_in(file, registers::EMBEDDED));
    }
    let together = understood.iter().map(|(file, map)| (*file, map));
    found.extend(registers::check_together(together));
    found
}

/// Reports a table that the program does not carry.
fn not_built_in(file: &str, built_in: Packed) -> Option<Mistake> {
    let name = file.rsplit('/').next()?;
    let built_in = built_in.names().any(|embedded| embedded == name);
    (!built_in).then(|| Mistake {
        file: file.to_owned(),
        line: None,
        wrong: "the program does not carry this table".to_owned(),
        allowed: "a name that ends in .toml: crates/knowledge/build.rs packs all of them"
            .to_owned(),
    })
}

const CAUSES: &str = "knowledge/causes";
const MESSAGES: &str = "knowledge/messages";
const KNOWN: &str = "knowledge/known";
const RANGES: &str = "knowledge/ranges.toml";
const FUNCTIONS: &str = "knowledge/functions.toml";
const OWNERS: &str = "knowledge/owners.toml";
const SYMPTOMS: &str = "knowledge/symptoms.toml";
const CIRCUMSTANCES: &str = "knowledge/circumstances.toml";
const REMEDIES: &str = "knowledge/remedies.toml";
const READERS: &str = "crates/diagnose/src";
const DRIVERS: &str = "knowledge/drivers";
const REGISTERS: &str = "knowledge/registers";
const REASONS: &str = "knowledge/reasons.toml";
const RULES: &str = "knowledge/rules";
const TUNABLES: &str = "knowledge/tunables";

#[cfg(test)]
mod tests {
    use super::{DRIVERS, REGISTERS, RULES, files, map_mistakes, mistakes, reasons, rule_mistakes};
    use std::path::Path;

    #[test]
    fn the_tree_has_no_mistakes_and_a_stray_table_is_reported() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut tables = files(&root, DRIVERS).unwrap();
        assert_eq!(mistakes(&tables), []);
        assert_eq!(reasons(&root).unwrap().1, []);
        assert_eq!(rule_mistakes(&files(&root, RULES).unwrap()).1, []);
        tables.push((
            "knowledge/drivers/stray.toml".to_owned(),
            "driver = 3\n".to_owned(),
        ));
        let found: Vec<String> = mistakes(&tables).iter().map(ToString::to_string).collect();
        assert!(
            found[0].starts_with("knowledge/drivers/stray.toml:1: not the right kind"),
            "{found:?}"
        );
        assert!(found[1].contains("does not carry this table"), "{found:?}");
    }

    #[test]
    fn the_maps_have_no_mistakes_and_a_stray_map_is_reported() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut maps = files(&root, REGISTERS).unwrap();
        assert_eq!(map_mistakes(&maps), []);
        let stray = "map = \"other\"\nhardware = \"h\"\nsource = [\"manual M p\"]\n";
        maps.push((
            "knowledge/registers/stray.toml".to_owned(),
            stray.to_owned(),
        ));
        let found: Vec<String> = map_mistakes(&maps)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("does not carry this table"), "{found:?}");
        assert!(found[1].contains("the file is `stray.toml`"), "{found:?}");
    }
}
