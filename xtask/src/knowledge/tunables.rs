// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings that can be changed.

use linerate_knowledge::{Mistake, TUNABLES, check_tunables, parse_tunables};

use super::not_built_in;

/// How many entries there are, and what is wrong with them.
pub(super) fn mistakes(files: &[(String, String)]) -> (usize, Vec<Mistake>) {
    let (mut all, mut found) = (Vec::new(), Vec::new());
    for (file, text) in files {
        match parse_tunables(file, text) {
            Ok(tunables) => all.extend(tunables.into_iter().map(|one| (file.clone(), one))),
            Err(mistakes) => found.extend(mistakes),
        }
        found.extend(not_built_in(file, TUNABLES));
    }
    found.extend(check_tunables(&all));
    (all.len(), found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::files;
    use super::mistakes;

    #[test]
    fn the_tree_has_no_mistakes_and_one_without_a_source_is_reported() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut tree = files(&root, "knowledge/tunables").expect("the tables");
        let (entries, found) = mistakes(&tree);
        assert!(entries > 40 && found.is_empty(), "{entries} {found:?}");
        let text = &mut tree[0].1;
        *text = text.replacen("source = [\"", "source = []\n# [\"", 1);
        let (_, found) = mistakes(&tree);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].to_string().contains("`source` is empty"),
            "{found:?}"
        );
    }
}
