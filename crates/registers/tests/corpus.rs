// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the fuzz corpora of register maps and values through their targets.

#[path = "../../../fuzz/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/registers.rs"]
mod targets;

#[test]
fn maps() {
    corpus::run("maps", targets::maps);
}
