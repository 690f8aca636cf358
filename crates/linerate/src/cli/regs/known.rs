// SPDX-License-Identifier: MIT OR Apache-2.0
//! The maps: found by name or file, and shown.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use linerate_registers::{self as registers, Map, Mistake};

use crate::input;

use super::view::{Line, RegisterView};
use linerate_model::failure::Failure;

/// The map that `--map` names: one that the program carries, or a TOML file.
pub(super) fn map(name: &str) -> Result<Cow<'static, Map>, Failure> {
    if let Some(map) = registers::map(name) {
        return Ok(Cow::Borrowed(map));
    }
    if !Path::new(name).exists() {
        return Err(no_such_map(name));
    }
    let text = text_of(Path::new(name), MAP_BYTES)?;
    registers::parse(name, &text)
        .map(Cow::Owned)
        .map_err(|mistakes| wrong_map(name, &mistakes))
}

/// The maps that the program carries, for error messages.
pub(super) fn names() -> String {
    let names = registers::maps().iter().map(|m| m.name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

/// A line for each register that a map knows.
pub(super) fn registers(map: &Map) -> RegisterView {
    RegisterView {
        headline: Some(format!("{}: {}", map.name, map.hardware)),
        lines: map.registers.iter().map(Line::of_register).collect(),
        ..RegisterView::default()
    }
}

/// A text file of at most `most` bytes; invalid UTF-8 is replaced.
pub(super) fn text_of(path: &Path, most: u64) -> Result<String, Failure> {
    let read = File::open(path).and_then(|file| bounded(file, most));
    read.map_err(|error| {
        let what = format!("read {}", path.display());
        if error.kind() == io::ErrorKind::NotFound {
            Failure::usage(what, "there is no such file")
        } else {
            Failure::measuring(what, error)
        }
    })
}

/// All of a source that is not longer than `most` bytes.
pub(super) fn bounded(source: impl Read, most: u64) -> io::Result<String> {
    let bytes = input::bytes(source, most)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn no_such_map(name: &str) -> Failure {
    let why = "no map and no file has this name";
    Failure::usage(format!("find the map {name}"), why).hint(format!("one of {}", names()))
}

fn wrong_map(name: &str, mistakes: &[Mistake]) -> Failure {
    let first: Vec<String> = mistakes.iter().take(5).map(ToString::to_string).collect();
    let more = match mistakes.len().saturating_sub(first.len()) {
        0 => String::new(),
        more => format!("\n       and {more} more"),
    };
    let why = first.join("\n       ") + &more;
    Failure::usage(format!("use the map {name}"), why)
        .hint("knowledge/README.md says what a map may contain")
}

const MAP_BYTES: u64 = 8 << 20;
