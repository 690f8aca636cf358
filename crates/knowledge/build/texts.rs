// SPDX-License-Identifier: MIT OR Apache-2.0
//! The texts from which wording is learnt, by cause. `xtask` includes this file, too, to learn without some of the cases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io, iter};

/// The files of a directory with this ending, in the order of their names; none where there is no such directory (a package
/// of the crate has no cases).
pub(crate) fn files(directory: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(directory)?;
    let mut files: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|word| word == ending));
    files.sort();
    Ok(files)
}

/// What there is to learn from of each cause: its posts, `posts/CAUSE.txt` with `%%` between them, and its description and the
/// real cases of `../corpus/learn` that `takes` (their file), each of which weighs as much as several. Texts without trouble are
/// `unrelated` to all causes.
pub(crate) fn all(
    knowledge: &Path,
    takes: impl Fn(&Path) -> bool,
) -> io::Result<BTreeMap<String, Vec<String>>> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files(&knowledge.join("causes"), "toml")? {
        for (cause, description) in descriptions(&fs::read_to_string(&file)?) {
            let several = iter::repeat_n(description, DESCRIPTION_WEIGHS);
            texts.entry(cause).or_default().extend(several);
        }
    }
    let unrelated = knowledge.join(format!("{UNRELATED}.txt"));
    for file in files(&knowledge.join("posts"), "txt")?
        .iter()
        .chain([&unrelated])
    {
        let cause = file.file_stem().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(file)?;
        let own = texts.entry(cause.into_owned()).or_default();
        own.extend(text.split("\n%%").map(str::to_owned));
    }
    let mut cases = files(&knowledge.join("../corpus/learn"), "txt")?;
    cases.retain(|file| takes(file));
    for file in cases {
        for (cause, text) in labelled(&fs::read_to_string(&file)?) {
            // A cause without an entry is that of a rule only.
            if let Some(own) = texts.get_mut(&cause) {
                own.push(text);
            }
        }
    }
    Ok(texts)
}

/// The causes of a file, each with its description; none of one that is no TOML, which the tests find.
fn descriptions(file: &str) -> Vec<(String, String)> {
    let table: toml::Table = file.parse().unwrap_or_default();
    let causes = table.get("cause").and_then(toml::Value::as_array);
    let text = |cause: &toml::Value, key: &str| {
        let value = cause.get(key).and_then(toml::Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let description = |cause: &toml::Value| {
        let parts = ["title", "why", "example"].map(|key| text(cause, key));
        (text(cause, "id"), parts.join("\n"))
    };
    causes.into_iter().flatten().map(description).collect()
}

const DESCRIPTION_WEIGHS: usize = 3;

/// The text of a case under each of its causes: several times under the one that was confirmed, once under others that are
/// true, too. That of a control, where nothing is wrong, is unrelated to all.
fn labelled(case: &str) -> Vec<(String, String)> {
    let (key, text) = case.split_once("+++\n").unwrap_or_default();
    let key: toml::Table = key.parse().unwrap_or_default();
    let cause = key.get("cause").and_then(toml::Value::as_str);
    let cause = cause.map(|id| if id.is_empty() { UNRELATED } else { id });
    let also = key.get("also").and_then(toml::Value::as_array);
    let also = also.into_iter().flatten().filter_map(toml::Value::as_str);
    let confirmed = cause
        .into_iter()
        .flat_map(|id| iter::repeat_n(id, CASE_WEIGHS));
    let all = confirmed.chain(also);
    all.map(|id| (id.to_owned(), text.to_owned())).collect()
}

/// The label of what reports no trouble.
const UNRELATED: &str = "unrelated";
const CASE_WEIGHS: usize = 3;
