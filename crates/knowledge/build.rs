// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packs `knowledge/` for the program: a deflated stream a directory, and an index in Rust
//! (`packed.rs`, included by `src/packed.rs`). Of `posts/` and of the cases in `corpus/learn/` only what is learnt from them.
#![expect(
    clippy::disallowed_methods,
    reason = "this reads files when the crate is built; the crate does not"
)]

#[path = "build/mentions.rs"]
mod mentions;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::iter;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // Asked when it runs: a target directory may outlive the checkout that it was built in.
    let variable = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .ok_or(io::ErrorKind::NotFound)
    };
    let knowledge = variable("CARGO_MANIFEST_DIR")?.join("../../knowledge");
    let out = variable("OUT_DIR")?;
    let mut index = String::new();
    for room in [
        "causes",
        "drivers",
        "known",
        "messages",
        "registers",
        "rules",
    ] {
        index += &pack(room, &files(&knowledge.join(room), "toml")?, &out)?;
    }
    for single in ["circumstances", "ranges", "reasons", "remedies", "symptoms"] {
        index += &pack(single, &[knowledge.join(format!("{single}.toml"))], &out)?;
    }
    let learnt = out.join("learnt.txt");
    fs::write(&learnt, linerate_wording::learn(&texts(&knowledge)?))?;
    index += &pack("learnt", &[learnt], &out)?;
    let mentions = out.join("mentions.txt");
    fs::write(&mentions, mentions::digits(&knowledge)?)?;
    index += &pack("mentions", &[mentions], &out)?;
    fs::write(out.join("packed.rs"), index)
}

/// The files of a directory with this ending, in the order of their names; none where there is no such directory (a package
/// of the crate has no cases).
fn files(directory: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    println!("cargo:rerun-if-changed={}", directory.display());
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
/// real cases to learn from, each of which weighs as much as several. Texts without trouble are `unrelated` to all causes.
fn texts(knowledge: &Path) -> io::Result<BTreeMap<String, Vec<String>>> {
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
        println!("cargo:rerun-if-changed={}", file.display());
        let cause = file.file_stem().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(file)?;
        let own = texts.entry(cause.into_owned()).or_default();
        own.extend(text.split("\n%%").map(str::to_owned));
    }
    for file in files(&knowledge.join("../corpus/learn"), "txt")? {
        println!("cargo:rerun-if-changed={}", file.display());
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

/// How often the packer looks for something shorter; more gains next to nothing.
const PACKS_OVER: NonZeroU64 = NonZeroU64::new(5).expect("not zero");

/// Writes the stream of these files; returns the item that describes it.
fn pack(room: &str, files: &[PathBuf], out: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut names = String::new();
    for file in files {
        println!("cargo:rerun-if-changed={}", file.display());
        let one = fs::read_to_string(file)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let _ = write!(names, "({name:?}, {}), ", one.len());
        text += &one;
    }
    let mut deflated = Vec::new();
    let options = zopfli::Options {
        iteration_count: PACKS_OVER,
        ..zopfli::Options::default()
    };
    zopfli::compress(
        options,
        zopfli::Format::Deflate,
        text.as_bytes(),
        &mut deflated,
    )?;
    fs::write(out.join(format!("{room}.deflate")), deflated)?;
    Ok(format!(
        "pub const {}: Packed = Packed {{ files: &[{names}], deflated: \
         include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{room}.deflate\")) }};\n",
        room.to_uppercase()
    ))
}
