// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the fuzz corpora of our own documents through their targets.

#[path = "../../../fuzz/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/stored.rs"]
mod targets;

#[test]
fn messages() {
    corpus::run("messages", targets::messages);
}

#[test]
fn stored() {
    corpus::run("stored", targets::stored);
}
