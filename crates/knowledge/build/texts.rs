// SPDX-License-Identifier: MIT OR Apache-2.0
//! The texts from which wording is learnt, by cause. `xtask` includes this file, too, to learn without some of the cases.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use linerate_wording::Lesson;

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

/// What there is to learn from of each cause: its posts, `posts/CAUSE.txt` with `%%` between them, its description, and the real
/// cases of `../corpus/learn` that `takes` (their file). Texts without trouble are `unrelated` to all causes.
pub(crate) fn lessons(knowledge: &Path, takes: impl Fn(&Path) -> bool) -> io::Result<Vec<Lesson>> {
    let mut lessons = Vec::new();
    for file in files(&knowledge.join("causes"), "toml")? {
        lessons.extend(descriptions(&fs::read_to_string(&file)?));
    }
    let ids: BTreeSet<String> = ids(&lessons);
    let unrelated = knowledge.join(format!("{UNRELATED}.txt"));
    for file in files(&knowledge.join("posts"), "txt")?
        .iter()
        .chain([&unrelated])
    {
        let cause = file.file_stem().unwrap_or_default().to_string_lossy();
        let posts = fs::read_to_string(file)?;
        let post = |text: &str| lesson(text, [(cause.as_ref(), 1.0)]);
        lessons.extend(posts.split("\n%%").map(post));
    }
    let mut cases = files(&knowledge.join("../corpus/learn"), "txt")?;
    cases.retain(|file| takes(file));
    for file in cases {
        let mut case = of_case(&fs::read_to_string(&file)?);
        // A cause without an entry is that of a rule only.
        case.labels.retain(|(id, _)| ids.contains(id));
        lessons.push(case);
    }
    Ok(lessons)
}

fn lesson<'l>(text: &str, labels: impl IntoIterator<Item = (&'l str, f32)>) -> Lesson {
    let labels = labels.into_iter();
    Lesson {
        text: text.to_owned(),
        labels: labels.map(|(id, counts)| (id.to_owned(), counts)).collect(),
    }
}

fn ids(lessons: &[Lesson]) -> BTreeSet<String> {
    let labels = lessons.iter().flat_map(|lesson| &lesson.labels);
    let ids = labels.map(|(id, _)| id.clone());
    ids.chain([UNRELATED.to_owned()]).collect()
}

/// The causes of a file, each with its description; none of one that is no TOML, which the tests find.
fn descriptions(file: &str) -> Vec<Lesson> {
    let table: toml::Table = file.parse().unwrap_or_default();
    let causes = table.get("cause").and_then(toml::Value::as_array);
    let text = |cause: &toml::Value, key: &str| {
        let value = cause.get(key).and_then(toml::Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let description = |cause: &toml::Value| {
        let parts = ["title", "why", "example"].map(|key| text(cause, key));
        lesson(
            &parts.join("\n"),
            [(text(cause, "id").as_str(), DESCRIPTION)],
        )
    };
    causes.into_iter().flatten().map(description).collect()
}

/// A case as a text of its cause, of the others that are true, and of those that a reader took for likely who did not know
/// what it was (percent). That of a control, where nothing is wrong, is unrelated to all.
fn of_case(case: &str) -> Lesson {
    let (key, text) = case.split_once("+++\n").unwrap_or_default();
    let key: toml::Table = key.parse().unwrap_or_default();
    let cause = key.get("cause").and_then(toml::Value::as_str);
    let cause = cause.unwrap_or_default();
    // A control.
    if cause.is_empty() {
        return lesson(text, [(UNRELATED, CONFIRMED)]);
    }
    let also = key.get("also").and_then(toml::Value::as_array);
    let also = also.into_iter().flatten().filter_map(toml::Value::as_str);
    let likely = key.get("reads_like").and_then(toml::Value::as_table);
    let likely = likely.into_iter().flatten().filter_map(|(id, percent)| {
        let share = percent.as_integer()? as f32 / 100.0;
        (id != UNRELATED).then_some((id.as_str(), LIKELY * share))
    });
    let also = also.map(|id| (id, TRUE_TOO));
    lesson(
        text,
        [(cause, CONFIRMED)].into_iter().chain(also).chain(likely),
    )
}

/// The label of what reports no trouble.
const UNRELATED: &str = "unrelated";

// What a text counts, in posts.
const DESCRIPTION: f32 = 3.0;
const CONFIRMED: f32 = 3.0;
const TRUE_TOO: f32 = 2.0;
const LIKELY: f32 = 3.0;
