// SPDX-License-Identifier: MIT OR Apache-2.0
//! What of a TOML file is for readers of the source only.

/// A TOML file without its lines of comment. A line that begins with `#` within a text of several lines is none.
pub(crate) fn without(toml: &str) -> String {
    let mut is_within = false;
    let mut kept = |line: &&str| {
        let is_comment = !is_within && line.trim_start().starts_with('#');
        is_within ^= !is_comment && line.matches("\"\"\"").count() % 2 == 1;
        !is_comment
    };
    toml.split_inclusive('\n')
        .filter(|line| kept(line))
        .collect()
}
