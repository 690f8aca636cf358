// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a target on its corpus, as an ordinary test. The corpus tests of `linerate-wire` and `linerate-paste` include
//! this file.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;

/// Runs every input of the folder: whole, cut at every length, and with one bit of each byte changed in turn.
pub(crate) fn run(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(name);
    let mut inputs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let mut input = std::fs::read(entry.unwrap().path()).unwrap();
        (0..=input.len())
            .rev()
            .for_each(|length| target(&input[..length]));
        for at in 0..input.len() {
            input[at] ^= 1 << (at % 8);
            target(&input);
            input[at] ^= 1 << (at % 8);
        }
        inputs += 1;
    }
    assert!(inputs >= 2, "{name}: {inputs} inputs");
}
