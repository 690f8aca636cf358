// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packs `knowledge/` for the program: a deflated stream a directory, and an index in Rust
//! (`packed.rs`, included by `src/packed.rs`).
#![expect(
    clippy::disallowed_methods,
    reason = "this reads files when the crate is built; the crate does not"
)]

use std::fmt::Write as _;
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
        let directory = knowledge.join(room);
        println!("cargo:rerun-if-changed={}", directory.display());
        let entries = fs::read_dir(&directory)?;
        let mut files: Vec<PathBuf> = entries
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<_>>()?;
        files.retain(|file| file.extension().is_some_and(|word| word == "toml"));
        files.sort();
        index += &pack(room, &files, &out)?;
    }
    for single in ["ranges", "reasons", "symptoms"] {
        index += &pack(single, &[knowledge.join(format!("{single}.toml"))], &out)?;
    }
    fs::write(out.join("packed.rs"), index)
}

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
    let deflated = miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 10);
    fs::write(out.join(format!("{room}.deflate")), deflated)?;
    Ok(format!(
        "pub const {}: Packed = Packed {{ files: &[{names}], deflated: \
         include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{room}.deflate\")) }};\n",
        room.to_uppercase()
    ))
}
