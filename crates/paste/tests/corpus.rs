// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the fuzz corpora of pasted text through their targets.

#[expect(clippy::disallowed_methods, reason = "the corpora are files")]
#[path = "../../../fuzz/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/pasted.rs"]
mod targets;

#[test]
fn pasted() {
    corpus::run("pasted", targets::pasted);
}

#[test]
fn tool_text() {
    corpus::run("tool_text", targets::tool_text);
}
