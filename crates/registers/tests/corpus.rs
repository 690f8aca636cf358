// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the fuzz corpora of register maps and values through their targets.

#[expect(clippy::disallowed_methods, reason = "the corpora are files")]
#[path = "../../../fuzz/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/registers.rs"]
mod targets;

#[test]
fn maps() {
    corpus::run("maps", targets::maps);
}
