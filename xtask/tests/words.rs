// SPDX-License-Identifier: MIT OR Apache-2.0
//! The glossary of CONTRIBUTING.md: words that it replaced do not come back, neither as names nor in comments.

use std::fs;
use std::path::Path;

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
fn sources(directory: &Path, files: &mut Vec<std::path::PathBuf>) {
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
