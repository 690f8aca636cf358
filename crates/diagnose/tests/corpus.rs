// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the fuzz corpus of pasted text through its target, whole, cut short at every length, and with one bit of each
//! byte changed in turn.
#![expect(clippy::disallowed_methods, reason = "the corpus is files")]

use std::path::Path;

#[path = "../../../fuzz/pasted.rs"]
mod target;

#[test]
fn pasted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/pasted");
    let mut inputs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let mut input = std::fs::read(entry.unwrap().path()).unwrap();
        (0..=input.len()).for_each(|length| target::pasted(&input[..length]));
        for at in 0..input.len() {
            input[at] ^= 1 << (at % 8);
            target::pasted(&input);
            input[at] ^= 1 << (at % 8);
        }
        inputs += 1;
    }
    assert!(inputs >= 2, "{inputs} inputs");
}
