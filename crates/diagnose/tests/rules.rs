// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rules' document says what the loader takes.

use linerate_diagnose::rules;

#[expect(
    clippy::disallowed_methods,
    reason = "the document is read where it stands"
)]
fn readme() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../knowledge/README.md");
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_rule_in_the_document_is_right() {
    let text = readme();
    let blocks = text.split("```toml\n").skip(1);
    let rule = blocks
        .filter_map(|block| block.split("```").next())
        .find(|block| block.contains("[[rule]]"))
        .unwrap();
    let rules = rules::parse("README.md", rule).unwrap_or_else(|mistakes| {
        panic!(
            "{}",
            mistakes
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        )
    });
    assert_eq!(rules.len(), 1);
    for word in rules::Scope::WORDS
        .iter()
        .chain(rules::Strength::WORDS)
        .chain(rules::Risk::WORDS)
    {
        assert!(
            text.contains(&format!("`{word}`")),
            "{word} is not explained"
        );
    }
}
