// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much a text is like what people write of each cause. `build.rs` learns it.

use std::sync::LazyLock;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;
use linerate_wording::Model;

use crate::cause::causes;
use crate::packed;

/// How reports of each cause are worded.
#[derive(Debug, Default)]
pub struct Wording {
    model: Model,
    /// The places of the model's labels in [`causes`].
    places: Vec<Option<usize>>,
}

/// What the program learnt when it was built.
#[must_use]
pub fn wording() -> &'static Wording {
    static BUILT_IN: LazyLock<Wording> = LazyLock::new(|| {
        let files = packed::LEARNT.unpack();
        let text = files.first().map_or("", |(_, text)| text.as_str());
        Wording::parse(text).unwrap_or_default()
    });
    &BUILT_IN
}

/// How much a text reads like what people write of a cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Alike {
    /// What that says for the cause, decibans.
    pub db: f64,
    /// The words of the text that make it so, those that weigh most first.
    pub words: Vec<String>,
}

impl Wording {
    /// Reads what [`linerate_wording::learn`] wrote of texts whose labels are ids of causes, or `unrelated`.
    #[must_use]
    pub fn parse(learnt: &str) -> Option<Self> {
        let model = Model::parse(learnt)?;
        let place = |id: &String| causes().iter().position(|cause| cause.id == *id);
        let places = model.labels().iter().map(place).collect();
        Some(Self { model, places })
    }

    /// How much a text in lower case reads like what people write of each cause, by its place in [`causes`]. Causes whose
    /// wording is no likelier than by chance are absent.
    #[must_use]
    pub fn alike(&self, lower: &str) -> Map<usize, Alike> {
        let each = self.model.likeness(lower).into_iter();
        each.filter_map(|one| {
            let cause = self.places.get(one.label).copied().flatten()?;
            let words = one.words.into_iter().map(str::to_owned).collect();
            Some((cause, Alike { db: one.db, words }))
        })
        .gather()
    }

    /// Whether a text in lower case reads more like one that reports no trouble (`knowledge/unrelated.txt`) than like what
    /// people write of any cause.
    #[must_use]
    pub fn reports_nothing(&self, lower: &str) -> bool {
        let likeness = self.model.likeness(lower).into_iter();
        let likeliest = likeness.max_by(|one, other| one.db.total_cmp(&other.db));
        likeliest.is_none_or(|one| self.model.labels()[one.label] == UNRELATED)
    }
}

/// The label of what reports no trouble.
const UNRELATED: &str = "unrelated";

#[cfg(test)]
mod tests {
    use super::*;

    fn most_alike(text: &str) -> &'static str {
        let alike = wording().alike(text);
        let best = alike
            .iter()
            .max_by(|(_, one), (_, other)| one.db.total_cmp(&other.db));
        best.map_or("", |(cause, _)| &causes()[*cause].id)
    }

    #[test]
    fn a_text_is_like_what_people_write_of_its_cause() {
        let text = "our wireguard vpn is up, ping works, but big pages hang; with mtu 1280 on wg0 they load";
        assert!(most_alike(text).contains("mtu"), "{}", most_alike(text));
        assert_eq!(most_alike("zzzz"), "");
    }

    #[test]
    fn what_reports_nothing_is_known() {
        for text in [
            "thank you for the flowers, the party was lovely and we stayed until midnight",
            "the compiler says: expected semicolon before closing brace in line 40 of parser.c",
            "could you recommend a quiet switch with eight ports for my desk? budget is 80 euros",
            "zzzz",
        ] {
            assert!(
                wording().reports_nothing(text),
                "{text}: {}",
                most_alike(text)
            );
        }
        for text in [
            "since the update the vpn connects and no page loads",
            "dmesg is full of transmit queue timed out and the port is dead",
        ] {
            assert!(!wording().reports_nothing(text), "{text}");
        }
    }

    /// Its own description is more like it than by chance.
    #[test]
    fn every_cause_is_learnt() {
        let reads_like_itself = |at: usize, cause: &crate::Cause| {
            let text = format!("{}\n{}\n{}", cause.title, cause.why, cause.example);
            wording().alike(&text.to_lowercase()).contains_key(&at)
        };
        let all = causes().iter().enumerate();
        let lost = all.filter(|(at, cause)| !reads_like_itself(*at, cause));
        let lost: Vec<&str> = lost.map(|(_, cause)| cause.id.as_str()).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
}
