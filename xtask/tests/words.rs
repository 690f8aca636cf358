// SPDX-License-Identifier: MIT OR Apache-2.0
//! The glossary of CONTRIBUTING.md: words that it replaced do not come back, neither as names, nor in comments, nor in
//! documents, nor in findings.

use std::fs;
use std::path::{Path, PathBuf};

/// Each with the field's word.
const REPLACED: [(&str, &str); 9] = [
    ("told", "reported, named, distinguished"),
    ("Told", "Reported, Named"),
    ("Crew", "Streams, Workers"),
    ("Clerk", "Account"),
    ("Desk", "Session"),
    ("Mischief", "Fault"),
    ("stool", "sandbox"),
    ("made_up", "invented"),
    ("Ground", "Testbed, Namespaces"),
];

/// Phrases that no document has outside its examples. Each with the field's.
const PHRASES: [(&str, &str); 33] = [
    ("a line a", "one line per"),
    ("object a line", "one object per line"),
    ("frames a second", "frames per second"),
    ("probes a second", "probes per second"),
    ("goes on", "continues"),
    ("broke off", "ended early"),
    ("of its own accord", "automatically, or nothing"),
    ("by itself", "on its own, alone"),
    ("stands still", "does not increase"),
    ("nobody", "unknown, not reported, no host"),
    ("somebody", "a program, a host, a client"),
    ("whoever", "a program, a host, a client that"),
    ("what is left", "the remaining"),
    ("mended", "fixed"),
    ("anew", "again"),
    ("speaks for", "supports"),
    ("speaks against", "contradicts"),
    ("beside", "also, next to"),
    ("besides", "also, in addition"),
    ("so many", "this many, N"),
    ("so much", "this much"),
    ("thrown away", "dropped, discarded"),
    ("sent again", "retransmitted"),
    ("taken for", "treated as, read as"),
    ("told", "reported, named"),
    ("keeps silent", "sends nothing"),
    ("packets a second", "packets per second"),
    ("interrupts a second", "interrupts per second"),
    ("times a second", "times per second"),
    ("for good", "permanently"),
    ("full processor", "a saturated processor"),
    ("processor is full", "a processor is saturated"),
    ("at the worst", "at most, up to"),
];

/// What people read of `knowledge/`. Its other keys hold the words of posts and programs.
const PROSE: [&str; 7] = [
    "title",
    "why",
    "verify",
    "means",
    "confirms",
    "refutes",
    "side_effects",
];

#[test]
fn documents_use_the_phrases_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let pages = documents(&root);
    assert!(pages.len() > 30, "only {} documents", pages.len());
    let found: Vec<String> = pages.iter().flat_map(|page| phrases(page)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_phrase_is_found_across_lines_and_not_in_an_example() {
    assert_eq!(replaced_phrases("The check goes\non."), [PHRASES[4]]);
    assert!(replaced_phrases("```\nThe check goes on.\n```\nIt continues.").is_empty());
    assert!(replaced_phrases("a bold line").is_empty());
}

#[test]
fn findings_use_the_phrases_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../knowledge");
    let directories = entries(&root).into_iter().filter(|path| path.is_dir());
    let files = directories.flat_map(|directory| entries(&directory));
    let tables: Vec<PathBuf> = files.filter(|path| is_a(path, "toml")).collect();
    assert!(tables.len() > 100, "only {} tables", tables.len());
    let found: Vec<String> = tables.iter().flat_map(|table| of_findings(table)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_phrase_is_found_in_prose_and_not_in_the_words_of_a_post() {
    let line = r#"check = { command = "dmesg | grep nobody", confirms = "the card goes on" }"#;
    assert_eq!(replaced_phrases(&prose(line)), [PHRASES[4]]);
    assert!(prose(r#"phrases = ["a full processor"]"#).is_empty());
}

/// What a table of `knowledge/` has of [`PHRASES`].
fn of_findings(table: &Path) -> Vec<String> {
    let text = fs::read_to_string(table).unwrap_or_default();
    let lines = text.lines().zip(1..);
    let found = lines.flat_map(|(line, number)| {
        let found = replaced_phrases(&prose(line)).into_iter();
        found.map(move |(old, new)| format!("line {number}: `{old}`: {new}"))
    });
    found
        .map(|what| format!("{}, {what}", table.display()))
        .collect()
}

/// The values of [`PROSE`] in a line.
fn prose(line: &str) -> String {
    let values = PROSE.iter().filter_map(|key| {
        let (before, rest) = line.split_once(&format!("{key} = \""))?;
        let is_a_key = before.is_empty() || before.ends_with([' ', '{']);
        rest.split('"').next().filter(|_| is_a_key)
    });
    values.collect::<Vec<_>>().join("\n")
}

fn is_a(path: &Path, kind: &str) -> bool {
    path.extension().is_some_and(|end| end == kind)
}

/// The documents of the root and of each directory that has some.
fn documents(root: &Path) -> Vec<PathBuf> {
    let crates = entries(&root.join("crates"));
    let named = [
        "",
        "bench",
        "corpus",
        "docs",
        "fuzz",
        "knowledge",
        "packaging",
    ];
    let directories = named.iter().map(|name| root.join(name)).chain(crates);
    let all = directories.flat_map(|directory| entries(&directory));
    all.filter(|path| is_a(path, "md")).collect()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(directory).into_iter().flatten().flatten();
    all.map(|entry| entry.path()).collect()
}

/// What a document has of [`PHRASES`]. The glossary itself may quote them.
fn phrases(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap_or_default();
    let text = text.split("| do not write |").next().unwrap_or_default();
    let found = replaced_phrases(text).into_iter();
    found
        .map(|(old, new)| format!("{}: `{old}`: {new}", page.display()))
        .collect()
}

fn replaced_phrases(text: &str) -> Vec<(&'static str, &'static str)> {
    let prose: String = text.split("```").step_by(2).collect();
    let prose = prose.to_lowercase();
    let words = prose.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let words = format!(" {} ", words.join(" "));
    let has = |phrase: &str| words.contains(&format!(" {phrase} "));
    PHRASES.into_iter().filter(|(old, _)| has(old)).collect()
}

#[test]
fn names_and_comments_use_the_words_of_the_glossary() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for room in ["crates", "xtask"] {
        sources(&root.join(room), &mut files);
    }
    assert!(files.len() > 500, "only {} files", files.len());
    let found: Vec<String> = files.iter().flat_map(|file| replaced(file)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// Every source file but this one.
fn sources(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with(file!()) {
            files.push(path);
        }
    }
}

fn replaced(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let word = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let lines = text.lines().zip(1..);
    let all = lines.flat_map(|(line, number)| {
        let words = line.split(word);
        let known = words.filter_map(|one| REPLACED.iter().find(|(old, _)| *old == one));
        known.map(move |(old, new)| format!("line {number}: `{old}`: {new}"))
    });
    all.map(|what| format!("{}, {what}", file.display()))
        .collect()
}
