// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packs `knowledge/` for the program: an LZMA stream a directory, and an index in Rust
//! (`packed.rs`, included by `src/packed.rs`). Of `posts/` and of the cases in `corpus/learn/` only what is learnt from them.
#![expect(
    clippy::disallowed_methods,
    reason = "this reads files when the crate is built; the crate does not"
)]

#[path = "build/comments.rs"]
mod comments;
#[path = "build/mentions.rs"]
mod mentions;
#[path = "build/texts.rs"]
mod texts;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use lzma_rust2::{LzmaOptions, LzmaWriter};

fn main() -> io::Result<()> {
    // Asked when it runs: a target directory may outlive the checkout that it was built in.
    let variable = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .ok_or(io::ErrorKind::NotFound)
    };
    let knowledge = variable("CARGO_MANIFEST_DIR")?.join("../../knowledge");
    let out = variable("OUT_DIR")?;
    for read in [knowledge.clone(), knowledge.join("../corpus/learn")] {
        println!("cargo:rerun-if-changed={}", read.display());
    }
    let mut index = String::new();
    for room in [
        "causes",
        "drivers",
        "known",
        "messages",
        "registers",
        "rules",
        "tunables",
    ] {
        index += &pack(room, &texts::files(&knowledge.join(room), "toml")?, &out)?;
    }
    for single in [
        "circumstances",
        "functions",
        "owners",
        "ranges",
        "reasons",
        "remedies",
        "symptoms",
    ] {
        index += &pack(single, &[knowledge.join(format!("{single}.toml"))], &out)?;
    }
    let learnt = out.join("learnt.txt");
    fs::write(
        &learnt,
        linerate_wording::learn(&texts::lessons(&knowledge, |_| true)?),
    )?;
    index += &pack("learnt", &[learnt], &out)?;
    let mentions = out.join("mentions.txt");
    fs::write(&mentions, mentions::digits(&knowledge)?)?;
    index += &pack("mentions", &[mentions], &out)?;
    index += &format!("const LITERAL_CONTEXT_BITS: u32 = {LITERAL_CONTEXT_BITS};\n");
    fs::write(out.join("packed.rs"), index)
}

/// Of a text the letter before says much of the next; where it stands says nothing.
const LITERAL_CONTEXT_BITS: u32 = 4;

/// Of the earlier places with the same beginning.
const MATCHES_TRIED: i32 = 2000;

/// Writes the stream of these files; returns the item that describes it.
fn pack(room: &str, files: &[PathBuf], out: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut names = String::new();
    for file in files {
        let one = fs::read_to_string(file)?;
        let one = match file.extension().is_some_and(|kind| kind == "toml") {
            true => comments::without(&one),
            false => one,
        };
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let _ = write!(names, "({name:?}, {}), ", one.len());
        text += &one;
    }
    let mut options = LzmaOptions::with_preset(9);
    (options.lc, options.lp, options.pb) = (LITERAL_CONTEXT_BITS, 0, 0);
    // Tables repeat whole lines: the longest match, sought as far as it takes, saves a twelfth of the drivers.
    (options.nice_len, options.depth_limit) = (LzmaOptions::NICE_LEN_MAX, MATCHES_TRIED);
    let mut writer = LzmaWriter::new_no_header(Vec::new(), &options, false)?;
    writer.write_all(text.as_bytes())?;
    fs::write(out.join(format!("{room}.lzma")), writer.finish()?)?;
    Ok(format!(
        "pub const {}: Packed = Packed {{ files: &[{names}], packed: \
         include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{room}.lzma\")) }};\n",
        room.to_uppercase()
    ))
}
