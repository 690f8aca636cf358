// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the author tried, and whether it helped: `with TSO off everything works`, `a new cable did not help`.

use linerate_knowledge::{remedies_in, words};
use linerate_model::map::Map;

use super::super::Fact;
use super::clauses::Clause;

/// A fact for each remedy that is judged. What helped once helped.
pub(super) fn facts(clauses: &[Clause]) -> Vec<Fact> {
    let mut judged: Map<&'static str, (bool, u64)> = Map::new();
    for clause in clauses.iter().filter(|one| one.is_good() || one.is_bad()) {
        let text = clause.words.join(" ");
        let words: Vec<&str> = words(&text).collect();
        for id in remedies_in(&words).into_keys() {
            let helped = judged.entry(id).or_insert((clause.is_good(), clause.line));
            if clause.is_good() && !helped.0 {
                *helped = (true, clause.line);
            }
        }
    }
    let all = judged.into_iter();
    all.map(|(id, (helped, line))| Fact::new(id, helped, line))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::weigh::derived::values;

    fn said(text: &str) -> Vec<(&'static str, String)> {
        let mut all = values(text, super::super::facts);
        all.retain(|(name, _)| name.starts_with("cured-by-"));
        all
    }

    #[test]
    fn what_helped_and_what_did_not() {
        let text = "If I disable the TCP segmentation offload, everything works.\n";
        assert_eq!(said(text), [("cured-by-offload-off", "true".to_owned())]);
        let text = "A new cable did not help at all.\n";
        assert_eq!(
            said(text),
            [("cured-by-cable-replaced", "false".to_owned())]
        );
        let text = "It is slow with the firewall off. Later it was fine with the firewall off.\n";
        assert_eq!(said(text), [("cured-by-firewall-off", "true".to_owned())]);
        assert_eq!(said("The firewall is a small machine in the cellar.\n"), []);
    }
}
