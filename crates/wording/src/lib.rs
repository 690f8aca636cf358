// SPDX-License-Identifier: MIT OR Apache-2.0
//! How texts of a kind are worded.
//!
//! In: texts with labels. Out: a packed model ([`learn()`]), which says of another text how likely it is of each label
//! ([`Model::likeness`]). The crate `linerate-knowledge` learns from `knowledge/posts/` when it is built, and asks when a text is explained.
//!
//! ```
//! use linerate_wording::{Lesson, Model, learn};
//! let lessons = |label: &str, texts: [&str; 2]| {
//!     let lesson = |text: &&str| Lesson { text: (*text).to_owned(), labels: vec![(label.to_owned(), 1.0)] };
//!     texts.iter().cycle().take(6).map(lesson).collect::<Vec<_>>()
//! };
//! let all = [
//!     lessons("cable", ["bad cable, errors", "errors with the old cable"]),
//!     lessons("dns", ["names fail", "unknown host names"]),
//!     lessons("mtu", ["large packets hang", "large ones are lost"]),
//! ];
//! let model = Model::parse(&learn(&all.concat())).expect("what was just written");
//! let likely = model.likeness("only large packets are lost");
//! assert_eq!(model.labels()[likely[0].label], "mtu");
//! ```
#![forbid(unsafe_code)]

mod learn;
mod model;
mod pack;
mod token;
mod train;
mod vector;

pub use learn::{Lesson, learn};
pub use model::{Likeness, Model};
