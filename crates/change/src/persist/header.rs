// SPDX-License-Identifier: MIT OR Apache-2.0
//! The comment at the top of each file: what wrote it, when and why, and how it is removed.

use super::{DropIn, Kept, Surroundings};

/// A file of one.
pub(super) fn alone(kept: &Kept, path: String, body: &str, around: &Surroundings) -> DropIn {
    let removes = format!("rm {}", quoted(&path));
    with_header(kept, path, body, removes, around)
}

/// One of several that are removed together.
pub(super) fn with_header(
    kept: &Kept,
    path: String,
    body: &str,
    removes: String,
    around: &Surroundings,
) -> DropIn {
    // Where an image runs there is no journal of it.
    let restore = match around.is_image {
        true => "",
        false => "linerate tune restore --kept\n# or: ",
    };
    let content = format!(
        "# Written by linerate, {}.\n# Why: {}\n# Remove: {restore}{removes}\n{body}",
        around.date,
        one_line(&kept.because),
    );
    DropIn {
        path,
        content,
        activates: Vec::new(),
        removes,
    }
}

/// A comment ends where its line does; a backslash at its end would continue it.
fn one_line(text: &str) -> String {
    let clean = |letter: char| match letter.is_control() || letter == '\\' {
        true => ' ',
        false => letter,
    };
    text.chars()
        .map(clean)
        .collect::<String>()
        .trim()
        .to_owned()
}

/// A path as the shell needs it: those of units may have a backslash.
pub(super) fn quoted(path: &str) -> String {
    match path.contains('\\') {
        true => format!("'{path}'"),
        false => path.to_owned(),
    }
}
