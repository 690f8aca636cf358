// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packs `knowledge/mentions.toml`: the names of all circumstances, then a line for each cause with one digit for each of
//! them, the place of its word in [`LEVELS`].

use std::path::Path;
use std::{fs, io};

use toml::{Table, Value};

/// A file that is no TOML gives nothing, which the tests find.
pub(crate) fn digits(knowledge: &Path) -> io::Result<String> {
    let table = |file: &str| {
        let path = knowledge.join(file);
        Ok::<Table, io::Error>(fs::read_to_string(path)?.parse().unwrap_or_default())
    };
    let symptoms = ids(&table("symptoms.toml")?, "symptom");
    let others = ids(&table("circumstances.toml")?, "circumstance");
    let all = [symptoms, others].concat();
    let mut text = all.join(" ");
    for (cause, mentions) in &table("mentions.toml")? {
        let digits: String = all.iter().map(|one| digit(mentions, one)).collect();
        text += &format!("\n{cause} {digits}");
    }
    Ok(text)
}

fn ids(table: &Table, kind: &str) -> Vec<String> {
    let all = table.get(kind).and_then(Value::as_array);
    let ids = all.into_iter().flatten().map(|one| one.get("id"));
    ids.filter_map(|id| Some(id?.as_str()?.to_owned()))
        .collect()
}

/// How often reports of a cause mention this circumstance.
fn digit(mentions: &Value, circumstance: &str) -> char {
    let lists = |word: &str| {
        let list = mentions.get(word).and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|one| one.as_str() == Some(circumstance)))
    };
    match LEVELS.iter().position(|word| lists(word)) {
        Some(0) => '1',
        Some(1) => '2',
        Some(_) => '3',
        None => '0',
    }
}

const LEVELS: [&str; 3] = ["sometimes", "often", "mostly"];
