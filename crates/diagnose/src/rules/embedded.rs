// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rules that the program carries, a line a file. `cargo xtask check-knowledge` tells of a file
//! that is missing here.

use std::sync::LazyLock;

use super::{Rule, parse};

macro_rules! files {
    ($($name:literal)+) => {
        /// File name and text of every file of rules.
        pub const EMBEDDED: &[(&str, &str)] = &[$((
            concat!($name, ".toml"),
            include_str!(concat!("../../../../knowledge/rules/", $name, ".toml")),
        )),+];
    };
}

files! {
    "bus"
    "cpu"
    "flow-control"
    "link"
    "measurement"
    "packet-rate"
    "parallel"
    "socket"
    "tcp"
    "told"
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let files = EMBEDDED
        .iter()
        .filter_map(|(file, text)| parse(file, text).ok());
    files.flatten().collect()
});

/// Every rule that the program carries.
#[must_use]
pub fn embedded() -> &'static [Rule] {
    &RULES
}
